"""Records of a bank. Orders and people never change; payments change by `move` alone."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, NamedTuple

from sandbox.bank.ledger import LedgerEntry
from sandbox.banking.money import Money
from sandbox.contract import kinds
from sandbox.contract.moves import Status, Trigger
from sandbox.contract.products import PRODUCTS

CUSTOMER_KINDS = ("private", "business")
ACCOUNT_TYPES = ("current-account", "savings-account")
BALANCES_SHOWN = ("compartment", "globalised")  # the first compartment's, or all at the bank's rates
ROLES = ("PIS", "AIS", "CAF")
METHODS = CARD_READER, APP, BIOMETRICS = ("card_reader", "app", "biometrics")  # to sign by


@dataclass(frozen=True, slots=True)
class Customer:
    """A PSU of the bank."""

    id: str
    name: str
    kind: str  # one of CUSTOMER_KINDS
    language: str  # of contract/languages
    channel_blocked: bool = False
    fees: tuple[tuple[str, Money], ...] = ()  # of paid services: urgent, instant (choice 5)
    # How they may sign in the bank's own channels; app and biometrics where they activated them (service 5.7).
    methods: tuple[str, ...] = (CARD_READER,)
    limit_day: Money | None = None  # these three for accounts that are opened later; each account has its own
    limit_week: Money | None = None
    countries: tuple[str, ...] | None = None

    def fee(self, name: str) -> Money | None:
        return dict(self.fees).get(name)


@dataclass(frozen=True, slots=True)
class Account:
    """A payment account with its compartments, its owners and the customer's own security settings (service 1)."""

    iban: str
    type: str  # one of ACCOUNT_TYPES
    owners: tuple[str, ...]
    currencies: tuple[str, ...] = ("EUR",)
    signatures_required: int = 1
    signers: tuple[str, ...] = ()  # who may sign; the owners where left out
    online: bool = True  # managed in the bank's electronic channels
    non_sepa: bool = True
    limit_day: Money | None = None
    limit_week: Money | None = None
    countries: tuple[str, ...] | None = None  # accepted destinations; None is all
    overdraft: Money | None = None  # how far below zero its first compartment may go
    balance_shown: str = "compartment"  # in euro: that compartment, or (globalised) all at the bank's rates
    closed: bool = False  # nothing is paid from it or to it (choice 10)

    @property
    def may_sign(self) -> tuple[str, ...]:
        return self.signers or self.owners

    @property
    def first_currency(self) -> str:
        """The euro compartment wherever there is one (service 2.7)."""
        return "EUR" if "EUR" in self.currencies else self.currencies[0]

    @property
    def is_savings(self) -> bool:
        return self.type == "savings-account"


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A registered TPP."""

    id: str
    secret: str
    name: str
    roles: tuple[str, ...] = ("PIS", "AIS")
    active: bool = True
    redirect_uris: tuple[str, ...] = ()
    organisation: str = ""
    keys: tuple[str, ...] = ()  # public JWKs, each as JSON


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
class PaymentRequest:
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
    """The origin of an initiation: client, callback and PKCE challenge (service 4.1)."""

    client_id: str
    redirect_uri: str
    language: str | None = None  # None: the customer's own
    challenge: tuple[str, str] | None = None  # method and challenge; None when a token was used
    customer: str | None = None  # the token's PSU


class Fact(NamedTuple):
    """A line of the journal. A change of a customer or an account has no status: `reason` tells what changed."""

    seq: int
    at: datetime
    subject: str
    trigger: Trigger
    source: Status | None
    target: Status | None
    reason: str | None
    rule: str | None = None  # the scenario's, where it began or did this


class Refund(NamedTuple):
    """Money that comes back: of a line of an account, or of a settled payment."""

    entry: LedgerEntry | None  # its first posting is the line's; None: the payment's own lines say it
    back: str  # return or refund
    reason: str | None


class CallbackNote(NamedTuple):
    """A customer without a browser was sent back to the TPP."""

    seq: int
    at: datetime
    subject: str
    redirect: str


@dataclass(slots=True)
class Payment:
    """A single payment."""

    kind: ClassVar[kinds.InitiationKind] = kinds.PAYMENT

    id: str
    order: PaymentRequest
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
    rule: int | None = None  # of the scenario
    sca_token: str | None = None
    history: tuple[Fact, ...] = ()
    returned: bool = False  # by the beneficiary's bank, after the settlement
    counted_on: date | None = None  # for the customer's limits
    fee: Money | None = None  # of a paid service, as it stood at the last signature
    fails_with: str | None = None  # the reason for which an instant payment will be rejected
    needs: Money | None = None  # the funds that it reserves from then on: its amount, and its fee where that is checked

    @property
    def reference_group(self) -> str:
        """A reference of the TPP is looked up among the initiations of its group."""
        return self.order.product

    @property
    def sepa(self) -> bool:
        return PRODUCTS[self.order.product].sepa

    @property
    def deferred(self) -> bool:
        """Future-dated or in recycling (service 3.4)."""
        return self.executes_on is not None or self.tries > 0


@dataclass(frozen=True, slots=True)
class ScaAddress:
    """An address at which a PSU signs; compared with the clock at use."""

    token: str
    subject_id: str
    until: datetime


@dataclass(frozen=True, slots=True)
class AcceptedRequest:
    """An accepted initiation by its Request-ID, so that the identical call gets the first reply (choice 2)."""

    fingerprint: bytes
    subject_id: str
    sca_token: str
