"""Reads large bulk files without a world's lock, so that other calls do not wait. Bank time stops just before the
validation of such a file until the file is read.

The report of a file depends only on its bytes and the day, so it does not matter when and in which thread it is made.
"""

import threading
from datetime import datetime, timedelta
from typing import NamedTuple

from sandbox.bank.bulk_checks import make_report_input
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.bulkfiles import stages
from sandbox.bulkfiles.stages import ReportInput
from sandbox.contract.moves import Status, Trigger
from sandbox.storage.long_work import pause

JUST = timedelta(microseconds=1)
MOST = stages.PREPARED_MAX  # files that one move of the clock has read without the lock

_one_at_a_time = threading.Lock()
_begun: set[ReportInput] = set()


class UnreadFile(NamedTuple):
    """A large file that was not read yet, and the time of its validation."""

    at: datetime
    reading: ReportInput


def find_first_unread(bank: Bank, until: datetime) -> UnreadFile | None:
    """Returns the first unread large file whose validation is due by the time `until`, or None."""
    if not bank.files_waiting:
        return None
    for promise in sorted(due for due in bank.agenda.find_due(until) if due.trigger is Trigger.VALIDATED):
        bulk = bank.bulks[promise.subject_id]
        if bulk.status is Status.RCVD and stages.is_large(bulk.packed):
            reading = make_report_input(bank, bulk, find_brussels_date(max(promise.at, bank.clock.now)))
            if not stages.is_prepared(reading):
                return UnreadFile(promise.at, reading)
    return None


def find_unread_now(bank: Bank) -> UnreadFile | None:
    """Returns the first unread large file whose validation is due at the bank's present time, or None."""
    due = bank.agenda.next_at
    return find_first_unread(bank, bank.clock.now) if due is not None and due <= bank.clock.now else None


def read(unread: UnreadFile) -> None:
    """Reads a file and stores its report until the validation takes it. Does nothing if the report is stored already.
    Only one file is read at a time."""
    with _one_at_a_time:
        if not stages.is_prepared(unread.reading):
            stages.prepare_report(unread.reading, pause)


def read_in_background(unread: UnreadFile) -> None:
    """Reads a file in a thread of its own, unless such a thread is already at work for this file."""

    def work() -> None:
        try:
            read(unread)
        finally:
            _begun.discard(unread.reading)

    if unread.reading not in _begun:
        _begun.add(unread.reading)
        threading.Thread(target=work, name="bulk file", daemon=True).start()
