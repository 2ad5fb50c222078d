"""A bank as it stood after so many acts, so that starting again is cheap. It is read with a short list of names."""

import io
import pickle
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any

from sandbox.bank.ledger import Ledger
from sandbox.bank.state import Bank

# The only rooms whose records a checkpoint may hold, and the few plain kinds beside them.
ROOMS = ("sandbox.bank.", "sandbox.banking.", "sandbox.contract.", "sandbox.files.report")
PLAIN = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("copyreg", "_reconstructor"),
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("decimal", "Decimal"),
}


PROGRAM = ("bank", "banking", "contract", "files/report.py")  # what a written bank is made of
EVERY = 5_000  # acts; doing as many again takes well under a second
SHARE = 4  # writing a bank takes as long as it is big: a quarter more acts, and all that writing grows with the log


def is_due(acts: int, written: int) -> bool:
    """Whether so many acts since the last one are worth another."""
    return acts - written >= max(EVERY, written // SHARE)


@cache
def shape() -> str:
    """A print of the program that knows how to read what it wrote; another one does the acts again."""
    root, found = Path(__file__).parents[2], sha256()
    for name in PROGRAM:
        for path in sorted((root / name).rglob("*.py") if (root / name).is_dir() else [root / name]):
            found.update(path.read_bytes() if path.exists() else b"")
    return found.hexdigest()


class Reader(pickle.Unpickler):
    """Makes records of this program and nothing else, whoever wrote the file."""

    rooms: tuple[str, ...] = ROOMS

    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith(self.rooms) and name[:1].isupper() and "." not in name
        if ours or (module, name) in PLAIN:
            found = super().find_class(module, name)
            if (module, name) in PLAIN or (isinstance(found, type) and found.__module__ == module):
                return found  # and nothing that a room took in from elsewhere
        raise ValueError(f"a checkpoint holds no {module}.{name}")


def written(bank: Bank) -> bytes:
    """All registers but the shared past, which follows from the beginning."""
    registers = {name: value for name, value in vars(bank).items() if not isinstance(value, Ledger)}
    content = io.BytesIO()
    writer = pickle.Pickler(content, protocol=5)
    writer.dispatch_table = _records()
    writer.dump((registers, bank.ledger.kept()))
    return content.getvalue()


def _records() -> dict[type[Any], Callable[[Any], Any]]:
    """How each kind of record is taken apart, in much less time than by the general way."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(ROOMS)]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    return {kind: _apart(kind) for kind in kinds if is_dataclass(kind) or hasattr(kind, "_fields")}


def _apart(kind: type[Any]) -> Callable[[Any], Any]:
    if not is_dataclass(kind):
        return lambda record: (kind, tuple(record))
    names = [row.name for row in fields(kind)]
    if len(names) == 1:
        return lambda record: (kind, (getattr(record, names[0]),))
    values = attrgetter(*names)
    return lambda record: (kind, values(record))


def read_onto(bank: Bank, content: bytes) -> None:
    """A fresh bank of the same beginning becomes the one that was written; `shape` says whether this program may."""
    registers, ledger = Reader(io.BytesIO(content)).load()
    bank.ledger.restore(ledger)
    for name, value in registers.items():
        setattr(bank, name, value)


def read_plain(content: bytes) -> Any:
    """Texts, numbers, times, lists and maps alone."""
    reader = Reader(io.BytesIO(content))
    reader.rooms = ()
    return reader.load()
