"""The table of all rules, and the pickle of a referee, which refers to them and to the bank."""

import io
import pickle
from typing import Any

from sandbox.bank.state import Bank
from sandbox.extension_registry import named
from sandbox.extensions.referee import (
    account_rules,
    bulk_rules,
    flow_rules,
    header_rules,
    likeness_rules,
    status_rules,
    token_rules,
)
from sandbox.extensions.referee.rule import RULES, RefereeRule
from sandbox.lazy import load
from sandbox.storage.checkpoint import ROOMS, CheckpointUnpickler

FILES = (account_rules, bulk_rules, flow_rules, header_rules, likeness_rules, status_rules, token_rules)
for module in named("extends", "referee"):
    load(module)  # its rules add themselves
TABLE: tuple[RefereeRule, ...] = tuple(RULES)
BY_ID = {row.id: row for row in TABLE}


class _Packer(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        return "bank" if isinstance(value, Bank) else value.id if isinstance(value, RefereeRule) else None


class _Unpacker(CheckpointUnpickler):
    rooms = (*ROOMS, "sandbox.extensions.referee.", "sandbox.worlds.calls")

    def __init__(self, content: bytes, bank: Bank) -> None:
        super().__init__(io.BytesIO(content))
        self._outside: dict[str, Any] = {"bank": bank} | {row.id: row for row in TABLE}

    def persistent_load(self, name: str) -> Any:
        return self._outside[name]


def pack(parts: tuple[Any, ...]) -> bytes:
    buffer = io.BytesIO()
    _Packer(buffer, protocol=5).dump(parts)
    return buffer.getvalue()


def unpack(content: bytes, bank: Bank) -> Any:
    return _Unpacker(content, bank).load()
