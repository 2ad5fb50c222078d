"""The two stages of a bulk file: checks at the POST, and the validation (choice 7)."""

import zlib
from datetime import date
from typing import Literal, NamedTuple

from sandbox.bulkfiles.admission import Breathe, Content, admit_csv, admit_xml, never
from sandbox.bulkfiles.report import FileReport
from sandbox.contract.decisions import Decisions
from sandbox.lazy import load

Kind = Literal["pain.001", "csv"]


LARGE = 100_000  # bytes; ours: it takes some 20 ms to read so many
AHEAD_MAX = 4  # ours: reports that wait for their bank; one that had to go is made again


class Reading(NamedTuple):
    """The input of a report, with the file as the log stores it."""

    kind: Kind
    packed: bytes
    today: date
    days_ahead_max: int
    rules_edition: int
    with_digits: bool  # check digits of structured communications count (axis creditor_reference_in_file)


_ahead: dict[Reading, FileReport | None] = {}


def admit(kind: Kind, content: Content) -> str | None:
    """The MsgId, where the format has one; raises ValueError when the POST is refused."""
    if kind == "csv":
        admit_csv(content)
        return None
    return admit_xml(content)


def read_file(
    kind: Kind,
    content: bytes,
    today: date,
    breathe: Breathe = never,
    days_ahead_max: int = Decisions.execution_days_ahead_max,
    rules_edition: int = Decisions.rules_edition,
    with_digits: bool = True,
) -> FileReport:
    """Validates an admitted file; calls `breathe` every few milliseconds."""
    if kind == "csv":
        reader = load("sandbox.bulkfiles.csv_lines:CsvFileReader")(today, days_ahead_max, with_digits=with_digits)
    else:
        options = {"with_rulebook": rules_edition > 1, "with_digits": with_digits}
        reader = load("sandbox.bulkfiles.pain001:PainFileReader")(today, days_ahead_max, **options)
    report: FileReport = reader.read(content, breathe)
    return report


def breaths_of(kind: Kind, content: bytes) -> int:
    """About how often `read_file` calls `breathe`."""
    if kind == "csv":
        return content.count(b"\n") // int(load("sandbox.bulkfiles.csv_lines:LINES_A_BREATH"))
    return len(content) // int(load("sandbox.bulkfiles.stream:PIECE"))


def read_packed(reading: Reading, breathe: Breathe = never) -> FileReport:
    """The report prepared by `read_ahead`, used once, or a new one."""
    report = _ahead.pop(reading, None)
    if report is not None:
        return report
    return read_anew(reading, breathe)


def read_anew(reading: Reading, breathe: Breathe = never) -> FileReport:
    """The report of a reading, whether one was prepared or not."""
    content, rules = zlib.decompress(reading.packed), (reading.days_ahead_max, reading.rules_edition)
    return read_file(reading.kind, content, reading.today, breathe, *rules, reading.with_digits)


def read_ahead(reading: Reading, breathe: Breathe) -> None:
    """Prepares a report. An error is raised again, and reported, by `read_packed`."""
    try:
        report = read_packed(reading, breathe)
    except Exception:  # our mistake
        report = None
    _ahead[reading] = report
    for oldest in list(_ahead)[:-AHEAD_MAX]:
        _ahead.pop(oldest, None)


def is_read(reading: Reading) -> bool:
    return reading in _ahead


def is_large(packed: bytes) -> bool:
    """Tells whether reading the file would delay other calls."""
    return len(zlib.decompressobj().decompress(packed, LARGE + 1)) > LARGE
