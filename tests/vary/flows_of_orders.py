"""What the reference client does with standing orders and files at a bank that may differ."""

import csv
import io
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from sandbox.banking.calendar import is_banking_day
from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import Initiation, PathKind, Reference, Refused, StatusInfo
from sandbox.testing import BankFixture
from tests.vary.steps import (
    ORDER,
    PAID,
    THURSDAY,
    about,
    approve,
    assert_details,
    attempt,
    cancel,
    consent,
    day,
    go_to,
    iban_of,
    is_approved,
    lines_since,
    next_weekday,
    own_reference,
    paid,
    pay_surely,
    sign,
    status,
)

PAIN, CSV = "pain.001", "csv"
FILE = "three-bulks.pain.001.001.03.xml"
ACTIVE = ("PDNG", "PNDG", "ACWP")
HEAD = (
    *("debtor_iban", "requested_execution_date", "creditor_name", "creditor_iban", "creditor_bic", "amount"),
    *("currency", "endtoend_identification", "remittance_structured", "remittance_unstructured"),
)


def begin(bank: BankFixture, start: date, **changes: Any) -> Initiation:
    terms = {"frequency": "MONTHLY"} | ORDER | changes
    return bank.tpp.pay_regularly(start_date=start, **terms)


# Standing orders


def orders(bank: BankFixture) -> None:
    """From the signature over the first execution to the end, which the client brings about."""
    start = day(bank, 1)
    order = begin(bank, start, frequency="WEEKLY")
    tokens = sign(bank, order)
    assert status(bank, order) in ACTIVE
    bank.clock.advance("2s")
    assert status(bank, order) in ACTIVE
    bank.clock.advance("8d")
    assert status(bank, order) == "ACWP"
    tokens = bank.tpp.refresh(tokens)
    assert_details(bank, order, tokens, ACTIVE, start_date=start.isoformat(), frequency="WEEKLY")
    for _ in range(2):
        assert cancel(bank, order, tokens)


def orders_for_a_while(bank: BankFixture) -> None:
    """After its last execution an order is over, whatever its status says."""
    own, last = own_reference(bank, "ENDS"), day(bank, 16)
    order = begin(bank, day(bank, 2), frequency="WEEKLY", end_date=last, endtoend_identification=own)
    assert_details(bank, order, sign(bank, order), ACTIVE, end_date=last.isoformat())
    bank.clock.advance("40d")
    found = bank.tpp.status(order)
    assert found.status in ("CANC", "ACWP") and found.reason in (None, "CONTRACT_ENDED", "DS02")
    assert len(list(about(lines_since(bank, "alice", last - timedelta(20)), own))) == 3


def orders_by_the_month(bank: BankFixture) -> None:
    """The day of an execution is what the account says, not what the client reckons."""
    own, other = (own_reference(bank, word) for word in ("ULTIMO", "HOLIDAY"))
    consent(bank)
    ultimo, holiday = (next_day(day(bank, 1), has) for has in (is_ultimo, is_belgian_holiday))
    for start, reference in ((ultimo, own), (holiday, other)):
        approve(bank, begin(bank, start, endtoend_identification=reference))
    found = {}
    for start, reference, days in sorted(((ultimo, own, 40), (holiday, other, 4))):
        go_to(bank, start + timedelta(days), 9)
        lines = lines_since(bank, "alice", start)
        found[reference] = [line.execution_date for line in about(lines, reference)]
    assert ultimo.isoformat() in found[own] and len(set(found[own])) == len(found[own]) <= 2
    (once,) = found[other]
    assert holiday.isoformat() <= once <= (holiday + timedelta(4)).isoformat()


def next_day(first: date, has: Callable[[date], bool]) -> date:
    return next(filter(has, (first + timedelta(count) for count in range(400))))


def is_ultimo(on: date) -> bool:
    """Whether it is the 31st, there is none in the next month, and the bank is open."""
    return on.day == 31 and (on + timedelta(31)).day != 31 and is_banking_day(on)


def is_belgian_holiday(on: date) -> bool:
    """Whether banks in Belgium are closed while the payment systems of the euro are open."""
    return is_banking_day(on) and not is_banking_day(on, belgian=True)


