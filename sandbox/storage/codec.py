"""Converts acts and beginnings to JSON and back. Stores and exports contain this JSON.

A record is written under its name with its fields by name: `{"~": "Debtor", "v": {"iban": "BE71096123456769"}}`. So a
field may be added anywhere in a record: data that was stored before does not have the field, and a reader gives it its
default. A field that has its default is left out. This is true of most fields of an act, so acts stay short.

Two rules follow. A new field of a stored record must have a default. And the default of a field never changes, because
stored data would change its meaning. `tests/data/names.json` holds all names and defaults, and
`tests/data/released.json` those of axes. The settings of a bank are the exception: all of them are written, so that a
later version may choose another default for new banks.

The arguments of an act are written by the names of its verb's parameters, and the same two rules hold for them. A name
that the program does not know raises UnknownNameError. Nothing is ignored silently.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from inspect import Parameter
from operator import attrgetter
from types import NoneType
from typing import Any, TypeVar

import orjson

from sandbox.bank import initiations, records, rules
from sandbox.bank.records import StandingOrderRequest
from sandbox.bank.verbs import VERBS, list_parameters
from sandbox.banking.money import Money
from sandbox.banking.payees import PayeeCheck
from sandbox.banking.recurrence import Frequency
from sandbox.contract.decisions import SETTINGS, Decisions, list_settings, with_changes
from sandbox.contract.moves import Status
from sandbox.people.fixtures import Fixtures, Profile
from sandbox.people.habits import DayPattern, Habit
from sandbox.storage.format import NAMES, RECORDS, stored_as

T = TypeVar("T")
Defaults = tuple[tuple[str, Any], ...]  # names of fields or parameters, each with its default or MISSING

TAG, VALUE = "~", "v"
PLAIN = frozenset({NoneType, bool, int, float, str})
SHARED = frozenset({"Fixtures", "ScenarioRule", "Decisions"})


class UnknownNameError(ValueError):
    """Stored data has a name that this program does not know."""

    def __init__(self, unknown_part: str) -> None:
        super().__init__(f"it has {unknown_part}, which this program does not know: a newer program wrote it")


def encode(value: Any) -> Any:
    """Returns a value as lists, dicts, texts and numbers, which JSON can hold. Raises KeyError for a class that was not
    registered by `stored_as`."""
    kind: Any = type(value)
    return value if kind in PLAIN else _make_writer(kind)(value)


def decode(content: Any) -> Any:
    """Returns the value that `encode` was given, but with tuples for lists. Raises ValueError if `encode` did not make
    the content."""
    kind = type(content)
    if kind is list:
        return tuple([decode(item) for item in content])
    if kind is not dict:
        return content
    try:
        name, value = content[TAG], content[VALUE]
        return _read_shared(name, orjson.dumps(value)) if name in SHARED else _make_reader(name)(value)
    except (KeyError, TypeError, ArithmeticError) as fault:
        raise ValueError(f"this was not written by the sandbox: {fault!r}") from None


def encode_bytes(value: Any) -> bytes:
    return orjson.dumps(encode(value))


def decode_bytes(content: bytes) -> Any:
    return decode(orjson.loads(content))


def encode_arguments(verb: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the arguments of an act by name. Arguments at their default are left out."""
    return _name_values(_list_defaults_of_parameters(verb), arguments)


def decode_arguments(verb: str, content: Any) -> tuple[Any, ...]:
    """Returns the arguments of an act in the order of the verb's parameters. A missing argument gets the default of its
    parameter. Raises UnknownNameError if this program does not know the verb or an argument. Raises ValueError if an
    argument without a default is missing, or if the content cannot be decoded."""
    if verb not in VERBS:
        raise UnknownNameError(f"the verb {verb!r:.60}")
    if not isinstance(content, dict):
        raise ValueError("the arguments of an act have names")
    parameters = _list_defaults_of_parameters(verb)
    unknown = content.keys() - dict(parameters).keys()
    if unknown:
        raise UnknownNameError(f"the argument {min(unknown)!r:.60} of {verb}")
    missing = [name for name, default in parameters if default is MISSING and name not in content]
    if missing:
        raise ValueError(f"{verb} has no argument {missing[0]!r}")
    return tuple([decode(content[name]) if name in content else default for name, default in parameters])


def make_record(kind: type[T], values: Mapping[str, Any]) -> T:
    """Returns a record with these values. Raises UnknownNameError for a field that the record does not have."""
    try:
        return kind(**values)
    except TypeError:
        unknown = values.keys() - dict(list_defaults(kind)).keys()
        if unknown:
            raise UnknownNameError(f"the field {min(unknown)!r:.60} of {kind.__name__}") from None
        raise


