"""Namespaces in pain.001: a wrong one is told with the one that was expected (choice 7)."""

import re

import pytest

from sandbox.bulkfiles.stages import admit
from tests.bulkfiles.a_file import NEW, Bulk, pain, read, texts

URN = "urn:iso:std:iso:20022:tech:xsd:pain.001.001"
EITHER = f"{URN}.03 or {URN}.09"


def with_other(name: str, end: str = 'xmlns="urn:other"') -> bytes:
    """A file with the first element of that name, and no other, in another namespace."""
    content = pain(Bulk(), version=NEW).decode()
    begin, _, rest = content.partition(f"<{name}>")
    inner, _, after = rest.partition(f"</{name}>")
    return f"{begin}<p:{name} {end.replace('xmlns', 'xmlns:p')}>{inner}</p:{name}>{after}".encode()


@pytest.mark.parametrize("name", ["GrpHdr", "PmtInf", "CdtTrfTxInf", "Cdtr", "Dbtr", "CstmrCdtTrfInitn"])
def test_an_element_in_another_namespace_is_told_with_both(name: str) -> None:
    assert f"{name} is in the namespace urn:other; expected is {URN}.09" in texts(read(with_other(name)))
    older = with_other(name, f'xmlns="{URN}.03"')
    assert f"{name} is in the namespace {URN}.03; expected is {URN}.09" in texts(read(older))


def test_a_prefix_of_the_root_alone_leaves_its_children_in_no_namespace() -> None:
    content = pain(Bulk()).replace(b"<Document xmlns=", b"<p:Document xmlns:p=").replace(b"</Document", b"</p:Document")
    assert f"CstmrCdtTrfInitn is in no namespace; expected is {URN}.03" in texts(read(content))


def test_a_prefix_of_the_right_namespace_is_taken() -> None:
    content = re.sub(rb"<(/?)(?=[A-Z])", rb"<\1p:", pain(Bulk())).replace(b"xmlns=", b"xmlns:p=")
    assert texts(read(content)) == []


@pytest.mark.parametrize(
    ("namespace", "told"),
    [
        (
            "urn:iso:std:iso:2022:tech:xsd:pain.001.001.03",
            "the namespace urn:iso:std:iso:2022:tech:xsd:pain.001.001.03",
        ),
        ("", "no namespace"),
        ("urn:" + "x" * 1_000, f"the namespace urn:{'x' * 96}"),
    ],
)
def test_a_document_in_another_namespace_is_told_with_those_expected(namespace: str, told: str) -> None:
    content = pain(Bulk()).replace(f"{URN}.03".encode(), namespace.encode())
    assert texts(read(content)) == [f"Document is in {told}; expected is {EITHER}"]


def test_another_root_is_told_with_the_one_expected() -> None:
    content = pain(Bulk()).replace(b"<Document", b"<Dokument").replace(b"</Document", b"</Dokument")
    assert texts(read(content)) == [f"the root is Dokument; expected is Document in the namespace {EITHER}"]


def test_a_prefix_that_nothing_declares_is_told_at_the_post() -> None:
    content = pain(Bulk()).replace(b"<GrpHdr>", b"<p:GrpHdr>").replace(b"</GrpHdr>", b"</p:GrpHdr>")
    with pytest.raises(ValueError, match=r"a prefix without a namespace at line 2, column 84; expected is urn:iso"):
        admit("pain.001", content)
