"""Writes a bank as bytes and reads it back. Only records of the sandbox and a few plain types can be read.

A record is written as its values in the order of its fields, which is short and fast. The names of the fields are
written once for each class, at the beginning. So a later program can read the record even if its class has more fields
or another order: a field that was not written gets its default. The name of a field never changes. A world whose first
acts were deleted can be read only from its checkpoint, so the checkpoint must stay readable.
"""

import io
import pickle
import sys
import zlib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

from sandbox.bank.clock import Agenda
from sandbox.bank.habits import Habits
from sandbox.bank.ledger import Ledger
from sandbox.bank.state import Bank

# A checkpoint may hold records of these packages, and values of these plain types.
ROOMS = ("sandbox.bank.", "sandbox.banking.", "sandbox.contract.", "sandbox.bulkfiles.report")
KINDS = (set, frozenset, Counter, OrderedDict, defaultdict, date, datetime, timedelta, timezone, Decimal)
PLAIN = {(kind.__module__, kind.__name__) for kind in KINDS} | {("copyreg", "_reconstructor")}


Content = dict[Any, Any] | list[Any]
PROGRAM = ("bank", "banking", "contract", "bulkfiles/report.py")  # the code that defines a written bank
FORM = b"1"  # of a written bank
PROMISES = "agenda.promises"
SLICE = 2_000  # entries of the largest register
PIECE = 1 << 18  # bytes
EVERY = 5_000  # acts; replaying them takes well under a second
SHARE = 4  # the next checkpoint comes after a quarter more acts, because writing a larger bank takes longer


@cache
def compute_program_digest() -> str:
    """Returns a digest of the source files that define how a bank is written. If a checkpoint has another digest, it is
    not used, and the acts are replayed instead."""
    return digest_of_parts(PROGRAM, FORM)


def digest_of_parts(rooms: Iterable[str], begin: bytes) -> str:
    """Returns a digest of source files of the program. `rooms` are paths of folders and files, and `begin` is hashed
    before them."""
    root, digest = Path(__file__).parents[1], sha256(begin)
    for name in rooms:
        part = root / name
        for path in sorted(part.rglob("*.py") if part.is_dir() else [part]):
            digest.update(path.read_bytes())
    return digest.hexdigest()


Layouts = dict[tuple[str, str], tuple[str, ...]]  # the field names of each class, by its module and name


def list_field_names(kind: type[Any]) -> tuple[str, ...] | None:
    if is_dataclass(kind):
        return tuple(row.name for row in fields(kind))
    return getattr(kind, "_fields", None)


def _make_by_name(kind: type[Any], names: tuple[str, ...], *values: Any) -> Any:
    try:
        return kind(**dict(zip(names, values, strict=True)))
    except TypeError as error:
        raise ValueError(f"another program wrote it, in which {kind.__name__} has other fields: {error}") from None


class CheckpointUnpickler(pickle.Unpickler):
    """Reads only records of this program and a few plain types. A pickle can name any function to be called, and a file
    may come from anyone, so any other name raises ValueError."""

    rooms: tuple[str, ...] = ROOMS

    def __init__(self, source: BinaryIO, layouts: Layouts | None = None) -> None:
        super().__init__(source)
        self._layouts = layouts or {}

    def find_class(self, module: str, name: str) -> Any:
        ours = module.startswith(self.rooms) and name[:1].isupper() and "." not in name
        if ours or (module, name) in PLAIN:
            kind = super().find_class(module, name)
            if (module, name) in PLAIN:
                return kind
            if isinstance(kind, type) and kind.__module__ == module:  # a class of this module, not one that it imports
                written = self._layouts.get((module, name))
                return kind if written in (None, list_field_names(kind)) else partial(_make_by_name, kind, written)
        raise ValueError(f"a checkpoint holds no {module}.{name}")


