"""The time between the calls of a record, as steps of the clock.

A record without controls does not say when a customer signed, or when a payment moved on. While it still asks about an
initiation whose next status is one on the way, or for the token of a consent, no time passes: the steps that lead there
move the clock themselves. The time is made up for afterwards.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import quote

from sandbox.banking.durations import write_duration
from sandbox.contract.reasons import Reason
from sandbox.extensions.lift.har import Recorded

OPENING = datetime.fromisoformat("2027-03-01T09:00:00+01:00")  # of a record without times
SHORTEST = timedelta(seconds=10)  # less is added to the next gap
ENDS = ("ACSC", "ACWP")  # where time alone leads a signed initiation
TIMES_OUT = (Reason.TIME_OUT.code, Reason.CONTRACT_ENDED.code)


def opening_of(record: Sequence[Recorded]) -> datetime:
    """When the record begins, if each call has a time."""
    times = [call.began for call in record]
    return OPENING if None in times or not times else times[0] or OPENING


def gaps_of(record: Sequence[Recorded]) -> dict[int, str]:
    """The durations that pass before calls, by the number of the call."""
    if any(call.began is None for call in record):
        return {}
    last = _last_places(record)
    gaps: dict[int, str] = {}
    owed, until = timedelta(), 0
    for at, (before, call) in enumerate(zip(record, record[1:], strict=False), 1):
        assert before.began is not None and call.began is not None
        until = max([until, *(last.get(key, 0) for key in _keys_of(before))])
        owed += call.began - before.began
        if owed >= SHORTEST and at > until:
            gaps[call.number] = write_duration(timedelta(seconds=round(owed.total_seconds())))
            owed = timedelta()
    return gaps


def _keys_of(call: Recorded) -> Iterator[str]:
    """The ids and the challenge by which later calls name what this one began."""
    if call.status == 201 or call.path[0] == "consent-uris":
        reference = call.json.get("endtoend_identification") or call.headers.get("paymentinformationid")
        yield from (str(call.outcome[name]) for name in ("payment_id", "payment_file_id") if name in call.outcome)
        yield from (quote(reference, safe=""),) if isinstance(reference, str) else ()
        yield call.headers.get("code-challenge", "")


def _last_places(record: Sequence[Recorded]) -> dict[str, int]:
    """The place of the last call that each id or challenge waits for."""
    last: dict[str, int] = {}
    for at, call in enumerate(record):
        if len(call.path) > 3 and not _comes_by_time(call):
            last[call.path[2]] = at
        last |= dict.fromkeys(_challenges(call), at)
    return last


def _comes_by_time(call: Recorded) -> bool:
    status, reason = call.outcome.get("status"), call.outcome.get("reason")
    return call.path[3] != "status" or status in ENDS or (status == "CANC" and reason in TIMES_OUT)


def _challenges(call: Recorded) -> tuple[str, ...]:
    """Returns what the verifier of a call for tokens proves, by the methods plain and S256."""
    verifier = call.form.get("code_verifier") if call.path == ("token",) else None
    if not verifier:
        return ()
    return verifier, urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
