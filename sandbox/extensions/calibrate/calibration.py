"""Learns from a recording what it proves about a bank, and where it contradicts an earlier calibration.

An axis is a point on which banks may differ, with a few possible values. A hypothesis is a bank with one value for each
axis. It explains a recorded call if it gives the recorded reply. The best hypothesis is the one that explains the
recording best.

A value is excluded if the recording contradicts it. An axis is decided if only one of its values is left, and otherwise
it is open. A difference from the recorded replies that no value explains is called outside.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.bank.ledger import Compartment
from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.contract.operations import BY_NAME
from sandbox.extensions.calibrate.comparison import generalize_place
from sandbox.extensions.calibrate.played_bank import Moment, PlayedBank
from sandbox.extensions.calibrate.playing import BY_ITSELF, ClientSession, Player, RecordedStep, Scene, list_steps
from sandbox.extensions.calibrate.proposals import Proposal, propose
from sandbox.extensions.calibrate.reconstruction import Shown, list_embedded, make_bank, simplify_names
from sandbox.extensions.calibrate.search import NOT_TRIED, Choice, Trial, ValueSearch
from sandbox.extensions.calibrate.variables import ADDRESSES, simplify_name
from sandbox.recordings.recorded_calls import RecordedCall

OPENING = datetime.fromisoformat("2027-03-01T09:00:00+01:00")  # the beginning of a recording without times
CALLS_SHOWN = 5  # calls that are listed as the proof of a value
PLAYED_MAX = 3_000  # calls that are played
ALIKE_MAX = 40  # reads with the same query whose replies have the same form
CLAUSES = (
    (re.compile(r"body\.error"), "service 2.9"),
    (re.compile(r"Content-Type|case of header"), "service 4.0"),
    (re.compile(r"callback"), "service 6.1"),
)
VENDOR = re.compile(r"application/vnd\.([a-z0-9.-]+)\.api\+json")
WORD = re.compile(r"[^\s\"'<>,;/?&]+")
HOUR = 3600
LINKED = frozenset(["paymentid", "paymentfileid", "accesstoken", "refreshtoken"]) | ADDRESSES - {"redirect"}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Decided(NamedTuple):
    value: str
    calls: tuple[str, ...]  # the calls that contradict the other values
    places: tuple[str, ...]


class Outside(NamedTuple):
    """A difference that no value of an axis explains: it remains between the recorded replies and the replies of the
    variant (the bank in this process, with one value for each axis) that comes closest to the recording. `call` is the
    first call that shows the difference, and `times` is the number of calls that do."""

    call: str
    operation: str
    what: str
    clause: str
    times: int = 1

    @property
    def key(self) -> str:
        """The operation and the place of the difference, without the values that differ. A later calibration recognizes
        the difference by it."""
        return f"{self.operation}: {self.what.partition(':')[0]}"


@dataclass
class Calibration:
    decided: dict[str, Decided] = field(default_factory=dict)
    excluded: dict[str, tuple[str, ...]] = field(default_factory=dict)
    open: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unmet: frozenset[str] = frozenset()  # the axes that no call read
    # by open axis: a second value with which another value of the axis explains the calls too
    partners: dict[str, Choice] = field(default_factory=dict)
    outside: list[Outside] = field(default_factory=list)
    next: list[Proposal] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    calls: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "decided": {axis: {"value": row.value, "calls": list(row.calls)} for axis, row in self.decided.items()},
            "excluded": {axis: list(values) for axis, values in self.excluded.items()},
            "open": {axis: list(values) for axis, values in self.open.items()},
            "outside": [
                {"call": row.call, "operation": row.operation, "what": row.what, "clause": row.clause}
                for row in self.outside
            ],
            "next": [{"decides": list(row.decides), "curl": row.curl} for row in self.next],
        }


def calibrate_calls(
    recorded: Sequence[RecordedCall], variants: Mapping[str, str] = {}, *, payments: bool = False
) -> Calibration:
    """Plays the recorded calls on a bank in this process. Returns what they prove about the axes, and which calls to
    make next at the real bank. The search begins with the values in `variants`. Payments are proposed as next calls
    only if `payments` is true. If no call can be played, returns a calibration in which all axes are open."""
    playable = drop_unknown_initiations([call for call in recorded if is_playable(call)])
    if not playable:
        return Calibration(
            open={axis: row.names for axis, row in AXES.items()},
            unmet=frozenset(AXES),
            notes=["no call of the recording has the contents and the secrets with which it can be played"],
        )
    calls, notes = bound_calls(correct_times(playable))
    if len(playable) < len(recorded):
        notes.append(
            f"{len(recorded) - len(playable):,} calls were not played: they have no contents, their secrets are "
            "hidden, or they are about payments from before the recording"
        )
    timed = all(call.began is not None for call in calls)
    opening = calls[0].began or OPENING if timed else OPENING
    steps = list_steps(calls, opening)
    settings, start = read_shown_values(calls)
    shown, bank = Shown(calls, opening), PlayedBank(settings)
    player = Player(bank, shown, has_controls=any(step.is_control for step in steps))
    key = json.dumps(player.signer.public)

    def begin(seed: int, corrections: Mapping[Compartment, Decimal]) -> Scene:
        made = make_bank(calls, shown, opening - timedelta(microseconds=1), seed, (key,), corrections)
        return Scene(Moment(made, ({}, None, {}), frozenset()), ClientSession())

    search = ValueSearch(steps, player, begin, start | dict(variants))
    search.find()
    calibration = make_calibration(search)
    calibration.settings, calibration.calls = settings, len(steps)
    calibration.notes = notes if timed else [*notes, "the recording has no times, so a second is between two calls"]
    open_axes = {axis: values for axis, values in calibration.open.items() if axis not in NOT_TRIED}
    choices = [
        (axis, value) for axis, values in open_axes.items() for value in values if value != search.find_value(axis)
    ]
    calibration.next = propose(search, choices, payments=payments)
    return calibration


def is_playable(call: RecordedCall) -> bool:
    """Whether the call can be played: its contents are recorded, and the secret in its Authorization header, if there
    is one, is not masked."""
    _, _, secret = call.headers.get("authorization", "x x").partition(" ")
    return call.has_contents and any(sign.isalnum() for sign in secret)


def drop_unknown_initiations(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Returns the calls without those about an initiation from before the recording. Such an initiation is recognized
    by an id that no recorded POST before the call has shown. Refused calls are kept."""
    known, words = [], set[str]()
    for call in calls:
        is_payment = call.path[0].endswith("payments")
        if not is_payment or len(call.path) < 3 or call.status >= 400 or call.path[2] in words:
            known.append(call)
        if is_payment and call.method == "POST":
            words.update(WORD.findall(call.body), WORD.findall(call.reply_body))
    return known


