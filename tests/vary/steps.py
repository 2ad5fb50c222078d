"""What the flows of the reference client share: a customer who signs and consents, and refusals that are read."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from sandbox.client import (
    CallbackRefused,
    Client,
    Initiation,
    Manual,
    NoCallback,
    Reference,
    Refused,
    Signer,
    Tokens,
    TransactionInfo,
    returned,
)
from sandbox.testing import BankFixture

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
SCT, ISCT, XB = "sepa-credit-transfers", "instant-sepa-credit-transfers", "cross-border-credit-transfers"
UNSIGNED = ("RCVD", "PATC")
SIGNED = ("PDNG", "PNDG", "ACSP")
PAID = ("ACSC", "ACSP")
BUSY = (429, 502, 503, 504)
TRIES = 30
MONDAY, THURSDAY, SUNDAY = 0, 3, 6
BRUSSELS = ZoneInfo("Europe/Brussels")

Flow = Callable[[BankFixture], None]


def patiently(flow: Flow, bank: BankFixture) -> None:
    """Where the bank is busy and nobody knows what was done, the customer begins again."""
    for _ in range(TRIES):
        try:
            return flow(bank)
        except Refused as refused:
            if refused.status not in BUSY:
                raise
            bank.clock.advance("61s")
    raise AssertionError("the bank is busy for ever")


def attempt(call: Callable[[], Any]) -> Any:
    """The reply, or the refusal; a bank that is busy is no refusal."""
    try:
        return call()
    except Refused as refused:
        if refused.status in BUSY or refused.status // 100 != 4 or not (refused.error and refused.error_code):
            raise
        return refused


def demand_refusal(call: Callable[[], Any], *errors: str) -> Refused:
    refused = attempt(call)
    assert isinstance(refused, Refused)
    assert not errors or refused.says(*errors), refused
    return refused


def now(bank: BankFixture) -> datetime:
    return bank.clock.get().now


def day(bank: BankFixture, ahead: int = 0) -> date:
    return now(bank).astimezone(BRUSSELS).date() + timedelta(ahead)


def next_weekday(weekday: int, first: date) -> date:
    """Returns the first such day from `first` on."""
    return first + timedelta((weekday - first.weekday()) % 7)


def go_to(bank: BankFixture, on: date, hour: int, minute: int = 0) -> None:
    bank.clock.set(datetime.combine(on, time(hour, minute), BRUSSELS))


def iban_of(bank: BankFixture, customer: str, place: int = 0) -> str:
    ibans: list[str] = next(row["accounts"] for row in bank.customers if row["customer"] == customer)
    return ibans[place]


def own_reference(bank: BankFixture, word: str) -> str:
    """One that this world has not met, also where a flow begins again."""
    return f"{word}-{len(bank.payments) + len(bank.standing_orders) + len(bank.bulk_payments)}"


# Paying


def pay(bank: BankFixture, product: str = SCT, **changes: Any) -> Initiation:
    return bank.tpp.pay(product, **ORDER | changes)


def pay_surely(bank: BankFixture, reference: str, **changes: Any) -> Initiation:
    """What was begun and cannot be signed, as its reply is lost, is begun again under another reference."""
    for number in range(TRIES):
        try:
            return pay(bank, endtoend_identification=f"{reference}-{number}", **changes)
        except Refused as refused:
            if refused.status not in BUSY:
                raise
    raise AssertionError("every reply is lost")


def approve(bank: BankFixture, initiation: Initiation, customer: str = "alice") -> str:
    """The callback."""
    assert initiation.sca_address is not None
    return bank.psu.approve(initiation.sca_address, customer=customer)


def sign(bank: BankFixture, initiation: Initiation, customer: str = "alice") -> Tokens:
    return bank.tpp.tokens_from(approve(bank, initiation, customer), initiation.flow)


def is_approved(bank: BankFixture, initiation: Initiation, customer: str) -> bool:
    """Whether the customer came back with a signature; else the bank refused it on its page, or at the callback."""
    try:
        callback = attempt(partial(approve, bank, initiation, customer))
        if isinstance(callback, Refused):
            return False
        returned(callback, initiation.flow)
    except (CallbackRefused, NoCallback):
        return False
    return True


def refuse(bank: BankFixture, initiation: Initiation, customer: str = "alice") -> None:
    """The customer says no, and no code comes back."""
    assert initiation.sca_address is not None
    try:
        code = returned(bank.psu.refuse(initiation.sca_address, customer=customer), initiation.flow)
    except (CallbackRefused, NoCallback):
        return
    raise AssertionError(f"a refusal brought {code}")


def status(bank: BankFixture, target: Initiation | Reference) -> str:
    return bank.tpp.status(target).status


def assert_details(
    bank: BankFixture, order: Initiation, tokens: Tokens, statuses: tuple[str, ...], **terms: str
) -> None:
    """The details are those of what alice ordered and signed."""
    found = bank.tpp.details(order, tokens)
    amount = found["instructed_amount"]
    assert found["payment_id"] == order.payment_id and found["status"] in statuses
    assert (Decimal(str(amount["amount"])), amount["currency"]) == (Decimal(ORDER["amount"]), "EUR")
    assert (found["creditor_account"]["iban"], found["creditor_name"]) == (
        ORDER["creditor_iban"],
        ORDER["creditor_name"],
    )
    assert found["debtor_account"]["iban"] == iban_of(bank, "alice")
    assert found["endtoend_identification"] == order.external_id
    assert found["psu_name"] == next(row["name"] for row in bank.customers if row["customer"] == "alice")
    assert {name: found[name] for name in terms} == terms


def paid(bank: BankFixture, *references: str) -> int:
    """How many payments of these references were paid, as the tester sees it."""
    rows = [row for row in bank.payments if row["order"]["endtoend_identification"] in references]
    return sum(row["status"] in PAID for row in rows)


def cancel(bank: BankFixture, target: Initiation | Reference, tokens: Tokens | None = None) -> bool:
    """Whether it is cancelled now: the status says so, whatever the reply to the DELETE was."""
    attempt(partial(bank.tpp.cancel, target, tokens))
    return status(bank, target) == "CANC"


# Reading


def consent(bank: BankFixture, customer: str = "alice", accounts: list[str] | None = None) -> Tokens:
    asked = bank.tpp.consent_addresses()
    callback = bank.psu.approve(asked.address, customer=customer, accounts=accounts)
    return bank.tpp.tokens_from(callback, asked.flow)


def logical_id(bank: BankFixture, tokens: Tokens, iban: str) -> str:
    return next(entry.logical_id for entry in bank.tpp.accounts(tokens) if entry.iban == iban)


def lines_since(bank: BankFixture, customer: str, since: date) -> list[TransactionInfo]:
    """All lines of the customer's first account, by a consent of the moment."""
    tokens = consent(bank, customer)
    place = logical_id(bank, tokens, iban_of(bank, customer))
    return list(bank.tpp.all_transactions(place, tokens, date_from=since, currency="EUR"))


def about(lines: list[TransactionInfo], reference: str) -> Iterator[TransactionInfo]:
    """The lines that name a reference of the client's own."""
    texts = ((line, f"{line.remittance_info} {line.communication}") for line in lines)
    return (line for line, text in texts if reference in text)


# Other clients


def client_on(bank: BankFixture, http: Any, signer: Signer | None = None) -> Client:
    """The same client on another line."""
    manual, signer = Manual.of(bank.settings()), signer or bank.tpp.caller.signer
    return Client(bank.base_url, http=http, manual=manual, signer=signer)
