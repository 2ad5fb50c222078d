"""Reads the lines of an exported world. Anyone may have written the file. So every value has bounds, and the reader
makes only plain values and records of the sandbox."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, BinaryIO

import orjson

from sandbox.bank.rules import ScenarioRule
from sandbox.banking.durations import RATE_MAX, bound_instant, write_duration
from sandbox.contract.decisions import Decisions, list_settings
from sandbox.people.fixtures import HABITS_MAX, Fixtures, find_habit_fault, load_fixtures
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.reading import read_settings
from sandbox.storage.codec import decode
from sandbox.storage.transfer import form
from sandbox.storage.transfer.bounds import demand_faults, demand_rules
from sandbox.storage.transfer.form import CarriedFinding, ParcelError, demand_fit
from sandbox.worlds.beginning import Beginning
from sandbox.worlds.calls import Exchange
from sandbox.worlds.faults import Fault, OrderedFaults

BYTES_MAX = 512_000_000  # unpacked
LINE_MAX = 100_000_000  # a bulk file of 64 MB as text
VALUES_MAX = 1_000_000  # in a line, because a value takes much more memory than its bytes in the file
GZIP = b"\x1f\x8b"
MONTHS_MAX = 600  # of a generated past
MONTHS_MAX_OF_ALL = 2_000  # of all accounts; generating a month takes 1 or 2 ms
NUMBER_MAX = 2**63
TEXT_MAX = 2_000  # of a finding
PROOFS_MAX = 20
FINDINGS_MAX = 20_000
SECRET = re.compile(r"|[0-9a-f]{32}")


@dataclass
class ExportHead:
    """The content of the first line of an export."""

    fields: dict[str, Any]
    world: str
    beginning: Beginning
    now: datetime
    rate: float
    ordered: OrderedFaults


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields every line of a plain or gzip file as a JSON object, with its number. If a line has a digest, checks it
    against the lines before. Raises ParcelError if this check fails, if the file is too long, or if it cannot be
    read."""
    begins = stream.read(2)
    stream.seek(0)
    source = gzip.GzipFile(fileobj=stream) if begins == GZIP else stream
    number = size = 0
    digest = sha256()
    try:
        while line := source.readline(LINE_MAX + 1):
            number, size = number + 1, size + len(line)
            if len(line) > LINE_MAX or size > BYTES_MAX:
                raise ParcelError(f"line {number}: the file is too long")
            if line.count(b",") + line.count(b"[") + line.count(b"{") > VALUES_MAX:
                raise ParcelError(f"line {number}: it holds too much")
            content = orjson.loads(line)
            if not isinstance(content, dict):
                raise ParcelError(f"line {number}: it is no object")
            if content.get("digest", digest.hexdigest()) != digest.hexdigest():
                raise ParcelError(f"line {number}: the lines before it are not those that were written")
            digest.update(line)
            yield number, content
    except orjson.JSONDecodeError as fault:
        reason = "it is no JSON" if number > 1 else "this is no file of a world"
        raise ParcelError(f"line {number}: {reason}: {fault}") from None
    except (OSError, EOFError, zlib.error) as fault:
        raise ParcelError(f"after line {number}: it cannot be unpacked: {fault}") from None


def read_head(row: dict[str, Any]) -> ExportHead:
    """Reads the first line of an export. It has the version of the format, the beginning of the world, and the clock
    and fault rules at the time of the export. Raises ParcelError if this program cannot read the version, or if a value
    is missing, of a wrong type or out of its bounds."""
    if row.get("format") != form.FORMAT:
        raise ParcelError("this is no file of a world")
    if row.get("version") not in form.VERSIONS_READ:
        version = f"it has version {row.get('version')!r:.40} of the format"
        raise ParcelError(f"{version}; this program reads version {form.VERSION} alone")
    try:
        beginning = Beginning(
            read_people(row["people"]),
            read_number(row["seed"]),
            read_instant_of_file(row["opening"]),
            rate(row["first_rate"]),
            read_text(row["scenario"]),
            demand_settings(decode_as(row["settings"], Decisions, "settings")),
            decode_as(row["rules"], tuple[ScenarioRule, ...], "rules"),
            decode_as(row["faults"], tuple[Fault, ...], "faults"),
            read_secret(row["secret"]),
        )
        ordered: OrderedFaults = decode_as(row["ordered"], OrderedFaults, "ordered")
        demand_rules(beginning.rules)
        demand_faults((*beginning.faults, *ordered.rules))
        for count in (*ordered.met.items(), *ordered.answered.items()):
            read_number(count[0]), read_number(count[1])
        read_number(row["acts"]), read_number(row["calls"])
        read_text(row["past"]), read_text(row["program"]), read_text(row["program_digest"])
        if not isinstance(row["stripped"], list):
            raise ParcelError("line 1: stripped does not take this")
        return ExportHead(
            row, read_text(row["world"]), beginning, read_instant_of_file(row["now"]), rate(row["rate"]), ordered
        )
    except (KeyError, TypeError, AttributeError) as fault:
        raise ParcelError(f"line 1: something is missing or of another kind: {fault}") from None
    except ParcelError:
        raise
    except ValueError as fault:
        raise ParcelError(f"line 1: {fault}") from None


