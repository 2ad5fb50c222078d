"""Payments, standing orders and files as the console lists them. Each reads the bank inside its door."""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sandbox.bank.records import Batch, BulkFile, Initiation, Payment, StandingOrder
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.bulkfiles.report import BatchReport
from sandbox.contract.kinds import BULK, BY_LIST, PAYMENT, STANDING_ORDER, InitiationKind
from sandbox.contract.products import PRODUCTS
from sandbox.web.console.formats import account, amount
from sandbox.web.console.state_picture import Dot, dots, picture_of
from sandbox.web.console.visits import Facts

T = TypeVar("T")
PAGE = 50
KINDS = {name: kind.label.capitalize() for name, kind in BY_LIST.items()}


class InitiationRow(NamedTuple):
    """One initiation in a list."""

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


def kind_of(bank: Bank, name: str) -> str | None:
    """None for what is no initiation of its own: a customer, an account, a bulk within a file."""
    found = bank.initiation(name)
    return found.kind.list if found else None


def page_of(found: Iterable[T], number: int, size: int = PAGE) -> tuple[list[T], bool]:
    """A page of a list, and whether there is more; only the page's own are kept."""
    rows = list(islice(found, (number - 1) * size, number * size + 1))
    return rows[:size], len(rows) > size


def rows_of(bank: Bank, kind: str, number: int, status: str, sought: str) -> Facts:
    """Newest first; only the page's own are looked at unless something is sought."""
    register = bank.register_of(BY_LIST[kind])
    found: Iterable[Initiation] = reversed(register.values())  # type: ignore[call-overload]
    if status or sought:
        found = (one for one in found if fits(one, status, sought.casefold()))
    rows, more = page_of(found, number)
    return {"rows": [row_of(one) for one in rows], "more": more, "total": len(register)}


def fits(one: Initiation, status: str, sought: str) -> bool:
    texts = SUMMARIES[one.kind].searched(one)
    return status in ("", one.status.value) and any(sought in text.casefold() for text in texts)


def row_of(one: Initiation) -> InitiationRow:
    visited = tuple(dict.fromkeys(fact.target for fact in one.history if fact.target is not one.status))
    return InitiationRow(
        one.kind.list,
        one.id,
        *SUMMARIES[one.kind].columns(one),
        one.origin.client_id,
        one.customer,
        one.status.value,
        one.reason,
        one.history[-1].at,
        dots(one.path, (*visited, one.status)),
    )


Columns = tuple[str, str, str, str]  # product, amount, beneficiary and reference


def payment_columns(payment: Payment) -> Columns:
    order = payment.order
    return PRODUCTS[order.product].short, amount(order.amount), order.creditor_name, order.endtoend_identification


def order_columns(order: StandingOrder) -> Columns:
    contract = order.order
    money = amount(contract.amount) if contract.amount else "variable"
    frequency = str(contract.frequency).lower().replace("_", " ")
    return frequency, money, contract.creditor_name, contract.endtoend_identification


def file_columns(bulk: BulkFile) -> Columns:
    count = sum(len(part.batch.transfers) for part in bulk.parts if isinstance(part.batch, BatchReport))
    money = amount(Money(bulk.total, "EUR")) if bulk.payable_parts else ""
    content = f"{counted(len(bulk.parts), 'bulk')}, {counted(count, 'transfer')}"
    return bulk.format, money, content, bulk.message_id or ""


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def lines_of(one: Initiation) -> list[tuple[str, str]]:
    """All that was asked for, as labels and texts; what was not given has no line."""
    found = [("id", one.id), ("TPP", one.origin.client_id), ("PSU", one.customer or "")]
    found += SUMMARIES[one.kind].lines(one)
    found.append(("signed by", ", ".join(one.signatures)))
    return [(label, text) for label, text in found if text]


def payment_lines(one: Payment) -> list[tuple[str, str]]:
    order = one.order
    return [
        ("product", order.product),
        ("amount", amount(order.amount)),
        ("beneficiary", order.creditor_name),
        ("to", account(order.creditor.iban or order.creditor.bban or "")),
        ("from", account(one.debtor.iban) if one.debtor else "the PSU picks it"),
        ("end to end", order.endtoend_identification),
        ("communication", order.structured or order.unstructured or ""),
        ("execution date", str(one.executes_on or order.execution_date or "")),
        ("tries", str(one.tries) if one.tries else ""),
    ]


def contract_lines(one: StandingOrder) -> list[tuple[str, str]]:
    order = one.order
    return [
        ("amount", amount(order.amount) if order.amount else ""),
        ("stays at least", amount(order.minimal) if order.minimal else ""),
        ("leaves at most", amount(order.maximal) if order.maximal else ""),
        ("frequency", str(order.frequency).lower().replace("_", " ")),
        ("beneficiary", order.creditor_name),
        ("to", account(order.creditor_iban)),
        ("from", account(one.debtor.iban) if one.debtor else "the PSU picks it"),
        ("first", str(order.first)),
        ("end", str(order.end_date or "")),
        ("end to end", order.endtoend_identification),
        ("executions", str(len(one.runs)) if one.runs else ""),
    ]


class Summary(NamedTuple):
    """What the console shows of one kind."""

    columns: Callable[[Any], Columns]
    lines: Callable[[Any], list[tuple[str, str]]]
    searched: Callable[[Any], tuple[str, ...]]  # the texts in which a search looks


def order_texts(one: Payment | StandingOrder) -> tuple[str, ...]:
    return one.id, one.order.endtoend_identification, one.order.creditor_name, one.origin.client_id


SUMMARIES: dict[InitiationKind, Summary] = {
    PAYMENT: Summary(payment_columns, payment_lines, order_texts),
    STANDING_ORDER: Summary(order_columns, contract_lines, order_texts),
    BULK: Summary(
        file_columns,
        lambda bulk: [("format", bulk.format), ("message id", bulk.message_id or "")],
        lambda bulk: (bulk.id, bulk.message_id or "", bulk.origin.client_id),
    ),
}


def part_of(part: Batch) -> Facts:
    """A bulk of a file."""
    batch = part.batch if isinstance(part.batch, BatchReport) else None
    first = [(finding.place, finding.code, finding.text) for finding in part.findings]
    return {
        "status": part.status.value,
        "reason": part.reason,
        "debtor": account(batch.debtor_iban) if batch else "",
        "amount": amount(Money(batch.control_sum, batch.debtor_currency)) if batch else "",
        "transfers": len(batch.transfers) if batch else 0,
        "day": str(part.executes_on or batch.execution_date) if batch else "",
        "findings": first,
        "more_findings": part.findings.count - len(first),
        "picture": picture_of(part.path, part.history),
    }
