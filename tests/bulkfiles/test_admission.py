"""What is refused at the POST, and hostile files that do no harm: choice 7."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from sandbox.bulkfiles import admission
from sandbox.bulkfiles.admission import FILE_BYTES_MAX, admit_csv, admit_xml
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.stages import Kind, admit, read_file
from tests.bulkfiles.a_file import TODAY, Bulk, codes, csv, pain, read, transaction

SOUND = pain(Bulk())
ROOT = SOUND.index(b"<Document")
LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))


def with_dtd(dtd: bytes, text: bytes = b"Jan") -> bytes:
    return SOUND[:ROOT] + b"<!DOCTYPE Document" + dtd + b">" + SOUND[ROOT:].replace(b"Jan Peeters", text)


WITH_DTD = {
    "entity of a file": with_dtd(b' [<!ENTITY x SYSTEM "file:///etc/passwd">]', b"&x;"),
    "external dtd": with_dtd(b' SYSTEM "http://127.0.0.1:9/evil.dtd"'),
    "parameter entity": with_dtd(b' [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]'),
    "billion laughs": with_dtd(b' [<!ENTITY l0 "ha">' + LAUGHS + b"]", b"&l9;"),
    "quadratic blow-up": with_dtd(b' [<!ENTITY a "' + b"a" * 100_000 + b'">]', b"&a;" * 10_000),
    "nothing in it": with_dtd(b""),
}
NOT_WELL_FORMED = {
    "truncated": SOUND[:-20],
    "zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)) * 10,
    "spaces": b" " * 1_000_000,
    "two roots": SOUND + SOUND[ROOT:],
    "csv": csv({}),
    "latin-1 under utf-8": pain(Bulk((transaction(creditor="<Nm>Ren\u00e9</Nm>"),))).decode().encode("latin-1"),
    "utf-16 that is none": SOUND.replace(b"UTF-8", b"UTF-16"),
    "no such encoding": SOUND.replace(b"UTF-8", b"UTF-99"),
    "entity that is not declared": SOUND.replace(b"Jan Peeters", b"&x;"),
    "unbound prefix": SOUND.replace(b"<InitgPty>", b"<x:Stray/><InitgPty>"),
    "control character": SOUND.replace(b"Jan Peeters", b"a\x01b"),
    "nested and never closed": b"<a>" * 10_000,
}


# At the POST


@pytest.mark.parametrize("content", [SOUND, BytesIO(SOUND), b"<?xml version='1.0'?><any/>"])
def test_well_formed_xml_is_admitted(content: bytes | BytesIO) -> None:
    admit_xml(content)


@pytest.mark.parametrize(
    "inner, found",
    [
        ("<GrpHdr><MsgId>A/1 &amp; <!-- -->B</MsgId><X/></GrpHdr><PmtInf/>", "A/1 & B"),
        ("<GrpHdr><MsgId></MsgId></GrpHdr>", None),
        ("<GrpHdr><MsgId/></GrpHdr>", None),
        (f"<GrpHdr><MsgId>{'x' * 35}</MsgId></GrpHdr>", "x" * 35),
        (f"<GrpHdr><MsgId>{'x' * 36}</MsgId></GrpHdr>", None),
        (f"<GrpHdr><MsgId>{'x' * 200_000}</MsgId></GrpHdr>", None),
        ("<GrpHdr><MsgId>A<X/></MsgId></GrpHdr>", None),
        ("<GrpHdr><X/><MsgId>A</MsgId></GrpHdr>", None),
        ("<PmtInf><MsgId>A</MsgId></PmtInf>", None),
    ],
)
def test_the_message_id_is_learnt_where_the_schema_puts_it(inner: str, found: str | None) -> None:
    content = f'<Document xmlns="urn:any"><CstmrCdtTrfInitn>{inner}</CstmrCdtTrfInitn></Document>'
    assert admit("pain.001", content.encode()) == found
    assert admit("csv", content.encode()) is None


@pytest.mark.parametrize("content", [csv({}), BytesIO(csv({})), "caf\u00e9".encode(), b"\xef\xbb\xbfa"])
def test_utf_8_is_admitted_as_csv(content: bytes | BytesIO) -> None:
    admit_csv(content)


@pytest.mark.parametrize("name", WITH_DTD)
def test_a_dtd_is_refused_before_anything_in_it_is_read(name: str) -> None:
    with pytest.raises(ValueError, match="DTD"):
        admit_xml(WITH_DTD[name])


@pytest.mark.parametrize("name", NOT_WELL_FORMED)
def test_what_is_not_well_formed_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="well-formed|encoding"):
        admit_xml(NOT_WELL_FORMED[name])


@pytest.mark.parametrize(
    "content",
    ["caf\u00e9".encode("latin-1"), "caf\u00e9".encode()[:-1], csv({}).decode().encode("utf-16")],
)
def test_what_is_not_utf_8_is_refused_as_csv(content: bytes) -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        admit_csv(content)


@pytest.mark.parametrize("one", [admit_xml, admit_csv])
def test_an_empty_file_is_refused(one: Callable[[bytes], None]) -> None:
    with pytest.raises(ValueError, match="empty"):
        one(b"")


def test_seventy_megabytes_of_spaces_are_refused() -> None:
    spaces = b" " * 70_000_000
    with pytest.raises(ValueError, match="over 64 MB"):
        admit_csv(spaces)
    with pytest.raises(ValueError, match="over 64 MB|well-formed"):
        admit_xml(spaces)


@pytest.mark.parametrize(("extra", "refused"), [(0, False), (1, True)])
def test_the_bound_is_exact(extra: int, refused: bool) -> None:
    content = bytes(ord("a") for _ in range(1)) * (FILE_BYTES_MAX + extra)
    if refused:
        with pytest.raises(ValueError, match="over 64 MB"):
            admit_csv(content)
    else:
        admit_csv(content)


@pytest.mark.parametrize(
    "content, told",
    [
        (b"<a>" * 3_000_000, "nests over 10,000"),
        (b"<a>" * 10_001 + b"</a>" * 10_001, "nests over 10,000"),
        ("<a>".encode("utf-16") * 10_001, "nests over 10,000"),
        (b"<a><!-- </a> --><![CDATA[</a>/>]]>" * 10_001, "nests over 10,000"),
        (b"<r>" + b"".join(b"<n%d/>" % n for n in range(50_001)) + b"</r>", "over 50,000 different names"),
        (b"<r>" + b"".join(b"<a n%d=''/>" % n for n in range(50_001)) + b"</r>", "over 50,000 different names"),
        (b"<r>" + b"".join(b"<a xmlns:p%d='u'/>" % n for n in range(50_001)) + b"</r>", "over 50,000 different names"),
        (b"<r>" + b"".join(b"<a xmlns='u%d'/>" % n for n in range(50_001)) + b"</r>", "over 50,000 different names"),
    ],
)
def test_nests_and_names_without_end_are_refused_as_soon_as_they_are_too_many(content: bytes, told: str) -> None:
    stream = BytesIO(content)
    with pytest.raises(ValueError, match=told):
        admit_xml(stream)
    assert stream.tell() < 1_600_000


def test_elements_are_bounded_at_what_the_largest_file_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "ELEMENTS_MAX", 100)
    admit_xml(b"<r>" + b"<a/>" * 99 + b"</r>")
    with pytest.raises(ValueError, match="over 100 elements"):
        admit_xml(b"<r>" + b"<a/>" * 100 + b"</r>")


def test_nests_at_the_bound_are_admitted() -> None:
    admit_xml(b"<a>" * 10_000 + b"</a>" * 10_000)


def test_a_tag_that_never_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="a tag of over"):
        admit_xml(b"<a " + b"".join(b'b%d="" ' % n for n in range(150_000)) + b"/>")


def test_the_kind_chooses_the_admission() -> None:
    admit("csv", csv({}))
    admit("pain.001", SOUND)
    with pytest.raises(ValueError):
        admit("pain.001", csv({}))


# Later: the reader trusts nobody either


@pytest.mark.parametrize("name", WITH_DTD)
def test_a_dtd_that_was_never_shown_to_the_admission_is_refused(name: str) -> None:
    report = read(WITH_DTD[name])
    assert [code for _, code in codes(report)] == ["XML"]


@pytest.mark.parametrize("name", NOT_WELL_FORMED)
def test_what_is_not_well_formed_is_a_finding(name: str) -> None:
    report = read_file("pain.001", NOT_WELL_FORMED[name], ValidationRules(TODAY))
    assert report.is_refused and codes(report)[0][1] in {"XML", "ENCODING", "STRUCTURE"}


def test_a_csv_that_is_not_utf_8_is_a_finding() -> None:
    assert codes(read_file("csv", csv({}) + b"\xe9", ValidationRules(TODAY))) == [("1", "ENCODING")]


def test_deep_nesting_is_a_finding() -> None:
    deep = SOUND.replace(b"<InitgPty>", b"<a>" * 5_000 + b"</a>" * 5_000 + b"<InitgPty>")
    admit_xml(deep)
    assert [code for _, code in codes(read(deep))] == ["XML"]


@pytest.mark.parametrize("kind", ["pain.001", "csv"])
def test_zip_bytes_are_refused(kind: Kind) -> None:
    from zipfile import ZipFile

    zipped = BytesIO()
    with ZipFile(zipped, "w") as archive:
        archive.writestr("a.xml", SOUND)
    with pytest.raises(ValueError):
        admit(kind, zipped.getvalue())


@pytest.mark.parametrize(
    "junk",
    [
        b"<a/>" * 300_000,
        b"<a>" + b"<b/>" * 300_000 + b"</a>",
        b"".join(b"<n%d/>" % n for n in range(50_000)),
        b"".join(b"<?p%d?>" % n for n in range(50_000)),
        b"".join(b'<a xmlns:p%d="u"/>' % n for n in range(50_000)),
        b"<a " + b"".join(b'b%d="" ' % n for n in range(50_000)) + b"/>",
    ],
)
@pytest.mark.parametrize("before", [b"<InitgPty>", b"<PmtMtd>", b"<Amt>", b"</PmtInf>", b"</CstmrCdtTrfInitn>"])
def test_what_would_fill_the_memory_is_not_read_to_its_end(junk: bytes, before: bytes) -> None:
    pieces = []
    content = SOUND.replace(before, junk + before)
    report = read_file("pain.001", content, ValidationRules(TODAY), lambda: pieces.append(1))
    assert codes(report) == [("Document", "STRUCTURE")]
    assert len(pieces) < 30


def test_a_text_of_eleven_megabytes_is_a_finding() -> None:
    assert [code for _, code in codes(read(SOUND.replace(b"Jan Peeters", b"x" * 11_000_000)))] == ["XML"]


def test_what_was_said_holds_no_megabyte() -> None:
    report = read(SOUND.replace(b"<PmtMtd>TRF", b"<PmtMtd>" + b"x" * 100_000))
    assert max(len(finding.text) for finding in report.batches[0].findings) < 400


def test_an_external_file_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    report = read(with_dtd(b' [<!ENTITY x SYSTEM "%s">]' % secret.as_uri().encode(), b"&x;"))
    assert "secret" not in repr(report)


def test_a_schema_that_the_file_names_is_not_looked_for() -> None:
    hint = b' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:x http://127.0.0.1:9/x"'
    assert codes(read(SOUND.replace(b"<Document", b"<Document" + hint))) == []


def test_identifications_and_places_that_are_kept_of_a_refused_file_are_cut() -> None:
    long = b"x" * 100_000
    report = read(SOUND.replace(b"<PmtMtd>", b"<%s/><PmtMtd>" % long).replace(b"<MsgId>", b"<MsgId>" + long))
    assert report.is_refused and report.message_id is not None
    assert len(report.message_id) <= 300
    report = read(SOUND.replace(b"<PmtInfId>", b"<PmtInfId>" + long))
    (batch,) = report.batches
    assert batch.payment_information_id is not None and len(batch.payment_information_id) <= 300
    assert all(len(finding.place) < 400 and len(finding.text) < 400 for finding in batch.findings)