def correct_times(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Returns the calls with corrected times. If a reply has a transaction that was booked some days after the call was
    recorded, the bank's clock was ahead by that many days. Then all calls are moved later by the largest such
    number."""
    days = [
        (date.fromisoformat(str(row.get("executiondate"))[:10]) - find_brussels_date(call.began)).days
        for call in calls
        if call.began is not None and call.status == 200
        for row in list_embedded(call, "transactions")
        if DAY.match(str(row.get("executiondate"))) and not row.get("status")
    ]
    ahead = timedelta(days=max(days, default=0))
    if ahead <= timedelta():
        return list(calls)
    return [call if call.began is None else replace(call, began=call.began + ahead) for call in calls]


def bound_calls(calls: Sequence[RecordedCall]) -> tuple[list[RecordedCall], list[str]]:
    """Returns at most PLAYED_MAX calls to play, and notes about the calls that are left out. If there are more calls,
    keeps only the first ALIKE_MAX of similar reads, and reads with an id or an address that no earlier call gave,
    because later calls need them. If that is not enough, leaves out the last calls."""
    seen = Counter[tuple[Any, ...]]()
    to_play, texts_seen, pages = [], set[str | None](), {"None"}
    for call in calls:
        shape = call.method, len(call.path), call.path[0], call.status, frozenset(call.query), find_shape(call.reply)
        seen[shape] += 1
        # Later calls need a read that gives an address, or the ids of the accounts of a token.
        # A page can be played only after the page that gave its key.
        texts = {*list_texts(call.reply, ""), *([call.access_token] if call.path == ("accounts",) else [])}
        is_needed = call.method != "GET" or not texts <= texts_seen or seen[shape] <= ALIKE_MAX
        if len(calls) <= PLAYED_MAX or (is_needed and str(call.query.get("next")) in pages):
            to_play.append(call)
            texts_seen |= texts
            pages.add(str(simplify_names(simplify_names(call.reply_json).get("embedded")).get("nextpagekey")))
    left_out, rest = len(calls) - len(to_play), to_play[PLAYED_MAX:]
    notes = []
    if left_out:
        notes.append(f"{left_out:,} reads that are like earlier ones were not played")
    if rest:
        notes.append(f"the last {len(rest):,} calls were not played: {PLAYED_MAX:,} are the most")
    return to_play[:PLAYED_MAX], notes


def list_texts(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from list_texts(inner, simplify_name(key))
    elif isinstance(value, list):
        for inner in value[:5]:
            yield from list_texts(inner, name)
    elif isinstance(value, str) and name in LINKED and "/accounts" not in value:
        yield value.partition("?")[0] if name in ADDRESSES else value


def find_shape(reply: Any) -> Any:
    if isinstance(reply, dict):
        return frozenset((name, find_shape(value)) for name, value in reply.items())
    return type(reply).__name__


def read_shown_values(calls: Sequence[RecordedCall]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns settings and values of axes that can be read from the calls without a search: the vendor in Accept, and
    the life of an access token if all replies give the same life. A vendor that is no value of its axis is returned as
    a setting."""
    vendors = [VENDOR.search(call.headers.get("accept", "")) for call in calls if call.status < 400]
    vendor = next((match[1] for match in vendors if match), DEFAULTS["vendor"])
    lives = [call.reply_json.get("expires_in") for call in calls if call.path == ("token",) and call.status == 200]
    settings: dict[str, Any] = {} if vendor in AXES["vendor"].names else {"vendor": vendor}
    life = lives[0] if lives and lives.count(lives[0]) == len(lives) else HOUR
    if type(life) is int and 0 < life != HOUR:
        settings["access_token_life"] = timedelta(seconds=life)
    return settings, {} if "vendor" in settings else {"vendor": vendor}


def make_calibration(search: ValueSearch) -> Calibration:
    calibration = Calibration()
    met = frozenset[str]().union(*(result.met for result in search.results))
    calibration.unmet = frozenset(AXES) - met
    for axis, row in AXES.items():
        trials = {value: search.trials.get((axis, value), Trial()) for value in row.names}
        excluded = tuple(value for value in row.names if value != search.find_value(axis) and trials[value].is_excluded)
        left = tuple(value for value in row.names if value not in excluded)
        if excluded:
            calibration.excluded[axis] = excluded
        if len(left) == 1:
            steps = dict.fromkeys(proof.step for value in excluded for proof in trials[value].proofs)
            calls = tuple(str(search.steps[step].call) for step in list(steps)[:CALLS_SHOWN])
            places = {
                generalize_place(place): None for value in excluded for place in sorted(trials[value].proofs[0].places)
            }
            calibration.decided[axis] = Decided(left[0], calls, tuple(places))
        else:
            calibration.open[axis] = left
            partner = next((trial.partner for trial in trials.values() if trial.partner), None)
            if partner is not None:
                calibration.partners[axis] = partner
    calibration.outside = list_outside(search)
    return calibration


def list_outside(search: ValueSearch) -> list[Outside]:
    """Returns the differences that remain with the axis values that explain the recording best, one row for each
    operation and place. Leaves out acts of the bank that the player had to do itself (BY_ITSELF)."""
    rows: dict[tuple[str, str], Outside] = {}
    for step, result in zip(search.steps, search.results, strict=True):
        for place, text in result.differences.items():
            shown_place = generalize_place(place)
            if shown_place.startswith(BY_ITSELF):
                continue
            key = step.operation, shown_place
            if key in rows:
                rows[key] = rows[key]._replace(times=rows[key].times + 1)
            else:
                rows[key] = Outside(
                    str(step.call), step.operation, f"{shown_place}: {text}", find_clause(step, shown_place)
                )
    return list(rows.values())


def find_clause(step: RecordedStep, place: str) -> str:
    for pattern, clause in CLAUSES:
        if pattern.match(place):
            return clause
    row = BY_NAME.get(step.operation)
    return row.clause if row else "service 6.1"


class Drift(NamedTuple):
    """What a recording contradicts in an earlier calibration. `axes` has the axes whose earlier value is excluded now.
    `replies` has the differences that no value explains and that the earlier calibration did not list."""

    axes: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]  # the value, those that are left, and the calls
    replies: list[Outside]

    @property
    def is_there(self) -> bool:
        return bool(self.axes or self.replies)


def find_drift(calibration: Calibration, variants: Mapping[str, str], known_outside: Sequence[str]) -> Drift:
    axes = {}
    for axis, value in variants.items():
        if value in calibration.excluded.get(axis, ()):
            left = (calibration.decided[axis].value,) if axis in calibration.decided else calibration.open[axis]
            calls = calibration.decided[axis].calls if axis in calibration.decided else ()
            axes[axis] = value, left, calls
    return Drift(axes, [row for row in calibration.outside if row.key not in known_outside])


def merge_recordings(recordings: Sequence[Sequence[RecordedCall]]) -> list[RecordedCall]:
    """Joins the calls of several recordings into one list and numbers them anew. Sorts them by time if all calls have
    times. Returns the calls of a single recording as they are."""
    calls = [call for recording in recordings for call in recording]
    if len(recordings) > 1 and all(call.began is not None for call in calls):
        calls.sort(key=lambda call: call.began or OPENING)
    if len(recordings) > 1:
        calls = [replace(call, number=number) for number, call in enumerate(calls, 1)]
    return calls
