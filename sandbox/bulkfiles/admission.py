"""Checks a bulk file at its POST, and converts XML to UTF-8 (choice 7). The checks read every byte, but return only the
MsgId.

The checks of XML use the parser expat, because libxml2 keeps every name in memory as long as its thread lives. The
later validation of the file uses libxml2.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from encodings import normalize_encoding
from encodings.aliases import aliases
from io import BytesIO
from itertools import chain
from typing import Any, BinaryIO, NoReturn
from xml.parsers import expat

VERSIONS = ("pain.001.001.03", "pain.001.001.09")
NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:"
NAMESPACES = tuple(NAMESPACE + version for version in VERSIONS)
UNBOUND_PREFIX = expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]
FILE_BYTES_MAX = 64_000_000  # choice 7
PIECE = 1 << 16
MESSAGE_ID_PATH = ("Document", "CstmrCdtTrfInitn", "GrpHdr", "MsgId")
MESSAGE_ID_MAX = 35  # the limit of the schema
# A limit of the sandbox's own. The parser reads an unfinished tag again with each piece, so a long tag takes long.
TAG_BYTES_MAX = 1_000_000
# Limits of the sandbox's own, far above those of the schema. They bound the parser's memory, because it keeps each open
# element and each different name.
DEPTH_MAX = 10_000
NAMES_MAX = 50_000
ELEMENTS_MAX = 6_000_000  # 60 for each of 100,000 transactions; bounds the time of parsing

UTF_8 = frozenset({"utf_8", "ascii"})
ENCODING_BYTES = 1000  # the length of the beginning of a file in which the XML declaration is searched
DECLARED = re.compile(r"""\A\ufeff?<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']""")
ENCODING_NAME_MAX = 40
# The first bytes of a file that tell its encoding: a byte order mark, or `<` in wide characters. The longest are first.
MARKS = (
    (b"\xff\xfe\0\0", "utf_32_le"), (b"\0\0\xfe\xff", "utf_32_be"),
    (b"<\0\0\0", "utf_32_le"), (b"\0\0\0<", "utf_32_be"),
    (b"\xff\xfe", "utf_16_le"), (b"\xfe\xff", "utf_16_be"), (b"<\0", "utf_16_le"), (b"\0<", "utf_16_be"),
    (b"\xef\xbb\xbf", "utf_8"),
)  # fmt: skip
# Codecs of Python that are not encodings of texts, or in which the checks would not find the tags that they count.
REFUSED_CODECS = frozenset({"mbcs", "rot_13", "utf_7", "tactis"})
# The names of encodings that a file may declare. Python caches every name that it looks up, so others are not looked
# up.
READABLE = {
    alias: name
    for alias, name in (aliases | {name: name for name in aliases.values()}).items()
    if name not in REFUSED_CODECS and not name.endswith("_codec")
}

Content = bytes | BinaryIO
# A function that long work calls every few milliseconds. It lets other threads run, or moves a progress bar.
Progress = Callable[[], None]


class UndecodableError(ValueError):
    """The bytes of a file cannot be read as text. The message says why."""


