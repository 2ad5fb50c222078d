"""A bank as it stood after so many acts, so that starting again is cheap. It is read with a short list of names."""

import io
import pickle
from hashlib import blake2b
from typing import Any

from sandbox.bank.ledger import Ledger
from sandbox.bank.state import Bank

# The only rooms whose records a checkpoint may hold, and the few plain kinds beside them.
ROOMS = ("sandbox.bank.", "sandbox.rules.", "sandbox.settings", "sandbox.files.report")
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


class Reader(pickle.Unpickler):
    """Makes records of this program and nothing else, whoever wrote the file."""

    rooms: tuple[str, ...] = ROOMS

    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith(self.rooms) and name[:1].isupper() and "." not in name
        if ours or (module, name) in PLAIN:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
            if (module, name) in PLAIN:
                return found
        raise ValueError(f"a checkpoint holds no {module}.{name}")


MARK = b"bank"  # then a print of what follows, so that damage is told before anything is made of it
PRINT_SIZE = 16


def written(bank: Bank) -> bytes:
    """All registers but the shared past, which follows from the beginning."""
    registers = {name: value for name, value in vars(bank).items() if not isinstance(value, Ledger)}
    content = pickle.dumps((registers, bank.ledger.kept()), protocol=5)
    return b"".join((MARK, _print_of(content), content))


def read_onto(bank: Bank, content: bytes) -> None:
    """A fresh bank of the same beginning becomes the one that was written."""
    demand_whole(content)
    registers, ledger = Reader(io.BytesIO(content[len(MARK) + PRINT_SIZE :])).load()
    bank.ledger.restore(ledger)
    for name, value in registers.items():
        setattr(bank, name, value)


def demand_whole(content: bytes) -> None:
    """A ValueError for a checkpoint that is not as it was written."""
    body = memoryview(content)[len(MARK) + PRINT_SIZE :]
    if not content.startswith(MARK + _print_of(body)):
        raise ValueError("a checkpoint is damaged")


def _print_of(content: bytes | memoryview) -> bytes:
    return blake2b(content, digest_size=PRINT_SIZE).digest()


def read_plain(content: bytes) -> Any:
    """Texts, numbers, times, lists and maps alone."""
    return Reader(io.BytesIO(content)).load()
