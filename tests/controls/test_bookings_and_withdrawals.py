"""choice 10: transactions made by hand, and consents that a PSU withdraws."""

from typing import Any

import pytest
from flask import Flask

from sandbox.banking.iban import make_belgian
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.reader import CAF, Reader, approved, book, consent_address
from tests.tpp import BELGIAN, FRENCH, Tpp, refused

INVALID, MISSING, NOT_FOUND = "SBX-0400-000001", "GEN-1201-100002", "SBX-0404-000001"


def post(tpp: Tpp, iban: str, **body: Any) -> Any:
    return tpp.control("POST", f"/accounts/{iban}/transactions", **body)


@pytest.fixture
def alice(tpp: Tpp) -> str:
    return tpp.iban_of("alice")


# Bookings


def test_an_amount_alone_is_enough(tpp: Tpp, alice: str) -> None:
    reply = post(tpp, alice, amount="12.50")
    assert reply.status_code == 201
    row = reply.json
    assert row.pop("transaction_ref")
    assert row == {
        "amount": 12.5,
        "currency": "EUR",
        "execution_date": "2027-03-01",
        "value_date": "2027-03-01",
        "counterparty_account": None,
        "counterparty_info": None,
        "communication": "",
        "communication_type": "FREETEXT",
        "remittance_info": "BY HAND",
    }


def test_all_that_is_said_is_shown(tpp: Tpp) -> None:
    row = book(
        tpp,
        tpp.iban_of("bram"),
        "-3.05",
        currency="USD",
        date="2026-12-24",
        counterparty={"iban": FRENCH, "name": "Café"},
        communication="+++090/9337/55493+++",
    )
    assert (row["amount"], row["currency"], row["execution_date"]) == (-3.05, "USD", "2026-12-24")
    assert (row["counterparty_account"], row["counterparty_info"]) == (FRENCH, "Café")
    assert (row["communication"], row["communication_type"]) == ("+++090/9337/55493+++", "STRUCTURED")


@pytest.mark.parametrize(
    "counterparty, shown",
    [
        ("Works NV", (None, "Works NV")),
        ({"name": "Works NV"}, (None, "Works NV")),
        ({"iban": BELGIAN}, (BELGIAN, None)),
        ({}, (None, None)),
        (None, (None, None)),
    ],
)
def test_a_counterparty_is_a_name_or_an_object(tpp: Tpp, alice: str, counterparty: Any, shown: tuple[Any, Any]) -> None:
    row = book(tpp, alice, counterparty=counterparty)
    assert (row["counterparty_account"], row["counterparty_info"]) == shown


def test_it_changes_the_balance_and_leaves_the_books_at_zero(worlds: WorldRegistry, tpp: Tpp, alice: str) -> None:
    reader = Reader(tpp)
    before = reader.account().get_json()["balance"]
    book(tpp, alice, "100.00", date="2026-06-01")
    book(tpp, alice, "-250.25")
    assert reader.account().get_json()["balance"] == pytest.approx(before - 150.25)
    assert set(worlds.get("default").bank.ledger.sum_by_currency().values()) == {0}


def test_an_account_may_be_made_to_owe(tpp: Tpp) -> None:
    iban = tpp.iban_of("poor")
    book(tpp, iban, "-9999.00")
    assert Reader(tpp, "poor").account().get_json()["balance"] < 0


@pytest.mark.parametrize("day", ["2027-03-01", "2017-03-01", "2017-01-01", "2024-02-29"])
def test_a_date_lies_at_most_ten_years_back(tpp: Tpp, alice: str, day: str) -> None:
    assert book(tpp, alice, date=day)["execution_date"] == day


@pytest.mark.parametrize(
    "name, values",
    [
        ("amount", ["", "0", "0.00", "-0", "1,00", "1.005", "1e3", "abc", "١", 12.5, 12, None, True, ["1"], "1" * 14]),
        ("currency", ["eur", "ZZZ", "", 978, "XAU", "USD"]),
        ("date", ["2027-03-02", "2016-12-31", "2027-02-29", "1 March", "", 20270301, None, "0001-01-01"]),
        ("counterparty", ["", 7, ["x"], {"bic": "x"}, {"name": ""}, {"name": 7}]),
        ("communication", ["", "x" * 141, "two\nlines", 7, {}]),
        ("colour", ["red"]),
    ],
)
def test_what_is_wrong_is_named_and_books_nothing(tpp: Tpp, alice: str, name: str, values: list[Any]) -> None:
    before = Reader(tpp).full()
    for value in values:
        body = {"amount": "1.00", name: value}
        assert refused(post(tpp, alice, **body), 400, INVALID, f"'{name}")
    assert Reader(tpp).full() == before


def test_an_iban_of_a_counterparty_is_a_valid_one(tpp: Tpp, alice: str) -> None:
    for iban in ("BE00000000000000", "x"):
        reply = post(tpp, alice, amount="1.00", counterparty={"iban": iban})
        assert refused(reply, 400, INVALID, "'counterparty.iban'")


