"""choice 10: customers and accounts are made and changed while the bank runs."""

from typing import Any

import pytest

from sandbox.bank.state import Bank
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.payer import approve, balance, begin, cosign, is_balanced, signed, status, told
from tests.reader import Reader, consent_uris
from tests.spec import files
from tests.tpp import ISCT, SCT, Tpp, payment, refused

INVALID, UNKNOWN, TAKEN = "SBX-0400-000001", "SBX-0404-000001", "SBX-0409-000008"
CLOSED, PROFILE, CHANNEL = "B14800ZZ-3002-000000", "B14821ZZ-2101-000000", "B14800ZZ-3007-000000"
DENIED, FUNDS = "B14800ZZ-3004-000000", "SBX-0403-000001"


@pytest.fixture
def bank(worlds: WorldRegistry) -> Bank:
    return worlds.get("default").bank


@pytest.fixture
def alice(tpp: Tpp) -> str:
    return tpp.iban_of("alice")


def change(tpp: Tpp, path: str, **body: Any) -> Any:
    reply = tpp.control("PATCH", path, **body)
    assert reply.status_code == 200, reply.text
    return reply.get_json()


def add(tpp: Tpp, path: str, **body: Any) -> Any:
    reply = tpp.control("POST", path, **body)
    assert reply.status_code == 201, reply.text
    return reply.get_json()


def pay(tpp: Tpp, debtor: str, amount: str = "12.50", product: str = SCT, **more: Any) -> Any:
    body = payment(product, debtor_account__iban=debtor, instructed_amount__amount=amount, **more)
    return tpp.initiate(product, body)


# Customers


@pytest.mark.parametrize(
    "changes, amount, code",
    [
        ({"channel_blocked": True}, "12.50", CHANNEL),
        ({"limit_day": "100.00"}, "100.01", PROFILE),
        ({"limit_week": "100.00"}, "100.01", PROFILE),
        ({"countries": ["FR", "NL"]}, "12.50", PROFILE),
    ],
)
def test_a_customers_own_settings_refuse_from_now_on(
    tpp: Tpp, alice: str, changes: dict[str, Any], amount: str, code: str
) -> None:
    assert pay(tpp, alice, amount).status_code == 201
    shown = change(tpp, "/customers/alice", **changes)
    assert {name: shown[name] for name in changes} == changes
    assert refused(pay(tpp, alice, amount), 403, code)
    change(tpp, "/customers/alice", **{name: False if value is True else None for name, value in changes.items()})
    assert pay(tpp, alice, amount).status_code == 201


def test_a_blocked_channel_ends_the_reading_of_accounts(tpp: Tpp) -> None:
    reader = Reader(tpp)
    change(tpp, "/customers/alice", channel_blocked=True)
    assert refused(reader.listed(), 403, CHANNEL)
    change(tpp, "/customers/alice", channel_blocked=False)
    assert reader.listed().status_code == 200


def test_a_new_customer_has_accounts_that_pay_and_are_read(tpp: Tpp, bank: Bank) -> None:
    made = add(tpp, "/customers", customer="zoe", name="Zoé <b>", language="nl", limit_day="90.00")
    assert (made["kind"], made["accounts"], made["limit_day"]) == ("private", [], "90.00")
    opened = add(tpp, "/accounts", customer="zoe", balance="100.00", overdraft="50.00")
    assert opened["balances"] == [{"currency": "EUR", "balance": 100.0}] and opened["iban"][4:7] == "539"
    assert tpp.iban_of("zoe") == opened["iban"]
    assert pay(tpp, opened["iban"], "90.00").status_code == 201
    assert refused(pay(tpp, opened["iban"], "90.01"), 403, PROFILE)
    assert set(Reader(tpp, "zoe").ids) == {opened["iban"]}
    assert is_balanced(bank)


def test_an_account_of_an_iban_of_this_bank_may_be_opened_and_no_other(tpp: Tpp, alice: str) -> None:
    assert refused(tpp.control("POST", "/accounts", customer="alice", iban=alice), 409, TAKEN)
    assert refused(tpp.control("POST", "/accounts", customer="alice", iban="BE68539007547035"), 400, INVALID, "iban")
    foreign = tpp.control("POST", "/accounts", customer="alice", iban="FR7630006000011234567890189")
    assert refused(foreign, 400, INVALID, "iban")
    first, second = (add(tpp, "/accounts", customer="alice")["iban"] for _ in range(2))
    assert first != second


