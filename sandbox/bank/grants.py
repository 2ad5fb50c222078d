"""Records of grants: codes, tokens, consents and sessions (service 3.5, choice 8)."""

from dataclasses import dataclass
from datetime import datetime

from sandbox.bank.records import Debtor

PairKey = tuple[str, str, str, str | None]


@dataclass(frozen=True, slots=True)
class Grant:
    """A PSU's permission for a client: a scope, and for some an account or a consent."""

    client_id: str
    customer: str
    scope: str
    account: str | None = None
    consent_id: str | None = None

    @property
    def key(self) -> PairKey:
        """One pair per client, PSU and scope; for CAF also per account (choice 8)."""
        return self.client_id, self.customer, self.scope, self.account


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code as the callback carries it."""

    grant: Grant
    redirect_uri: str
    challenge: tuple[str, str]
    until: datetime
    used: bool = False


@dataclass(frozen=True, slots=True)
class TokenPair:
    """An access token and its refresh token, descended from a code."""

    grant: Grant
    access_token: str
    refresh_token: str
    until: datetime
    code: str


@dataclass(frozen=True, slots=True)
class ScaToken:
    """Proof of a fresh authentication, for the full history (service 4.8)."""

    consent_id: str | None
    until: datetime
    used: bool = False  # only where it is good for one call


@dataclass(frozen=True, slots=True)
class ConsentAddress:
    """An address at which a PSU consents, or renews the SCA of a valid consent."""

    token: str
    client_id: str
    scope: str
    language: str
    redirect_uri: str
    until: datetime
    challenge: tuple[str, str] | None = None
    iban: str | None = None  # CAF: the account it is about
    renews: str | None = None
    rule: int | None = None  # of the scenario


@dataclass(slots=True)
class Consent:
    """A PSU's consent to reading accounts."""

    id: str
    client_id: str
    customer: str
    scope: str
    logical_ids: dict[str, str]  # to IBANs; unguessable, and of this consent alone
    redirect_uri: str
    given: datetime
    until: datetime
    sca_at: datetime
    full_until: datetime | None = None  # after a renewal the same token reads the full history for a while
    ended: str | None = None  # replaced or withdrawn


@dataclass(slots=True)
class Session:
    """A PSU at an address of the bank, between its first page and its last."""

    id: str
    address: str
    state: str | None = None
    customer: str | None = None
    debtor: Debtor | None = None
    chosen: tuple[str, ...] = ()  # IBANs that a client may read
    code: str | None = None  # what the drawn card reader shows
    wrong: int = 0
    method: str = ""  # as the customer chose; empty: the bank's first
    approval: str | None = None  # what the app has to approve
    compare: str | None = None  # shown on the page and in the app
    approval_until: datetime | None = None
    callback: str | None = None  # after an answer in the app, where the page that waits leads
    subject: str | None = None  # in the channel: the initiation that waits for the app
