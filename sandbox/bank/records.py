"""What a bank holds. Orders and people never change; payments change by `move` alone."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from sandbox.rules.lifecycle import Status, Trigger
from sandbox.rules.money import Money
from sandbox.rules.recurrence import Frequency


@dataclass(frozen=True, slots=True)
class Customer:
    """A PSU of the bank."""

    id: str
    name: str
    kind: str  # private or business
    language: str  # fr or nl
    channel_blocked: bool = False


@dataclass(frozen=True, slots=True)
class Account:
    """A payment account with its compartments, its owners and the customer's own security settings (service 1)."""

    iban: str
    type: str  # current-account or savings-account
    owners: tuple[str, ...]
    currencies: tuple[str, ...] = ("EUR",)
    signatures_required: int = 1
    signers: tuple[str, ...] = ()  # who may sign; the owners where left out
    online: bool = True  # managed in the bank's electronic channels
    non_sepa: bool = True
    limit_day: Money | None = None
    limit_week: Money | None = None
    countries: tuple[str, ...] | None = None  # accepted destinations; None is all

    @property
    def may_sign(self) -> tuple[str, ...]:
        return self.signers or self.owners

    @property
    def is_savings(self) -> bool:
        return self.type == "savings-account"


@dataclass(frozen=True, slots=True)
class Client:
    """A registered TPP."""

    id: str
    secret: str
    name: str
    roles: tuple[str, ...] = ("PIS", "AIS")
    active: bool = True
    redirect_uris: tuple[str, ...] = ()
    organisation: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a beneficiary lives (choice 5)."""

    street: str | None = None
    building_number: str | None = None
    postcode: str | None = None
    city: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class Creditor:
    """The beneficiary's account as the TPP gave it."""

    iban: str | None = None
    bban: str | None = None
    bic: str | None = None
    country: str | None = None
    currency: str | None = None
    bank_national_id: str | None = None


class Debtor(NamedTuple):
    """The compartment that pays."""

    iban: str
    currency: str = "EUR"


@dataclass(frozen=True, slots=True)
class Order:
    """A single payment as it was asked for (service 2.1); `version` is the body's, for the reply."""

    product: str
    amount: Money
    creditor: Creditor
    creditor_name: str
    endtoend_identification: str
    debtor: Debtor | None = None
    creditor_address: Address | None = None
    charge_bearer: str | None = None
    priority: str | None = None
    purpose_code: str | None = None
    structured: str | None = None
    unstructured: str | None = None
    execution_date: date | None = None

    @property
    def urgent(self) -> bool:
        return self.priority == "HIGH"


@dataclass(frozen=True, slots=True)
class Origin:
    """How an initiation came in: by whom, for which callback, and how its code is to be proven (service 4.1)."""

    client_id: str
    redirect_uri: str
    language: str | None = None  # None: the customer's own
    challenge: tuple[str, str] | None = None  # method and challenge; None when a token was used
    customer: str | None = None  # the token's PSU


class Fact(NamedTuple):
    """A line of the journal."""

    seq: int
    at: datetime
    subject: str
    trigger: Trigger
    source: Status | None
    target: Status
    reason: str | None


@dataclass(slots=True)
class Payment:
    """A single payment."""

    id: str
    order: Order
    origin: Origin
    path: str  # which moves it may make
    born: datetime
    status: Status
    reason: str | None = None
    debtor: Debtor | None = None  # given, or picked by the PSU
    customer: str | None = None  # known once a PSU is
    signatures: tuple[str, ...] = ()
    signed_on: date | None = None  # the last signature
    executes_on: date | None = None  # set with it when execution waits for a day
    tries: int = 0
    debited: bool = False  # the money has left
    settled: bool = False
    history: list[Fact] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.order.product

    @property
    def deferred(self) -> bool:
        """Future-dated or in recycling (service 3.4)."""
        return self.executes_on is not None or self.tries > 0


@dataclass(frozen=True, slots=True)
class Contract:
    """A standing order as it was asked for (service 2.2)."""

    creditor_iban: str
    creditor_name: str
    endtoend_identification: str
    frequency: Frequency
    start_date: date
    debtor: Debtor | None = None
    amount: Money | None = None  # FIXED
    variable: bool = False
    minimal: Money | None = None  # stays on the account
    maximal: Money | None = None  # leaves it at the most
    end_date: date | None = None
    execution_date: date | None = None
    structured: str | None = None
    unstructured: str | None = None

    @property
    def first(self) -> date:
        """The day of the first execution; a weekly one may have a weekday of its own."""
        return self.execution_date or self.start_date


class Run(NamedTuple):
    """An execution of a standing order; without an amount it failed."""

    number: int
    at: datetime
    amount: Money | None


@dataclass(slots=True)
class StandingOrder:
    """A contract and where it stands."""

    id: str
    order: Contract
    origin: Origin
    status: Status
    debtor: Debtor | None = None
    customer: str | None = None
    reason: str | None = None
    signatures: tuple[str, ...] = ()
    next_number: int = 1
    runs: list[Run] = field(default_factory=list)
    history: list[Fact] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "periodic-payments"

    @property
    def path(self) -> str:
        return "periodic-payments"

    @property
    def deferred(self) -> bool:
        return False

    @property
    def settled(self) -> bool:
        return False


Subject = Payment | StandingOrder


@dataclass(frozen=True, slots=True)
class ScaAddress:
    """An address at which a PSU signs; compared with the clock at use."""

    token: str
    subject_id: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """An accepted initiation by its Request-ID, so that the identical call gets the first reply (choice 2)."""

    print: bytes
    subject_id: str
    sca_token: str


PairKey = tuple[str, str, str, str | None]


@dataclass(frozen=True, slots=True)
class Grant:
    """What a PSU allowed a client: a scope, and for some an account or a consent."""

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
class Pair:
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


@dataclass(frozen=True, slots=True)
class ConsentAddress:
    """An address at which a PSU consents, or authenticates again for a consent that stands."""

    token: str
    client_id: str
    scope: str
    language: str
    redirect_uri: str
    until: datetime
    challenge: tuple[str, str] | None = None
    iban: str | None = None  # CAF: the account it is about
    renews: str | None = None


@dataclass(slots=True)
class Consent:
    """What a PSU lets a client read."""

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
    code: str | None = None  # what the drawn card reader shows
    wrong: int = 0
