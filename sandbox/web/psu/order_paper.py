"""A standing order as a customer reads it (service 2.2, choice 6)."""

from collections.abc import Iterator

from sandbox.bank.standing_order_records import Contract
from sandbox.banking.recurrence import Frequency, Occurrence
from sandbox.contract.fields import STANDING_ORDER
from sandbox.web.psu.field_lines import field_lines
from sandbox.web.psu.formats import account, amount, day_of_month, day_of_year, long_date, weekday
from sandbox.web.psu.initiation_views import OrderView
from sandbox.web.psu.phrases import Line, communication, source
from sandbox.web.psu.words import say


def order_lines(language: str, view: OrderView) -> Iterator[Line]:
    contract = view.contract
    yield "creditor", contract.creditor_name
    yield "creditor_account", account(contract.creditor_iban)
    yield "debtor", source(view.source)
    yield "formula", formula(language, contract) if contract.variable else ""
    yield "communication", communication(language, contract.structured, contract.unstructured)
    yield "frequency", rhythm(language, contract)
    yield "first", _execution(language, view.first)
    yield "end", _end(language, view)
    yield "closed_days", say(language, "order.previous_day" if contract.variable else "order.next_day")
    yield from field_lines(language, STANDING_ORDER, contract)
    yield "reference", contract.endtoend_identification


def order_headline(language: str, view: OrderView) -> Line:
    contract = view.contract
    paid = amount(language, contract.amount) if contract.amount else say(language, "order.variable")
    return paid, contract.creditor_name


def formula(language: str, contract: Contract) -> str:
    """What a variable order pays: between the amount that stays and the most that leaves (service 2.2 rule 2)."""
    if contract.minimal is None and contract.maximal is None:
        return say(language, "order.everything")
    if contract.maximal is None and contract.minimal is not None:
        return say(language, "order.above", minimal=amount(language, contract.minimal))
    if contract.minimal is None and contract.maximal is not None:
        return say(language, "order.up_to", maximal=amount(language, contract.maximal))
    assert contract.minimal is not None and contract.maximal is not None
    bounds = {"minimal": amount(language, contract.minimal), "maximal": amount(language, contract.maximal)}
    return say(language, "order.between", **bounds)


def rhythm(language: str, contract: Contract) -> str:
    """How often, and on which day."""
    first, frequency = contract.first, contract.frequency
    if frequency is Frequency.WEEKLY:
        return say(language, frequency, day=weekday(language, first))
    if frequency is Frequency.YEARLY:
        return say(language, frequency, day=day_of_year(language, first))
    ordinal = day_of_month(language, first)
    day = say(language, "order.month_end" if first.day > 28 else "order.month_day", day=ordinal)
    return say(language, frequency, day=day)


def _execution(language: str, day: Occurrence) -> str:
    """The banking day, and the day that the contract names where that is another."""
    on = long_date(language, day.on)
    if day.on == day.planned:
        return on
    return say(language, "order.shifted", on=on, planned=long_date(language, day.planned))


def _end(language: str, view: OrderView) -> str:
    if view.contract.end_date is None:
        return say(language, "order.endless")
    end = long_date(language, view.contract.end_date)
    if view.last is None:
        return end
    return say(language, "order.last", end=end, last=long_date(language, view.last.on))
