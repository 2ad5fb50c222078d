"""Payments, standing orders and files as the console shows them, what waits for a PSU, and what is due. All functions
read the bank, so a view calls them by `World.ask`."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sandbox.bank import signing, timeline
from sandbox.bank.consents import guess_customer
from sandbox.bank.records import UNSIGNED, Batch, BulkFile, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.banking.payees import PayeeCheck
from sandbox.bulkfiles.report import BatchReport
from sandbox.contract.kinds import BULK, BY_LIST, PAYMENT, STANDING_ORDER, InitiationKind
from sandbox.contract.moves import Trigger
from sandbox.contract.products import PRODUCTS
from sandbox.web.console.demo_tpp import find_address, guess_signer
from sandbox.web.console.formats import account, amount, coming_event
from sandbox.web.console.pictures import Dot, draw_states, make_dots
from sandbox.web.console.visits import ConsoleVisit, Facts

T = TypeVar("T")
PAGE = 50
KINDS = {name: kind.label.capitalize() for name, kind in BY_LIST.items()}
Details = list[tuple[str, str]]  # labels and texts


class InitiationRow(NamedTuple):
    """One initiation, as a list of the console shows it."""

    kind: str
    id: str
    product: str
    amount: str
    creditor: str
    reference: str
    client: str
    customer: str | None
    status: str
    reason: str | None
    changed: datetime
    dots: tuple[Dot, ...]


def find_kind(bank: Bank, name: str) -> str | None:
    """Returns the name of the list that has the initiation with the id `name`, such as `payments`. Returns None if no
    initiation has this id, for example if it is the id of an account or of a bulk within a file."""
    initiation = bank.find_initiation(name)
    return initiation.kind.list if initiation else None


def cut_page(items: Iterable[T], number: int, size: int = PAGE) -> tuple[list[T], bool]:
    """Returns page `number` of the items, counted from 1, and whether more items follow. Reads only one item after the
    page."""
    rows = list(islice(items, (number - 1) * size, number * size + 1))
    return rows[:size], len(rows) > size


def list_rows(bank: Bank, kind: str, number: int, status: str, sought: str, sort: str = "") -> Facts:
    """Returns a page of initiations, newest first, or sorted by a column such as `amount` (`-amount` for the reverse
    order). `status` and `sought` are filters; an empty text lets all initiations through. Without filters and without a
    sort column, reads only the initiations up to this page. `total` counts all initiations of the list, without the
    filters."""
    register = bank.find_register(BY_LIST[kind])
    initiations: Iterable[Initiation] = reversed(register.values())  # type: ignore[call-overload]
    if status or sought:
        initiations = (initiation for initiation in initiations if _fits(initiation, status, sought.casefold()))
    if sort.lstrip("-") in SORTS:
        initiations = sorted(initiations, key=SORTS[sort.lstrip("-")], reverse=sort.startswith("-"))
    rows, more = cut_page(initiations, number)
    return {"rows": [make_row(initiation) for initiation in rows], "more": more, "total": len(register)}


def _fits(initiation: Initiation, status: str, sought: str) -> bool:
    texts = SUMMARIES[initiation.kind].texts(initiation)
    return status in ("", initiation.status.value) and any(sought in text.casefold() for text in texts)


def make_row(initiation: Initiation) -> InitiationRow:
    status = initiation.status
    visited = tuple(dict.fromkeys(fact.target for fact in initiation.history if fact.target is not status))
    return InitiationRow(
        initiation.kind.list,
        initiation.id,
        *SUMMARIES[initiation.kind].columns(initiation),
        initiation.origin.client_id,
        initiation.customer,
        status.value,
        initiation.reason,
        initiation.history[-1].at,
        make_dots(initiation.path, (*visited, status)),
    )


def list_lines(initiation: Initiation) -> Details:
    """Returns the details of an initiation as pairs of label and text. A detail without a value is left out."""
    lines = [("id", initiation.id), ("TPP", initiation.origin.client_id), ("PSU", initiation.customer or "")]
    lines += SUMMARIES[initiation.kind].lines(initiation)
    lines.append(("signed by", ", ".join(initiation.signatures)))
    return [(label, text) for label, text in lines if text]


# What differs by kind


Columns = tuple[str, str, str, str]  # product, amount, beneficiary and reference


def make_payment_columns(payment: Payment) -> Columns:
    order = payment.order
    return PRODUCTS[order.product].short, amount(order.amount), order.creditor_name, order.endtoend_identification


def list_order_columns(standing_order: StandingOrder) -> Columns:
    order = standing_order.order
    money = amount(order.amount) if order.amount else "variable"
    return _describe_frequency(standing_order), money, order.creditor_name, order.endtoend_identification


def make_file_columns(bulk: BulkFile) -> Columns:
    count = sum(len(part.batch.transfers) for part in bulk.parts if isinstance(part.batch, BatchReport))
    money = amount(Money(bulk.total, "EUR")) if bulk.payable_parts else ""
    content = f"{_count(len(bulk.parts), 'bulk')}, {_count(count, 'transfer')}"
    return bulk.format, money, content, bulk.message_id or ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _describe_frequency(standing_order: StandingOrder) -> str:
    return str(standing_order.order.frequency).lower().replace("_", " ")


def list_payment_lines(payment: Payment) -> Details:
    order = payment.order
    return [
        ("product", order.product),
        ("amount", amount(order.amount)),
        ("beneficiary", order.creditor_name),
        ("to", account(order.creditor.iban or order.creditor.bban or "")),
        ("payee check", describe_payee_check(payment.payee)),
        ("from", account(payment.debtor.iban) if payment.debtor else "the PSU picks it"),
        ("end to end", order.endtoend_identification),
        ("communication", order.structured or order.unstructured or ""),
        ("execution date", str(payment.executes_on or order.execution_date or "")),
        ("tries", str(payment.tries) if payment.tries else ""),
    ]


def list_order_lines(standing_order: StandingOrder) -> Details:
    order = standing_order.order
    return [
        ("amount", amount(order.amount) if order.amount else ""),
        ("stays at least", amount(order.minimal) if order.minimal else ""),
        ("leaves at most", amount(order.maximal) if order.maximal else ""),
        ("frequency", _describe_frequency(standing_order)),
        ("beneficiary", order.creditor_name),
        ("to", account(order.creditor_iban)),
        ("payee check", describe_payee_check(standing_order.payee)),
        ("from", account(standing_order.debtor.iban) if standing_order.debtor else "the PSU picks it"),
        ("first", str(order.first)),
        ("end", str(order.end_date or "")),
        ("end to end", order.endtoend_identification),
        ("executions", str(len(standing_order.runs)) if standing_order.runs else ""),
    ]


def list_file_lines(bulk: BulkFile) -> Details:
    counts = bulk.payees.counts if bulk.payees else ()
    checked = ", ".join(f"{_describe_outcome(name)} {count}" for name, count in counts)
    return [("format", bulk.format), ("message id", bulk.message_id or ""), ("payee check", checked)]


def describe_payee_check(check: PayeeCheck | None) -> str:
    if check is None:
        return ""
    return f"{_describe_outcome(check.outcome)}: {check.name}" if check.name else _describe_outcome(check.outcome)


def _describe_outcome(name: str) -> str:
    return name.replace("_", " ")


class InitiationSummary(NamedTuple):
    """The functions that compute the texts of the console about one kind of initiation."""

    columns: Callable[[Any], Columns]
    lines: Callable[[Any], Details]
    texts: Callable[[Any], tuple[str, ...]]  # the texts in which a search looks


def list_order_texts(payment: Payment | StandingOrder) -> tuple[str, ...]:
    order = payment.order
    money = order.amount.text() if order.amount else ""
    return payment.id, order.endtoend_identification, order.creditor_name, payment.origin.client_id, money


SUMMARIES: dict[InitiationKind, InitiationSummary] = {
    PAYMENT: InitiationSummary(make_payment_columns, list_payment_lines, list_order_texts),
    STANDING_ORDER: InitiationSummary(list_order_columns, list_order_lines, list_order_texts),
    BULK: InitiationSummary(
        make_file_columns,
        list_file_lines,
        lambda bulk: (bulk.id, bulk.message_id or "", bulk.origin.client_id, str(bulk.total)),
    ),
}


def find_amount(initiation: Initiation) -> Decimal:
    """Returns the amount of an initiation. For a file this is the total, and for a standing order with a variable
    amount it is 0."""
    money = None if isinstance(initiation, BulkFile) else initiation.order.amount
    return initiation.total if isinstance(initiation, BulkFile) else money.number if money else Decimal()


def make_sort_key(place: int) -> Callable[[Initiation], str]:
    """Returns a sort key: a function that returns one column of an initiation in lower case. `place` is the index of
    the column in Columns."""
    return lambda initiation: str(SUMMARIES[initiation.kind].columns(initiation)[place]).casefold()


# By what a list of initiations may be sorted
SORTS: dict[str, Callable[[Initiation], Any]] = {
    "status": lambda initiation: initiation.status.value,
    "product": make_sort_key(0),
    "amount": find_amount,
    "creditor": make_sort_key(2),
    "reference": make_sort_key(3),
    "client": lambda initiation: initiation.origin.client_id,
    "customer": lambda initiation: initiation.customer or "",
    "changed": lambda initiation: initiation.history[-1].at,
}


def describe_batch(part: Batch) -> Facts:
    """Returns what the page of a bulk file shows about one bulk in the file."""
    batch = part.batch if isinstance(part.batch, BatchReport) else None
    findings = [(finding.place, finding.code, finding.text) for finding in part.findings]
    return {
        "status": part.status.value,
        "reason": part.reason,
        "debtor": account(batch.debtor_iban) if batch else "",
        "amount": amount(Money(batch.control_sum, batch.debtor_currency)) if batch else "",
        "transfers": len(batch.transfers) if batch else 0,
        "day": str(part.executes_on or batch.execution_date) if batch else "",
        "findings": findings,
        "more_findings": part.findings.count - len(findings),
        "picture": draw_states(part.path, part.history),
    }


# What waits for a PSU, and what is due


class WaitingAddress(NamedTuple):
    """A signing or consent address at which a customer has not answered yet."""

    token: str
    left: timedelta
    row: InitiationRow | None  # None for a consent
    client: str
    asks: str
    likely: str | None  # the customer who will answer
    page: str  # of the bank, where the address is answered


def read_inbox(bank: Bank, visit: ConsoleVisit, number: int, size: int) -> Facts:
    waiting, more = cut_page(list_waiting_addresses(bank, visit), number, size)
    partly_signed = (bank.find_initiation(name) for name in islice(bank.partly_signed, size))
    now = bank.clock.now
    return {
        "waiting": waiting,
        "more": more,
        "cosigning": [describe_cosigning(bank, initiation) for initiation in partly_signed if initiation],
        "consents": [
            consent for consent in reversed(bank.consents.values()) if consent.ended is None and consent.until > now
        ],
        "customers": [(customer.id, customer.name) for customer in bank.customers.values()],
    }


def list_waiting_addresses(bank: Bank, visit: ConsoleVisit) -> Iterator[WaitingAddress]:
    """Yields the addresses at which a customer can still answer. The addresses of consents come first, then those of
    initiations. In both groups the newest comes first. An initiation is yielded once, even if its address was
    renewed."""
    now = bank.clock.now
    for consent in reversed(bank.consent_addresses.values()):
        if consent.token not in bank.answered and consent.until > now:
            token, likely = consent.token, guess_customer(bank, consent)
            asks = f"{'renewal of ' if consent.renews else ''}consent, {consent.scope}"
            page = find_address(visit, "consents", token[:12], token, consent.redirect_uri)
            yield WaitingAddress(token, consent.until - now, None, consent.client_id, asks, likely, page)
    shown_ids = set()
    for address in reversed(bank.sca_addresses.values()):
        initiation = bank.find_initiation(address.subject_id) if address.until > now else None
        if initiation is None or initiation.id in shown_ids:
            continue
        shown_ids.add(initiation.id)
        if initiation.status in UNSIGNED and not initiation.signatures:
            row, token, likely = make_row(initiation), address.token, guess_signer(bank, initiation)
            page = find_address(visit, row.kind, row.id, token, initiation.origin.redirect_uri)
            yield WaitingAddress(token, address.until - now, row, row.client, "signature", likely, page)


def describe_cosigning(bank: Bank, initiation: Initiation) -> Facts:
    """Returns the row of an initiation that needs further signatures, with the customers who have signed and those who
    still have to sign."""
    signers = signing.list_missing_signers(bank, initiation)
    return {"row": make_row(initiation), "by": initiation.signatures, "signers": signers}


def list_due(bank: Bank, number: int, size: int, background: bool = False) -> tuple[list[Facts], bool]:
    """Returns a page of the coming events, soonest first, and whether more events follow. Background events are the
    habits of customers; they are left out unless `background` is True."""
    coming = (promise for promise in timeline.list_coming(bank) if background or promise.trigger is not Trigger.HABIT)
    promises, more = cut_page(coming, number, size)
    rows = []
    for promise in promises:
        subject = bank.find_subject(promise.subject_id)
        initiation = bank.bulks[subject.bulk_id] if isinstance(subject, Batch) else subject
        rows.append(
            {
                "at": promise.at,
                "after": promise.at - bank.clock.now,
                "subject": promise.subject_id,
                "trigger": coming_event(promise.trigger.value),
                "is_account": promise.trigger in (Trigger.HABIT, Trigger.RETURNED),
                "row": make_row(initiation) if initiation else None,
            }
        )
    return rows, more
