"""The bounds of the values in an exported world. Controls and scenarios have the same bounds for the same values.

Rules and faults are converted to the form of a scenario and read by the reader of scenarios, so their bounds are
defined once.
"""

from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from sandbox.bank.records import (
    ACCOUNT_TYPES,
    BALANCES_SHOWN,
    CUSTOMER_KINDS,
    METHODS,
    ROLES,
    Account,
    Customer,
    RegisteredClient,
)
from sandbox.bank.rules import AmountCondition, Psu, RuleEffect, ScenarioRule
from sandbox.banking.durations import LONGEST, bound_instant, write_duration
from sandbox.banking.money import Money
from sandbox.contract.languages import SCREENS
from sandbox.contract.moves import Status
from sandbox.people.fixtures import Profile
from sandbox.people.habits import LIVES
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.reading import read_fault, read_rule
from sandbox.worlds.faults import Fault

DIGITS_MAX = 13  # before the dot of an amount (service 2.1 rule 4)
PLACES_MAX = 4  # after the dot, in any currency
SIGNATURES_MAX = 9

Check = Callable[[Any], str | None]  # returns what is wrong, or None


def _make_one_of_check(words: Collection[str]) -> Check:
    return lambda value: None if value in words else f"it is one of {', '.join(words)}"


def _make_each_of_check(words: Collection[str]) -> Check:
    return lambda values: None if {*values} <= {*words} else f"each is one of {', '.join(words)}"


def _find_negative(value: Money | None) -> str | None:
    return None if value is None or value.number >= 0 else "it is below 0"


def _find_negative_fee(value: tuple[tuple[str, Money], ...]) -> str | None:
    return next((fault for _, fee in value if (fault := _find_negative(fee))), None)


def _find_wrong_count(value: int) -> str | None:
    return None if 1 <= value <= SIGNATURES_MAX else f"it is a number from 1 to {SIGNATURES_MAX}"


LIMITS: dict[str, Check] = {"limit_day": _find_negative, "limit_week": _find_negative}
FIELDS: dict[type[Any], dict[str, Check]] = {
    Customer: {
        "kind": _make_one_of_check(CUSTOMER_KINDS),
        "language": _make_one_of_check(SCREENS),
        "methods": _make_each_of_check(METHODS),
        "fees": _find_negative_fee,
        **LIMITS,
    },
    Account: {
        "type": _make_one_of_check(ACCOUNT_TYPES),
        "balance_shown": _make_one_of_check(BALANCES_SHOWN),
        "signatures_required": _find_wrong_count,
        "overdraft": _find_negative,
        **LIMITS,
    },
    RegisteredClient: {"roles": _make_each_of_check(ROLES)},
    Profile: {"life": _make_one_of_check(LIVES)},
}
# The acts that change fields of a record, with the record.
AMENDED: dict[str, type[Any]] = {
    "accounts.amend": Account,
    "customers.amend": Customer,
    "clients.amend": RegisteredClient,
}


def demand_bounds(value: Any) -> None:
    """Raises ValueError for a value of the right type that is out of its bounds. In a record, checks only those of its
    fields that FIELDS lists."""
    match value:
        case datetime():
            if value.tzinfo is None:
                raise ValueError("a time has an offset")
            bound_instant(value)
        case timedelta():
            if not timedelta() <= value <= LONGEST:
                raise ValueError("a duration is from 0 to 200 years")
        case float():
            if not isfinite(value):
                raise ValueError("NaN and Infinity are no numbers here")
        case Decimal():
            _demand_decimal(value)
        case Money():
            _demand_decimal(value.number)
            Money.read(f"{value.number:f}", value.currency)
        case _:
            for name in FIELDS.get(type(value), ()):
                demand_field(type(value), name, getattr(value, name))


def demand_field(kind: type[Any], name: str, value: Any) -> None:
    """Raises ValueError if the field of a record may not have that value."""
    fault = FIELDS.get(kind, {}).get(name, lambda value: None)(value)
    if fault is not None:
        raise ValueError(f"{name}: {value!r:.60}: {fault}")


