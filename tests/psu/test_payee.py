"""Choice 14: the bank's page shows the verification of payee between the review and the signature."""

from typing import Any

import pytest
from flask import Flask

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.psu.psu import Psu, address_of, file_address, file_id, order_address, problem, row, title
from tests.spec.bodies import ALICE, BAKKERIJ, BRAM
from tests.tpp import BELGIAN, ISCT, XB, Tpp, payment, refused

SEEN = {
    "fr": {
        "match": "Le nom correspond",
        "close": "Le nom correspond presque",
        "none": "Le nom ne correspond pas",
        "impossible": "La vérification n’est pas possible",
    },
    "nl": {
        "match": "De naam komt overeen",
        "close": "De naam komt bijna overeen",
        "none": "De naam komt niet overeen",
        "impossible": "De controle is niet mogelijk",
    },
}
WORDS = {"match": "match", "close": "close_match", "none": "no_match", "impossible": "not_possible"}
FROM_ALICE: dict[str, Any] = {"debtor_account": {"iban": ALICE}}
UNREACHABLE = "NL41SBXU0123456789"


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


@pytest.fixture(autouse=True)
def checking(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", payee_check="page")


def only_payment(tpp: Tpp) -> tuple[str, str | None]:
    (found,) = tpp.listed("payments")
    return found["status"], found["reason"]


def checks(tpp: Tpp) -> list[str]:
    return [line["reason"] for line in tpp.listed("journal") if line["trigger"] == "payee_checked"]


@pytest.mark.parametrize("language", SEEN)
@pytest.mark.parametrize("name", WORDS)
def test_the_customer_sees_the_outcome_and_goes_on(tpp: Tpp, psu: Psu, name: str, language: str) -> None:
    address = address_of(tpp, language=language, creditor_name=f"Test VoP {name}", **FROM_ALICE)
    psu.log_in(address, "alice")
    assert f'href="{address}/payee"' in psu.page.text
    page = psu.open(f"{address}/code").text
    assert f"<h2>{SEEN[language][name]}</h2>" in page and 'id="shown"' not in page
    assert ("Tess VoP Close" in page) == (name == "close")
    assert 'id="shown"' in psu.send(f"{address}/payee").text
    assert psu.type(address, psu.read_code(address)).status_code == 303
    assert only_payment(tpp) == ("PDNG", None) and checks(tpp) == [WORDS[name]]


def test_nobody_signs_without_having_seen_the_outcome(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, **FROM_ALICE)
    psu.log_in(address, "alice")
    assert psu.type(address, "123456").status_code == 422
    assert psu.send(f"{address}/biometrics").status_code == 422
    assert only_payment(tpp) == ("PATC", None)
    psu.send(f"{address}/payee")
    psu.log_in(address, "alice")  # another log-in begins again
    assert title(psu.open(f"{address}/code")) == "Vérifiez le nom du bénéficiaire"


def test_the_customer_leaves_and_the_tpp_learns_of_a_refusal(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, creditor_name="Test VoP none", **FROM_ALICE)
    psu.log_in(address, "alice")
    psu.open(f"{address}/payee")
    assert "error=access_denied" in psu.refuse(address).headers["Location"]
    assert only_payment(tpp) == ("CANC", "PSU_REFUSED")


def test_a_bank_may_stop_at_a_close_match(tpp: Tpp, psu: Psu) -> None:
    tpp.control("PATCH", "/settings", payee_close="stops")
    address = address_of(tpp, creditor_name="Test VoP close", **FROM_ALICE)
    psu.log_in(address, "alice")
    page = psu.open(f"{address}/payee").text
    assert "Notre banque n’exécute pas ce virement sous ce nom" in page and f'action="{address}/payee"' not in page
    assert "au nom de Tess VoP Close" in problem(psu.send(f"{address}/payee"))
    reply = tpp.http.post("/_sandbox/psu/approve", json={"address": address, "customer": "alice"})
    assert refused(reply, 403, "SBX-0403-000007", "Tess VoP Close")
    psu.refuse(address)
    assert only_payment(tpp) == ("CANC", "PSU_REFUSED")


@pytest.mark.parametrize("name", ["match", "none", "impossible"])
def test_other_outcomes_stop_nobody(tpp: Tpp, name: str) -> None:
    tpp.control("PATCH", "/settings", payee_close="stops")
    reply = tpp.initiate(body=payment(creditor_name=f"Test VoP {name}"))
    given = {"address": reply.headers["Location"], "customer": "alice"}
    assert tpp.http.post("/_sandbox/psu/approve", json=given).status_code == 200
    assert checks(tpp) == [WORDS[name]]


def test_the_holder_of_an_account_of_the_bank_decides(tpp: Tpp, psu: Psu) -> None:
    to_bram: dict[str, Any] = {"creditor_account": {"iban": BRAM}, "creditor_name": "B. Vermeersel"}
    address = address_of(tpp, **to_bram, **FROM_ALICE)
    psu.log_in(address, "alice")
    page = psu.open(f"{address}/payee").text
    assert "Bram Vermeersel" in page and SEEN["fr"]["close"] in page


def test_a_standing_order_is_checked_too(tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, creditor_name="Test VoP none", **FROM_ALICE)
    psu.log_in(address, "alice")
    assert SEEN["fr"]["none"] in psu.open(f"{address}/code").text
    psu.send(f"{address}/payee")
    assert psu.type(address, psu.read_code(address)).status_code == 303
    assert checks(tpp) == ["no_match"]


def test_a_cross_border_payment_is_not_checked(tpp: Tpp, psu: Psu) -> None:
    body: dict[str, Any] = {"creditor_account": {"iban": "CH9300762011623852957", "bic": "UBSWCHZH80A"}}
    address = address_of(tpp, XB, creditor_address={"city": "Bern", "country": "CH"}, **body, **FROM_ALICE)
    psu.log_in(address, "alice")
    assert psu.read_code(address) and checks(tpp) == []


def test_a_rule_decides_the_outcome_of_the_payments_that_meet_it(tpp: Tpp, psu: Psu) -> None:
    then = [{"payee": "close_match", "name": "Jan Pieters"}, {"on": "ACSP", "move": "RJCT", "reason": "AC06"}]
    rules = [{"when": {"kind": "payment", "amount": {"over": "10.00"}}, "then": then}]
    tpp.control("PUT", "/scenario", scenario={"rules": rules, "settings": {"payee_check": "page"}})
    address = address_of(tpp, **FROM_ALICE)
    psu.log_in(address, "alice")
    assert "Jan Pieters" in psu.open(f"{address}/payee").text
    psu.send(f"{address}/payee")
    psu.type(address, psu.read_code(address))
    tpp.advance("1m")
    assert only_payment(tpp) == ("RJCT", "AC06")


def test_a_world_that_is_replayed_or_carried_elsewhere_has_the_same_outcomes(
    worlds: WorldRegistry, tpp: Tpp, psu: Psu
) -> None:
    rule = {"when": {"kind": "payment"}, "then": [{"payee": "close_match", "name": "Jan Pieters"}]}
    instant = {"when": {"product": ISCT}, "then": [{"unreachable": True}]}
    tpp.control("PUT", "/scenario", scenario={"rules": [instant, rule], "settings": {"payee_check": "page"}})
    tpp.control("PATCH", "/customers/bakkerij", payee_check_of_files=False)
    address = address_of(tpp, **FROM_ALICE)
    psu.log_in(address, "alice")
    psu.open(f"{address}/payee")
    psu.send(f"{address}/payee")
    psu.type(address, psu.read_code(address))
    world = worlds.get("default")
    assert hash_state(replay(world.beginning, world.log, world.bank.clock.now)) == hash_state(world.bank)
    file = tpp.http.get("/_sandbox/export").data
    kind = "application/x-ndjson" if file[:1] == b"{" else "application/gzip"
    assert tpp.http.post("/_sandbox/import?as=there", data=file, content_type=kind).status_code == 201
    assert hash_state(worlds.get("there").bank) == hash_state(world.bank)


def test_by_default_nothing_is_checked(tpp: Tpp, psu: Psu) -> None:
    tpp.control("PATCH", "/settings", payee_check="off")
    address = address_of(tpp, creditor_name="Test VoP none", **FROM_ALICE)
    psu.log_in(address, "alice")
    assert "Étape 2 sur 3" in psu.page.text and psu.read_code(address)
    assert checks(tpp) == []


def test_explain_and_the_console_show_the_outcome(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, creditor_name="Test VoP close", **FROM_ALICE)
    psu.log_in(address, "alice")
    (found,) = tpp.listed("payments")
    tpp.status(found["payment_id"])
    asked = tpp.listed("requests")[-1]["request_id"]
    told = tpp.http.get(f"/_sandbox/explain/{asked}").get_json()["history"]
    assert ("payee_checked", "close_match") in [(line["trigger"], line["reason"]) for line in told]
    shown = tpp.http.get(f"/_sandbox/console/payments/{found['payment_id']}").text
    assert "close match: Tess VoP Close" in shown


# Files


def rows_of(names: tuple[str, ...]) -> list[str]:
    return [row(BAKKERIJ, "2027-03-02", name, "10.00", f"R-{place}") for place, name in enumerate(names)]


NAMES = ("Test VoP match", "Test VoP match", "Test VoP close", "Test VoP none", "Jan Peeters")


def test_the_transactions_of_a_file_are_checked_after_its_validation(tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *rows_of(NAMES)))
    psu.log_in(address, "bakkerij")
    page = psu.open(f"{address}/code").text
    assert title(psu.page) == "Vérifiez les noms des bénéficiaires" and "Tess VoP Close" in page
    assert "<dt>Le nom correspond</dt><dd>2 virements</dd>" in page
    assert "<dt>La vérification n’est pas possible</dt><dd>1 virement</dd>" in page
    psu.send(f"{address}/payee")
    assert psu.type(address, psu.read_code(address)).status_code == 303
    assert checks(tpp) == ["match 2, close_match 1, no_match 1, not_possible 1"]