def read_people(row: dict[str, Any]) -> Fixtures:
    """Returns the people of an exported world. `row` has them, or only the digest of the fixtures that a version of the
    sandbox ships. With only a digest, returns the fixtures of this version that have the digest. Raises ParcelError if
    this version has no such fixtures. Also raises it if the people in `row` have an invalid habit, too many habits, or
    a generated past of a length that is not allowed."""
    if "whole" not in row:
        name = form.SHIPPED_FIXTURES.get(row["digest"])
        if row["fixtures"] != form.SHIPPED or name is None:
            raise ParcelError(
                f"its people are the fixtures {row['fixtures']!r:.40} of the program that wrote it, and this program "
                "ships others: import it with that version"
            )
        return load_fixtures(name)
    people: Fixtures = decode_as(row["whole"], Fixtures, "people")
    for iban, profile in people.profiles.items():
        if not 1 <= profile.months <= MONTHS_MAX:
            raise ParcelError(f"people: the past of {iban:.40} has {profile.months} months")
        for habit in profile.habits:
            if (fault := find_habit_fault(habit)) is not None or len(profile.habits) > HABITS_MAX:
                field, reason = fault or ("habits", f"over {HABITS_MAX}")
                raise ParcelError(f"people: a habit of {iban:.40}: {field}: {reason}")
    if sum(profile.months for profile in people.profiles.values()) > MONTHS_MAX_OF_ALL:
        raise ParcelError(f"people: their past has over {MONTHS_MAX_OF_ALL} months together")
    # Equal digests must mean equal people, and the digest in the file may be wrong.
    return replace(people, digest=form.compute_people_digest(people))


def demand_settings(settings: Decisions) -> Decisions:
    """Returns the settings. Raises ParcelError if a scenario could not have them (choice 13)."""
    rows = list_settings(settings)
    spans = {name: write_duration(value) for name, value in rows.items() if hasattr(value, "total_seconds")}
    lists = {name: list(value) for name, value in rows.items() if isinstance(value, tuple)}
    try:
        read_settings(rows | spans | lists | {"variants": dict(settings.variants)}, Decisions())
    except ScenarioErrors as errors:
        raise ParcelError(f"settings: {errors.errors[0]}") from None
    return settings


def decode_as(row: Any, hint: Any, place: str) -> Any:
    """Returns the decoded value. Raises ParcelError if it is not of the type `hint`."""
    value = run_decoder(place, decode, row)
    demand_fit(value, hint, place)
    return value


def run_decoder(place: str, decode: Callable[..., Any], *content: Any) -> Any:
    try:
        return decode(*content)
    except RecursionError:
        raise ParcelError(f"{place} is nested too deep") from None
    except ValueError as fault:
        raise ParcelError(f"{place}: {fault}") from None


def read_exchange(row: dict[str, Any], line: int) -> Exchange:
    try:
        exchange = Exchange(**row)
        exchange = exchange._replace(at=read_instant_of_file(exchange.at))
    except (TypeError, ValueError) as fault:
        raise ParcelError(f"line {line}: this is no call: {fault}") from None
    demand_fit(exchange, Exchange, f"line {line}: a call")
    return exchange


def read_finding(row: Any, line: int) -> CarriedFinding:
    """Returns a finding of a file. Raises ParcelError if it has a wrong form."""
    if not isinstance(row, dict) or not {"rule", "what", "call"} <= row.keys() <= {*CarriedFinding._fields}:
        raise ParcelError(f"line {line}: this is no finding")
    proof, difference = row.get("proof", []), row.get("difference", [])
    if not isinstance(proof, list) or not isinstance(difference, list) or len(proof) + len(difference) > PROOFS_MAX:
        raise ParcelError(f"line {line}: a finding's proof is no list that fits")
    for words in (row["rule"], row["what"], *difference):
        if not isinstance(words, str) or len(words) > TEXT_MAX:
            raise ParcelError(f"line {line}: a finding's text does not fit")
    if not all(isinstance(call, dict) for call in (row["call"], *proof)):
        raise ParcelError(f"line {line}: a finding's call is no object")
    calls = tuple(read_exchange(call, line) for call in proof)
    return CarriedFinding(row["rule"], row["what"], read_exchange(row["call"], line), calls, tuple(difference))


def read_instant_of_file(value: Any) -> datetime:
    """Reads a time with an offset. Returns it in UTC."""
    at = datetime.fromisoformat(read_text(value))
    if at.tzinfo is None:
        raise ValueError(f"{value} has no offset")
    try:
        return bound_instant(at)
    except ValueError as fault:
        raise ValueError(f"{value}: {fault}") from None


def read_number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < NUMBER_MAX:
        raise ValueError(f"{value!r:.40} is no number that fits")
    return value


def read_secret(value: Any) -> str:
    if SECRET.fullmatch(read_text(value)) is None:
        raise ValueError("the secret is not 32 hexadecimal digits")
    return read_text(value)


def rate(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= RATE_MAX:
        raise ValueError(f"{value!r:.40} is no rate: it is a number from 0 to {RATE_MAX}")
    return float(value)


def read_text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 1_000:
        raise ValueError(f"{value!r:.40} is no text that fits")
    return value
