"""The referee's findings in the file of a world: what was found, at which call, and what proves it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sandbox.world.calls import Exchange
from sandbox.world.transfer.file_reader import exchange_of
from sandbox.world.transfer.form import ParcelError, exact

TEXT_MAX = 2_000
PROOFS_MAX = 20
FINDINGS_MAX = 20_000


class CarriedFinding(NamedTuple):
    """A finding without the rule's own row, which the program that reads it has."""

    rule: str
    what: str
    call: Exchange
    proof: tuple[Exchange, ...] = ()
    difference: tuple[str, ...] = ()


def finding_row(found: CarriedFinding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "what": found.what,
        "call": _call_row(found.call),
        "proof": [_call_row(call) for call in found.proof],
        "difference": list(found.difference),
    }


def _call_row(call: Exchange) -> dict[str, Any]:
    return call._asdict() | {"at": exact(call.at)}


def finding_of(row: Any, line: int) -> CarriedFinding:
    """A finding of a file, if it has the right form."""
    if not isinstance(row, dict) or set(row) != {"rule", "what", "call", "proof", "difference"}:
        raise ParcelError(f"line {line}: this is no finding")
    proof, difference = row["proof"], row["difference"]
    if not isinstance(proof, list) or not isinstance(difference, list) or len(proof) + len(difference) > PROOFS_MAX:
        raise ParcelError(f"line {line}: a finding's proof is no list that fits")
    _demand_texts([row["rule"], row["what"], *difference], line)
    if not all(isinstance(call, dict) for call in (row["call"], *proof)):
        raise ParcelError(f"line {line}: a finding's call is no object")
    calls = tuple(exchange_of(call, line) for call in proof)
    return CarriedFinding(row["rule"], row["what"], exchange_of(row["call"], line), calls, tuple(difference))


def _demand_texts(texts: Sequence[Any], line: int) -> None:
    for text in texts:
        if not isinstance(text, str) or len(text) > TEXT_MAX:
            raise ParcelError(f"line {line}: a finding's text does not fit")
