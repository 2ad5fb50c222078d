"""One way to write any state down, so that two states can be held against each other."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import sha256

from sandbox.bank.clock import Agenda
from sandbox.bank.ledger import Ledger
from sandbox.bank.mint import Mint
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject


def canonical(value: object) -> object:
    """Plain lists and texts; maps in the order of their keys."""
    if value is None or isinstance(value, bool | int | float | str) and not isinstance(value, Enum):
        return value
    if isinstance(value, Enum | Decimal | datetime | date | timedelta | bytes):
        return f"{type(value).__name__} {value!s}"
    if is_dataclass(value):
        return [type(value).__name__, *(canonical(getattr(value, row.name)) for row in fields(value))]
    if isinstance(value, Mapping):
        return sorted(([canonical(key), canonical(of)] for key, of in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return sorted((canonical(item) for item in value), key=repr)
    assert isinstance(value, list | tuple), f"no way to write down {type(value)}"
    return [canonical(item) for item in value]


def state_of(bank: Bank) -> dict[str, object]:
    """Every register of a bank, canonical. The shared past is a function of the beginning, so it is left out."""
    registers: dict[str, object] = {}
    for name, value in vars(bank).items():
        match value:
            case Ledger():
                registers[name] = [canonical(value.added()), canonical(value.totals())]
            case Agenda():
                registers[name] = canonical(sorted(value.promises))
            case Mint():
                registers[name] = [value.seed, value.asked]
            case _ if name == "clock":
                registers[name] = canonical(value.now)
            case _:
                registers[name] = canonical(value)
    return registers


def state_hash(bank: Bank) -> str:
    """Two banks with the same hash are the same bank."""
    return sha256(repr(sorted(state_of(bank).items())).encode()).hexdigest()


def outcome_hash(bank: Bank) -> str:
    """What every version of the program must agree on: statuses and balances, by names that no rename changes."""
    subjects: list[Subject] = [*bank.payments.values(), *bank.standing_orders.values()]
    for bulk in bank.bulks.values():
        subjects += [bulk, *bulk.parts]
    statuses = sorted([subject.id, subject.status.value, subject.reason or ""] for subject in subjects)
    balances = sorted([iban, currency, f"{balance:f}"] for (iban, currency), balance in bank.ledger.balances().items())
    return sha256(repr([statuses, balances]).encode()).hexdigest()
