"""Reads a pain.001 file as a stream of elements, and validates each element against the official schema.

A file may have 100,000 transactions, and a tree of all of them would fill the memory. So the file is parsed in small
pieces. Each transaction, and then each batch, is yielded when its end tag is read. It is validated alone and then
removed from the tree.

The schema must also see that a batch has a transaction, and that no element is at a wrong place. For this the first
transaction of a batch, and the first batch of the file, stay in the tree with the least content that the schema
accepts. If elements of another name stand between the following transactions or batches, one of them stays too. An
element is removed only when the next one ends, because the text after it still grows.

An incremental parser that validates (lxml's `XMLPullParser(schema=...)`) would be simpler, but it stops at the first
error and gives no path to it. Elements outside of transactions are never removed, so their number is limited. The
number of different tags is limited too, because libxml2 keeps every name as long as its thread lives.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from importlib import resources
from typing import Any

from lxml import etree

from sandbox.banking.calendar import explain_wrong_date
from sandbox.bulkfiles.admission import NAMESPACE, NAMESPACES, VERSIONS, Progress, Utf8Converter
from sandbox.bulkfiles.checks import list_names_below
from sandbox.bulkfiles.report import TEXTS_MAX, FindingCode

NAMES = ("Document", "CstmrCdtTrfInitn", "GrpHdr", "PmtInf", "CdtTrfTxInf")
REPEATED = NAMES[3:]
PIECE = 1 << 14  # bytes; parsing them takes a few milliseconds, for which other calls wait
# Limits of the sandbox's own. MARKUP_MAX limits the tags and attributes in one transaction, or between two
# transactions. TAGS_MAX limits the different opening tags.
MARKUP_MAX = 20_000
TAGS_MAX = 2_000
TAG = re.compile(rb"<([^/!][^>]*)>")
NAMESPACE_SHOWN = 100  # characters of an unknown namespace that an error shows
XSD = "{http://www.w3.org/2001/XMLSchema}"

# The least content that the schemas accept.
TRANSACTION = (
    '<CdtTrfTxInf xmlns="{namespace}"><PmtId><EndToEndId>1</EndToEndId></PmtId>'
    '<Amt><InstdAmt Ccy="EUR">1</InstdAmt></Amt></CdtTrfTxInf>'
)
BATCH = (
    '<PmtInf xmlns="{namespace}"><PmtInfId>1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt>{date}</ReqdExctnDt><Dbtr/>'
    f"<DbtrAcct><Id><IBAN>BE000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt>{TRANSACTION}</PmtInf>"
)
VERSION_OF = {f"{{{NAMESPACE}{version}}}Document": version for version in VERSIONS}  # keys: tags of root elements
DATES = {"pain.001.001.03": "2000-01-01", "pain.001.001.09": "<Dt>2000-01-01</Dt>"}

UNEXPECTED = re.compile(r"Element '(?:\{(?P<namespace>[^}]*)\})?(?P<local>[^']*)': This element is not expected")
VALUE = re.compile(r"'([^']*)' is not a valid value of the atomic type '[^']*(?:[dD]ate|ISODateTime)[^']*'")

_idle_schemas: dict[str, list[Any]] = {version: [] for version in VERSIONS}


class ElementPart(Enum):
    ROOT = auto()  # only its start tag, which has the version
    HEADER = auto()
    BATCH_START = auto()
    TRANSACTION = auto()
    BATCH = auto()  # the batch with a minimal transaction
    WHOLE = auto()  # the document with a minimal batch


class UnreadableError(Exception):
    """Raised when the rest of the file cannot be read. Has the place, code and text of the finding."""

    def __init__(self, place: str, code: FindingCode, text: str) -> None:
        super().__init__(text)
        self.place, self.code, self.text = place, code, text


@dataclass(slots=True)
class RepeatedElements:
    """Removes the repeated children of one parent (the batches of the file, or the transactions of a batch) after they
    were read, so that the tree stays small."""

    tag: str
    minimal: str  # the least content that the schema accepts in such a child
    first: Any = None
    last_kept: Any = None
    has_other: bool = False  # whether an element of another name was kept

    def remove_before(self, child: Any) -> None:
        """Called for each child in turn. The first call removes no element: it replaces the content of the first child
        by the least that the schema accepts. Each later call removes the elements between the last kept element and
        `child`. One element of another name stays, so that the schema refuses it."""
        if self.last_kept is None:
            self.first = self.last_kept = child
            child.clear(keep_tail=True)
            child.extend(etree.fromstring(self.minimal))
            return
        other, parent, node = None, child.getparent(), child.getprevious()
        while node is not self.last_kept:
            previous = node.getprevious()
            if node.tag != self.tag and not self.has_other:
                other, self.has_other = node, True
            else:
                parent.remove(node)
            node = previous
        if other is not None:
            self.last_kept = other

    def remove_rest(self, parent: Any) -> None:
        """Removes the children that are still there, except the first one. Called after the end tag of the parent."""
        for child in parent.findall(self.tag):
            if child is not self.first:
                parent.remove(child)


class ElementStream:
    """Parses a file in small pieces, with bounded memory."""

    def __init__(self) -> None:
        self.version = ""
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
        self._markup = 0  # the number of tags and attributes since the last transaction or batch

    def read_parts(self, content: bytes, progress: Progress) -> Iterator[tuple[ElementPart, Any]]:
        """Yields each part of the file once, and the whole document at the end. A part may change when the next part is
        requested. Calls `progress` after each piece of the file. Raises UnreadableError if the rest of the file cannot
        be read."""
        converter = Utf8Converter()
        try:
            for start in range(0, len(content), PIECE):
                piece = converter.convert(content[start : start + PIECE], start + PIECE >= len(content))
                self._check_bounds(piece)
                self._parser.feed(piece)
                for event, element in self._parser.read_events():
                    yield from self._start(element) if event == "start" else self._end(element)
                progress()
            document = self._parser.close()
        except etree.XMLSyntaxError as error:
            raise UnreadableError(str(error.lineno or 1), "XML", error.msg) from None
        if self._root is None:  # the parser gives no event for an unknown root
            raise _make_version_error(document.tag)
        if self._message is not None:
            self._batches.remove_rest(self._message)
        yield ElementPart.WHOLE, document

    def _check_bounds(self, piece: bytes) -> None:
        self._markup += piece.count(b"<") + piece.count(b"=")
        if self._markup > MARKUP_MAX:
            raise UnreadableError("Document", "STRUCTURE", "too many elements outside of transactions")
        self._tags.update(TAG.findall(piece))
        if len(self._tags) > TAGS_MAX:
            raise UnreadableError("Document", "STRUCTURE", "too many different elements")

    def _start(self, element: Any) -> Iterator[tuple[ElementPart, Any]]:
        parent = element.getparent()
        if parent is None:
            if element.getroottree().docinfo.internalDTD is not None:
                raise UnreadableError("1", "XML", "the XML carries a DTD")
            self._root = element
            self.version = VERSION_OF.get(element.tag, "")
            if not self.version:
                raise _make_version_error(element.tag)
            yield ElementPart.ROOT, element
        elif parent is self._root and self._message is None and element.tag == self._tag("CstmrCdtTrfInitn"):
            self._message = element
            self._batches = self._make_repeated_elements("PmtInf", BATCH)
        elif parent is self._message and element.tag == self._tag("PmtInf"):
            self._batch = element
            self._transactions = self._make_repeated_elements("CdtTrfTxInf", TRANSACTION)
            yield ElementPart.BATCH_START, element

    def _end(self, element: Any) -> Iterator[tuple[ElementPart, Any]]:
        parent = element.getparent()
        if parent is None:
            return
        if parent is self._batch and element.tag == self._transactions.tag:
            yield ElementPart.TRANSACTION, element
            self._transactions.remove_before(element)
            self._markup = 0
        elif element is self._batch:
            self._transactions.remove_rest(element)
            yield ElementPart.BATCH, element
            self._batch = None
            self._batches.remove_before(element)
            self._markup = 0
        elif parent is self._message and element.tag == self._tag("GrpHdr"):
            yield ElementPart.HEADER, element

    def _tag(self, name: str) -> str:
        return f"{{{NAMESPACE}{self.version}}}{name}"

    def _make_repeated_elements(self, name: str, minimal: str) -> RepeatedElements:
        text = minimal.format(namespace=NAMESPACE + self.version, date=DATES[self.version])
        return RepeatedElements(self._tag(name), text)


# Versions


def _make_version_error(tag: str) -> UnreadableError:
    """Returns the error of a file with a root element that the bank does not accept."""
    namespace, _, name = tag.removeprefix("{").rpartition("}")
    expected = " or ".join(NAMESPACES)
    if name != "Document":
        fault = f"the root is {name or 'missing'}; expected is Document in the namespace {expected}"
    elif namespace.startswith(NAMESPACE):
        fault = f"the file is {namespace.removeprefix(NAMESPACE)}; taken are {' and '.join(VERSIONS)}"
    else:
        fault = _describe_namespace_fault(name, namespace, expected)
    return UnreadableError("Document", "VERSION", fault)


def _describe_namespace_fault(name: str, namespace: str, expected: str) -> str:
    place = f"the namespace {namespace[:NAMESPACE_SHOWN]}" if namespace else "no namespace"
    return f"{name} is in {place}; expected is {expected}"


# Schemas


@contextmanager
def borrow_schema(version: str) -> Iterator[Any]:
    """Lends a compiled schema to one reader at a time, because a schema object stores its last errors."""
    try:
        schema = _idle_schemas[version].pop()
    except IndexError:
        schema = _compile(version)
    try:
        yield schema
    finally:
        _idle_schemas[version].append(schema)


def _compile(version: str) -> Any:
    root = etree.fromstring((resources.files("sepaxml") / "schemas" / f"{version}.xsd").read_bytes())
    for name in REPEATED:  # makes them global elements of the schema, so that each can be validated alone
        (declared,) = root.findall(f".//{XSD}element[@name='{name}']")
        etree.SubElement(root, f"{XSD}element", name=name, type=declared.get("type", ""))
    return etree.XMLSchema(root)


def find_schema_faults(schema: Any, element: Any) -> Iterator[tuple[str, str]]:
    """Yields the schema errors of an element, one for each place: its path below the element, and a sentence. After
    TEXTS_MAX errors the paths are empty texts, because the report does not store them."""
    if schema.validate(element):
        return
    visited: set[str] = set()
    for entry in schema.error_log:
        if entry.path not in visited:
            visited.add(entry.path)
            # Finding the place takes long, and the report keeps only the first texts.
            below = _shorten_path(element, entry.path) if len(visited) <= TEXTS_MAX else ""
            yield below, _write_sentence(entry.message, str(etree.QName(element).namespace))


def _write_sentence(message: str, namespace: str) -> str:
    """Returns the schema's message without the long namespace. For a date that does not exist, adds this reason.

    For an element in another namespace, returns a sentence of our own. There the schema's message would say that it
    expects the very name that it refuses.
    """
    unexpected = UNEXPECTED.match(message)
    if unexpected and (unexpected["namespace"] or "") != namespace:
        return _describe_namespace_fault(unexpected["local"], unexpected["namespace"] or "", namespace)
    text = message.replace(f"{{{namespace}}}", "")
    value = VALUE.search(text)
    fault = explain_wrong_date(value[1]) if value else ""
    return f"{text} {fault}." if fault else text


def _shorten_path(element: Any, path: str | None) -> str:
    """Returns the path of a part of an element as names: `/CdtrAcct/Id` for `/*/*[3]/*`. Returns an empty text for the
    element itself."""
    prefixes = {prefix: uri for prefix, uri in element.nsmap.items() if prefix}
    nodes: Any = []
    with suppress(etree.XPathError):
        nodes = etree.ElementTree(element).xpath(path, namespaces=prefixes) if path else []
    node = nodes[0] if nodes and etree.iselement(nodes[0]) else element
    return "".join(f"/{name}" for name in list_names_below(element, node))
