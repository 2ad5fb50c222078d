"""Run by test_rows in a copy of the package with the rows of `additions`. Each is used as its users do, over HTTP."""

import sys
from collections.abc import Callable
from contextlib import closing
from datetime import date
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner

import sandbox
from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.cli import main as command
from sandbox.client import payment_body, standing_order_body
from sandbox.machine import machine_time
from sandbox.player.runs import Script, run_one, serve_worlds
from sandbox.scenarios import read_scenario
from sandbox.storage.store import open_store
from sandbox.web.docs.bank_document import describe_bank
from sandbox.worlds.registry import WorldRegistry
from tests.contract.additions import COPY, HELD_BACK, MINE, MORNING, PART_PAID, SAME_DAY, TARGET_2
from tests.payer import cancel, signed, tokens
from tests.psu.psu import Psu
from tests.reader import Reader
from tests.spec import files
from tests.stories import explained
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused, version

ALICE = "BE16539100001774"
STEPS = f"""
clock: {{at: "2027-03-01T09:00"}}
steps:
  - pay: {{debtor: alice, project_code: {MINE}}}
    as: rent
  - psu: {{approves: rent}}
  - token: rent
  - details: {{of: rent, expect: {{project_code: {MINE}}}}}
  - pay: {{debtor: alice, project_code: lower, refused: INVALID_INPUT}}
  - pay: {{product: {TARGET_2}, debtor: bram, currency: USD}}
    as: abroad
  - psu: {{approves: abroad}}
  - pay: {{product: {SAME_DAY}, debtor: alice}}
    as: soon
  - psu: {{approves: soon}}
  - await: {{payment: soon, status: ACSC}}
  - cancel: {{of: soon, refused: METHOD_NOT_ALLOWED}}
"""


GERMAN = """
clock: {at: "2027-03-01T09:00"}
settings: {life: on}
bank:
  customers:
    gerda: {name: Gerda Kraus, kind: private, language: de}
  accounts:
    gerda:
      {number: 3000001, owners: [gerda], life: employee, opening: {EUR: "900.00"}, months: 2, income: "2000.00",
       goes_on: true}
steps:
  - clock: 35d
"""


def documented() -> dict[str, Any]:
    return describe_bank("http://bank", "service", date(2027, 3, 1))


def use_product(tpp: Tpp) -> None:
    body = payment(TARGET_2, charge_bearer="SHAR", instructed_amount={"amount": "12.50", "currency": "USD"})
    reply = tpp.initiate(TARGET_2, body)
    assert reply.status_code == 201, reply.text
    name = reply.get_json()["payment_id"]
    tpp.signed(reply, "alice")
    assert tpp.status(name, TARGET_2).get_json()["status"] == "PDNG"
    assert tpp.call("DELETE", f"/payments/{TARGET_2}/{name}").status_code in (403, 405)
    assert f"/payments/{TARGET_2}" in documented()["paths"]
    assert tpp.control("GET", "/payments").get_json()["payments"][0]["product"] == TARGET_2
    read_scenario(f"steps:\n  - pay: {{product: {TARGET_2}}}\n    as: rent", "t2.yaml")
    assert payment_body(TARGET_2, creditor_name="Jan", amount="1")["charge_bearer"] == "SHAR"


def use_product_without_cancellation(tpp: Tpp) -> None:
    """It is SEPA, and no DELETE is offered: neither done, nor in Allow, nor in the document."""
    assert refused(tpp.initiate(SAME_DAY, payment(SAME_DAY, charge_bearer="SHAR")), 400, "GEN-1202-100002")
    begun = signed(tpp, SAME_DAY)
    pair = tokens(tpp)
    reply = cancel(tpp, begun, pair)
    assert reply.status_code == 405 and not reply.headers["Allow"]
    assert "DELETE" not in tpp.call("PUT", f"/payments/{SAME_DAY}/{begun.id}").headers["Allow"]
    why = explained(tpp, reply.headers["Response-ID"])
    assert why["clause"] == "service 3.4", why
    assert tpp.control("PATCH", "/settings", variants={"xb_delete": "403"}).status_code == 200
    assert "of a same-day payment" in cancel(tpp, begun, pair).get_json()["error_description"]
    assert tpp.control("PATCH", "/settings", variants={"xb_delete": "405"}).status_code == 200
    paths = documented()["paths"]
    assert paths[f"/payments/{SAME_DAY}"]["post"]
    (products,) = (
        row["schema"]["enum"]
        for row in paths["/payments/{payment-product}/{payment-id}"]["delete"]["parameters"]
        if row["name"] == "payment-product"
    )
    assert set(products) == {SCT, ISCT}
    tpp.advance("61s")
    assert tpp.status(begun.id, SAME_DAY).get_json()["status"] == "ACSC"


