"""What is refused at the POST, at once (choice 7). It looks at every byte and keeps none but the MsgId's."""

import codecs
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import chain
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from sandbox.files.encodings import Utf8

FILE_BYTES_MAX = 64_000_000  # choice 7
PIECE = 1 << 16
MESSAGE_ID_AT = ("Document", "CstmrCdtTrfInitn", "GrpHdr", "MsgId")
MESSAGE_ID_MAX = 35  # the schema's
TAG_BYTES_MAX = 1_000_000  # ours: the parser reads an unfinished tag again with each piece

Content = bytes | BinaryIO
Breathe = Callable[[], None]


def never() -> None:
    """Who works alone need not let others breathe."""


class MessageId:
    """The MsgId, which the schema puts first: past the first few tags nothing is listened to, so it costs nothing."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.text: str | None = None
        self._parser = parser
        self._ahead = list(reversed(MESSAGE_ID_AT))
        self._heard = ""
        parser.StartElementHandler = self._open

    def _open(self, name: str, _: object) -> None:
        if not self._ahead or name.rpartition(" ")[2] != self._ahead.pop():
            self._listen_no_more()
        elif not self._ahead:
            self._parser.CharacterDataHandler = self._hear
            self._parser.EndElementHandler = self._close

    def _hear(self, text: str) -> None:
        self._heard += text
        if len(self._heard) > MESSAGE_ID_MAX:
            self._listen_no_more()

    def _close(self, _: str) -> None:
        self.text = self._heard or None
        self._listen_no_more()

    def _listen_no_more(self) -> None:
        self._parser.StartElementHandler = self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None


def admit_xml(content: Content, breathe: Breathe = never) -> str | None:
    """The MsgId; a ValueError for what is empty, too large, not well-formed or carries a DTD."""
    # Not libxml2: it remembers every name that it ever met, as long as its thread lives.
    encoding = Utf8()
    pieces = _bounded(content, breathe)
    first = encoding.take(next(pieces))
    parser = expat.ParserCreate("utf-8" if encoding.is_rewritten else None, namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    found = MessageId(parser)
    try:
        fed = 0
        for piece in chain((first,), map(encoding.take, pieces), (encoding.take(b"", final=True),)):
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > TAG_BYTES_MAX:
                raise ValueError(f"the XML has a tag of over {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
        return found.text
    except expat.ExpatError as error:
        raise ValueError(f"the XML is not well-formed: {error}") from None


def _refuse_doctype(*_: object) -> NoReturn:
    raise ValueError("the XML carries a DTD")


def admit_csv(content: Content, breathe: Breathe = never) -> None:
    """A ValueError for what is empty, too large or not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _bounded(content, breathe):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ValueError("the csv is not UTF-8") from None


def _bounded(content: Content, breathe: Breathe) -> Iterator[bytes]:
    size = 0
    stream = BytesIO(content) if isinstance(content, bytes) else content
    while piece := stream.read(PIECE):
        size += len(piece)
        if size > FILE_BYTES_MAX:
            raise ValueError(f"the file is over {FILE_BYTES_MAX // 1_000_000} MB")
        yield piece
        breathe()
    if not size:
        raise ValueError("the file is empty")