def test_a_new_account_takes_its_balances_as_the_list_of_accounts_has_them(tpp: Tpp, bank: Bank) -> None:
    listed = [{"currency": "USD", "balance": "50.00"}, {"currency": "EUR", "balance": 100.5}]
    made = add(tpp, "/accounts", customer="bram", balances=listed)
    assert made["balances"] == [{"currency": "USD", "balance": 50.0}, {"currency": "EUR", "balance": 100.5}]
    assert tpp.listed("accounts")[-1]["balances"] == made["balances"] and is_balanced(bank)
    row = {"currency": "EUR", "balance": "1.00"}
    wrong: dict[str, Any]
    for wrong in (
        {"balances": [row, row]},
        {"balances": []},
        {"balances": [{"currency": "EUR"}]},
        {"balances": [row | {"balance": "1.001"}]},
        {"balances": [row | {"balance": "-1.00"}]},
        {"balances": [row | {"balance": True}]},
        {"balances": [row], "balance": "1.00"},
        {"balances": [row], "currencies": ["USD"]},
    ):
        assert refused(tpp.control("POST", "/accounts", customer="bram", **wrong), 400, INVALID, "balances")


# Accounts


def test_a_closed_account_pays_nothing_and_takes_nothing(tpp: Tpp, bank: Bank, alice: str) -> None:
    bram = tpp.iban_of("bram")
    for product in (SCT, ISCT):
        pay(tpp, bram, product=product)
    coming = signed(tpp, customer="bram", creditor_account__iban=alice, debtor_account__iban=bram)
    assert change(tpp, f"/accounts/{alice}", closed=True)["closed"] is True
    assert refused(pay(tpp, alice), 403, CLOSED, "closed")
    before = balance(bank, bram)
    tpp.advance("2m")
    assert told(tpp, coming) == ("RJCT", "AC04") and balance(bank, bram) == before and is_balanced(bank)
    assert change(tpp, f"/accounts/{alice}", closed=False)["closed"] is False
    assert pay(tpp, alice).status_code == 201


def test_a_payment_that_waits_on_an_account_that_closes_is_rejected(tpp: Tpp, alice: str) -> None:
    waiting = signed(tpp, debtor_account__iban=alice, requested_execution_date="2027-03-08")
    unsigned = begin(tpp, debtor_account__iban=alice)
    change(tpp, f"/accounts/{alice}", closed=True)
    assert refused(approve(tpp, unsigned.address, "alice"), 403, CLOSED)
    tpp.advance("7d")
    assert told(tpp, waiting) == ("RJCT", "AC04")


def test_a_customer_who_picks_is_not_offered_a_closed_account(tpp: Tpp, alice: str) -> None:
    change(tpp, f"/accounts/{alice}", closed=True)
    begun = begin(tpp)
    assert refused(approve(tpp, begun.address, "alice", account=alice), 403, CLOSED)
    assert refused(approve(tpp, begun.address, "alice"), 400, INVALID, "no current account")


def test_a_file_of_a_closed_account_is_refused_and_a_closed_beneficiary_sends_its_part_back(
    tpp: Tpp, bank: Bank, alice: str
) -> None:
    debtor = tpp.iban_of("bakkerij")
    change(tpp, f"/accounts/{alice}", closed=True)
    held = balance(bank, debtor)
    files.signed(tpp, files.pain(files.bulk("5.00", to=alice, booking=False), files.bulk("7.00", name="B")))
    tpp.advance("2m")
    assert held - balance(bank, debtor) == 7 and is_balanced(bank)
    change(tpp, f"/accounts/{debtor}", closed=True)
    again = files.validated(tpp, files.pain(message_id="M-2"))
    assert (files.statuses(tpp, again), files.codes(tpp, again)) == (["RJCT", "RJCT"], ["ACCOUNT"])


def test_a_file_that_nobody_may_sign_any_more_is_not_signed_by_force(tpp: Tpp) -> None:
    file = files.validated(tpp, files.pain(files.bulk("5.00"), files.bulk("7.00", name="B", of=files.RESERVE)))
    change(tpp, f"/accounts/{files.RESERVE}", signers=["alice"])
    forced = tpp.control("POST", f"/payments/{file}/move", status="PDNG")
    assert refused(forced, 409, "SBX-0409-000002", "a file that nobody may sign")
    change(tpp, f"/accounts/{files.RESERVE}", signers=["bakkerij"])
    assert tpp.control("POST", f"/payments/{file}/move", status="PDNG").status_code == 200


def test_a_file_whose_first_signer_is_known_is_signed_by_force(tpp: Tpp) -> None:
    """As before, so that a stored world is replayed to the same outcome."""
    for account in (files.BAKKERIJ, files.RESERVE):
        change(tpp, f"/accounts/{account}", signers=["bakkerij", "griet"], signatures_required=2)
    file = files.validated(tpp, files.pain(files.bulk("5.00"), files.bulk("7.00", name="B", of=files.RESERVE)))
    address = files.status(tpp, file)["_links"]["sca_redirect"]["href"]
    assert tpp.control("POST", "/psu/approve", address=address, customer="bakkerij").status_code == 200
    change(tpp, f"/accounts/{files.RESERVE}", signers=["alice"])
    assert tpp.control("POST", f"/payments/{file}/move", status="PDNG").status_code == 200