def use_field(tpp: Tpp) -> None:
    initiated = tpp.initiate(SCT, payment(SCT, project_code=MINE, debtor_account={"iban": ALICE}))
    assert initiated.status_code == 201, initiated.text
    shown = tpp.http.get(f"/_sandbox/payments/{initiated.get_json()['payment_id']}").get_json()["order"]
    assert shown["project_code"] == MINE, shown
    for product, value in ((SCT, "lower"), (SCT, 7), (SCT, "TOOLONG"), (ISCT, MINE)):
        assert refused(tpp.initiate(product, payment(product, project_code=value)), 400, "GEN-1202-100002")
    schemas = documented()["components"]["schemas"]
    asked = schemas["SepaPayment"]["properties"]["project_code"]
    assert asked == {
        "type": "string", "minLength": 1, "maxLength": 4, "pattern": "^[A-Z]{4}$",
        "description": "The project that pays.", "x-clause": "choice 5", "x-choice": 5,
    }, asked  # fmt: skip
    assert "project_code" in schemas["PaymentDetailsReply"]["properties"]
    assert "project_code" not in schemas["InstantSepaPayment"]["properties"]
    body = payment_body(creditor_iban="BE68539007547034", creditor_name="Jan", amount="1", project_code=MINE)
    assert body["project_code"] == MINE
    address = initiated.headers["Location"].removeprefix("http://localhost")
    for language, label in (("fr", "Projet"), ("nl", "Project")):
        psu = Psu(tpp.http.application, language)
        psu.log_in(address, "alice")
        page = psu.open(f"{address}/account?lang={language}")
        assert label in page.text and MINE in page.text, page.text


def use_fields_in_the_middle(tpp: Tpp) -> None:
    """One within an object, and one of a standing order; both records have fields behind them."""
    begun = signed(tpp, XB, "bram", creditor_account__branch="Ghent 9", debtor_account={"iban": tpp.iban_of("bram")})
    details = tpp.call("GET", f"/payments/{XB}/{begun.id}/details", authorization=f"Bearer {tpp.token_for('bram')}")
    assert details.get_json()["creditor_account"] == {"branch": "Ghent 9", "iban": "BE68539007547034"}, details.text
    assert refused(tpp.initiate(SCT, payment(SCT, creditor_account__branch="x")), 400, "GEN-1202-100002")
    order = standing_order_body(
        creditor_iban="BE68539007547034",
        creditor_name="Jan",
        amount="1",
        start_date="2027-04-01",
        frequency="MONTHLY",
        mandate="M-1",
    )
    reply = tpp.call("POST", f"/periodic-payments/{SCT}", json=order, accept=version(2))
    assert reply.status_code == 201, reply.text
    shown = tpp.http.get(f"/_sandbox/standing-orders/{reply.get_json()['payment_id']}").get_json()["order"]
    assert (shown["mandate"], shown["creditor_name"], shown["frequency"]) == ("M-1", "Jan", "MONTHLY"), shown
    properties = documented()["components"]["schemas"]
    assert "branch" in str(properties["CrossBorderPayment"]) and "mandate" in properties["ContractBody"]["properties"]


def use_status(tpp: Tpp) -> None:
    reply = tpp.initiate(SCT)
    name = reply.get_json()["payment_id"]
    tpp.signed(reply, "alice")
    moved = tpp.control("POST", f"/payments/{name}/move", status=HELD_BACK)
    assert moved.status_code == 200, moved.text
    assert tpp.status(name).get_json()["status"] == HELD_BACK
    assert HELD_BACK in str(documented()["components"]["schemas"]["PaymentStatusReply"])
    page = tpp.http.get("/_sandbox/console/payments").text
    assert f"<option>{HELD_BACK}</option>" in page and f">{HELD_BACK}</" in page


def use_final_status_of_a_file(tpp: Tpp) -> None:
    name = files.signed(tpp, files.pain(files.bulk(), files.bulk(day=files.TOMORROW, name="B")))
    tpp.advance("61s")
    assert files.statuses(tpp, name) == ["PDNG", "ACSC", "PDNG"]
    assert tpp.control("POST", f"/payments/{name}/move", status=PART_PAID).status_code == 200
    assert files.statuses(tpp, name)[0] == PART_PAID
    assert tpp.control("POST", f"/payments/{name}/move", status="ACSC").status_code == 409
    assert PART_PAID in str(documented()["components"]["schemas"]["BulkStatusReply"])


def use_language(tpp: Tpp) -> None:
    assert tpp.control("PATCH", "/customers/alice", language="de").status_code == 200
    address = tpp.initiate(SCT).headers["Location"].removeprefix("http://localhost")
    page = Psu(tpp.http.application, "fr").open(f"{address}?lang=de")
    assert page.headers["Content-Language"] == "de" and "Deutsch" in page.text and "Anmelden bitte" in page.text


def use_settings(tpp: Tpp) -> None:
    for name, value, wrong in (("tea_break", "15m", 15), ("tea", "black", "red"), ("pages_max", 12, 13)):
        assert tpp.control("PATCH", "/settings", **{name: value}).get_json()["settings"][name] == value
        assert tpp.control("PATCH", "/settings", **{name: wrong}).status_code == 400
        read_scenario(f"settings: {{{name}: {value}}}", "tea.yaml")
    page = tpp.http.get("/_sandbox/docs/settings").text
    assert "How long the bank has tea." in page and "Pages of one period." in page


