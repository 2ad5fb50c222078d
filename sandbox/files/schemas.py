"""The official schema files, as validators of a whole document and of each of its repeated parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

from lxml import etree

from sandbox.files.report import TEXTS_MAX

VERSIONS = ("pain.001.001.03", "pain.001.001.09")
NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:"
XSD = "{http://www.w3.org/2001/XMLSchema}"
PARTS = ("PmtInf", "CdtTrfTxInf")  # the two that repeat

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
    taken = f"taken are {' and '.join(VERSIONS)}"
    namespace, _, local = tag.removeprefix("{").rpartition("}")
    if local == "Document" and namespace.startswith(NAMESPACE):
        return f"the file is {namespace.removeprefix(NAMESPACE)}; {taken}"
    return f"the root is {local or 'missing'} in the namespace {namespace or '(none)'}, and no Document; {taken}"


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
            yield below, entry.message.replace(f"{{{etree.QName(element).namespace}}}", "")


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