def test_what_a_closed_beneficiary_sends_back_on_a_saturday_is_booked_on_monday(
    tpp: Tpp, bank: Bank, alice: str
) -> None:
    debtor = tpp.iban_of("bakkerij")
    change(tpp, f"/accounts/{alice}", closed=True)
    assert tpp.control("POST", "/clock", set="2027-03-06T10:00:00+01:00").status_code == 200
    held = balance(bank, debtor)
    files.signed(tpp, files.pain(files.bulk("5.00", to=alice, booking=False, day="2027-03-06")))
    tpp.advance("2m")
    assert held - balance(bank, debtor) == 5 and is_balanced(bank)
    tpp.advance("2d")
    assert held == balance(bank, debtor) and is_balanced(bank)
    assert [line.on.isoformat() for line in bank.ledger.list_lines(debtor, "EUR")[-2:]] == ["2027-03-06", "2027-03-08"]


def test_no_consent_shows_a_closed_account(tpp: Tpp, alice: str) -> None:
    reader = Reader(tpp)
    logical_id = reader.ids[alice]
    change(tpp, f"/accounts/{alice}", closed=True)
    assert alice not in reader.ids and len(reader.ids) == 1
    for path in (f"/accounts/{logical_id}", f"/accounts/{logical_id}/transactions"):
        assert refused(reader.get(path), 403, DENIED, "closed")
    assert refused(consent_uris(tpp, f"scope=CAF&iban={alice}", 3), 403, CLOSED)
    change(tpp, f"/accounts/{alice}", closed=False)
    assert reader.get(f"/accounts/{logical_id}").status_code == 200
    change(tpp, f"/accounts/{alice}", closed=True)
    assert alice not in Reader(tpp).ids


def test_nothing_is_booked_by_hand_on_a_closed_account(tpp: Tpp, alice: str) -> None:
    change(tpp, f"/accounts/{alice}", closed=True)
    reply = tpp.control("POST", f"/accounts/{alice}/transactions", amount="1.00")
    assert refused(reply, 400, INVALID, "closed")


def test_the_habits_of_a_closed_account_stop_until_it_is_opened(tpp: Tpp, bank: Bank, alice: str) -> None:
    tpp.control("PATCH", "/settings", life="on")
    change(tpp, f"/accounts/{alice}", closed=True)
    lines = len(bank.ledger.list_lines(alice, "EUR"))
    tpp.advance("60d")
    assert len(bank.ledger.list_lines(alice, "EUR")) == lines
    change(tpp, f"/accounts/{alice}", closed=False)
    tpp.advance("30d")
    assert len(bank.ledger.list_lines(alice, "EUR")) > lines


def test_an_overdraft_lets_an_account_pay_below_zero(tpp: Tpp) -> None:
    poor = tpp.iban_of("poor")
    assert refused(pay(tpp, poor, "400.00"), 403, FUNDS)
    assert change(tpp, f"/accounts/{poor}", overdraft="500.00")["overdraft"] == "500.00"
    assert pay(tpp, poor, "400.00").status_code == 201
    change(tpp, f"/accounts/{poor}", overdraft=None)
    assert refused(pay(tpp, poor, "400.00"), 403, FUNDS)


def test_an_account_may_need_two_signatures_from_now_on(tpp: Tpp, alice: str) -> None:
    shown = change(tpp, f"/accounts/{alice}", signatures_required=2, signers=["alice", "bram"])
    assert (shown["signatures_required"], shown["signers"]) == (2, ["alice", "bram"])
    begun = signed(tpp, debtor_account__iban=alice)
    assert status(tpp, begun) == "PATC"
    assert cosign(tpp, begun.id, "bram").status_code == 200 and status(tpp, begun) == "PDNG"


def test_the_balance_that_is_shown_changes_with_its_parameter(tpp: Tpp) -> None:
    bram = tpp.iban_of("bram")
    reader = Reader(tpp, "bram")
    path = f"/accounts/{reader.ids[bram]}"
    euro = reader.get(path).get_json()["balance"]
    assert change(tpp, f"/accounts/{bram}", balance_shown="globalised")["balance_shown"] == "globalised"
    assert reader.get(path).get_json()["balance"] > euro


# The log, the journal, and what is wrong


