"""Pickles the referee of an unloaded world; the bank and the rules are stored by reference."""

import io
import pickle
from typing import Any

from sandbox.bank.state import Bank
from sandbox.referee.rule import Rule
from sandbox.referee.table import TABLE
from sandbox.world.log.checkpoint import ROOMS, Reader


class _Packer(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        return "bank" if isinstance(value, Bank) else value.id if isinstance(value, Rule) else None


class _Unpacker(Reader):
    rooms = (*ROOMS, "sandbox.referee.", "sandbox.world.calls")

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
