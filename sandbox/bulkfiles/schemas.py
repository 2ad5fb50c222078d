"""The two versions of pain.001: their official schemas, and how each spells the paths."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

from lxml import etree

from sandbox.banking.calendar import why_no_date
from sandbox.bulkfiles.admission import NAMESPACE, NAMESPACES, VERSIONS
from sandbox.bulkfiles.checks import EUR, Sum, TransferText
from sandbox.bulkfiles.report import TEXTS_MAX

NAMESPACE_SHOWN = 100  # characters of a namespace that the file made up
XSD = "{http://www.w3.org/2001/XMLSchema}"
PARTS = ("PmtInf", "CdtTrfTxInf")  # the two that repeat
PATHS = {
    "creditor_name": "Cdtr/Nm",
    "creditor_iban": "CdtrAcct/Id/IBAN",
    "creditor_bic": "CdtrAgt/FinInstnId/BIC",
    "amount": "Amt/InstdAmt",
    "currency": "Amt/InstdAmt",
    "equivalent": "Amt/EqvtAmt",
    "endtoend_identification": "PmtId/EndToEndId",
    "structured": "RmtInf/Strd/CdtrRefInf/Ref",
    "unstructured": "RmtInf/Ustrd",
    "instruction": "PmtId/InstrId",
    "charge_bearer": "ChrgBr",
}
NEWER = {"creditor_bic": "CdtrAgt/FinInstnId/BICFI"}
DATES = {"pain.001.001.03": "ReqdExctnDt", "pain.001.001.09": "ReqdExctnDt/Dt"}

UNEXPECTED = re.compile(r"Element '(?:\{(?P<namespace>[^}]*)\})?(?P<local>[^']*)': This element is not expected")
VALUE = re.compile(r"'([^']*)' is not a valid value of the atomic type '[^']*(?:[dD]ate|ISODateTime)[^']*'")

_idle: dict[str, list[Any]] = {version: [] for version in VERSIONS}


@contextmanager
def borrow_schema(version: str) -> Iterator[Any]:
    """A compiled schema for one reader at a time: its list of errors is not to be shared."""
    try:
        schema = _idle[version].pop()
    except IndexError:
        schema = _compile(version)
    try:
        yield schema
    finally:
        _idle[version].append(schema)


def _compile(version: str) -> Any:
    root = etree.fromstring(resources.files("sepaxml").joinpath("schemas", f"{version}.xsd").read_bytes())
    for part in PARTS:
        (declared,) = root.findall(f".//{XSD}element[@name='{part}']")
        etree.SubElement(root, f"{XSD}element", name=part, type=declared.get("type", ""))
    return etree.XMLSchema(root)


def version_of(tag: str) -> str | None:
    """The version that the name of a root element tells."""
    namespace, _, local = tag.removeprefix("{").rpartition("}")
    version = namespace.removeprefix(NAMESPACE)
    return version if local == "Document" and version in VERSIONS and namespace == NAMESPACE + version else None


def refused_version(tag: str) -> str:
    """Why a root element is no file that the bank takes."""
    namespace, _, local = tag.removeprefix("{").rpartition("}")
    if local == "Document" and namespace.startswith(NAMESPACE):
        return f"the file is {namespace.removeprefix(NAMESPACE)}; taken are {' and '.join(VERSIONS)}"
    expected = " or ".join(NAMESPACES)
    if local == "Document":
        return namespace_fault(local, namespace, expected)
    return f"the root is {local or 'missing'}; expected is Document in the namespace {expected}"


def namespace_fault(local: str, found: str, expected: str) -> str:
    place = f"the namespace {found[:NAMESPACE_SHOWN]}" if found else "no namespace"
    return f"{local} is in {place}; expected is {expected}"


def faults(schema: Any, element: Any) -> Iterator[tuple[str, str]]:
    """The schema errors of an element: one path and reason for each place."""
    if schema.validate(element):
        return
    visited: set[str] = set()
    tree = etree.ElementTree(element)
    for entry in schema.error_log:
        if entry.path not in visited:
            visited.add(entry.path)
            # To find the place takes long, and only the first are shown.
            below = _below(tree, entry.path) if len(visited) <= TEXTS_MAX else ""
            yield below, sentence_of(entry.message, str(etree.QName(element).namespace))


def sentence_of(message: str, namespace: str) -> str:
    """The schema's message without the namespace of the file, which is long; of an element in another namespace that
    it is there, as the message alone would expect what it refuses."""
    unexpected = UNEXPECTED.match(message)
    if unexpected and (unexpected["namespace"] or "") != namespace:
        return namespace_fault(unexpected["local"], unexpected["namespace"] or "", namespace)
    text = message.replace(f"{{{namespace}}}", "")
    return text + date_fault(text)


def date_fault(text: str) -> str:
    """What the schema's error leaves out about a value such as 2027-02-30: that there is no such day."""
    found = VALUE.search(text)
    why = why_no_date(found[1]) if found else ""
    return f" {why}." if why else ""


