"""What the reference client does where money is missing, limited, reserved or returned, at a bank that may differ."""

from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from sandbox.client import Refused, Tokens
from sandbox.testing import BankFixture
from tests.vary.steps import (
    ISCT,
    PAID,
    SCT,
    THURSDAY,
    UNSIGNED,
    XB,
    about,
    approve,
    attempt,
    consent,
    day,
    demand_refusal,
    go_to,
    iban_of,
    is_approved,
    lines_since,
    logical_id,
    next_weekday,
    own_reference,
    paid,
    pay,
    sign,
    status,
)

TRIES_OF_A_PAYMENT = 30  # days
FEE_MAX = 5


def lacks_money_on_the_day(bank: BankFixture) -> None:
    """However often the bank tries again: until it says RJCT, nobody pays in another way."""
    own = own_reference(bank, "SHORT")
    terms = {"debtor_iban": iban_of(bank, "poor"), "amount": "900.00", "endtoend_identification": own}
    payment = pay(bank, **terms, requested_execution_date=day(bank, 3))
    sign(bank, payment, "poor")
    bank.clock.advance("3d")
    for _ in range(TRIES_OF_A_PAYMENT):
        found = bank.tpp.status(payment)
        if found.status not in ("PDNG", "PNDG"):
            break
        bank.clock.advance("1d")
    assert found.status == "RJCT" and found.reason in (None, "AM04")
    assert paid(bank, own) == 0


def gets_its_money_back(bank: BankFixture) -> None:
    """A status is no proof that the money is gone: what came back stands in the account."""
    own = own_reference(bank, "BACK")
    payment = pay(bank, endtoend_identification=own)
    sign(bank, payment)
    bank.await_(payment, "ACSP")
    bank.move(payment, "RJCT", "AC04")
    assert status(bank, payment) in ("RJCT", *PAID)
    assert sum(line.amount for line in about(lines_since(bank, "alice", day(bank)), own)) == 0


def lacks_money(bank: BankFixture) -> None:
    """Funds are missing at the POST, or on the account that the customer picks: another account pays, once."""
    demand_refusal(lambda: pay(bank, debtor_iban=iban_of(bank, "poor"), amount="900.00"), "INSUFFICIENT_FUNDS")
    first, second = (own_reference(bank, word) for word in ("PICK", "ANEW"))
    payment = pay(bank, amount="900.00", endtoend_identification=first)
    if not is_approved(bank, payment, "poor") and status(bank, payment) in UNSIGNED:
        assert is_approved(bank, payment, "alice")
    elif status(bank, payment) in ("CANC", "RJCT"):
        payment = pay(bank, amount="900.00", endtoend_identification=second)
        assert is_approved(bank, payment, "alice")
    bank.clock.advance("5d")
    assert status(bank, payment) in PAID and paid(bank, first, second) == 1


def pays_when_it_may(bank: BankFixture, product: str = SCT, **terms: object) -> int:
    """The days that it took until the customer's own limits let the payment pass."""
    for days in range(8):
        payment = attempt(partial(pay, bank, product, debtor_iban=iban_of(bank, "limited"), **terms))
        if not isinstance(payment, Refused) and is_approved(bank, payment, "limited"):
            return days
        bank.clock.advance("1d")
    raise AssertionError("it may never pay")


def keeps_to_limits(bank: BankFixture) -> None:
    """Over a limit nothing is paid, wherever the bank says so; on another day it is."""
    own = own_reference(bank, "OVER")
    terms = {"debtor_iban": iban_of(bank, "limited"), "amount": "900.00", "endtoend_identification": own}
    payment = attempt(lambda: pay(bank, **terms))
    if isinstance(payment, Refused):
        assert payment.says("FORBIDDEN")
    else:
        assert not is_approved(bank, payment, "limited")
        assert status(bank, payment) in (*UNSIGNED, "CANC")
    assert pays_when_it_may(bank, amount="200.00", requested_execution_date=day(bank, 20)) == 0
    assert pays_when_it_may(bank, amount="200.00") in (0, 1)
    go_to(bank, next_weekday(THURSDAY, day(bank, 8)), 9)  # of a week in which nothing is paid yet
    for _ in "12":
        assert pays_when_it_may(bank, ISCT, amount="240.00") == 0
        bank.clock.advance("1d")
    bank.clock.advance("2d")
    assert pays_when_it_may(bank, amount="100.00") in (0, 3, 4)
    assert paid(bank, own) == 0


