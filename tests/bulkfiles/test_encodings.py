"""XML in any encoding that can be read (choice 7)."""

import pytest

from sandbox.bulkfiles.admission import admit_xml
from sandbox.bulkfiles.report import ValidationRules
from sandbox.bulkfiles.stages import read_file
from tests.bulkfiles.a_file import TODAY, Bulk, codes, pain, read, transaction

NAMED = pain(Bulk((transaction(creditor="<Nm>Jérôme Lambiotte</Nm>"),))).decode()


def written(declared: str | None, codec: str, mark: bytes = b"") -> bytes:
    """The file in that encoding, with what its declaration says of it."""
    told = "" if declared is None else f' encoding="{declared}"'
    return mark + NAMED.replace(' encoding="UTF-8"', told).encode(codec)


@pytest.mark.parametrize(
    "content",
    [
        written("ISO-8859-1", "latin-1"),
        written("iso-8859-15", "iso-8859-15"),
        written("windows-1252", "cp1252"),
        written("CP850", "cp850"),
        written("UTF-16", "utf-16"),
        written("utf-16", "utf-16-be", b"\xfe\xff"),
        written("UTF-16LE", "utf-16-le"),
        written("UTF-32", "utf-32"),
        written(None, "utf-16"),
        written(None, "utf-8"),
        written("UTF-8", "utf-8", b"\xef\xbb\xbf"),
    ],
)
def test_a_declared_encoding_is_read(content: bytes) -> None:
    assert admit_xml(content) == "M-1"
    report = read(content)
    assert codes(report) == []
    assert report.valid_batches[0].transfers[0].creditor_name == "Jérôme Lambiotte"


def test_a_character_may_lie_over_two_pieces() -> None:
    filler = f"<!--{'é' * 40_001}-->"
    content = NAMED.replace("<GrpHdr>", filler + "<GrpHdr>").replace("UTF-8", "UTF-16").encode("utf-16")
    assert admit_xml(content) == "M-1"
    assert codes(read(content)) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (written("UTF-16", "utf-8"), "declares the encoding UTF-16, and its first bytes are those of one byte"),
        (written("UTF-8", "utf-16"), "declares the encoding UTF-8, and its first bytes are those of utf-16-le"),
        (written("ISO-8859-1", "utf-8", b"\xef\xbb\xbf"), "its first bytes are those of utf-8"),
        (written("UTF-99", "utf-8"), "'UTF-99', which is not known; UTF-8, UTF-16, ISO-8859-1 and windows-1252"),
        (written("rot13", "utf-8"), "'rot13', which is not known"),
        (written("base64", "utf-8"), "'base64', which is not known"),
        (written("utf-7", "utf-8"), "'utf-7', which is not known"),
        (written("idna", "utf-8"), "'idna', which is not known"),
        (written("caf\u00e9", "latin-1"), "which is not known"),
        (written("windows-1252", "cp1252").replace(b"Lambiotte", b"\x81"), "bytes that are not cp1252"),
        (written("UTF-16", "utf-16")[:-1], "bytes that are not utf-16-le"),
    ],
)
def test_bytes_that_are_not_what_they_say_are_refused_at_once(content: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=r"^the XML") as refused:
        admit_xml(content)
    assert told in str(refused.value)
    report = read_file("pain.001", content, ValidationRules(TODAY))
    assert report.is_refused and codes(report)[0][1] in ("ENCODING", "XML")


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "latin-1"])
def test_a_dtd_is_found_in_every_encoding(codec: str) -> None:
    content = NAMED.replace("<Document", '<!DOCTYPE Document [<!ENTITY x "y">]><Document').replace("UTF-8", codec)
    with pytest.raises(ValueError, match="DTD"):
        admit_xml(content.encode(codec))