def _below(tree: Any, path: str | None) -> str:
    """`/*/*[3]/*` in names: `/CdtrAcct/Id`; empty for the element itself."""
    root = tree.getroot()
    prefixes = {prefix: uri for prefix, uri in root.nsmap.items() if prefix}
    try:
        found = tree.xpath(path, namespaces=prefixes) if path else []
    except etree.XPathError:
        found = []
    node = found[0] if found and etree.iselement(found[0]) else root
    return "".join(f"/{name}" for name in names_below(root, node))


def names_below(above: Any, node: Any) -> list[str]:
    """The names from below `above` to the node."""
    names: list[str] = []
    while node is not above and node is not None:
        names.append(etree.QName(node).localname)
        node = node.getparent()
    return names[::-1]


class Dialect:
    """How one version spells the paths; those of a transaction are made once, as they are asked so often."""

    def __init__(self, version: str) -> None:
        self._prefix = f"{{{NAMESPACE}{version}}}"
        self.places = PATHS if version == "pain.001.001.03" else PATHS | NEWER
        self.date = DATES[version]
        self.debtor_bic = f"DbtrAgt/FinInstnId/{self.places['creditor_bic'].rpartition('/')[2]}"
        self._paths = {name: self.path(place) for name, place in self.places.items()}
        self._remittance = self.path("RmtInf")
        self._structured = self.path("Strd")
        self._reference = self.path("CdtrRefInf/Ref")
        self._unstructured = self.path("Ustrd")
        self._service_level = self.path("PmtTpInf/SvcLvl")
        self._instrument = self.path("PmtTpInf/LclInstrm")
        self._scheme = (self.path("CdtrRefInf/Tp/Issr"), self.path("CdtrRefInf/Tp/CdOrPrtry/Prtry"))

    def path(self, path: str) -> str:
        return "/".join(self._prefix + step for step in path.split("/"))

    def text(self, element: Any, path: str) -> str:
        """The text at a path; empty where there is none."""
        return str(element.findtext(self.path(path), ""))

    def order(self, place: str, element: Any) -> TransferText:
        """The transfer as a transaction spells it, whether the schema takes it or not."""
        paths = self._paths
        amount = element.find(paths["amount"])
        parts = element.find(self._remittance)
        parts = () if parts is None else parts
        return TransferText(
            place,
            element.findtext(paths["creditor_name"], ""),
            element.findtext(paths["creditor_iban"], ""),
            element.findtext(paths["creditor_bic"], ""),
            "" if amount is None else (amount.text or "").strip(),
            "" if amount is None else amount.get("Ccy", ""),
            element.findtext(paths["endtoend_identification"], ""),
            [part.findtext(self._reference) for part in parts if part.tag == self._structured],
            [part.text or "" for part in parts if part.tag == self._unstructured],
            element.findtext(paths["instruction"], ""),
            element.findtext(paths["charge_bearer"], ""),
            self.levels_asked(element),
            self.instrument_asked(element),
            self._scheme_of(parts),
            amount is None and element.find(paths["equivalent"]) is not None,
        )

    def levels_asked(self, element: Any) -> list[str]:
        """The codes of a bulk or a transaction; the newer version may give several."""
        found = element.findall(self._service_level)
        return [level.findtext(self.path("Cd")) or "a level of one's own (Prtry)" for level in found]

    def instrument_asked(self, element: Any) -> str:
        """The local instrument of a bulk or a transaction; empty where none is asked for."""
        found = element.find(self._instrument)
        if found is None:
            return ""
        return found.findtext(self.path("Cd")) or "a local instrument of one's own (Prtry)"

    def _scheme_of(self, parts: Any) -> str:
        """Whose rules the structured communication follows, as its issuer or its own type says."""
        structured = next((part for part in parts if part.tag == self._structured), None)
        if structured is None:
            return ""
        texts = (structured.findtext(path, "").strip() for path in self._scheme)
        return next((text.upper() for text in texts if text), "")


class BatchHead:
    """The fields of a bulk that precede its transactions."""

    def __init__(self, element: Any, dialect: Dialect, counted: Sum) -> None:
        def text(path: str) -> str:
            return dialect.text(element, path).strip()

        self.name, self.method, self.counted = text("PmtInfId"), text("PmtMtd"), counted
        self.iban, self.currency = text("DbtrAcct/Id/IBAN"), text("DbtrAcct/Ccy") or EUR
        self.number, self.total = text("NbOfTxs"), text("CtrlSum")
        self.booking = text("BtchBookg") in ("true", "1")
        self.charge_bearer, self.debtor_bic = text("ChrgBr"), text(dialect.debtor_bic)
        self.service_levels, self.instrument = dialect.levels_asked(element), dialect.instrument_asked(element)
        self.is_moment = bool(text(f"{dialect.date}Tm"))
        # A schema date may name a zone, which says nothing about a banking day.
        self.day = text(dialect.date)[:10]
