"""Imports a world: replays the acts of a file, and checks that the outcome is the one that the file states."""

import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, TypeVar

from sandbox.bank import bulks
from sandbox.bank.state import Bank
from sandbox.bank.verbs import VERBS, list_parameters
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.contract.decisions import Decisions, with_changes
from sandbox.contract.errors import Refusal
from sandbox.storage import checkpoint
from sandbox.storage.codec import decode_arguments
from sandbox.storage.format import find_program_version
from sandbox.storage.long_work import AbandonedError, stop_when_abandoned
from sandbox.storage.memory_log import Act, MemoryLog, ReplayMismatch, play
from sandbox.storage.state_hash import hash_outcome, hash_state
from sandbox.storage.transfer import file_reader, form
from sandbox.storage.transfer.bounds import AMENDED, demand_field
from sandbox.storage.transfer.file_reader import ExportHead
from sandbox.storage.transfer.form import CarriedFinding, ParcelError
from sandbox.worlds.beginning import make_bank
from sandbox.worlds.calls import Exchange
from sandbox.worlds.clock import Pace
from sandbox.worlds.snapshot import WorldSnapshot, advance_while_waited_for

T = TypeVar("T")
LINES_AT_ONCE = ACTS_AT_ONCE = 20  # between two pauses: one or two milliseconds
SETTINGS = "settings.change"
ACT_ID_MAX = 64


class Rows(NamedTuple):
    """The content of an exported world after its first line. The values are checked, but the acts are not replayed
    yet."""

    acts: MemoryLog
    lines: list[int]  # the line number of each act
    calls: list[Exchange]
    findings: tuple[CarriedFinding, ...]
    end: dict[str, Any]


def read_export(stream: BinaryIO, machine_time: Callable[[], float]) -> tuple[str, WorldSnapshot]:
    """Returns the name of the exported world, and its snapshot after a replay. Raises ParcelError if the file cannot be
    used.

    All lines are read and their digest is checked before anything is replayed. Raises AbandonedError once the caller is
    gone.
    """
    lines = file_reader.read_lines(stream)
    _, first = next(lines, (0, None))
    if first is None:
        raise ParcelError("it is empty")
    head = file_reader.read_head(first)
    assert head.beginning.at is not None
    rows = read_rows(lines, head)
    bank = attempt("line 1", make_bank, head.beginning, head.beginning.at)
    if attempt("the past of its people", form.compute_past_digest, bank) != head.fields["past"]:
        raise ParcelError(
            f"the people of {name_writer(head)} have another past than those of this one ({find_program_version()})"
        )
    for number, (line, act) in enumerate(stop_when_abandoned(zip(rows.lines, rows.acts, strict=True), ACTS_AT_ONCE)):
        attempt(f"line {line}", play, bank, [act], number, advance_while_waited_for)
    demand_outcome(rows.end, head, bank)
    pace, made = Pace(head.now, machine_time(), head.rate), head.fields["calls"]
    return head.world, WorldSnapshot(
        head.beginning, pace, bank, rows.acts, head.ordered, rows.calls, made, rows.findings
    )


def read_rows(lines: Iterator[tuple[int, dict[str, Any]]], head: ExportHead) -> Rows:
    acts = MemoryLog()
    places: list[int] = []
    calls: deque[Exchange] = deque(maxlen=head.beginning.settings.requests_kept)
    findings: list[CarriedFinding] = []
    secret_of = form.make_secret_finder(head.beginning)
    for line, content in stop_when_abandoned(lines, LINES_AT_ONCE):
        if "act" in content:
            act = attempt(f"line {line}", read_act, content, len(acts) + 1)
            acts.append(form.restore_secrets(act, secret_of) if head.fields["stripped"] else act)
            places.append(line)
        elif "call" in content:
            calls.append(file_reader.read_exchange(content["call"], line))
        elif "finding" in content and len(findings) < file_reader.FINDINGS_MAX:
            findings.append(file_reader.read_finding(content["finding"], line))
        elif "end" in content:
            demand_end(content, head, len(acts))
            if next(lines, None) is not None:
                raise ParcelError(f"line {line + 1}: something follows the end")
            return Rows(acts, places, list(calls), tuple(findings), content)
        else:
            raise ParcelError(f"line {line}: it is no act, no call, no finding and not the end")
    raise ParcelError(f"it was cut: {len(acts)} of {head.fields['acts']} acts are there, and no end")


