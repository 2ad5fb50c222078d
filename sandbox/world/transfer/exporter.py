"""From a world to its file: a head, every act, the calls that are still known, and what it came to."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sandbox.contract.errors import Error, Refusal
from sandbox.world.log import apart, checkpoint
from sandbox.world.log.codec import encode
from sandbox.world.log.format import program
from sandbox.world.log.memory_log import Act
from sandbox.world.log.state_hash import write_hashes
from sandbox.world.long_work import with_pauses
from sandbox.world.replay import release_bank
from sandbox.world.transfer.file_reader import FINDINGS_MAX
from sandbox.world.transfer.form import (
    FORMAT,
    SHIPPED,
    VERSION,
    CarriedFinding,
    call_row,
    exact,
    finding_row,
    is_shipped,
    line_of,
    past_print,
    people_print,
)
from sandbox.world.transfer.stripping import STRIPPED, stripped
from sandbox.world.world import Life, World

ACTS_AT_ONCE, CALLS_AT_ONCE = 50, 200  # lines between two pauses: one or two milliseconds


def exported(world: World, strip: bool = False, findings: Sequence[CarriedFinding] = ()) -> Generator[bytes]:
    """The file line by line. Secrets of a stripped one are replaced, the same by the same, so that it still replays."""
    life, hashes = (world.life(), None) if strip else world.life_and(write_hashes)
    if life.acts.folded is not None:
        why = "its first acts are folded together (the setting acts_kept); a bank with a state file keeps all"
        raise Refusal(Error.CONTROL_INVALID, input="world", why=why)
    if hashes is None:
        life = stripped(life)
        hashes = apart.ask(life.bank, write_hashes)
    return lines_of(world.name, life._replace(findings=tuple(findings)), hashes, strip)


def lines_of(name: str, life: Life, hashes: Iterable[bytes], strip: bool) -> Generator[bytes]:
    try:
        yield line_of(head_of(name, life, strip))
        for number, act in enumerate(with_pauses(life.acts, ACTS_AT_ONCE), 1):
            yield line_of(act_line(number, act))
        for exchange in with_pauses(life.exchanges, CALLS_AT_ONCE):
            yield line_of({"call": call_row(exchange)})
        for found in life.findings[:FINDINGS_MAX]:
            yield line_of({"finding": finding_row(found)})
        state, outcome = b"".join(hashes).decode().split()
        yield line_of({"end": len(life.acts), "state": state, "outcome": outcome})
    finally:
        release_bank(life.bank, life.acts)  # large registers in slices


def head_of(name: str, life: Life, strip: bool) -> dict[str, Any]:
    beginning = life.beginning
    assert beginning.at is not None
    fixtures, (ordered, met) = beginning.fixtures, life.faults
    people: dict[str, Any] = {"print": people_print(fixtures)}
    people |= (
        {"fixtures": SHIPPED}
        if is_shipped(fixtures)
        else {"whole": encode(replace(fixtures, digest=people["print"]), by_name=True)}
    )
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": program(),
        "shape": checkpoint.shape(),
        "world": name,
        "scenario": beginning.scenario,
        "seed": beginning.seed,
        "secret": beginning.secret,
        "opening": exact(beginning.at),
        "now": exact(life.pace.base),
        "rate": float(life.pace.rate),
        "first_rate": float(beginning.rate),
        "acts": len(life.acts),
        "calls": life.calls,
        "stripped": list(STRIPPED) if strip else [],
        "people": people,
        "past": past_print(life.bank),
        "settings": encode(beginning.settings),
        "rules": encode(beginning.rules, by_name=True),
        "faults": encode(beginning.faults, by_name=True),
        "ordered": {
            "faults": encode(ordered, by_name=True),
            "met": [[number, count] for number, count in sorted(met.items())],
        },
    }


def act_line(number: int, act: Act) -> dict[str, Any]:
    given = encode(act.arguments, by_name=True)
    return {"act": number, "at": exact(act.at), "verb": act.verb, "given": given, "made": act.made}
