"""What is refused at the POST, at once (choice 7). It looks at every byte and keeps none."""

import codecs
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import BinaryIO, NoReturn
from xml.parsers import expat

FILE_BYTES_MAX = 64_000_000  # choice 7
PIECE = 1 << 16
TAG_BYTES_MAX = 1_000_000  # ours: the parser reads an unfinished tag again with each piece

Content = bytes | BinaryIO
Breathe = Callable[[], None]


def never() -> None:
    """Who works alone need not let others breathe."""


def admit_xml(content: Content, breathe: Breathe = never) -> None:
    """A ValueError for what is empty, too large, not well-formed or carries a DTD."""
    # Not libxml2: it remembers every name that it ever met, as long as its thread lives.
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        fed = 0
        for piece in _bounded(content, breathe):
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > TAG_BYTES_MAX:
                raise ValueError(f"the XML has a tag of over {TAG_BYTES_MAX} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError(f"the XML is not well-formed: {error}") from None
    except LookupError:
        raise ValueError("the XML declares an encoding that does not exist") from None


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
