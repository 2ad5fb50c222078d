"""Run by test_rows in a copy of the package that has a product, a status, a language, a setting, an axis and a referee
rule more: each is used as its users would."""

import sys
from datetime import date

import sandbox
from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.scenarios import read_scenario
from sandbox.web.docs.bank_document import document
from sandbox.worlds.registry import WorldRegistry
from tests.contract.test_rows import COPY, HELD_BACK, MORNING, TARGET_2
from tests.payer import cancel, signed, tokens
from tests.psu.psu import Psu
from tests.tpp import SCT, Tpp, payment


def use_product(tpp: Tpp) -> None:
    body = payment(TARGET_2, charge_bearer="SHAR", instructed_amount={"amount": "12.50", "currency": "USD"})
    reply = tpp.initiate(TARGET_2, body)
    assert reply.status_code == 201, reply.text
    name = reply.get_json()["payment_id"]
    tpp.signed(reply, "alice")
    assert tpp.status(name, TARGET_2).get_json()["status"] == "PDNG"
    assert tpp.call("DELETE", f"/payments/{TARGET_2}/{name}").status_code in (403, 405)
    assert f"/payments/{TARGET_2}" in document("http://bank", "service", date(2027, 3, 1))["paths"]
    assert tpp.control("GET", "/payments").get_json()["payments"][0]["product"] == TARGET_2
    read_scenario(f"steps:\n  - pay: {{product: {TARGET_2}}}\n    as: rent", "t2.yaml")


def use_status(tpp: Tpp) -> None:
    reply = tpp.initiate(SCT)
    name = reply.get_json()["payment_id"]
    tpp.signed(reply, "alice")
    moved = tpp.control("POST", f"/payments/{name}/move", status=HELD_BACK)
    assert moved.status_code == 200, moved.text
    assert tpp.status(name).get_json()["status"] == HELD_BACK
    schemas = document("http://bank", "service", date(2027, 3, 1))["components"]["schemas"]
    assert HELD_BACK in str(schemas["PaymentStatusReply"])
    page = tpp.http.get("/_sandbox/console/payments").text
    assert f"<option>{HELD_BACK}</option>" in page and f">{HELD_BACK}</" in page


def use_language(tpp: Tpp) -> None:
    assert tpp.control("PATCH", "/customers/alice", language="de").status_code == 200
    address = tpp.initiate(SCT).headers["Location"].removeprefix("http://localhost")
    page = Psu(tpp.http.application, "fr").open(f"{address}?lang=de")
    assert page.headers["Content-Language"] == "de" and "Deutsch" in page.text and "Anmelden bitte" in page.text


def use_setting(tpp: Tpp) -> None:
    assert tpp.control("PATCH", "/settings", tea_break="15m").get_json()["settings"]["tea_break"] == "15m"
    assert tpp.control("PATCH", "/settings", tea_break=15).status_code == 400
    assert tpp.control("PATCH", "/settings", tea="black").get_json()["settings"]["tea"] == "black"
    assert tpp.control("PATCH", "/settings", tea="red").status_code == 400
    read_scenario("settings: {tea_break: 5m}", "tea.yaml")
    assert "How long the bank has tea." in tpp.http.get("/_sandbox/docs/settings").text


def use_axis(tpp: Tpp) -> None:
    begun = signed(tpp, SCT, debtor_account__iban=tpp.iban_of("alice"), requested_execution_date="2027-03-09")
    pair = tokens(tpp)
    for value, status in (("refused", 403), ("permitted", 204)):
        assert tpp.control("PATCH", "/settings", variants={"monday_delete": value}).status_code == 200
        assert cancel(tpp, begun, pair).status_code == status


def use_rule(tpp: Tpp) -> None:
    found = tpp.control("GET", "/referee").get_json()
    assert "deleted-on-monday" in str(found), found


def main() -> None:
    assert COPY in sandbox.__file__
    app = assemble(WorldRegistry(first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time))
    tpp = Tpp(app)
    for use in (use_product, use_status, use_language, use_setting, use_axis, use_rule):
        use(tpp)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