def pays_from_any_account(bank: BankFixture) -> None:
    """From a savings account, and to the account that pays: where the bank refuses, it says so at the POST."""
    current, savings = (iban_of(bank, "alice", place) for place in range(2))
    for debtor in (current, savings):
        payment = attempt(partial(pay, bank, debtor_iban=debtor, creditor_iban=current))
        if not isinstance(payment, Refused):
            assert is_approved(bank, payment, "alice")


def keeps_books(bank: BankFixture) -> None:
    """What left the account is what its booked lines say: each payment once, and fees beside."""
    began, iban = day(bank), iban_of(bank, "alice")
    tokens = consent(bank)
    place = logical_id(bank, tokens, iban)
    before = bank.tpp.account(place, tokens).balance
    waits = pay(bank, debtor_iban=iban, requested_execution_date=day(bank, 2))
    approve(bank, waits)
    reserved = before - bank.tpp.account(place, tokens).balance
    assert reserved in (0, Decimal("12.50"))
    assert booked(bank, place, tokens, began) == 0
    for product, currency in ((SCT, "EUR"), (ISCT, "EUR"), (XB, "USD")):
        approve(bank, pay(bank, product, currency=currency, debtor_iban=iban))
    bank.clock.advance("4d")
    tokens = bank.tpp.refresh(tokens)
    assert status(bank, waits) in PAID
    assert bank.tpp.account(place, tokens).balance == before + booked(bank, place, tokens, began)


def spends_all(bank: BankFixture) -> None:
    """Where the bank wants the fee too, it refuses the whole balance, and less is paid; the lines say what it took.

    An instant payment may fail at the other bank; then nothing is booked."""
    began, iban, own = day(bank), iban_of(bank, "atelier"), own_reference(bank, "ALL")
    tokens = consent(bank, "atelier")
    place = logical_id(bank, tokens, iban)
    before, earlier = bank.tpp.account(place, tokens).balance, booked(bank, place, tokens, began)
    whole = next(row for row in held(bank, iban) if row["currency"] == "EUR")["balance"]
    payment = attempt(partial(pay, bank, ISCT, debtor_iban=iban, amount=str(whole), endtoend_identification=own))
    if isinstance(payment, Refused):
        assert payment.says("INSUFFICIENT_FUNDS")
        less = str(Decimal(str(whole)) - FEE_MAX)
        payment = pay(bank, ISCT, debtor_iban=iban, amount=less, endtoend_identification=f"{own}-LESS")
    approve(bank, payment, "atelier")
    bank.clock.advance("1m")
    assert status(bank, payment) in ("RJCT", *PAID)
    left = bank.tpp.account(place, tokens).balance
    assert left - before == booked(bank, place, tokens, began) - earlier


def held(bank: BankFixture, iban: str) -> list[dict[str, Any]]:
    """The balances of an account by compartment, as the tester sees them."""
    found: list[dict[str, Any]] = next(row for row in bank.accounts if row["iban"] == iban)["balances"]
    return found


def booked(bank: BankFixture, place: str, tokens: Tokens, since: date) -> Decimal:
    """The sum of the new lines that are booked; those that wait are not counted."""
    lines = list(bank.tpp.all_transactions(place, tokens, date_from=since, currency="EUR", psu_involved=True))
    assert all(line.value_date is None or line.value_date >= line.execution_date for line in lines if not line.pending)
    return sum((line.amount for line in lines if not line.pending), Decimal())
