"""Acts and beginnings as JSON and back: what a log keeps on disk, and what travels to another machine."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any

import orjson

from sandbox.bank import grants, initiations, records, rules
from sandbox.bank.subjects import StandingOrderRequest
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency
from sandbox.contract.decisions import SETTINGS, Decisions, settings_of, with_changes
from sandbox.contract.moves import Status
from sandbox.people.fixtures import Fixtures, Profile
from sandbox.people.habits import DayPattern, Habit
from sandbox.storage.record_names import NAMES, RECORDS, stored_as

TAG = "~"

# What acts and beginnings are made of, under the names that logs and exports keep: a name never changes, also when a
# class is renamed. A name that is not here is not read back.
OF_BANKS: dict[str, type[Any]] = {
    "Account": records.Account,
    "Address": records.Address,
    "Client": records.RegisteredClient,
    "Creditor": records.Creditor,
    "Customer": records.Customer,
    "Debtor": records.Debtor,
    "Order": records.PaymentRequest,
    "Origin": records.Origin,
    "Grant": grants.Grant,
    "Ask": initiations.RequestKey,
    "Added": rules.Added,
    "AmountIs": rules.AmountIs,
    "Psu": rules.Psu,
    "Rule": rules.ScenarioRule,
    "Then": rules.RuleEffect,
    "When": rules.RuleCondition,
    "Contract": StandingOrderRequest,
    "Fixtures": Fixtures,
    "Frequency": Frequency,
    "Habit": Habit,
    "Habit.When": DayPattern,
    "Money": Money,
    "Profile": Profile,
    "Settings": Decisions,
    "Status": Status,
}
for _name, _record in OF_BANKS.items():
    stored_as(_name)(_record)


def encode(value: Any, by_name: bool = False) -> Any:
    """Only plain JSON comes out, by name for people; a kind of value that no one foresaw is our mistake."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    kind = type(value)
    if kind is tuple or kind is list:
        return [encode(item, by_name) for item in value]
    if kind in NAMES:
        return {TAG: NAMES[kind], "v": _parts(value, by_name)}
    for name, (of, write, _) in LEAVES.items():
        if kind is of:
            return {TAG: name, "v": write(value)}
    assert kind is dict, f"no way to keep {kind}"
    return {TAG: "dict", "v": [[encode(key), encode(item, by_name)] for key, item in value.items()]}


def decode(value: Any) -> Any:
    """A ValueError for what encode did not write. Lists become tuples: acts are given nothing that changes."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    try:
        name, content = value[TAG], value["v"]
        if name == "dict":
            return {decode(key): decode(item) for key, item in content}
        if name in LEAVES:
            return LEAVES[name][2](content)
        return _shared(name, orjson.dumps(content)) if name in SHARED else _make_record(RECORDS[name], content)
    except (KeyError, TypeError, ArithmeticError) as fault:
        raise ValueError(f"this was not written by the sandbox: {fault!r}") from None


def encode_text(value: Any) -> bytes:
    """As it is kept."""
    return orjson.dumps(encode(value))


def read(content: bytes) -> Any:
    return decode(orjson.loads(content))


def _parts(value: Any, by_name: bool) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        kind: Any = type(value)
        if by_name:  # without what goes without saying
            rows = ((name, getattr(value, name), default) for name, default in _defaults(kind))
            return {name: encode(item, by_name) for name, item, default in rows if item != default}
        if isinstance(value, Decisions):  # by name: a newer program may know more of them
            return {name: encode(item) for name, item in settings_of(value).items()}
        return [encode(getattr(value, name)) for name, _ in _defaults(kind)]
    return [encode(item, by_name) for item in value]  # a named tuple


def _make_record(kind: type[Any], content: Any) -> Any:
    if issubclass(kind, Enum):
        return kind(content)
    if isinstance(content, dict):
        if kind is Decisions:  # those of a world that knew no editions
            rows = {name: decode(item) for name, item in content.items()}
            return with_changes(Decisions(rules_edition=1), rows)
        return kind(**{name: decode(item) for name, item in content.items()})
    return kind(*(decode(item) for item in content))


@lru_cache(maxsize=256)
def _shared(name: str, content: bytes) -> Any:
    """Read once: a thousand worlds begin alike, and share what never changes."""
    return _make_record(RECORDS[name], orjson.loads(content))


@lru_cache(maxsize=64)
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    if kind is Decisions:
        return tuple((name, row.default) for name, row in SETTINGS.items())
    return tuple((row.name, row.default) for row in fields(kind) if row.init)


SHARED = frozenset({"Fixtures", "Rule", "Settings"})

LEAVES: dict[str, tuple[type[Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
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
