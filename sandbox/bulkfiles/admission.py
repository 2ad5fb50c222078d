"""Checks of a file at its POST (choice 7). They read every byte and keep only the MsgId."""

import codecs
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO, NoReturn
from xml.parsers import expat

from sandbox.bulkfiles.encodings import Utf8

VERSIONS = ("pain.001.001.03", "pain.001.001.09")
NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:"
NAMESPACES = tuple(NAMESPACE + version for version in VERSIONS)
UNBOUND_PREFIX = expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]
FILE_BYTES_MAX = 64_000_000  # choice 7
PIECE = 1 << 16
MESSAGE_ID_AT = ("Document", "CstmrCdtTrfInitn", "GrpHdr", "MsgId")
MESSAGE_ID_MAX = 35  # the schema's
TAG_BYTES_MAX = 1_000_000  # ours: the parser reads an unfinished tag again with each piece
# Ours, far above what the schema takes: the parser keeps each open element, and each name that it ever met.
DEPTH_MAX = 10_000
NAMES_MAX = 50_000
ELEMENTS_MAX = 6_000_000  # 60 for each of 100,000 transactions; it bounds the time

Content = bytes | BinaryIO
Breathe = Callable[[], None]  # what a reader calls every few milliseconds


def never() -> None:
    """The default for `breathe`: no yielding."""


class Elements:
    """Bounds what the parser keeps of a file as it goes, open elements and every different name; finds the MsgId."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.message_id: str | None = None
        self._parser = parser
        self._depth = self._count = 0
        self._names: set[str | None] = set()
        self._is_sought = True  # the MsgId, which the schema places among the first tags
        self._read = ""
        parser.ordered_attributes = True
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.StartNamespaceDeclHandler = self._declare

    def _open(self, name: str, attributes: Any) -> None:
        self._depth += 1
        self._count += 1
        self._names.add(name)
        if attributes:
            self._names.update(attributes[::2])
        if self._depth > DEPTH_MAX or self._count > ELEMENTS_MAX or len(self._names) > NAMES_MAX:
            raise ValueError(self._excess())
        if self._is_sought:
            self._seek(name.rpartition(" ")[2])

    def _seek(self, name: str) -> None:
        if name not in MESSAGE_ID_AT[self._count - 1 : self._count]:
            self._stop_seeking()
        elif self._count == len(MESSAGE_ID_AT):
            self._parser.CharacterDataHandler = self._add

    def _add(self, text: str) -> None:
        self._read += text
        if len(self._read) > MESSAGE_ID_MAX:
            self._stop_seeking()

    def _close(self, _: str) -> None:
        self._depth -= 1
        if self._is_sought and self._count == len(MESSAGE_ID_AT):
            self.message_id = self._read or None
            self._stop_seeking()

    def _stop_seeking(self) -> None:
        self._is_sought = False
        self._parser.CharacterDataHandler = None

    def _declare(self, prefix: str | None, uri: str | None) -> None:
        self._names.update((prefix, uri))
        if len(self._names) > NAMES_MAX:
            raise ValueError(self._excess())

    def _excess(self) -> str:
        if self._depth > DEPTH_MAX:
            return f"the XML nests over {DEPTH_MAX:,} elements"
        if self._count > ELEMENTS_MAX:
            return f"the XML has over {ELEMENTS_MAX:,} elements"
        return f"the XML has over {NAMES_MAX:,} different names"


def admit_xml(content: Content) -> str | None:
    """The MsgId; a ValueError for what is empty, too large, not well-formed or carries a DTD."""
    # Not libxml2: it remembers every name that it ever met, as long as its thread lives.
    encoding = Utf8()
    pieces = _bounded(content)
    first = encoding.take(next(pieces))
    parser = expat.ParserCreate("utf-8" if encoding.is_rewritten else None, namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    elements = Elements(parser)
    try:
        fed = 0
        for piece in chain((first,), map(encoding.take, pieces), (encoding.take(b"", final=True),)):
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > TAG_BYTES_MAX:
                raise ValueError(f"the XML has a tag of over {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
        return elements.message_id
    except expat.ExpatError as error:
        if error.code == UNBOUND_PREFIX:
            place = f"line {error.lineno}, column {error.offset + 1}"
            expected = " or ".join(NAMESPACES)
            raise ValueError(
                f"the XML is not well-formed: a prefix without a namespace at {place}; expected is {expected}"
            ) from None
        raise ValueError(f"the XML is not well-formed: {error}") from None


def _refuse_doctype(*_: object) -> NoReturn:
    raise ValueError("the XML carries a DTD")


def admit_csv(content: Content) -> None:
    """A ValueError for what is empty, too large or not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _bounded(content):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ValueError("the csv is not UTF-8") from None


def _bounded(content: Content) -> Iterator[bytes]:
    size = 0
    stream = BytesIO(content) if isinstance(content, bytes) else content
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > FILE_BYTES_MAX:
            raise ValueError(f"the file is over {FILE_BYTES_MAX // 1_000_000} MB")
        yield piece
    if not size:
        raise ValueError("the file is empty")