@cache
def _make_writer(kind: Any) -> Callable[[Any], Any]:
    if kind in (tuple, list):
        return lambda values: [encode(value) for value in values]
    for name, (leaf, write, _) in LEAVES.items():
        if kind is leaf:
            return lambda value: {TAG: name, VALUE: write(value)}
    name = NAMES[kind]
    if kind is Decisions:
        return lambda decisions: {TAG: name, VALUE: {key: encode(of) for key, of in list_settings(decisions).items()}}
    if issubclass(kind, Enum):
        return lambda member: {TAG: name, VALUE: member.value}
    defaults, values = list_defaults(kind), _make_values_reader(kind)
    return lambda record: {TAG: name, VALUE: _name_values(defaults, values(record))}


@cache
def _make_reader(name: str) -> Callable[[Any], Any]:
    if name in LEAVES:
        return LEAVES[name][2]
    if name not in RECORDS:
        raise UnknownNameError(f"the record {name!r:.60}")
    kind = RECORDS[name]
    if kind is Decisions:
        return _read_decisions
    if issubclass(kind, Enum):
        return kind
    return lambda content: make_record(kind, {field: decode(content[field]) for field in content})


@lru_cache(maxsize=256)
def _read_shared(name: str, content: bytes) -> Any:
    """Returns the value of encoded content, from a cache if possible. So 1,000 worlds with the same people and settings
    share one object of each."""
    return _make_reader(name)(orjson.loads(content))


def _name_values(defaults: Defaults, values: Iterable[Any]) -> dict[str, Any]:
    return {
        name: encode(value)
        for (name, default), value in zip(defaults, values, strict=False)
        if value is not default and value != default
    }


def _make_values_reader(kind: type[Any]) -> Callable[[Any], Iterable[Any]]:
    """Returns a function that returns the values of a record in the order of its fields."""
    names = [name for name, _ in list_defaults(kind)]
    if not is_dataclass(kind):
        return tuple
    if len(names) == 1:  # attrgetter returns no tuple then
        return lambda record: (getattr(record, names[0]),)
    return attrgetter(*names)


def list_defaults(kind: Any) -> Defaults:
    if is_dataclass(kind):
        return tuple((row.name, row.default) for row in fields(kind) if row.init)
    return tuple((name, kind._field_defaults.get(name, MISSING)) for name in kind._fields)


@cache
def _list_defaults_of_parameters(verb: str) -> Defaults:
    rows = list_parameters(verb)
    return tuple((row.name, MISSING if row.default is Parameter.empty else row.default) for row in rows)


def _read_decisions(content: dict[str, Any]) -> Decisions:
    unknown = content.keys() - SETTINGS.keys()
    if unknown:
        raise UnknownNameError(f"the setting {min(unknown)!r:.60}")
    return with_changes(Decisions(), {name: decode(value) for name, value in content.items()})


# Kinds of values that are no records, by the names that stored data has for them: how they are written and read.
LEAVES: dict[str, tuple[type[Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "dict": (
        dict,
        lambda value: [[encode(key), encode(item)] for key, item in value.items()],
        lambda pairs: {decode(key): decode(item) for key, item in pairs},
    ),
    "decimal": (Decimal, str, Decimal),
    "time": (datetime, lambda at: at.astimezone(UTC).isoformat(), datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "span": (
        timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: timedelta(*parts),
    ),
    "bytes": (bytes, lambda raw: b64encode(raw).decode(), lambda text: b64decode(text, validate=True)),
}
# A name never changes, also when its class is renamed.
for _name, _record in {
    "Account": records.Account,
    "Address": records.Address,
    "AddedFinding": rules.AddedFinding,
    "AmountCondition": rules.AmountCondition,
    "Creditor": records.Creditor,
    "Customer": records.Customer,
    "DayPattern": DayPattern,
    "Debtor": records.Debtor,
    "Decisions": Decisions,
    "Fixtures": Fixtures,
    "Frequency": Frequency,
    "Habit": Habit,
    "Money": Money,
    "Origin": records.Origin,
    "PayeeCheck": PayeeCheck,
    "PaymentRequest": records.PaymentRequest,
    "Profile": Profile,
    "Psu": rules.Psu,
    "RegisteredClient": records.RegisteredClient,
    "RequestKey": initiations.RequestKey,
    "RuleCondition": rules.RuleCondition,
    "RuleEffect": rules.RuleEffect,
    "ScenarioRule": rules.ScenarioRule,
    "StandingOrderRequest": StandingOrderRequest,
    "Status": Status,
}.items():
    stored_as(_name)(_record)