def write(bank: Bank) -> Iterator[bytes]:
    """Yields a bank as bytes, in pieces. Leaves out the past that was generated before the bank opened, because it can
    be generated again from the same seed and people. The bank must not change meanwhile.

    Large registers are written in slices, each with a pickle memo of its own, because freeing one large memo would stop
    every thread.
    """
    large = {name: value for name, value in vars(bank).items() if isinstance(value, dict | list)}
    contents: dict[Any, Content] = {**large, **bank.ledger.list_own_lines(), PROMISES: bank.agenda.promises}
    other_fields = {name: value for name, value in vars(bank).items() if name not in large}
    small = {name: value for name, value in other_fields.items() if not isinstance(value, Ledger | Habits | Agenda)}
    slices = max(map(len, contents.values())) // SLICE + 1
    buffer = io.BytesIO()
    writer = pickle.Pickler(buffer, protocol=5)
    writer.dispatch_table = reducers = _make_reducers()
    writer.dump({(kind.__module__, kind.__qualname__): list_field_names(kind) for kind in reducers})
    writer.clear_memo()
    writer.dump((small, bank.ledger.checkpoint_parts(), bank.agenda.made, bank.habits.checkpoint_parts(), slices))
    sliced = [(name, _cut_slices(content, -(-len(content) // slices))) for name, content in contents.items()]
    for _ in range(slices):  # registers grow together, so records that refer to each other are mostly in the same slice
        writer.clear_memo()
        writer.dump({name: next(entries) for name, entries in sliced})
        yield from _take(buffer)


def _take(buffer: io.BytesIO) -> Iterator[bytes]:
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return (content[start : start + PIECE] for start in range(0, len(content), PIECE))


def _cut_slices(content: Content, length: int) -> Iterator[Content]:
    """Yields slices with at most `length` entries. After the last entry, yields empty slices without end."""
    remaining_items = iter(content.items() if isinstance(content, dict) else content)
    while True:
        yield (
            dict(islice(remaining_items, length))
            if isinstance(content, dict)
            else list(islice(remaining_items, length))
        )


def pack(bank: Bank) -> bytes:
    """Returns a bank as bytes, compressed to about a tenth of their length."""
    packer = zlib.compressobj(1)
    return b"".join([*map(packer.compress, write(bank)), packer.flush()])


def _make_reducers() -> dict[type[Any], Callable[[Any], Any]]:
    """Returns the functions by which pickle writes records, one for each class. They are much faster than the function
    that pickle uses by default."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(ROOMS)]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    return {kind: _make_reducer(kind) for kind in kinds if is_dataclass(kind) or hasattr(kind, "_fields")}


def _make_reducer(kind: type[Any]) -> Callable[[Any], Any]:
    if not is_dataclass(kind):
        return lambda record: (kind, tuple(record))
    names = [row.name for row in fields(kind)]
    if len(names) == 1:
        return lambda record: (kind, (getattr(record, names[0]),))
    values = attrgetter(*names)
    return lambda record: (kind, values(record))


def read_onto(bank: Bank, content: bytes | BinaryIO) -> None:
    """Replaces the state of a bank by a written state. The bank must be new, and made from the same beginning (seed,
    people, settings) as the written bank."""
    source = io.BytesIO(content) if isinstance(content, bytes) else content
    layouts = CheckpointUnpickler(source).load()
    small, ledger, bank.agenda.made, habits, slices = CheckpointUnpickler(source, layouts).load()
    for name, value in small.items():
        setattr(bank, name, value)
    for name, value in vars(bank).items():
        if isinstance(value, dict | list):
            setattr(bank, name, type(value)())
    bank.habits.restore(habits)
    add_lines = bank.ledger.restore(ledger)
    for _ in range(slices):
        for name, items in CheckpointUnpickler(source, layouts).load().items():
            if isinstance(name, tuple):
                add_lines(name, items)
            elif name == PROMISES:
                bank.agenda.promises.extend(items)
            else:
                register = getattr(bank, name)
                add = register.update if isinstance(register, dict) else register.extend
                add(items)


def read_plain(content: bytes) -> Any:
    """Reads pickled texts, numbers, times, lists and maps. Raises ValueError for values of any other type."""
    reader = CheckpointUnpickler(io.BytesIO(content))
    reader.rooms = ()
    return reader.load()
