"""Hashes of a bank, by which two banks are compared. Each value has exactly one text, and the hash is computed from
these texts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from hashlib import sha256
from heapq import merge
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from sandbox.bank.clock import Agenda
from sandbox.bank.habits import Habits
from sandbox.bank.ledger import Ledger
from sandbox.bank.mint import Mint
from sandbox.bank.records import Subject
from sandbox.bank.state import Bank
from sandbox.storage.long_work import pause_between

T = TypeVar("T")
SLICE = 2_000  # entries that are sorted at once
AT_ONCE = 200  # entries between two pauses


def make_canonical(value: object) -> object:
    """Returns a value as lists, texts and numbers. Equal values give equal results. Maps are sorted by key, and sets by
    item."""
    kind: Any = type(value)
    return value if kind in AS_THEY_ARE else make_canonicalizer(kind)(value)


AS_THEY_ARE: frozenset[type[Any]] = frozenset({type(None), bool, int, float, str})


@cache
def make_canonicalizer(kind: type[Any]) -> Callable[[Any], object]:
    """Returns the function that `make_canonical` uses for the values of a class. Cached, because a bank has millions of
    values."""
    if issubclass(kind, bool | int | float | str) and not issubclass(kind, Enum):
        return lambda value: value
    if issubclass(kind, Enum | Decimal | datetime | date | timedelta | bytes):
        return lambda value: f"{kind.__name__} {value!s}"
    if is_dataclass(kind):
        names = [row.name for row in fields(kind)]
        return lambda value: [kind.__name__, *[make_canonical(getattr(value, name)) for name in names]]
    if issubclass(kind, Mapping):
        return lambda value: sorted([[make_canonical(key), make_canonical(of)] for key, of in value.items()], key=repr)
    if issubclass(kind, set | frozenset):
        return lambda value: sorted([make_canonical(item) for item in value], key=repr)
    assert issubclass(kind, list | tuple), f"no way to write down {kind}"
    return lambda value: [make_canonical(item) for item in value]


def list_state(bank: Bank) -> Iterator[tuple[str, object]]:
    """Yields the name of each attribute of a bank, and its value in a form that can be compared. Leaves out the past
    that was generated before the bank opened, because it can be generated again from the same seed and people."""
    for name, value in sorted(vars(bank).items()):
        match value:
            case Ledger():
                yield name, ValuePair(value.list_own_lines(), value.sum_by_currency())
            case Habits():
                yield name, value.read_state()
            case Agenda():
                yield name, list(sort_in_slices(value.promises))
            case Mint():
                yield name, [value.seed, value.asked]
            case _:
                yield name, value.now if name == "clock" else value


class ValuePair(NamedTuple):
    """Two values that are written as a list."""

    first: object
    second: object


def write_parts(value: object) -> Iterator[str]:
    """Yields the text of a value in pieces, so that the text of a large register is never in memory as a whole."""
    match value:
        case ValuePair(first, second):
            yield from chain("[", write_parts(first), [", "], write_parts(second), "]")
        case Mapping():
            yield from _write_list(
                sort_in_slices(repr([make_canonical(key), make_canonical(of)]) for key, of in value.items())
            )
        case list() | tuple():
            yield from _write_list(repr(make_canonical(item)) for item in value)
        case _:
            yield repr(make_canonical(value))


def sort_in_slices(items: Iterable[T]) -> Iterator[T]:
    """Sorts the items in slices and merges the slices. Sorting a large register at once would stop every other
    thread."""
    unsorted, slices = pause_between(items, AT_ONCE), list[list[T]]()
    while part := sorted(islice(unsorted, SLICE)):  # type: ignore[type-var]
        slices.append(part)
    return merge(*slices)  # type: ignore[type-var]


def _write_list(items: Iterable[str]) -> Iterator[str]:
    yield "["
    for number, item in enumerate(pause_between(items, AT_ONCE)):
        yield f", {item}" if number else item
    yield "]"


def _write_texts(bank: Bank) -> Iterator[str]:
    between = "["
    for name, value in list_state(bank):
        yield f"{between}({name!r}, "
        yield from write_parts(value)
        yield ")"
        between = ", "
    yield "]"


def hash_state(bank: Bank) -> str:
    """Returns a hash of the whole state of a bank. Two banks with the same hash are equal."""
    return _hash_texts(_write_texts(bank))


def _hash_texts(texts: Iterable[str]) -> str:
    digest = sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


def hash_outcome(bank: Bank) -> str:
    """Returns a hash of the statuses of all initiations and of all balances. Unlike `hash_state`, it depends only on
    names that never change, so every version of the program computes the same hash for the same outcome."""
    subjects: list[Subject] = [*bank.payments.values(), *bank.standing_orders.values()]
    for bulk in bank.bulks.values():
        subjects += [bulk, *bulk.parts]
    statuses = sort_in_slices([subject.id, subject.status.value, subject.reason or ""] for subject in subjects)
    balances = sorted(
        [iban, currency, f"{balance:f}"] for (iban, currency), balance in bank.ledger.list_balances().items()
    )
    return _hash_texts(chain("[", _write_list(map(repr, statuses)), ", ", [repr(balances)], "]"))