def read_act(content: dict[str, Any], number: int) -> Act:
    """Returns an act of the file. Raises ParcelError if the act does not have the expected number `number`, if its verb
    is unknown, or if a value has a wrong type or is out of its bounds."""
    verb = content["verb"]
    if content["act"] != number or number > 10_000_000:
        raise ParcelError(f"act {number} is expected here")
    if not isinstance(verb, str) or verb not in VERBS:
        raise ParcelError(f"the act {verb!r:.60} is not known here")
    arguments = file_reader.run_decoder("arguments", decode_arguments, verb, content["arguments"])
    act_id = content.get("id", "")
    if not isinstance(act_id, str) or len(act_id) > ACT_ID_MAX:
        raise ParcelError("the id of an act is no short text")
    act = Act(
        file_reader.read_instant_of_file(content["at"]),
        verb,
        arguments,
        file_reader.read_number(content["made"]),
        act_id,
    )
    for parameter, value in zip(
        list_parameters(verb), form.restore_secrets(act, lambda drawn: "").arguments, strict=True
    ):
        form.demand_fit(value, parameter.annotation, f"{verb}: {parameter.name}")
    if verb in AMENDED:
        demand_changes(AMENDED[verb], arguments[1], verb)
    if VERBS[verb] is bulks.initiate:
        unpacked = zlib.decompressobj().decompress(arguments[1], FILE_BYTES_MAX + 1)
        if len(unpacked) > FILE_BYTES_MAX:
            raise ParcelError(f"{verb}: the file is too long")
    if verb == SETTINGS:
        file_reader.demand_settings(with_changes(Decisions(), dict(arguments[0])))
    return act


def demand_changes(kind: Any, changes: tuple[tuple[str, Any], ...], verb: str) -> None:
    """Raises ParcelError or ValueError unless each change names a field of the record and has a value of the field's
    type and within its bounds."""
    hints = form.list_hints(kind)
    for name, value in changes:
        if name not in hints:
            raise ParcelError(f"{verb}: {kind.__name__} has no field {name:.60}")
        form.demand_fit(value, hints[name], f"{verb}: {name}")
        demand_field(kind, name, value)


def demand_end(content: dict[str, Any], head: ExportHead, acts: int) -> None:
    if content["end"] != acts or acts != head.fields["acts"]:
        raise ParcelError(f"{head.fields['acts']} acts are expected, and {acts} are there")
    if "digest" not in content:
        raise ParcelError("its last line has no digest")


def demand_outcome(content: dict[str, Any], head: ExportHead, bank: Bank) -> None:
    attempt("the time at the end", advance_while_waited_for, bank, head.now)
    # Another version of the program may have more state for the same bank.
    same_program = head.fields["program_digest"] == checkpoint.compute_program_digest()
    state, outcome = (attempt("the hashes at the end", hash_of, bank) for hash_of in (hash_state, hash_outcome))
    if outcome != content.get("outcome") or (same_program and state != content.get("state")):
        raise ParcelError(
            f"played again it comes to another state than it says: {name_writer(head)} wrote it, "
            f"this one is {find_program_version()}"
        )


def name_writer(head: ExportHead) -> str:
    return f"the program that wrote it ({head.fields['program']!r:.40})"


def attempt(place: str, do: Callable[..., T], *arguments: Any) -> T:
    """Calls the function and returns its result. Raises ParcelError with `place` for any failure, because the content
    of the file caused it. Only AbandonedError is raised as it is."""
    try:
        return do(*arguments)
    except AbandonedError:
        raise
    except (ParcelError, ReplayMismatch) as fault:
        raise ParcelError(f"{place}: {fault}") from None
    except (Exception, Refusal) as fault:
        raise ParcelError(f"{place}: it cannot be done: {type(fault).__name__}: {str(fault)[:200]}") from None