def rents(bank: BankFixture) -> None:
    """An execution lacked money: what the bank does not try again is paid by hand, and the rent is paid once."""
    own, poor = own_reference(bank, "RENT"), iban_of(bank, "poor")
    consent(bank, "poor")
    terms = {"debtor_iban": poor, "amount": "900.00"}
    start = next_weekday(THURSDAY, day(bank, 7))
    began = start + timedelta(1)
    order = begin(bank, start, endtoend_identification=own, **terms)
    approve(bank, order, "poor")
    go_to(bank, began, 12)
    assert status(bank, order) in ("ACWP", "CANC")
    bank.book(poor, "1000.00")
    go_to(bank, start + timedelta(8), 12)
    if not [line for line in about(lines_since(bank, "poor", began), own) if line.amount < 0]:
        approve(bank, pay_surely(bank, own, **terms), "poor")
        bank.clock.advance("3d")
    debits = [line for line in about(lines_since(bank, "poor", began), own) if line.amount < 0]
    assert [line.amount for line in debits] == [Decimal("-900.00")]


def forgets_an_order(bank: BankFixture) -> None:
    """Nobody signed in time: an order that waits for ever cannot be signed at its old address."""
    first = begin(bank, day(bank, 5))
    bank.clock.advance("61m")
    assert status(bank, first) in ("PATC", "CANC")
    assert not is_approved(bank, first, "alice")
    second = begin(bank, day(bank, 5))
    assert is_approved(bank, second, "alice")
    bank.clock.advance("1h")
    assert status(bank, second) == "ACWP" and status(bank, first) != "ACWP"


def orders_for_today(bank: BankFixture) -> None:
    """Where an order may not begin today, it begins tomorrow."""
    order = attempt(lambda: begin(bank, day(bank)))
    if isinstance(order, Refused):
        order = begin(bank, day(bank, 1))
    assert is_approved(bank, order, "alice")
    bank.clock.advance("1h")
    assert status(bank, order) == "ACWP"


# Files


def send(bank: BankFixture, name: str, message: str, reference: str | None = None) -> Initiation:
    return bank.tpp.send_file(fill_sample(name, day(bank), message), reference=reference or message)


def validated(bank: BankFixture, sent: Initiation) -> StatusInfo:
    bank.clock.advance("10m")
    return bank.tpp.status(sent)


def sends(bank: BankFixture) -> None:
    """A file of three bulks, from its validation to the money; it is found by one of its references."""
    own = own_reference(bank, "MARCH")
    sent = send(bank, FILE, own, f"{own}-R")
    assert all(row.status == "RCVD" for row in bank.tpp.status(sent).bulks)
    bank.clock.advance("3m")
    bank.tpp.status(sent)
    bank.clock.advance("7m")
    bank.tpp.status(sent)
    found = bank.tpp.status(sent)
    assert found.sca_address is not None
    sums = {row.payment_information_id: (row.number_of_transactions, row.control_sum) for row in found.bulks}
    assert sums["A-WAGES"] == (2, Decimal("4310.00"))
    bank.psu.approve(found.sca_address)
    bank.clock.advance("2m")
    assert status(bank, sent) not in ("RCVD", "PATC", "RJCT", "CANC")
    bank.clock.advance("5d")
    references = [sent.external, Reference(PAIN, own, PathKind.BULK, external=True)]
    found_by = [one for one in references if not isinstance(attempt(partial(bank.tpp.status, one)), Refused)]
    done = bank.tpp.status(found_by[0])
    assert {done.status, *(row.status for row in done.bulks)} <= set(PAID)


def books_a_file(bank: BankFixture) -> None:
    """The sum of the lines is the sum of the file, however many lines there are."""
    began = day(bank)
    before = bakery_total(bank, began)
    approve_file(bank, send(bank, FILE, own_reference(bank, "BOOKS")))
    bank.clock.advance("5d")
    reserve = Decimal("100.00")  # of the file, from the bakery's second account
    assert before - bakery_total(bank, began) == Decimal("5405.30") - reserve


def bakery_total(bank: BankFixture, since: date) -> Decimal:
    return sum((line.amount for line in lines_since(bank, "bakkerij", since)), Decimal())


def approve_file(bank: BankFixture, sent: Initiation) -> StatusInfo:
    found = validated(bank, sent)
    assert found.sca_address is not None
    bank.psu.approve(found.sca_address)
    return found


