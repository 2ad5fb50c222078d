"""The table of all rules, and functions that pickle a referee. In place of the rules and of the bank, the pickled form
has only the ids of the rules and a placeholder."""

import io
import pickle
from typing import Any

from sandbox.bank.state import Bank
from sandbox.extension_registry import find_addresses
from sandbox.extensions.referee import (
    account_rules,
    initiation_rules,
    redirection_rules,
    request_rules,
    status_rules,
    token_rules,
)
from sandbox.extensions.referee.rule import RULES, RefereeRule
from sandbox.lazy import load
from sandbox.storage.checkpoint import ROOMS, CheckpointUnpickler

FILES = (account_rules, initiation_rules, redirection_rules, request_rules, status_rules, token_rules)
for module in find_addresses("extends", "referee"):
    load(module)  # its rules add themselves
TABLE: tuple[RefereeRule, ...] = tuple(RULES)
BY_ID = {row.id: row for row in TABLE}


class RefereePickler(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        return "bank" if isinstance(value, Bank) else value.id if isinstance(value, RefereeRule) else None


class RefereeUnpickler(CheckpointUnpickler):
    rooms = (*ROOMS, "sandbox.extensions.referee.", "sandbox.worlds.calls")

    def __init__(self, content: bytes, bank: Bank) -> None:
        super().__init__(io.BytesIO(content))
        self._outside: dict[str, Any] = {"bank": bank} | BY_ID

    def persistent_load(self, name: str) -> Any:
        return self._outside[name]


def pack(content: Any) -> bytes:
    buffer = io.BytesIO()
    RefereePickler(buffer, protocol=5).dump(content)
    return buffer.getvalue()


def unpack(content: bytes, bank: Bank) -> Any:
    return RefereeUnpickler(content, bank).load()