def admit_xml(content: Content) -> str | None:
    """Returns the MsgId, or None if the file has no valid one. Raises ValueError for a file that is empty, too large or
    malformed, that has a DTD or bytes that cannot be decoded, or that exceeds a limit of this module."""
    converter = Utf8Converter()
    pieces = _read_pieces(content)
    first = converter.convert(next(pieces))
    parser = expat.ParserCreate("utf-8" if converter.is_rewritten else None, namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    elements = ElementLimits(parser)
    try:
        fed = 0
        for piece in chain((first,), map(converter.convert, pieces), (converter.convert(b"", is_last=True),)):
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > TAG_BYTES_MAX:
                raise ValueError(f"the XML has a tag of over {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
        return elements.message_id
    except expat.ExpatError as error:
        fault = str(error)
        if error.code == UNBOUND_PREFIX:
            place = f"line {error.lineno}, column {error.offset + 1}"
            fault = f"a prefix without a namespace at {place}; expected is {' or '.join(NAMESPACES)}"
        raise ValueError(f"the XML is not well-formed: {fault}") from None


def admit_csv(content: Content) -> None:
    """Raises ValueError for a file that is empty, too large, or not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _read_pieces(content):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ValueError("the csv is not UTF-8") from None


def _read_pieces(content: Content) -> Iterator[bytes]:
    size = 0
    stream = BytesIO(content) if isinstance(content, bytes) else content
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > FILE_BYTES_MAX:
            raise ValueError(f"the file is over {FILE_BYTES_MAX // 1_000_000} MB")
        yield piece
    if not size:
        raise ValueError("the file is empty")


def _refuse_doctype(*_: object) -> NoReturn:
    raise ValueError("the XML carries a DTD")


class ElementLimits:
    """Counts elements, nesting levels and different names in an XML file. Raises ValueError above a limit. Stores the
    MsgId in `message_id`."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.message_id: str | None = None
        self._parser = parser
        self._depth = self._count = 0
        self._names: set[str | None] = set()
        self._is_seeking = True  # until the place of the MsgId, which is among the first tags, has been read
        self._text = ""
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartNamespaceDeclHandler = self._add_namespace

    def _start(self, name: str, attributes: Any) -> None:
        self._depth += 1
        self._count += 1
        self._names.add(name)
        if attributes:
            self._names.update(attributes[::2])
        if self._depth > DEPTH_MAX or self._count > ELEMENTS_MAX or len(self._names) > NAMES_MAX:
            self._refuse()
        if self._is_seeking:
            self._seek(name.rpartition(" ")[2])

    def _refuse(self) -> NoReturn:
        if self._depth > DEPTH_MAX:
            raise ValueError(f"the XML nests over {DEPTH_MAX:,} elements")
        if self._count > ELEMENTS_MAX:
            raise ValueError(f"the XML has over {ELEMENTS_MAX:,} elements")
        raise ValueError(f"the XML has over {NAMES_MAX:,} different names")

    def _seek(self, name: str) -> None:
        if name not in MESSAGE_ID_PATH[self._count - 1 : self._count]:
            self._stop_seeking()
        elif self._count == len(MESSAGE_ID_PATH):
            self._parser.CharacterDataHandler = self._add_text

    def _add_text(self, text: str) -> None:
        self._text += text
        if len(self._text) > MESSAGE_ID_MAX:
            self._stop_seeking()

    def _end(self, _: str) -> None:
        self._depth -= 1
        if self._is_seeking and self._count == len(MESSAGE_ID_PATH):
            self.message_id = self._text or None
            self._stop_seeking()

    def _stop_seeking(self) -> None:
        self._is_seeking = False
        self._parser.CharacterDataHandler = None

    def _add_namespace(self, prefix: str | None, uri: str | None) -> None:
        self._names.update((prefix, uri))
        if len(self._names) > NAMES_MAX:
            self._refuse()


class Utf8Converter:
    """Converts an XML file to UTF-8, piece by piece. Finds the encoding from the first bytes and the XML
    declaration."""

    def __init__(self) -> None:
        self._name = ""
        self._decoder: codecs.IncrementalDecoder | None = None

    @property
    def is_rewritten(self) -> bool:
        """Whether the converter changed the encoding of the file, so that the file's declaration no longer matches its
        bytes."""
        return self._decoder is not None

    def convert(self, piece: bytes, is_last: bool = False) -> bytes:
        is_first = not self._name
        if is_first:
            self._name = find_encoding(piece[:ENCODING_BYTES])
            if self._name not in UTF_8:
                self._decoder = codecs.getincrementaldecoder(self._name)()
        if self._decoder is None:
            return piece
        try:
            text = self._decoder.decode(piece, is_last)
            return (text.removeprefix("\ufeff") if is_first else text).encode()
        except UnicodeError:
            raise UndecodableError(f"the XML has bytes that are not {self._name.replace('_', '-')}") from None


def find_encoding(start: bytes) -> str:
    """Returns the codec of a file that begins with `start`. If the file declares no encoding, this is the codec of its
    byte order mark, or UTF-8 without a mark. Raises UndecodableError if the declared encoding is unknown, or does not
    match the first bytes of the file."""
    marked = next((name for mark, name in MARKS if start.startswith(mark)), None)
    match = DECLARED.match(start.decode(marked or "latin_1", "replace"))
    if match is None:
        return marked or "utf_8"
    declared = READABLE.get(normalize_encoding(match[1].lower())) if match[1].isascii() else None
    if declared is None:
        examples = "UTF-8, UTF-16, ISO-8859-1 and windows-1252 are some that are"
        name = repr(match[1][:ENCODING_NAME_MAX])
        raise UndecodableError(f"the XML declares the encoding {name}, which is not known; {examples}")
    if _find_encoding_family(declared) != _find_encoding_family(marked or "") or (
        marked == "utf_8" and declared not in UTF_8
    ):
        of_bytes = (marked or "one byte a character").replace("_", "-")
        raise UndecodableError(f"the XML declares the encoding {match[1]}, and its first bytes are those of {of_bytes}")
    return marked or declared


def _find_encoding_family(name: str) -> str:
    """Returns `utf_16` or `utf_32` for an encoding of the UTF-16 or UTF-32 family, of any byte order. Returns an empty
    text for any other encoding."""
    return name[:6] if name.startswith(("utf_16", "utf_32")) else ""