def test_an_amount_has_no_more_decimals_than_its_currency(tpp: Tpp, alice: str) -> None:
    assert refused(post(tpp, alice, amount="1.00", currency="JPY"), 400, INVALID, "'amount'")


def test_an_amount_is_needed(tpp: Tpp, alice: str) -> None:
    assert refused(post(tpp, alice, communication="nothing"), 400, MISSING, "'amount'")
    assert refused(tpp.control("POST", f"/accounts/{alice}/transactions"), 400, MISSING, "'amount'")


def test_only_accounts_of_this_bank_are_booked_on(tpp: Tpp) -> None:
    for iban in (BELGIAN, make_belgian("539", 9), "x", "outside", "exchange"):
        assert refused(post(tpp, iban, amount="1.00"), 404, NOT_FOUND, "'account'")


def test_each_world_has_bookings_of_its_own(app: Flask, tpp: Tpp, alice: str) -> None:
    elsewhere = Tpp(app, "elsewhere")
    made = book(elsewhere, elsewhere.iban_of("alice"))
    assert made in Reader(elsewhere).page()["transactions"]
    assert made not in Reader(tpp).page()["transactions"]


def test_a_reset_takes_them_back(tpp: Tpp, alice: str) -> None:
    before = Reader(tpp).page()
    book(tpp, alice)
    tpp.control("POST", "/reset")
    assert Reader(tpp).page()["transactions"] == before["transactions"]


# Withdrawals


def withdraw(tpp: Tpp, **changes: Any) -> Any:
    body = {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"} | changes
    return tpp.control("POST", "/psu/withdraw", **{name: value for name, value in body.items() if value is not None})


def test_a_withdrawal_ends_that_consent_alone(tpp: Tpp, other: Tpp, alice: str) -> None:
    ended = Reader(tpp)
    standing = [Reader(other), Reader(tpp, "bram"), Reader(tpp, "alice", CAF, alice)]
    aim = ended.first
    assert withdraw(tpp).json == {"withdrawn": 1}
    assert refused(ended.account(aim), 403, "B14800ZZ-3013-000000")
    for reader in standing:
        assert reader.account().status_code == 200


def test_the_consents_of_every_account_of_caf_end_together(tpp: Tpp) -> None:
    ibans = [row["iban"] for row in tpp.listed("accounts") if row["customer"] == "alice"]
    readers = [Reader(tpp, "alice", CAF, iban) for iban in ibans]
    assert withdraw(tpp, scope=CAF).json == {"withdrawn": 2}
    for reader in readers:
        assert refused(reader.account(), 403, "B14800ZZ-3013-000000")


def test_a_consent_can_be_withdrawn_before_its_code_is_used(tpp: Tpp) -> None:
    approved(tpp, consent_address(tpp), "alice")
    assert withdraw(tpp).status_code == 200


@pytest.mark.parametrize(
    "changes", [{"client_id": "other-tpp"}, {"client_id": "nobody"}, {"customer": "bram"}, {"scope": "CAF"}]
)
def test_where_nothing_stands_nothing_is_withdrawn(tpp: Tpp, changes: dict[str, str]) -> None:
    reader = Reader(tpp)
    assert refused(withdraw(tpp, **changes), 404, NOT_FOUND, "'consent'")
    assert reader.listed().status_code == 200


def test_a_consent_ends_once(tpp: Tpp) -> None:
    Reader(tpp)
    assert withdraw(tpp).status_code == 200
    assert refused(withdraw(tpp), 404, NOT_FOUND)


def test_a_consent_that_is_over_cannot_be_withdrawn(tpp: Tpp) -> None:
    Reader(tpp)
    tpp.advance("180d")
    assert refused(withdraw(tpp), 404, NOT_FOUND)


@pytest.mark.parametrize("name", ["client_id", "customer", "scope"])
def test_what_is_withdrawn_must_be_said(tpp: Tpp, name: str) -> None:
    assert refused(withdraw(tpp, **{name: None}), 400, MISSING, f"'{name}'")
    assert refused(withdraw(tpp, **{name: 7}), 400, INVALID, f"'{name}'")
    assert refused(withdraw(tpp, colour="red"), 400, INVALID, "'colour'")


def test_after_a_withdrawal_a_new_consent_stands(tpp: Tpp) -> None:
    Reader(tpp)
    withdraw(tpp)
    assert Reader(tpp).listed().status_code == 200


# The log


def test_a_life_of_consents_and_bookings_is_replayed_to_the_same_bank(
    worlds: WorldRegistry, tpp: Tpp, alice: str
) -> None:
    reader = Reader(tpp)
    book(tpp, alice, "5.00", date="2026-06-01", counterparty="Works NV")
    asked = {"date_to": "2026-11-01", "psu_involved": "true"}
    address = reader.transactions(query=asked).get_json()["_links"]["sca_redirect"]["href"]
    approved(tpp, address)
    tpp.control("POST", "/psu/refuse", address=consent_address(tpp))
    reader.renew()
    withdraw(tpp)
    world = worlds.get("default")
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)
