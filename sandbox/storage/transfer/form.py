"""The format of an exported world, which the exporter writes and the importer reads.

The values of a file are checked against the types that the program expects, so that no other value gets into a bank.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, is_dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from hashlib import sha256
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import orjson

from sandbox.bank.ledger import Books
from sandbox.bank.mint import Mint
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_instant
from sandbox.people.fixtures import Fixtures, load_fixtures
from sandbox.storage.codec import encode
from sandbox.storage.format import stored_as
from sandbox.storage.memory_log import Act
from sandbox.storage.transfer.bounds import demand_bounds
from sandbox.worlds.beginning import Beginning
from sandbox.worlds.calls import Exchange

FORMAT = "bank-sandbox world"
VERSION = 1
VERSIONS_READ = (1,)
SHIPPED = "default"  # the fixtures that every sandbox brings along
# Exports name the shipped fixtures by their digest. Each digest that a released program wrote stays here, with the file
# in fixtures/ that has those people: when default.yaml or a record of it changes, the older file is kept.
SHIPPED_FIXTURES = {
    "79248c9f1dc0074c600f1f50cf0ebc1d4a323ffbfb0f50411a75f6644f251fc4": "default",
}


class ParcelError(ValueError):
    """The file of an exported world cannot be used. The text says why, and at which line if it concerns one."""


_digests: WeakKeyDictionary[Books, str] = WeakKeyDictionary()  # of generated pasts, which never change


def is_shipped(fixtures: Fixtures) -> bool:
    return fixtures.digest == load_fixtures(SHIPPED).digest


def compute_people_digest(fixtures: Fixtures) -> str:
    """Returns a digest of the content of fixtures, which are the people of a world. The fixtures have a field `digest`
    themselves, which is left out."""
    content = (fixtures.customers, fixtures.accounts, fixtures.clients, fixtures.profiles, fixtures.names)
    return sha256(orjson.dumps(encode(content))).hexdigest()


def compute_past_digest(bank: Bank) -> str:
    """Returns a digest of the account lines that were generated before the bank opened. Another version of the program
    may generate other lines, and then its digest differs."""
    past = bank.ledger.past
    digest = _digests.get(past)
    if digest is None:
        digest = _digests[past] = _compute_digest(past)
    return digest


def _compute_digest(past: Books) -> str:
    digest = sha256()
    for compartment, lines in sorted(past.lines.items()):
        digest.update(repr(compartment).encode())
        for line in lines:
            posting, entry = line.posting, line.entry
            row = (line.on, line.number, posting.amount.number, posting.counterparty_account,
                   posting.counterparty_name, entry.reference, entry.value_on, entry.communication)  # fmt: skip
            digest.update(repr(tuple(str(cell) for cell in row)).encode())
    return digest.hexdigest()


def encode_line(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content) + b"\n"


@stored_as("DrawnSecret")
@dataclass(frozen=True, slots=True)
class DrawnSecret:
    """Takes the place of a secret that the bank's mint drew, in an export without secrets. `number` says which draw it
    was, counted from 1 over all draws of the bank. `act_id` is the id of the act that drew it if servers share the
    world, else it is empty."""

    number: int
    act_id: str = ""


def make_secret_finder(beginning: Beginning) -> Any:
    """Returns a function that computes the secret of a DrawnSecret again, from the seed and the secret of the world."""

    def draw(drawn: DrawnSecret) -> str:
        mint = Mint(beginning.seed, drawn.number - 1, beginning.secret)
        mint.salt = drawn.act_id
        return mint.draw_secret()

    return draw


def restore_secrets(act: Act, secret_of: Any) -> Act:
    """Returns the act with the secret in place of each DrawnSecret. `secret_of` computes the secret of a
    DrawnSecret."""
    if not any(isinstance(value, DrawnSecret) for value in act.arguments):
        return act
    arguments = (secret_of(value) if isinstance(value, DrawnSecret) else value for value in act.arguments)
    return act._replace(arguments=tuple(arguments))


def write_exact_time(at: datetime) -> str:
    """Returns a time as text, with its microseconds. A time without microseconds has the usual form."""
    return at.isoformat() if at.microsecond else write_instant(at)


class CarriedFinding(NamedTuple):
    """A finding as an export contains it. `rule` is the id of the rule, by which the importing program finds the
    rule."""

    rule: str
    what: str
    call: Exchange
    proof: tuple[Exchange, ...] = ()
    difference: tuple[str, ...] = ()


class FindingsCarrier(NamedTuple):
    """The functions by which an extension exports and imports its findings."""

    findings_of: Callable[[Any], Iterable[CarriedFinding]]  # of a World
    take_in: Callable[[Any, tuple[CarriedFinding, ...]], None]  # those that the extension knows; the rest is left out


def make_finding_row(finding: CarriedFinding) -> dict[str, Any]:
    return finding._asdict() | {"call": call_row(finding.call), "proof": [call_row(call) for call in finding.proof]}


def call_row(call: Exchange) -> dict[str, Any]:
    return call._asdict() | {"at": write_exact_time(call.at)}


def demand_fit(value: Any, hint: Any, place: str) -> None:
    """Compares a value and all values inside it with the type `hint`, and with the bounds in bounds.py. Raises
    ParcelError at the first value that has another type or is out of its bounds. The text of the error begins with
    `place`. An int fits where a float is expected."""
    if hint is Any or hint is object:
        return
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        _check_any(value, parts, place)
    elif origin is Literal:
        _demand(value in parts, value, place)
    elif origin is tuple:
        _demand(type(value) is tuple, value, place)
        of = [parts[0]] * len(value) if len(parts) == 2 and parts[1] is ... else list(parts)
        _demand(len(of) == len(value), value, place)
        for number, (item, part) in enumerate(zip(value, of, strict=True)):
            demand_fit(item, part, f"{place}[{number}]")
    elif origin is dict:
        _demand(type(value) is dict, value, place)
        for key, item in value.items():
            demand_fit(key, parts[0], f"{place} (a key)")
            demand_fit(item, parts[1], f"{place}.{key}")
    else:
        kind: Any = type(value)
        whole = hint is float and kind is int  # an int fits a float; True is not an int here
        _demand(value is None if hint is NoneType else kind is hint or whole, value, place)
        try:
            demand_bounds(value)
        except ValueError as fault:
            raise ParcelError(f"{place}: {fault}") from None
        for name, part in list_hints(kind).items():
            demand_fit(getattr(value, name), part, f"{place}.{name}")


def _check_any(value: Any, parts: tuple[Any, ...], place: str) -> None:
    faults = []  # as texts: a stored error refers to this frame, which refers to the error
    for part in parts:
        try:
            return demand_fit(value, part, place)
        except ParcelError as fault:
            faults.append(str(fault))
    raise ParcelError(faults[0] if value is not None else faults[-1])


@lru_cache(maxsize=256)
def list_hints(kind: Any) -> dict[str, Any]:
    """Returns the types of a record's fields by name. Empty if `kind` is not a class of records."""
    if issubclass(kind, Enum) or not (is_dataclass(kind) or hasattr(kind, "_fields")):
        return {}
    return {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}


def _demand(holds: bool, value: Any, place: str) -> None:
    if not holds:
        raise ParcelError(f"{place} does not take a {type(value).__name__}")
