"""The two stages in which a bulk file is read (choice 7). At the POST the bank only admits the file. Later it validates
the file and makes a report."""

import zlib
from typing import Literal, NamedTuple

from sandbox.bulkfiles.admission import Content, Progress, admit_csv, admit_xml
from sandbox.bulkfiles.report import FileReport, ValidationRules
from sandbox.lazy import load

Kind = Literal["pain.001", "csv"]

LARGE_BYTES = 100_000  # reading so many bytes takes about 20 ms
PREPARED_MAX = 4  # reports that are stored until their bank takes them; a dropped report is made again


READERS = {
    "pain.001": "sandbox.bulkfiles.pain001:PainFileReader",
    "csv": "sandbox.bulkfiles.csv_reader:CsvFileReader",
}


class ReportInput(NamedTuple):
    """Everything on which a report depends. `packed` is the file as the log stores it."""

    kind: Kind
    packed: bytes
    rules: ValidationRules


_prepared: dict[ReportInput, FileReport | None] = {}


def ignore_progress() -> None:
    pass


def admit(kind: Kind, content: Content) -> str | None:
    """Returns the MsgId of a pain.001, or None if it has no valid one. Returns None for a csv. Raises ValueError if the
    POST must be refused."""
    if kind == "csv":
        admit_csv(content)
        return None
    return admit_xml(content)


def read_file(kind: Kind, content: bytes, rules: ValidationRules, progress: Progress = ignore_progress) -> FileReport:
    """Validates an admitted file. Calls `progress` every few milliseconds."""
    report: FileReport = load(READERS[kind])(rules).read(content, progress)
    return report


def count_progress(kind: Kind, content: bytes) -> int:
    """Returns an estimate of how often `read_file` calls `progress`."""
    if kind == "csv":
        return content.count(b"\n") // int(load("sandbox.bulkfiles.csv_reader:LINES_PER_PROGRESS"))
    return len(content) // int(load("sandbox.bulkfiles.pain001_stream:PIECE"))


def make_report(file: ReportInput, progress: Progress = ignore_progress) -> FileReport:
    return read_file(file.kind, zlib.decompress(file.packed), file.rules, progress)


def take_report(file: ReportInput, progress: Progress = ignore_progress) -> FileReport:
    """Returns the prepared report of a file, or makes the report if none is prepared. Forgets the prepared report,
    because the bank adds its own findings to it."""
    return _prepared.pop(file, None) or make_report(file, progress)


def prepare_report(file: ReportInput, progress: Progress) -> None:
    """Makes and stores a report before the bank needs it. If this fails, ignores the error and stores None. When the
    bank later takes the report, `take_report` tries again, and then raises the error. Drops the oldest reports if more
    than PREPARED_MAX are stored."""
    try:
        report = take_report(file, progress)
    except Exception:  # a bug of the sandbox
        report = None
    _prepared[file] = report
    for oldest in list(_prepared)[:-PREPARED_MAX]:
        _prepared.pop(oldest, None)


def is_prepared(file: ReportInput) -> bool:
    return file in _prepared


def is_large(packed: bytes) -> bool:
    """Whether the unpacked file has more than LARGE_BYTES. Reading such a file takes so long that it would delay other
    calls."""
    return len(zlib.decompressobj().decompress(packed, LARGE_BYTES + 1)) > LARGE_BYTES
