"""A pain.001 file as a stream: each transaction and each bulk is handed out as it closes, and then forgotten."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lxml import etree

from sandbox.bulkfiles import schemas
from sandbox.bulkfiles.admission import NAMESPACE, Breathe
from sandbox.bulkfiles.encodings import Utf8

NAMES = ("Document", "CstmrCdtTrfInitn", "GrpHdr", "PmtInf", "CdtTrfTxInf")
PIECE = 1 << 14  # so small that others wait for a few milliseconds only
UNSWEPT_MAX = 20_000  # ours: tags and attributes outside of transactions, or in one of them
TAGS_MAX = 2_000  # ours: different opening tags. libxml2 remembers every name as long as its thread lives
TAG = re.compile(rb"<([^/!][^>]*)>")

# The least that the schemas take: it stands in for a part that was handed out.
TRANSACTION = (
    '<CdtTrfTxInf xmlns="{ns}"><PmtId><EndToEndId>1</EndToEndId></PmtId>'
    '<Amt><InstdAmt Ccy="EUR">1</InstdAmt></Amt></CdtTrfTxInf>'
)
BATCH = (
    '<PmtInf xmlns="{ns}"><PmtInfId>1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt>{date}</ReqdExctnDt><Dbtr/>'
    "<DbtrAcct><Id><IBAN>BE000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt>{transaction}</PmtInf>"
)
DATES = {"pain.001.001.03": "2000-01-01", "pain.001.001.09": "<Dt>2000-01-01</Dt>"}


class ElementPart(Enum):
    ROOT = auto()  # just opened, still empty
    HEADER = auto()
    BATCH_OPENS = auto()
    TRANSACTION = auto()
    BATCH = auto()  # with a stand-in for its transactions
    WHOLE = auto()  # the document with a stand-in for its bulks


class UnreadableError(Exception):
    """The file cannot be read on: place, code and text of the finding."""


@dataclass(slots=True)
class RepeatedElements:
    """The repeated children of one parent: the first stays as a stand-in, and the first stray after it."""

    tag: str
    stand_in: str
    first: Any = None
    anchor: Any = None  # the last that is kept
    has_stray: bool = False

    def sweep(self, child: Any) -> None:
        """Forget what stands before the child, which itself stays until the next: its tail may still grow."""
        if self.anchor is None:
            self.first = self.anchor = child
            child.clear(keep_tail=True)
            child.extend(etree.fromstring(self.stand_in))
            return
        stray, parent, node = None, child.getparent(), child.getprevious()
        while node is not self.anchor:
            before = node.getprevious()
            if node.tag != self.tag and not self.has_stray:
                stray, self.has_stray = node, True
            else:
                parent.remove(node)
            node = before
        self.anchor = self.anchor if stray is None else stray

    def end(self, parent: Any) -> None:
        """Forget the last one too, now that its parent is closed."""
        for child in parent.findall(self.tag):
            if child is not self.first:
                parent.remove(child)


class Stream:
    """Reads in small pieces, and holds what the file may keep in memory to a bound."""

    def __init__(self) -> None:
        self.version: str | None = None
        self._parser = etree.XMLPullParser(
            events=("start", "end"),
            tag=[f"{{*}}{name}" for name in NAMES],
            encoding="utf-8",
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        self._root: Any = None
        self._message: Any = None
        self._batch: Any = None
        self._batches = self._transactions = RepeatedElements("", "")
        self._tags: set[bytes] = set()
        self._unswept = 0

    def parts(self, content: bytes, breathe: Breathe) -> Iterator[tuple[ElementPart, Any]]:
        """Each part once; the caller is done with one when it asks for the next."""
        encoding = Utf8()
        try:
            for start in range(0, len(content), PIECE):
                piece = encoding.take(content[start : start + PIECE], start + PIECE >= len(content))
                self._bound(piece)
                self._parser.feed(piece)
                for event, element in self._parser.read_events():
                    yield from self._opens(element) if event == "start" else self._closes(element)
                breathe()
            whole = self._parser.close()
        except etree.XMLSyntaxError as error:
            raise UnreadableError(str(error.lineno or 1), "XML", error.msg) from None
        if self._root is None:
            yield ElementPart.ROOT, whole
        if self._message is not None:
            self._batches.end(self._message)
        yield ElementPart.WHOLE, whole

    def _bound(self, piece: bytes) -> None:
        self._unswept += piece.count(b"<") + piece.count(b"=")
        if self._unswept > UNSWEPT_MAX:
            raise UnreadableError("Document", "STRUCTURE", "too many elements outside of transactions")
        self._tags.update(TAG.findall(piece))
        if len(self._tags) > TAGS_MAX:
            raise UnreadableError("Document", "STRUCTURE", "too many different elements")

    def _opens(self, element: Any) -> Iterator[tuple[ElementPart, Any]]:
        parent = element.getparent()
        if parent is None:
            if element.getroottree().docinfo.internalDTD is not None:
                raise UnreadableError("1", "XML", "the XML carries a DTD")
            self._root = element
            self.version = schemas.version_of(element.tag)
            yield ElementPart.ROOT, element
        elif parent is self._root and self._message is None and element.tag == self._name("CstmrCdtTrfInitn"):
            self._message = element
            self._batches = RepeatedElements(self._name("PmtInf"), stand_in(BATCH, self.version))
        elif parent is self._message and element.tag == self._name("PmtInf"):
            self._batch = element
            self._transactions = RepeatedElements(self._name("CdtTrfTxInf"), stand_in(TRANSACTION, self.version))
            yield ElementPart.BATCH_OPENS, element

    def _closes(self, element: Any) -> Iterator[tuple[ElementPart, Any]]:
        parent = element.getparent()
        if parent is None:
            return
        if parent is self._batch and element.tag == self._transactions.tag:
            yield ElementPart.TRANSACTION, element
            self._transactions.sweep(element)
            self._unswept = 0
        elif element is self._batch:
            self._transactions.end(element)
            yield ElementPart.BATCH, element
            self._batch = None
            self._batches.sweep(element)
            self._unswept = 0
        elif parent is self._message and element.tag == self._name("GrpHdr"):
            yield ElementPart.HEADER, element

    def _name(self, local: str) -> str:
        return f"{{{NAMESPACE}{self.version}}}{local}"


def stand_in(template: str, version: str | None) -> str:
    namespace = f"{NAMESPACE}{version}"
    transaction = TRANSACTION.format(ns=namespace)
    return template.format(ns=namespace, date=DATES.get(version or "", ""), transaction=transaction)
