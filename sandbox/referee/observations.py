"""Observation: the data of one call, or of one act of a PSU, that rules need; no secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any, NamedTuple

from sandbox.bank.grants import Grant
from sandbox.bank.state import Bank
from sandbox.referee.kinds import Key, Kind, Mark
from sandbox.world.calls import Exchange


class Nothing(dict[str, Any]):
    """A shared empty mapping that is never written to."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = Nothing()


class Likeness(NamedTuple):
    """What two initiations of one payment have in common, and the reference that should."""

    order: tuple[str, ...]  # product, beneficiary, amount, currency, and the account that pays where it is named
    reference: str


def lazy_field(default: Any) -> Any:
    """A rare field that is left out of the constructor, which keeps the other calls cheap."""
    return field(default=default, init=False)


@dataclass
class Observation:
    """One exchange of a client, or one act of its PSU. Fields of bytes are fingerprints."""

    exchange: Exchange  # of an act: the call that gave the address
    bank: Bank
    operation: str | None
    client: str
    subject: str | None = None
    status: int = 200
    began: float = 0.0  # by the machine's stopwatch, as calls may overlap and a bank's clock may stand
    ended: float = 0.0
    error: str | None = lazy_field(None)
    facts: Mapping[str, Any] = lazy_field(NOTHING)  # of the refusal
    state: str | None = lazy_field(None)  # of the subject
    product: str | None = lazy_field(None)
    version: int = lazy_field(0)
    marks: frozenset[Mark] = lazy_field(frozenset())
    key: Key = field(init=False)  # what the kind of call is known by
    kind: Kind = field(init=False)  # as it was sorted
    before: "Observation | None" = lazy_field(None)  # the call before it of the same client
    query: Mapping[str, str] = lazy_field(NOTHING)
    bearer: bytes | None = lazy_field(None)  # the access token
    retry_after: int | None = lazy_field(None)
    body: bytes | None = lazy_field(None)
    likeness: Likeness | None = lazy_field(None)
    lost: bool = lazy_field(False)  # the client got no reply, or one from which it cannot know what was done
    unread: bool = lazy_field(False)  # a fault rule cut the reply or spoilt it: coverage does not count the call
    challenge: tuple[str, bytes] | None = lazy_field(None)
    signed: str | None = lazy_field(None)  # the algorithm of the Signature
    # /token
    code: bytes | None = lazy_field(None)
    proves: tuple[bytes, ...] = lazy_field(())  # the challenges that the verifier could belong to
    letters: int = lazy_field(0)  # different ones in the verifier
    placeholder: str | None = lazy_field(None)  # sent as the code
    refresh: bytes | None = lazy_field(None)
    given_refresh: bytes | None = lazy_field(None)
    # what was given
    addresses: tuple[bytes, ...] = lazy_field(())
    # transactions
    account: str | None = lazy_field(None)
    asked_next: bytes | None = lazy_field(None)
    given_next: bytes | None = lazy_field(None)
    # a PSU's act
    mark: bytes | None = lazy_field(None)  # the state on the address
    mark_length: int = lazy_field(0)
    refused: bool = lazy_field(False)
    grant: Grant | None = lazy_field(None)  # the consent that was given, or that of a reading token

    @property
    def at(self) -> datetime:
        """The bank's time."""
        return self.exchange.at

    @property
    def accepted(self) -> bool:
        return self.status < 300

    @property
    def why(self) -> str:
        """The reason that the refusal gives."""
        return str(self.facts.get("why", ""))

    @property
    def input(self) -> str:
        """The input that the refusal names."""
        return str(self.facts.get("input", ""))


NEVER = (datetime.min.replace(tzinfo=UTC), -inf, 0)  # when an earlier call came and was answered, of none yet


def apart(event: Observation, at: datetime, ended: float) -> float:
    """Seconds since an earlier call: the larger of bank time and machine time."""
    return max((event.at - at).total_seconds(), event.began - ended)
