"""Money that comes back after the settlement, what a card reserves, and what an overdraft allows (choice 5, 13)."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.contracts import order, variable
from tests.stories import follow, journal_of, put, told
from tests.tpp import ISCT, SCT, XB, Tpp, payment, refused

NORA = {"name": "Nora Peeters", "kind": "private", "language": "nl"}
NUMBER = 3000001


def nora(*habits: dict[str, Any], **account: Any) -> dict[str, Any]:
    """A bank with one more customer, her habits and her account."""
    accounts = {"nora-current": {"number": NUMBER, "owners": ["nora"], "opening": {"EUR": "100.00"}, **account}}
    return {"customers": {"nora": {**NORA, "habits": list(habits)}}, "accounts": accounts}


GYM = {"what": "gym", "amount": "-39.00", "day": 10, "by": "direct_debit", "name": "Fit NV"}
FUEL = {"what": "fuel", "between": ["-50.00", "-30.00"], "a_week": 1, "by": "card", "hold": "80.00", "name": "Station"}


def balance(tpp: Tpp, iban: str, currency: str = "EUR") -> Decimal:
    account = next(row for row in tpp.listed("accounts") if row["iban"] == iban)
    return next(Decimal(str(row["balance"])) for row in account["balances"] if row["currency"] == currency)


def signed(tpp: Tpp, product: str = SCT, customer: str = "bram", **changes: Any) -> str:
    reply = tpp.initiate(product, payment(product, debtor_account={"iban": tpp.iban_of(customer)}, **changes))
    tpp.signed(reply)
    return str(reply.get_json()["payment_id"])


def lines(worlds: WorldRegistry, iban: str) -> list[tuple[str, Decimal]]:
    """What this bank added to an account: the remark and the amount."""
    bank = worlds.get("default").bank
    added = [line for line in bank.ledger.list_lines(iban, "EUR") if line.number > bank.ledger.past.count]
    return [(line.entry.remark, line.posting.amount.number) for line in added]


# Returns and recalls


@pytest.mark.parametrize("product", [SCT, ISCT, XB])
@pytest.mark.parametrize("back", ["return", "recall"])
def test_a_settled_payment_comes_back_as_a_second_line_and_stays_settled(
    tpp: Tpp, worlds: WorldRegistry, product: str, back: str
) -> None:
    follow(tpp, rules=[{"title": "back", "when": {"kind": "payment"}, "then": [{back: "AC04", "after": "2d"}]}])
    iban = tpp.iban_of("bram")
    before = balance(tpp, iban)
    payment_id = signed(tpp, product)
    tpp.advance("47h")
    assert balance(tpp, iban) < before
    tpp.advance("2h")
    assert balance(tpp, iban) == before
    assert told(tpp, payment_id, product) == ("ACSC", None)
    assert journal_of(tpp, payment_id)[-1] == ("ACSC", "AC04", "back")
    (out, left), (into, came) = lines(worlds, iban)
    assert left == -came and into.startswith(f"{back.upper()} AC04 ")
    assert not any(worlds.get("default").bank.ledger.sum_by_currency().values())


def test_a_beneficiary_in_this_bank_gives_the_money_back(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, rules=[{"when": {"kind": "payment"}, "then": [{"return": "MD07", "after": "1d"}]}])
    alice = tpp.iban_of("alice")
    before = balance(tpp, alice)
    signed(tpp, creditor_account={"iban": alice})
    tpp.advance("2m")
    assert balance(tpp, alice) == before + Decimal("12.50")
    tpp.advance("1d")
    assert balance(tpp, alice) == before
    assert [amount for _, amount in lines(worlds, alice)] == [Decimal("12.50"), Decimal("-12.50")]


def test_what_was_never_settled_is_not_sent_back_and_nothing_comes_back_twice(tpp: Tpp, worlds: WorldRegistry) -> None:
    then = [{"on": "ACSP", "move": "RJCT", "reason": "AC04"}, {"return": "AC04", "after": "1d"}]
    twice = [{"return": "AC04", "after": "1d"}, {"recall": "FOCR", "after": "2d"}]
    rules = [{"when": {"kind": "payment", "creditor_name": "One"}, "then": then}]
    follow(tpp, rules=[*rules, {"when": {"kind": "payment", "creditor_name": "Two"}, "then": twice}])
    iban = tpp.iban_of("bram")
    before = balance(tpp, iban)
    rejected, returned = signed(tpp, creditor_name="One"), signed(tpp, creditor_name="Two")
    tpp.advance("5d")
    assert balance(tpp, iban) == before
    assert (told(tpp, rejected)[0], told(tpp, returned)[0]) == ("RJCT", "ACSC")
    assert len(lines(worlds, iban)) == 4


def test_a_return_that_waits_is_promised_and_holds_up_no_settlement(tpp: Tpp) -> None:
    rule = {"when": {"kind": "payment"}, "then": [{"on": "ACSP", "return": "AC04", "after": "3d"}]}
    follow(tpp, rules=[rule], settings={"settled_status": "ACSP"})
    iban = tpp.iban_of("bram")
    before = balance(tpp, iban)
    payment_id = signed(tpp)
    tpp.advance("5s")
    assert [row["trigger"] for row in tpp.listed("timeline")] == ["settled", "ruled"]
    tpp.advance("60s")
    assert [row["trigger"] for row in tpp.listed("timeline")] == ["ruled"]
    tpp.advance("3d")
    assert balance(tpp, iban) == before
    assert told(tpp, payment_id) == ("ACSP", None)


def clock_at(tpp: Tpp, at: str) -> None:
    assert tpp.control("POST", "/clock", set=at).status_code == 200


def days_of(worlds: WorldRegistry, iban: str) -> list[str]:
    """The days of what this bank added to an account."""
    bank = worlds.get("default").bank
    return [line.on.isoformat() for line in bank.ledger.list_lines(iban, "EUR") if line.number > bank.ledger.past.count]


@pytest.mark.parametrize(
    "paid, name, back",
    [
        ("2027-03-04T10:00:00+01:00", "Test returned", "2027-03-08"),  # Saturday
        ("2027-03-05T10:00:00+01:00", "Test returned", "2027-03-08"),  # Sunday
        ("2027-03-24T10:00:00+01:00", "Test returned", "2027-03-30"),  # Good Friday
        ("2027-03-02T10:00:00+01:00", "Test recalled", "2027-03-08"),  # Sunday
        ("2027-04-26T10:00:00+02:00", "Test recalled", "2027-05-03"),  # 1 May, a Saturday
        ("2027-03-03T10:00:00+01:00", "Test returned", "2027-03-05"),  # a banking day: at its own time
    ],
)
@pytest.mark.parametrize("product", [SCT, ISCT])
def test_money_comes_back_on_banking_days_alone(
    tpp: Tpp, worlds: WorldRegistry, product: str, paid: str, name: str, back: str
) -> None:
    clock_at(tpp, paid)
    iban = tpp.iban_of("bram")
    signed(tpp, product, creditor_name=name)
    tpp.advance("2m")
    (promised,) = [row["at"][:10] for row in tpp.listed("timeline") if row["trigger"] == "ruled"]
    tpp.advance("7d")
    assert days_of(worlds, iban) == [paid[:10], back] and promised == back
    assert not any(worlds.get("default").bank.ledger.sum_by_currency().values())


def test_a_return_and_a_recall_that_wait_for_the_same_morning_come_back_once(tpp: Tpp, worlds: WorldRegistry) -> None:
    then = [{"return": "AC04", "after": "1d"}, {"recall": "FOCR", "after": "2d"}]
    follow(tpp, rules=[{"when": {"kind": "payment"}, "then": then}])
    clock_at(tpp, "2027-03-05T10:00:00+01:00")  # a Friday
    iban = tpp.iban_of("bram")
    before = balance(tpp, iban)
    signed(tpp)
    tpp.advance("7d")
    assert balance(tpp, iban) == before and days_of(worlds, iban) == ["2027-03-05", "2027-03-08"]


@pytest.mark.parametrize(
    "at, days",
    [("2027-03-06T10:00:00+01:00", ["2027-03-06", "2027-03-08"]), ("2027-03-05T10:00:00+01:00", ["2027-03-05"] * 2)],
)
def test_a_bank_that_returns_instead_of_rejecting_does_so_on_a_banking_day(
    tpp: Tpp, worlds: WorldRegistry, at: str, days: list[str]
) -> None:
    follow(tpp, settings={"variants": {"after_debit": "return"}})
    clock_at(tpp, at)
    iban = tpp.iban_of("bram")
    payment_id = signed(tpp, ISCT)
    assert tpp.control("POST", f"/payments/{payment_id}/move", status="RJCT", reason="AC04").status_code == 200
    assert told(tpp, payment_id, ISCT) == ("ACSC", None)
    tpp.advance("3d")
    assert days_of(worlds, iban) == days
    world = worlds.get("default")
    assert not any(world.bank.ledger.sum_by_currency().values()) and not world.bank.refunds
    assert hash_state(replay(world.beginning, world.log, world.bank.clock.now)) == hash_state(world.bank)


# Direct debits


def test_a_direct_debit_is_refunded_on_a_banking_day_and_only_the_one_that_the_rule_means(
    tpp: Tpp, worlds: WorldRegistry
) -> None:
    rule = {"when": {"kind": "direct_debit", "customer": "nora", "nth": 1}, "then": [{"refund": "MD06", "after": "3d"}]}
    follow(tpp, settings={"life": "on"}, bank=nora(GYM), rules=[rule])
    tpp.advance("9d")
    assert [row["trigger"] for row in tpp.listed("timeline")].count("returned") == 1
    tpp.advance("4d")  # the 13th is a Saturday
    iban = tpp.iban_of("nora")
    assert lines(worlds, iban) == [("DIRECT DEBIT", Decimal(-39))]
    tpp.advance("36d")
    assert lines(worlds, iban) == [
        ("DIRECT DEBIT", Decimal(-39)),
        ("REFUND MD06", Decimal(39)),
        ("DIRECT DEBIT", Decimal(-39)),
    ]
    bank = worlds.get("default").bank
    came = bank.ledger.list_lines(iban, "EUR")[-2]
    assert came.on.isoformat() == "2027-03-15"
    assert len({line.entry.reference for line in bank.ledger.list_lines(iban, "EUR")}) == 5
    assert not any(bank.ledger.sum_by_currency().values())
    world = worlds.get("default")
    assert hash_state(replay(world.beginning, world.log, bank.clock.now)) == hash_state(bank)


def test_a_rule_that_names_no_kind_is_never_about_a_direct_debit(tpp: Tpp, worlds: WorldRegistry) -> None:
    rule = {"when": {"creditor_name": "Fit NV", "nth": 1}, "psu": {"approves": True}}
    follow(tpp, settings={"life": "on"}, bank=nora(GYM), rules=[rule])
    tpp.advance("12d")
    assert lines(worlds, tpp.iban_of("nora")) == [("DIRECT DEBIT", Decimal(-39))]
    tpp.initiated(creditor_name="Fit NV", debtor_account={"iban": tpp.iban_of("bram")})
    tpp.advance("1s")
    assert tpp.listed("payments")[-1]["status"] == "PDNG"  # it is the first that the rule met


def test_a_debit_that_the_account_cannot_pay_is_not_booked(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, settings={"life": "on"}, bank=nora({**GYM, "amount": "-100.01"}))
    tpp.advance("40d")
    assert lines(worlds, tpp.iban_of("nora")) == []


# Pre-authorisations


def at_the_pump(tpp: Tpp) -> None:
    """The instant at which the next pump reserves."""
    subject = f"{tpp.iban_of('nora')}/fuel"
    at = next(row["at"] for row in tpp.listed("timeline") if row["subject"] == subject)
    assert tpp.control("POST", "/clock", set=at).status_code == 200


def test_a_pump_reserves_and_the_booking_releases(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, settings={"life": "on"}, bank=nora(FUEL, opening={"EUR": "1000.00"}))
    iban = tpp.iban_of("nora")
    before = balance(tpp, iban)
    free = before - 80
    over = payment(debtor_account={"iban": iban}, instructed_amount__amount=f"{free + Decimal('0.01')}")
    assert tpp.initiate(body=over).status_code == 201
    at_the_pump(tpp)
    assert balance(tpp, iban) == before
    assert refused(tpp.initiate(body=over), 403, "SBX-0403-000001")
    under = payment(debtor_account={"iban": iban}, instructed_amount__amount=f"{free}")
    assert tpp.initiate(body=under).status_code == 201
    at_the_pump(tpp)
    ((remark, amount),) = lines(worlds, iban)
    assert remark == "CARD PAYMENT" and -50 <= amount <= -30
    assert worlds.get("default").bank.reserved == {}
    assert tpp.initiate(body=over).status_code == 201


def test_a_pump_gives_nothing_where_funds_are_missing(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, settings={"life": "on"}, bank=nora(FUEL, opening={"EUR": "79.99"}))
    at_the_pump(tpp)
    tpp.advance("5d")
    assert lines(worlds, tpp.iban_of("nora")) == []
    assert worlds.get("default").bank.reserved == {}


def test_what_a_pump_has_reserved_is_free_when_life_is_switched_off(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, settings={"life": "on"}, bank=nora(FUEL, opening={"EUR": "1000.00"}))
    at_the_pump(tpp)
    assert (tpp.iban_of("nora"), "EUR") in worlds.get("default").bank.reserved
    assert tpp.control("PATCH", "/settings", life="off").status_code == 200
    assert worlds.get("default").bank.reserved == {}


# Overdraft


def test_an_overdraft_is_funds_and_no_more_than_that(tpp: Tpp) -> None:
    follow(tpp, bank=nora(overdraft="50.00"))
    iban = tpp.iban_of("nora")
    asked = payment(debtor_account={"iban": iban}, instructed_amount__amount="150.01")
    assert refused(tpp.initiate(body=asked), 403, "SBX-0403-000001")
    asked["instructed_amount"]["amount"] = "150.00"
    tpp.signed(tpp.initiate(body=asked))
    tpp.advance("1m")
    assert balance(tpp, iban) == -50
    asked["instructed_amount"]["amount"] = "0.01"
    assert refused(tpp.initiate(body=asked), 403, "SBX-0403-000001")


def test_a_payment_on_its_day_may_use_the_overdraft_and_without_one_it_is_recycled(tpp: Tpp) -> None:
    for overdraft, status in (("50.00", "ACSC"), ("0.00", "PDNG")):
        follow(tpp, bank=nora(overdraft=overdraft))
        body = payment(
            debtor_account={"iban": tpp.iban_of("nora")},
            instructed_amount__amount="140.00",
            requested_execution_date="2027-03-02",
        )
        reply = tpp.initiate(body=body)
        tpp.signed(reply)
        tpp.advance("22h")
        assert told(tpp, reply.get_json()["payment_id"])[0] == status


def test_every_shipped_account_has_no_overdraft(worlds: WorldRegistry) -> None:
    assert {account.overdraft for account in worlds.get("default").bank.accounts.values()} == {None}


def test_habits_use_the_overdraft_but_nobody_saves_by_it(tpp: Tpp, worlds: WorldRegistry) -> None:
    follow(tpp, settings={"life": "on"}, bank=nora({**GYM, "amount": "-149.00"}, overdraft="50.00", life="still"))
    tpp.advance("12d")
    assert balance(tpp, tpp.iban_of("nora")) == -49
    follow(
        tpp,
        settings={"life": "on"},
        bank=nora(GYM, overdraft="5000.00", life="employee", income="0.01", keeps="0.00", opening={"EUR": "60.00"}),
    )
    tpp.advance("10d")
    assert balance(tpp, tpp.iban_of("nora")) < 60


def test_a_variable_standing_order_leaves_the_overdraft_alone(tpp: Tpp) -> None:
    bank = nora(overdraft="50.00")
    bank["accounts"]["nora-savings"] = {
        "number": NUMBER + 1, "type": "savings-account", "owners": ["nora"], "opening": {"EUR": "1.00"},
    }  # fmt: skip
    follow(tpp, bank=bank)
    current, savings = next(row["accounts"] for row in tpp.listed("customers") if row["customer"] == "nora")
    body = variable(creditor_account={"iban": savings}, debtor_account={"iban": current}, start_date="2027-03-02")
    tpp.signed(order(tpp, body))
    tpp.advance("2d")
    assert (balance(tpp, current), balance(tpp, savings)) == (Decimal(0), Decimal(101))


# What a scenario may say


@pytest.mark.parametrize(
    "rule, fault",
    [
        ({"when": {"kind": "bulk"}, "then": [{"return": "AC04"}]}, "a return is of a payment or direct_debit only"),
        ({"when": {}, "then": [{"recall": "FOCR"}]}, "a recall is of a payment only"),
        ({"when": {"kind": "payment"}, "then": [{"refund": "MD06"}]}, "a refund is of a direct_debit only"),
        ({"when": {"kind": "payment"}, "then": [{"on": "PDNG", "return": "AC04"}]}, "only a settled payment"),
        ({"when": {"kind": "payment"}, "then": [{"return": "closed"}]}, "'closed' has the wrong form"),
        (
            {"when": {"kind": "payment"}, "then": [{"return": "AC04", "recall": "FOCR"}]},
            "only one of return and recall",
        ),
        (
            {"when": {"kind": "payment"}, "then": [{"return": "AC04", "reason": "AC04"}]},
            "the reason is the value of return",
        ),
        (
            {"when": {"kind": "direct_debit"}, "then": [{"on": "ACSP", "move": "RJCT"}]},
            "a direct debit has no statuses",
        ),
        ({"when": {"kind": "direct_debit"}, "psu": {"approves": True}}, "a rule can only return its money"),
        ({"when": {"kind": "direct_debit"}, "refuse": "FORBIDDEN"}, "a rule can only return its money"),
        (
            {"when": {"kind": "direct_debit", "client": "demo-tpp"}, "then": [{"refund": "MD06"}]},
            "a direct debit has none",
        ),
    ],
)
def test_a_rule_that_could_never_send_money_back_is_refused(tpp: Tpp, rule: dict[str, Any], fault: str) -> None:
    reply = put(tpp, rules=[rule])
    assert refused(reply, 400, "SBX-0400-000001", fault)
