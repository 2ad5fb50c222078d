"""Observation: what the rules may read of one call, or of one act of a PSU.

An observation outlives its call by days, in memory and in the store. So it holds no secret and no body. It has hashes
of tokens, codes, challenges, states and bodies instead, which can only be compared. It is made once, when the call is
delivered to the referee, because the full record of the call is not kept after that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sandbox.bank.records import Grant
from sandbox.bank.state import Bank
from sandbox.contract.operations import BY_NAME
from sandbox.worlds.calls import Exchange

# Acts of a PSU are observations with these operations.
PSU_OPENS = "psu_opens"
PSU_RETURNS = "psu_returns"
ACTS = (PSU_OPENS, PSU_RETURNS)
# Refusals after which the same initiation may succeed: the customer pays in, raises a limit or unblocks the channel.
MENDED_BY_PSU = ("FUNDS_MISSING", "PROFILE_FORBIDS", "CHANNEL_CLOSED")


class Likeness(NamedTuple):
    """The facts by which a person recognizes a payment. If two initiations have the same `order`, a person takes them
    for the same payment. The reference is stored too, because two payments should have different references."""

    order: tuple[str, ...]  # product, beneficiary, amount, currency, the account that pays if named, communication
    reference: str


@dataclass
class Observation:
    """The facts that rules may read of one call of a client, or of one act of its PSU. A field of type `bytes` holds a
    fingerprint instead of the value."""

    exchange: Exchange  # of an act: the call that gave the address
    bank: Bank
    operation: str | None
    client: str
    subject: str | None = None
    status: int = 200
    # By the machine's stopwatch, as calls may overlap and the bank's clock may be frozen.
    started: float = 0.0
    ended: float = 0.0
    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # of the refusal
    state: str | None = None  # of the subject
    product: str | None = None
    version: int = 0
    language: str = ""  # Accept-Language
    before: "Observation | None" = None  # the call before it of the same client
    query: Mapping[str, str] = field(default_factory=dict)
    access_token: bytes | None = None
    retry_after: int | None = None
    body: bytes | None = None
    file_payments: bytes | None = None  # the body of a file without the ids and the time of its message
    likeness: Likeness | None = None
    is_lost: bool = False  # the client got no reply, or a reply that does not say whether the call was executed
    is_unreadable: bool = False  # a fault rule cut or spoilt the reply: coverage does not count the call
    challenge: tuple[str, bytes] | None = None  # method and challenge
    has_needless_challenge: bool = False  # beside an access token
    signature_algorithm: str | None = None
    lacks_signature: bool = False  # of a client that has a key
    lacks_digest_or_date: bool = False  # beside a signature
    # of a token call
    code: bytes | None = None
    verifier_challenges: tuple[bytes, ...] = ()  # the challenges, S256 and plain, that belong to its verifier
    verifier_letters: int | None = None  # different characters
    has_secret_in_form: bool = False
    placeholder: str | None = None  # sent as the code
    refresh_token: bytes | None = None
    new_refresh_token: bytes | None = None
    # of a reply that sends the PSU to the bank, and of an act
    addresses: tuple[bytes, ...] = ()
    # of a read
    account: str | None = None
    page_key: bytes | None = None
    next_page_key: bytes | None = None
    lacks_sca: bool = False  # it goes more than 90 days back without an SCA token
    has_old_sca: bool = False  # and the SCA token is too old for it
    # of an act of a PSU
    psu_state: bytes | None = None  # the state on the address
    psu_state_length: int = 0
    is_psu_refusal: bool = False
    grant: Grant | None = None  # the consent that was given, or that of the token of a read

    @property
    def at(self) -> datetime:
        """The bank's time at the call."""
        return self.exchange.at

    @property
    def accepted(self) -> bool:
        return self.status < 300

    @property
    def newest_version(self) -> int:
        row = BY_NAME.get(self.operation or "")
        return row.list_versions(self.product)[0] if row else 0

    @property
    def why(self) -> str:
        """The reason that the refusal gives, or an empty text."""
        return str(self.facts.get("why", ""))

    @property
    def input(self) -> str:
        """The input that the refusal names, or an empty text."""
        return str(self.facts.get("input", ""))

    def seconds_since(self, at: datetime, ended: float) -> float:
        """Returns the seconds since an earlier call, whose `at` and `ended` are given. Both the bank's clock and the
        machine's stopwatch measure them. The larger number is returned, because the bank's clock may be frozen or
        moved."""
        return max((self.at - at).total_seconds(), self.started - ended)