def _demand_decimal(value: Decimal) -> None:
    """Raises ValueError for a number with too many digits. Must be called before the number is written as text, because
    the text of 1E+999999999 would take a gigabyte."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or value.adjusted() >= DIGITS_MAX or exponent < -PLACES_MAX:
        raise ValueError(f"an amount has {DIGITS_MAX} digits before the dot and {PLACES_MAX} behind it at most")


# Rules and faults, as a scenario has them


def demand_rules(rules: tuple[ScenarioRule, ...]) -> None:
    for number, rule in enumerate(rules, 1):
        _read(f"rule {number}", read_rule, write_rule(rule))


def demand_faults(faults: tuple[Fault, ...]) -> None:
    for number, fault in enumerate(faults, 1):
        _read(f"fault {number}", lambda content: read_fault(content, "a fault"), list_fault_content(fault))


def _read(place: str, read: Callable[[Any], object], content: dict[str, Any]) -> None:
    try:
        read(content)
    except ScenarioErrors as errors:
        raise ValueError(f"{place}: {errors.errors[0]}") from None


WORDS = {"since": "from"}  # names in a scenario that are keywords of Python


def list_given_fields(record: Any) -> dict[str, Any]:
    """Returns the fields of a record that are not at their default, under their names in a scenario."""
    rows = ((row, getattr(record, row.name)) for row in fields(record))
    return {
        WORDS.get(row.name, row.name): _write_content(value)
        for row, value in rows
        if row.default is MISSING or value != row.default
    }


def _write_content(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return write_duration(value)
        case Decimal():
            return f"{value:f}"
        case Status():
            return value.value
        case AmountCondition():
            return list_given_fields(value)
        case tuple():
            return [_write_content(item) for item in value]
        case _:
            return value


def list_fault_content(fault: Fault) -> dict[str, Any]:
    content = list_given_fields(fault) | {"when": list_given_fields(fault.when)}
    if fault.answer is not None:
        content["answer"] = list_given_fields(fault.answer)
    if "delay" in content:
        content["delay"] = write_duration(timedelta(seconds=fault.delay))
    if "seconds" in content:
        content["for"] = write_duration(timedelta(seconds=content.pop("seconds")))
    return _add_title(content)


def write_rule(rule: ScenarioRule) -> dict[str, Any]:
    content = list_given_fields(rule) | {"when": list_given_fields(rule.when)}
    at_the_page: list[dict[str, Any]] = []
    if rule.payee is not None:
        at_the_page.append({"payee": rule.payee.outcome} | ({"name": rule.payee.name} if rule.payee.name else {}))
    if rule.unreachable:
        at_the_page.append({"unreachable": True})
    for name in ("payee", "unreachable"):
        content.pop(name, None)
    if rule.then or at_the_page:
        content["then"] = [*at_the_page, *map(_write_then, rule.then)]
    if rule.timings:
        content["timings"] = {name: write_duration(span) for name, span in rule.timings}
    if rule.psu is not None:
        content["psu"] = _write_psu(rule.psu)
    if rule.validation:
        content["validation"] = [
            {"code": rule_finding.code, "text": rule_finding.text}
            | ({"bulk": rule_finding.bulk} if rule_finding.bulk else {"refuse": True})
            for rule_finding in rule.validation
        ]
    return _add_title(content)


def _add_title(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "title" or value}


def _write_then(then: RuleEffect) -> dict[str, Any]:
    content = list_given_fields(then)
    if then.back:
        del content["move"], content["back"]
        content[then.back] = content.pop("reason", None)
    return content


def _write_psu(psu: Psu) -> dict[str, Any]:
    content = list_given_fields(psu)
    content[content.pop("does")] = True
    if psu.then is not None:
        content["second"] = _write_psu(psu.then)
    content.pop("then", None)
    return content
