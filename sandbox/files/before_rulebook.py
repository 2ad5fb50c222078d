"""The checks of pain.001 in the first edition (setting rules_edition), for older worlds."""

from collections.abc import Iterator
from typing import Any

from sandbox.files.checks import IDENTIFICATION, NO_IDENTIFICATION, Fault, Order, references
from sandbox.files.encodings import HEAD, UTF_8, UndecodableError, encoding_of
from sandbox.files.schemas import PATHS, Dialect, Head


def demand_encoding(content: bytes) -> None:
    if encoding_of(content[:HEAD]) not in UTF_8:
        raise UndecodableError("the file is not in UTF-8")


def reference_fault(text: str) -> str | None:
    return None if IDENTIFICATION.fullmatch(text) else NO_IDENTIFICATION


def transaction_faults(element: Any, order: Order) -> Iterator[Fault]:
    return ((PATHS[name], code, why) for name, code, why in references(order))


def head_faults(head: Head, element: Any, dialect: Dialect) -> Iterator[Fault]:
    if (why := reference_fault(head.name)) is not None:
        yield "PmtInfId", "PMT_INF_ID", why