def test_a_long_list_of_differing_payees_is_cut(tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *rows_of(("Jan Peeters",) * 53)))
    psu.log_in(address, "bakkerij")
    page = psu.open(f"{address}/payee").text
    assert page.count("<article") == 50 and "3 autres bénéficiaires" in page


def test_a_business_customer_who_opted_out_sees_no_check(tpp: Tpp, psu: Psu) -> None:
    tpp.control("PATCH", "/customers/bakkerij", payee_check_of_files=False)
    address = file_address(tpp, file_id(tpp, *rows_of(NAMES)))
    psu.log_in(address, "bakkerij")
    assert psu.read_code(address) and checks(tpp) == []


# A bank that takes no instant payments now


@pytest.mark.parametrize(
    "body", [{"creditor_account": {"iban": UNREACHABLE}}, {"creditor_name": "Test unreachable"}], ids=["bank", "name"]
)
def test_an_instant_payment_to_an_unreachable_bank_is_refused_on_the_page(
    tpp: Tpp, psu: Psu, body: dict[str, Any]
) -> None:
    address = address_of(tpp, ISCT, **body)
    psu.log_in(address, "alice")
    page = psu.pick(address, f"{ALICE} EUR")
    assert "n’est pas joignable pour un virement instantané" in problem(page)
    given = {"address": address, "customer": "alice"}
    assert refused(tpp.http.post("/_sandbox/psu/approve", json=given), 403, "SBX-0403-000008", "cannot be reached")
    assert "error=access_denied" in psu.refuse(address).headers["Location"]
    assert only_payment(tpp) == ("CANC", "PSU_REFUSED")


def test_an_ordinary_payment_reaches_that_bank(tpp: Tpp) -> None:
    address = address_of(tpp, creditor_account={"iban": UNREACHABLE})
    given = {"address": address, "customer": "alice"}
    assert tpp.http.post("/_sandbox/psu/approve", json=given).status_code == 200


def test_a_further_signer_reads_what_was_checked(tpp: Tpp, psu: Psu) -> None:
    notaris = tpp.iban_of("notaris")
    address = address_of(tpp, creditor_name="Test VoP none", debtor_account={"iban": notaris}, language="nl")
    tpp.http.post("/_sandbox/psu/approve", json={"address": address, "customer": "notaris"})
    (found,) = tpp.listed("payments")
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="griet")
    assert SEEN["nl"]["none"] in psu.open(f"/psu/channel/payments/{found['payment_id']}?lang=nl").text
    assert BELGIAN[:4] in psu.page.text
