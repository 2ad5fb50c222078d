"""The checks of pain.001 in the first edition (setting rules_edition), for older worlds."""

from collections.abc import Iterator
from typing import Any

from sandbox.files.checks import IDENTIFICATION, Fault, Order, read_reference
from sandbox.files.dialect import Dialect, Head
from sandbox.files.encodings import HEAD, UTF_8, UndecodableError, encoding_of


def demand_encoding(content: bytes) -> None:
    if encoding_of(content[:HEAD]) not in UTF_8:
        raise UndecodableError("the file is not in UTF-8")


def reference_fault(text: str) -> str | None:
    return None if IDENTIFICATION.fullmatch(text) else "it takes 1 to 35 characters of the SEPA set"


def transaction_faults(element: Any, order: Order) -> Iterator[Fault]:
    if (why := reference_fault(order.endtoend_identification)) is not None:
        yield "PmtId/EndToEndId", "ENDTOEND_ID", why
    for text in order.structured:
        if text and read_reference(text) is None:
            why = f"{text} is neither a Belgian communication nor ISO 11649"
            yield "RmtInf/Strd/CdtrRefInf/Ref", "STRUCTURED", why


def head_faults(head: Head, element: Any, dialect: Dialect) -> Iterator[Fault]:
    if (why := reference_fault(head.name)) is not None:
        yield "PmtInfId", "PMT_INF_ID", why
