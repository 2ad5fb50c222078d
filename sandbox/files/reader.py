"""The two stages of a bulk file: what is refused at the POST, and all else (choice 7)."""

from datetime import date
from typing import Literal

from sandbox.contract.settings import Settings
from sandbox.files import csv_lines, pain001
from sandbox.files.admission import Breathe, Content, admit_csv, admit_xml, never
from sandbox.files.report import Report

Kind = Literal["pain.001", "csv"]


def admit(kind: Kind, content: Content, breathe: Breathe = never) -> str | None:
    """The MsgId, where the format has one; a ValueError for what is refused at once, and why."""
    if kind == "csv":
        admit_csv(content, breathe)
        return None
    return admit_xml(content, breathe)


def read_file(
    kind: Kind,
    content: bytes,
    today: date,
    breathe: Breathe = never,
    days_ahead_max: int = Settings.execution_days_ahead_max,
    rules_edition: int = Settings.rules_edition,
) -> Report:
    """What is said about an admitted file later; `breathe` is called every few milliseconds of work."""
    if kind == "csv":
        return csv_lines.Reader(today, days_ahead_max).read(content, breathe)
    return pain001.Reader(today, days_ahead_max, with_rulebook=rules_edition > 1).read(content, breathe)