def sends_a_bad_file(bank: BankFixture) -> None:
    """What the bank refused of a file is not paid, and only that: sums say what is left."""
    began = day(bank)
    before = bakery_total(bank, began)
    own = own_reference(bank, "FAULTY")
    content = fill_sample(FILE, began, own).replace(b"BE25168441002982", b"BE00168441002982")  # of one of two wages
    sent = bank.tpp.send_file(content, reference=own)
    found = validated(bank, sent)
    assert found.reply.body.get("errors") or any(row.errors for row in found.bulks)
    if found.sca_address is not None:
        bank.psu.approve(found.sca_address)
    bank.clock.advance("5d")
    done = bank.tpp.status(sent)
    left = before - bakery_total(bank, began)
    sums = {row.payment_information_id: row for row in done.bulks}
    wages, flour = sums["A-WAGES"], sums["A-FLOUR"]
    assert left == sum((row.control_sum or Decimal() for row in (wages, flour) if row.status in PAID), Decimal())
    assert done.status in ("RJCT", *PAID) and (wages.status == "RJCT" or wages.number_of_transactions == 1)


def sends_a_table(bank: BankFixture) -> None:
    """A csv with the other separator, where the first is refused; each table is taken once."""
    for number, marks in enumerate((",;", ";,")):
        for mark in marks:
            sent = attempt(partial(bank.tpp.send_file, table(bank, mark, f"T-{number}"), CSV, f"T-{number}"))
            if not isinstance(sent, Refused):
                break
        found = validated(bank, sent)
        assert [row.status for row in found.bulks] == ["PATC"]


def table(bank: BankFixture, mark: str, reference: str) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, delimiter=mark)
    rows.writerow(HEAD)
    debtor = iban_of(bank, "bakkerij")
    creditor = ORDER["creditor_name"], ORDER["creditor_iban"]
    rows.writerow([debtor, day(bank, 1), *creditor, "", "12.50", "EUR", reference, "", "Flour, or salt; both"])
    return text.getvalue().encode()


def sends_a_file_twice(bank: BankFixture) -> None:
    """Nobody knows whether the first arrived. Only one of both is signed, and the other is cancelled."""
    own, began = own_reference(bank, "DOUBLE"), day(bank)
    before = bakery_total(bank, began)
    first, second = send(bank, FILE, own), send(bank, FILE, own)
    bank.clock.advance("10m")
    waiting = [one for one in (first, second) if bank.tpp.status(one).status == "PATC"]
    for more in waiting[1:]:
        assert cancel(bank, more)
    approve_file(bank, waiting[0])
    bank.clock.advance("5d")
    assert before - bakery_total(bank, began) == Decimal("5305.30")


def forgets_a_file(bank: BankFixture) -> None:
    """After an hour without a signature the status says whether it waits, with a fresh address, or is over."""
    sent = send(bank, FILE, own_reference(bank, "FORGOTTEN"))
    bank.clock.advance("80m")
    found = bank.tpp.status(sent)
    if found.sca_address is None:
        assert found.status == "CANC"
        sent = send(bank, FILE, own_reference(bank, "REMEMBERED"))
        approve_file(bank, sent)
    else:
        bank.psu.approve(found.sca_address)
    bank.clock.advance("5d")
    assert status(bank, sent) in PAID


def sends_without_money(bank: BankFixture) -> None:
    """Whether the bank says so at the signature, tries again or gives up: what is not paid is cancelled."""
    own, began = own_reference(bank, "POOR"), day(bank)
    content = fill_sample(FILE, began, own).replace(b"845.30", b"9000845.30").replace(b"995.30", b"9000995.30")
    sent = bank.tpp.send_file(content.replace(b"5405.30", b"9005405.30"), reference=own)
    found = validated(bank, sent)
    attempt(partial(bank.psu.approve, str(found.sca_address)))
    bank.clock.advance("40m")
    attempt(partial(bank.tpp.cancel, sent))
    bank.clock.advance("30d")
    assert all(row.status in ("CANC", "RJCT") for row in bank.tpp.status(sent).bulks)
    assert status(bank, sent) in ("CANC", "RJCT")


def stops_a_file(bank: BankFixture) -> None:
    """One bulk is paid, two are not: what is sent anew goes by the bulks, not by the file."""
    own = own_reference(bank, "STOPPED")
    sent = send(bank, FILE, own)
    approve_file(bank, sent)
    bank.clock.advance("40m")
    attempt(partial(bank.tpp.cancel, sent))
    found = bank.tpp.status(sent)
    assert found.status in ("CANC", "ACSC")
    assert sorted(row.status for row in found.bulks) == ["ACSC", "CANC", "CANC"]
    assert paid(bank, own) == 0
