"""Observation: the data of one call, or of one act of a PSU, that rules need, without secrets; and kinds of calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum, auto
from math import inf
from typing import Any, NamedTuple

from sandbox.bank.grants import Grant
from sandbox.bank.state import Bank
from sandbox.contract.operations import BY_NAME
from sandbox.worlds.calls import Exchange

# Acts of a PSU stand in the same stream, under these names.
PSU_OPENS = "psu_opens"
PSU_RETURNS = "psu_returns"
ACTS = (PSU_OPENS, PSU_RETURNS)


# Refusals after which the same initiation may be right: the customer pays in, raises a limit or unblocks the channel.
MENDED_BY_PSU = ("FUNDS_MISSING", "PROFILE_FORBIDS", "CHANNEL_CLOSED")


class CallMark(StrEnum):
    """What else sets a call apart: an initiation, a token call, or a read of more than 90 days back."""

    PLAIN = auto()
    BESIDE_TOKEN = auto()
    UNSIGNED = auto()
    UNDATED = auto()
    OTHER_ALGORITHM = auto()
    SECRET_IN_FORM = auto()
    WEAK_VERIFIER = auto()
    WITHOUT_SCA = auto()
    OLD_SCA = auto()


class CallKind(NamedTuple):
    """Properties that calls share; the rules of a kind are selected once."""

    operation: str | None
    version: int
    status: int
    error: str | None
    state: str | None
    product: str | None = None
    language: str = ""
    bearing: bool = False  # a token was sent
    queried: bool = False  # there are query parameters
    marks: frozenset[CallMark] = frozenset()  # what else sets a call apart

    @property
    def newest(self) -> int:
        """Whether the call used the newest version of the operation."""
        row = BY_NAME.get(self.operation or "")
        return row.versions_for(self.product)[0] if row else 0

    @property
    def is_refused(self) -> bool:
        return self.status >= 300


# As `Kind` has it, but quicker to make.
Key = tuple[str | None, int, int, str | None, str | None, str | None, str, bool, bool, frozenset[CallMark]]
Sort = Callable[[CallKind], bool]


class Nothing(dict[str, Any]):
    """A shared empty mapping that is never written to."""

    __hash__ = object.__hash__  # type: ignore[assignment]


NOTHING: Mapping[str, Any] = Nothing()


class Likeness(NamedTuple):
    """What two initiations of one payment have in common, and the reference that should."""

    order: tuple[str, ...]  # product, beneficiary, amount, currency, the account that pays if named, communication
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
    marks: frozenset[CallMark] = lazy_field(frozenset())
    key: Key = field(init=False)  # what the kind of call is known by
    kind: CallKind = field(init=False)  # as it was sorted
    before: "Observation | None" = lazy_field(None)  # the call before it of the same client
    query: Mapping[str, str] = lazy_field(NOTHING)
    bearer: bytes | None = lazy_field(None)  # the access token
    retry_after: int | None = lazy_field(None)
    body: bytes | None = lazy_field(None)
    payments: bytes | None = lazy_field(None)  # of a file, without what sets its message apart
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


Address = int | bytes


def redirection_of(event: Observation) -> Address:
    """One redirection of a PSU: an address to sign at, or all that one call for a consent gave, one per language."""
    consents = event.subject is None and event.exchange.seq
    return event.exchange.seq if consents else event.addresses[0]


NEVER = (datetime.min.replace(tzinfo=UTC), -inf, 0)  # when an earlier call came and was answered, of none yet


def apart(event: Observation, at: datetime, ended: float) -> float:
    """Seconds since an earlier call: the larger of bank time and machine time."""
    return max((event.at - at).total_seconds(), event.began - ended)


# The properties by which rules are selected before they run


def refused_as(*errors: str) -> Sort:
    """A condition: the call was refused with one of these errors."""
    return lambda kind: kind.error in errors


def answered(*statuses: int) -> Sort:
    return lambda kind: kind.status in statuses


def called(*operations: str) -> Sort:
    return lambda kind: kind.operation in operations


def in_state(*states: str) -> Sort:
    """A condition: the subject of the call is in one of these states."""
    return lambda kind: kind.state in states


def marked(mark: CallMark) -> Sort:
    return lambda kind: mark in kind.marks