def test_each_change_has_a_line_in_the_journal_and_a_world_that_is_replayed_has_it_too(
    tpp: Tpp, worlds: WorldRegistry, alice: str
) -> None:
    change(tpp, "/customers/alice", channel_blocked=True, limit_day="70.00")
    change(tpp, f"/accounts/{alice}", closed=True, overdraft="500.00")
    change(tpp, f"/accounts/{alice}", closed=True)  # nothing differs
    add(tpp, "/customers", customer="zoe")
    iban = add(tpp, "/accounts", customer="zoe", balance="5.00")["iban"]
    lines = [(row["subject"], row["trigger"], row["reason"]) for row in tpp.listed("journal")]
    assert lines == [
        ("alice", "changed", "channel_blocked=true, limit_day=70.00"),
        (alice, "changed", "closed=true, overdraft=500.00"),
        ("zoe", "added", None),
        (iban, "added", None),
    ]
    world = worlds.get("default")
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)


WRONG: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("PATCH", "/customers/alice", {"limit_day": 5}, "limit_day"),
    ("PATCH", "/customers/alice", {"limit_day": "-5.00"}, "limit_day"),
    ("PATCH", "/customers/alice", {"limit_week": "5.001"}, "limit_week"),
    ("PATCH", "/customers/alice", {"language": "en"}, "fr, nl"),
    ("PATCH", "/customers/alice", {"channel_blocked": "yes"}, "channel_blocked"),
    ("PATCH", "/customers/alice", {"countries": ["Belgium"]}, "'Belgium' is no country"),
    ("PATCH", "/customers/alice", {"countries": []}, "null for all"),
    ("PATCH", "/customers/alice", {"methods": ["biometric"]}, "did you mean 'biometrics'?"),
    ("PATCH", "/customers/alice", {"channel_bloked": True}, "channel_blocked"),
    ("PATCH", "/customers/alice", {}, "nothing is to be changed"),
    ("PATCH", "/accounts/ALICE", {"signatures_required": 0}, "1 to 9"),
    ("PATCH", "/accounts/ALICE", {"signatures_required": True}, "1 to 9"),
    ("PATCH", "/accounts/ALICE", {"balance_shown": "globalized"}, "did you mean 'globalised'?"),
    ("PATCH", "/accounts/ALICE", {"overdraft": "much"}, "500.00"),
    ("PATCH", "/accounts/ALICE", {"balance": "5.00"}, "balance"),
    ("POST", "/customers", {"customer": "a b"}, "customer"),
    ("POST", "/customers", {"customer": "zoe", "kind": "shop"}, "private, business"),
    ("POST", "/accounts", {"customer": "alice", "currencies": ["USD"], "balance": "5.00"}, "compartment"),
    ("POST", "/accounts", {"customer": "alice", "currencies": ["EUR", "EUR"]}, "each once"),
)


@pytest.mark.parametrize("method, path, body, named", WRONG)
def test_what_is_wrong_is_named_and_changes_nothing(
    tpp: Tpp, bank: Bank, alice: str, method: str, path: str, body: dict[str, Any], named: str
) -> None:
    before = hash_state(bank)
    assert refused(
        tpp.http.open(f"/_sandbox{path.replace('ALICE', alice)}", method=method, json=body), 400, INVALID, named
    )
    assert hash_state(bank) == before


@pytest.mark.parametrize(
    "method, path, body, near",
    [
        ("PATCH", "/customers/alcie", {"channel_blocked": True}, "did you mean 'alice'?"),
        ("PATCH", "/accounts/BE00539", {"closed": True}, "'account BE00539' was not found"),
        ("GET", "/customers/brom", None, "did you mean 'bram'?"),
        ("GET", "/accounts/x", None, "'account x' was not found"),
        ("POST", "/accounts", {"customer": "Poor"}, "did you mean 'poor'?"),
        ("PATCH", "/accounts/ALICE", {"signers": ["grit"]}, "did you mean 'griet'?"),
    ],
)
def test_an_unknown_id_is_404_with_the_nearest_name(
    tpp: Tpp, alice: str, method: str, path: str, body: dict[str, Any] | None, near: str
) -> None:
    reply = tpp.http.open(f"/_sandbox{path.replace('ALICE', alice)}", method=method, json=body)
    assert refused(reply, 404, UNKNOWN, near)


def test_a_name_is_given_once(tpp: Tpp) -> None:
    assert refused(tpp.control("POST", "/customers", customer="alice"), 409, TAKEN, "alice")


def test_a_name_that_no_customer_has_is_refused_with_the_nearest_one(tpp: Tpp) -> None:
    reply = tpp.control("POST", "/psu/approve", address=tpp.initiate().headers["Location"], customer="alic")
    assert refused(reply, 400, INVALID, "there is no such customer; did you mean 'alice'?")
    assert reply.get_json()["error_description"].endswith("?")