def use_axis(tpp: Tpp) -> None:
    begun = signed(tpp, SCT, debtor_account__iban=tpp.iban_of("alice"), requested_execution_date="2027-03-09")
    pair = tokens(tpp)
    for value, status in (("refused", 403), ("permitted", 204)):
        assert tpp.control("PATCH", "/settings", variants={"monday_delete": value}).status_code == 200
        assert cancel(tpp, begun, pair).status_code == status


def use_axis_of_replies(tpp: Tpp) -> None:
    name = tpp.initiated()
    for value, bank in (("yes", "SBXBBEBB"), ("no", None)):
        assert tpp.control("PATCH", "/settings", variants={"status_names_bank": value}).status_code == 200
        assert tpp.status(name).get_json().get("bank") == bank
        schemas = tpp.http.get("/_sandbox/openapi.json").get_json()["components"]["schemas"]
        assert ("bank" in schemas["PaymentStatusReply"]["properties"]) is (bank is not None)
    assert "The client reads the fields that it knows." in tpp.http.get("/_sandbox/docs/axes").text


def use_rule(tpp: Tpp) -> None:
    begun = signed(tpp, requested_execution_date="2027-03-09")
    assert cancel(tpp, begun, tokens(tpp)).status_code == 204
    found = tpp.control("GET", "/referee").get_json()
    assert "deleted-on-monday" in str(found), found


def use_endpoint_with_its_verb_error_and_reason(tpp: Tpp) -> None:
    """The act enters the log under its name, so a fork of the world replays it."""
    later = signed(tpp, debtor_account__iban=ALICE, requested_execution_date="2027-03-09")
    reader = Reader(tpp)
    path = f"/accounts/{reader.first}/freeze"
    token = {"accept": version(1), "authorization": f"Bearer {reader.access}"}
    assert tpp.call("PUT", path, **token).status_code == 204
    assert tpp.status(later.id).get_json() == {"payment_id": later.id, "status": "RJCT", "reason": "AC07"}
    again = tpp.call("PUT", path, **token)
    assert refused(again, 403, "B14800ZZ-3002-000000", "is frozen")
    assert explained(tpp, again.headers["Response-ID"])["would_succeed"] == "Another account."
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "fork", "at": MORNING}).status_code == 201
    assert Tpp(tpp.http.application, "fork").status(later.id).get_json()["reason"] == "AC07"
    assert documented()["paths"]["/accounts/{logical-id}/freeze"]["put"]["responses"]["204"]
    done = CliRunner().invoke(command, ["tables", "reasons", "operations", "errors"])
    assert all(text in done.output for text in ("The account is frozen.", "account_freeze", "is frozen."))


def use_endpoint_with_a_reply(tpp: Tpp) -> None:
    reader = Reader(tpp)
    reply = reader.get(f"/accounts/{reader.first}/owners", accept=version(1))
    assert reply.get_json() == {"owners": ["Alice Delvigne"]}, reply.text
    assert "owners" in documented()["components"]["schemas"]["AccountOwnersReply"]["properties"]


def use_habit(tpp: Tpp) -> None:
    """The past of a bank is made of it."""
    lines = Reader(tpp).full(date_from="2027-01-01")
    assert any("Prime" in str(line) for line in lines), lines[:3]


def use_database(_: Tpp) -> None:
    """What one server stored is there for the next."""
    beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    with TemporaryDirectory() as folder:
        with closing(open_store(f"folder://{folder}")) as store:
            name = Tpp(assemble(WorldRegistry(beginning, machine_time, store))).initiated()
        with closing(open_store(f"folder://{folder}")) as store:
            reply = Tpp(assemble(WorldRegistry(beginning, machine_time, store))).status(name)
            assert reply.get_json()["payment_id"] == name, reply.text


def play_steps(_: Tpp) -> None:
    for text in (STEPS, GERMAN):
        with serve_worlds(machine_time, jobs=1) as url:
            report = run_one(Script(read_scenario(text, "test"), text), url, machine_time)
        said = [(step.text, step.faults) for step in report.steps]
        assert report.trouble is None and all(step.passed for step in report.steps), (report.trouble, said)


USES: tuple[Callable[[Tpp], None], ...] = (
    use_product,
    use_product_without_cancellation,
    use_field,
    use_fields_in_the_middle,
    use_status,
    use_final_status_of_a_file,
    use_language,
    use_settings,
    use_axis,
    use_axis_of_replies,
    use_rule,
    use_endpoint_with_its_verb_error_and_reason,
    use_endpoint_with_a_reply,
    use_habit,
    use_database,
    play_steps,
)


def main() -> None:
    assert COPY in sandbox.__file__
    for use in USES:
        app = assemble(WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time))
        use(Tpp(app))
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
