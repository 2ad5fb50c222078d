"""Copies a bank. Records that never change are shared."""

from copy import copy
from dataclasses import fields
from typing import Any

from sandbox.bank.clock import Agenda, Clock
from sandbox.bank.grants import Consent, Session
from sandbox.bank.habits import Habits
from sandbox.bank.ledger import Ledger
from sandbox.bank.mint import Mint
from sandbox.bank.records import Payment
from sandbox.bank.rules import Rulebook
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Bulk, Part, StandingOrder

MUTABLE = (Payment, StandingOrder, Bulk, Part, Consent, Session)


def twin_of(bank: Bank) -> Bank:
    twin = Bank.__new__(Bank)
    for name, value in vars(bank).items():
        setattr(twin, name, _twin(value))
    return twin


def _twin(value: Any) -> Any:
    match value:
        case Ledger() | Habits():
            return value.copy()
        case Clock() | Mint():
            return copy(value)
        case Agenda():
            agenda = Agenda()
            agenda.promises, agenda.made = list(value.promises), value.made
            return agenda
        case Rulebook():
            return Rulebook(value.rules, dict(value.met))
        case dict():
            return type(value)((key, _record(item)) for key, item in value.items())
        case list():
            return list(value)
        case _:
            return value


def _record(value: Any) -> Any:
    """Frozen records are shared; the others are copied with the lists and maps that they own."""
    if isinstance(value, list):
        return list(value)
    if not isinstance(value, MUTABLE):
        return value
    second = copy(value)
    for row in fields(value):
        owned = getattr(value, row.name)
        if isinstance(owned, list):
            setattr(second, row.name, [_record(item) for item in owned])
        elif isinstance(owned, dict):
            setattr(second, row.name, dict(owned))
    return second
