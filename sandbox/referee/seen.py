"""What is kept of one call, or of one act of a PSU: enough for every rule, and never a secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from os import urandom
from typing import Any

from sandbox.bank.grants import Grant
from sandbox.bank.state import Bank
from sandbox.worlds import Exchange

# Acts of a PSU stand in the same stream, under these names.
PSU_OPENS = "psu_opens"
PSU_RETURNS = "psu_returns"

NOTHING: Mapping[str, Any] = {}
_KEY = urandom(16)  # of this program's life alone, so that a print tells nothing to anyone else


def print_of(text: str | bytes) -> bytes:
    """A fingerprint: the same for the same secret, and no way back to it."""
    return blake2b(text.encode() if isinstance(text, str) else text, digest_size=12, key=_KEY).digest()


@dataclass(slots=True)
class Seen:
    """One exchange of a client, or what its PSU did at an address that it gave. Bytes are fingerprints."""

    exchange: Exchange  # of an act: the call that gave the address
    bank: Bank
    operation: str | None
    client: str
    began: float = 0.0  # by the machine's stopwatch, as calls may overlap and a bank's clock may stand
    ended: float = 0.0
    status: int = 200
    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # of the refusal
    subject: str | None = None
    state: str | None = None  # its status
    product: str | None = None
    version: int = 0
    newest: int = 0  # version of this operation
    language: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    bearer: bytes | None = None  # the access token
    retry_after: int | None = None
    body: bytes | None = None
    challenge: tuple[str, bytes] | None = None
    unused_challenge: bool = False  # sent beside a token
    signed: str | None = None  # the algorithm of the Signature
    undated: bool = False  # a Signature without Digest or Date
    unsigned: bool = False  # though the client has a key
    # /token
    code: bytes | None = None
    proves: tuple[bytes, ...] = ()  # the challenges that the verifier could belong to
    letters: int = 99  # different ones in the verifier
    refresh: bytes | None = None
    given_refresh: bytes | None = None
    # what was given
    addresses: tuple[bytes, ...] = ()
    # transactions
    account: str | None = None
    asked_next: bytes | None = None
    given_next: bytes | None = None
    behind: bool = False  # asks for more than 90 days back
    sca: bool = False  # with an SCA token
    fresh: bool = False  # and the authentication counts
    # a PSU's act
    mark: bytes | None = None  # the state on the address
    mark_length: int = 0
    refused: bool = False
    grant: Grant | None = None  # the consent that was given

    @property
    def at(self) -> datetime:
        """The bank's time."""
        return self.exchange.at

    @property
    def accepted(self) -> bool:
        return self.status < 300

    @property
    def why(self) -> str:
        """What the refusal says of the input."""
        return str(self.facts.get("why", ""))

    @property
    def input(self) -> str:
        """What the refusal is about."""
        return str(self.facts.get("input", ""))


def apart(seen: Seen, at: datetime, ended: float) -> float:
    """Seconds since an earlier call, by the bank's clock or the machine's, whichever is more: one may stand."""
    return max((seen.at - at).total_seconds(), seen.began - ended)
