"""Records of a bank: customers, accounts, initiations with their outcomes, and grants (codes, tokens, consents,
sessions).

Customers, accounts and requests never change: a change makes a new record. A subject is an initiation or a batch of a
bulk file. Only `Bank.move` changes the status of a subject.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar, NamedTuple

from sandbox.bank.ledger import LedgerEntry
from sandbox.banking.money import Money
from sandbox.banking.payees import PayeeCheck
from sandbox.banking.recurrence import Frequency
from sandbox.bulkfiles.report import BatchReport, FileFindings, RefusedBatch
from sandbox.bulkfiles.stages import Kind
from sandbox.contract import kinds
from sandbox.contract.field_rows import EUR
from sandbox.contract.moves import Status, Trigger, list_cancellable
from sandbox.contract.products import PRODUCTS

CUSTOMER_KINDS = ("private", "business")
ACCOUNT_TYPES = ("current-account", "savings-account")
BALANCES_SHOWN = ("compartment", "globalised")  # of the first compartment, or of all at the bank's rates
ROLES = ("PIS", "AIS", "CAF")
# Of signing (service 5.7).
METHODS = CARD_READER, APP, BIOMETRICS, IDENTITY_APP = ("card_reader", "app", "biometrics", "identity_app")


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer of the bank. PSD2 calls a customer PSU (payment service user)."""

    id: str
    name: str
    kind: str  # one of CUSTOMER_KINDS
    language: str  # of contract/languages
    channel_blocked: bool = False
    fees: tuple[tuple[str, Money], ...] = ()  # of paid services: urgent, instant (choice 5)
    methods: tuple[str, ...] = (CARD_READER,)  # of METHODS, those that the customer activated
    payee_check_of_files: bool = True  # a business customer may opt out (choice 14)
    # The defaults of accounts that are opened later; each account has its own.
    limit_day: Money | None = None
    limit_week: Money | None = None
    countries: tuple[str, ...] | None = None

    def find_fee(self, name: str) -> Money | None:
        return dict(self.fees).get(name)


@dataclass(frozen=True, slots=True)
class Account:
    """A payment account with its compartments (one for each currency), its owners and the customer's own security
    settings (service 1)."""

    iban: str
    type: str  # one of ACCOUNT_TYPES
    owners: tuple[str, ...]
    currencies: tuple[str, ...] = ("EUR",)
    signatures_required: int = 1
    signers: tuple[str, ...] = ()  # customers who may sign; empty: the owners
    online: bool = True  # managed in the bank's electronic channels
    non_sepa: bool = True
    limit_day: Money | None = None
    limit_week: Money | None = None
    countries: tuple[str, ...] | None = None  # accepted destinations; None: all
    overdraft: Money | None = None  # how far below zero its first compartment may go
    balance_shown: str = "compartment"  # one of BALANCES_SHOWN
    closed: bool = False  # no payment from it or to it is executed (choice 10)

    @property
    def may_sign(self) -> tuple[str, ...]:
        return self.signers or self.owners

    @property
    def first_currency(self) -> str:
        """EUR if the account has a compartment in EUR, else the first of its currencies (service 2.7)."""
        return "EUR" if "EUR" in self.currencies else self.currencies[0]

    @property
    def is_savings(self) -> bool:
        return self.type == "savings-account"


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A client that is registered at the bank. PSD2 calls a client TPP (third-party provider)."""

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
    """The address of a beneficiary (choice 5)."""

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
    """The compartment that pays: one currency of an account."""

    iban: str
    currency: str = "EUR"


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A single payment as the TPP asked for it (service 2.1)."""

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
    """The origin of an initiation: the client, the callback address and the PKCE challenge (service 4.1)."""

    client_id: str
    redirect_uri: str
    language: str | None = None  # None: the customer's own
    challenge: tuple[str, str] | None = None  # method and challenge; None when a token was used
    customer: str | None = None  # the token's PSU


class Fact(NamedTuple):
    """A line of the journal. If the line is about a customer or an account, `source` and `target` are None. For a
    change of a customer or an account, `reason` lists the changed fields. In the first line of an initiation, `source`
    is None."""

    seq: int
    at: datetime
    subject: str
    trigger: Trigger
    source: Status | None
    target: Status | None
    reason: str | None
    rule: str | None = None  # the title of the scenario's rule that caused it


class Refund(NamedTuple):
    """A scheduled return of money to an account. It returns either the amount of a line that is booked on the account,
    or a settled payment."""

    entry: LedgerEntry | None  # whose first posting is that line; None for a payment, which has its lines itself
    back: str  # return or refund
    reason: str | None


class CallbackNote(NamedTuple):
    """The redirect to the TPP after a simulated customer, who has no browser, approved or refused."""

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
    path: str  # its table of moves in contract/moves
    born: datetime
    status: Status
    reason: str | None = None
    debtor: Debtor | None = None  # given by the TPP, or picked by the PSU
    customer: str | None = None  # unknown until a token or a log-in names the PSU
    signatures: tuple[str, ...] = ()
    signed_on: date | None = None  # the day of the last signature
    executes_on: date | None = None  # set at the last signature, if the execution waits for a day
    tries: int = 0
    debited: bool = False  # the money has left the account
    settled: bool = False
    rule: int | None = None  # of the scenario
    sca_token: str | None = None
    history: tuple[Fact, ...] = ()
    returned: bool = False  # by the beneficiary's bank, after the settlement
    counted_on: date | None = None  # for the customer's limits
    fee: Money | None = None  # of a paid service, by the tariff at the last signature
    fails_with: str | None = None  # the reason for which an instant payment will be rejected
    needs: Money | None = None  # the funds that it reserves from then on: its amount, and its fee if that is checked
    payee: PayeeCheck | None = None  # the outcome of the verification of payee

    @property
    def reference_group(self) -> str:
        """The group of initiations in which the bank looks up a TPP's own reference. For a payment it is the
        product."""
        return self.order.product

    @property
    def sepa(self) -> bool:
        return PRODUCTS[self.order.product].sepa

    @property
    def deferred(self) -> bool:
        """Whether the payment is executed on a later day, or is tried again because funds were missing (service
        3.4)."""
        return self.executes_on is not None or self.tries > 0


@dataclass(slots=True)
class Batch:
    """A batch of payments in a bulk file, one of `BulkFile.parts`. The service calls it a bulk."""

    rule: ClassVar[None] = None  # a scenario's rule applies to the whole file
    path: ClassVar[str] = "bulk in a file"
    settled: ClassVar[bool] = False

    id: str
    bulk_id: str
    batch: BatchReport | RefusedBatch
    status: Status = Status.RCVD
    reason: str | None = None
    executes_on: date | None = None
    tries: int = 0
    history: tuple[Fact, ...] = ()

    @property
    def paying(self) -> BatchReport:
        """The report on the batch. Fails for a refused batch, which has no payments."""
        assert isinstance(self.batch, BatchReport)
        return self.batch

    @property
    def debtor(self) -> Debtor:
        return Debtor(self.paying.debtor_iban, self.paying.debtor_currency)

    @property
    def findings(self) -> FileFindings:
        return self.batch.findings

    @property
    def is_payable(self) -> bool:
        return self.status in (Status.PATC, Status.PDNG)

    @property
    def deferred(self) -> bool:
        return self.executes_on is not None


class DifferingPayee(NamedTuple):
    """A transaction of a file for which the verification of payee found no exact match."""

    name: str
    iban: str
    check: PayeeCheck


@dataclass(frozen=True, slots=True)
class FilePayees:
    """The outcomes of the verification of payee for the transactions of a file."""

    counts: tuple[tuple[str, int], ...]
    differing: tuple[DifferingPayee, ...]  # the first ones


@dataclass(slots=True)
class BulkFile:
    """A bulk file. `parts` are its batches."""

    kind: ClassVar[kinds.InitiationKind] = kinds.BULK
    path: ClassVar[str] = "bulk-payments"
    settled: ClassVar[bool] = False
    sepa: ClassVar[bool] = True
    debtor: ClassVar[None] = None  # each batch names its own

    id: str
    format: Kind
    origin: Origin
    packed: bytes  # the compressed content, until it is validated
    reference: str | None = None  # the TPP's own
    status: Status = Status.RCVD
    reason: str | None = None
    customer: str | None = None
    signatures: tuple[str, ...] = ()
    signed_on: date | None = None  # the last signature
    unpaid: int = 0  # batches that were signed and wait for their execution
    message_id: str | None = None
    sca_token: str | None = None
    rule: int | None = None  # of the scenario
    parts: list[Batch] = field(default_factory=list)
    findings: FileFindings = field(default_factory=FileFindings)
    history: tuple[Fact, ...] = ()
    version: str | None = None  # of a pain.001, such as pain.001.001.09
    payees: FilePayees | None = None

    @property
    def reference_group(self) -> str:
        return self.kind.make_group(self.format)

    @property
    def is_validated(self) -> bool:
        return any(fact.trigger in (Trigger.VALIDATED, Trigger.INVALID) for fact in self.history)

    @property
    def payable_parts(self) -> list[Batch]:
        """The batches that can still be paid: they are valid, and they are neither paid nor ended."""
        return [part for part in self.parts if part.is_payable]

    @property
    def total(self) -> Decimal:
        """The sum of the amounts of the payable batches."""
        return sum((part.paying.control_sum for part in self.payable_parts), Decimal())

    @property
    def deferred(self) -> bool:
        """Whether each payable batch is executed on a later day, or is tried again because funds were missing (service
        3.4). Also True if no batch is payable."""
        return all(part.deferred for part in self.payable_parts)


@dataclass(frozen=True, slots=True)
class StandingOrderRequest:
    """A standing order as the TPP asked for it (service 2.2)."""

    product: ClassVar[str] = kinds.STANDING_ORDER.products[0]
    currency: ClassVar[str] = EUR  # service 2.2

    creditor_iban: str
    creditor_name: str
    endtoend_identification: str
    frequency: Frequency
    start_date: date
    debtor: Debtor | None = None
    amount: Money | None = None  # of a FIXED one
    variable: bool = False
    minimal: Money | None = None  # what stays on the account at least
    maximal: Money | None = None  # what is paid at most
    end_date: date | None = None
    execution_date: date | None = None
    structured: str | None = None
    unstructured: str | None = None

    @property
    def first(self) -> date:
        """The day of the first execution: `execution_date` if the TPP gave it, else `start_date`."""
        return self.execution_date or self.start_date

    @property
    def periodic_payment_type(self) -> str:
        return "VARIABLE" if self.variable else "FIXED"


class Execution(NamedTuple):
    """An execution of a standing order. If it failed, `amount` is None."""

    number: int
    at: datetime
    amount: Money | None


@dataclass(slots=True)
class StandingOrder:
    """A standing order and its executions."""

    kind: ClassVar[kinds.InitiationKind] = kinds.STANDING_ORDER
    path: ClassVar[str] = "periodic-payments"
    deferred: ClassVar[bool] = False
    settled: ClassVar[bool] = False
    sepa: ClassVar[bool] = True

    id: str
    order: StandingOrderRequest
    origin: Origin
    status: Status
    debtor: Debtor | None = None
    customer: str | None = None
    reason: str | None = None
    signatures: tuple[str, ...] = ()
    active_since: datetime | None = None
    next_number: int = 1
    rule: int | None = None  # of the scenario
    sca_token: str | None = None
    runs: tuple[Execution, ...] = ()
    history: tuple[Fact, ...] = ()
    payee: PayeeCheck | None = None

    @property
    def reference_group(self) -> str:
        return self.kind.group


UNSIGNED = (Status.RCVD, Status.PATC)
Initiation = Payment | StandingOrder | BulkFile
Subject = Initiation | Batch


def list_cancellation_facts(subject: Subject) -> dict[str, object]:
    """Returns the facts that decide whether a subject can be cancelled: its status, the time of its last journal line,
    and the statuses in which a cancellation is permitted (service 3.4)."""
    return {
        "status": subject.status.value,
        "since": subject.history[-1].at if subject.history else None,
        "cancellable_while": list(list_cancellable(subject.path)),
    }


@dataclass(frozen=True, slots=True)
class ScaAddress:
    """An address at which a PSU signs. It is valid before `until`."""

    token: str
    subject_id: str
    until: datetime


@dataclass(frozen=True, slots=True)
class AcceptedRequest:
    """An accepted initiation, and the fingerprint of the call that made it. A later identical call gets the same reply
    (choice 2)."""

    fingerprint: bytes
    subject_id: str
    sca_token: str


# Grants: codes, tokens, consents and sessions (service 3.5, choice 8)


PairKey = tuple[str, str, str, str | None]


@dataclass(frozen=True, slots=True)
class Grant:
    """A PSU's permission for a client, with a scope. `account` is the IBAN of a CAF consent, and None for the other
    scopes. `consent_id` is None for the scope PIS."""

    client_id: str
    customer: str
    scope: str
    account: str | None = None
    consent_id: str | None = None

    @property
    def key(self) -> PairKey:
        """The key of the grant's token pair: client, PSU and scope, and for CAF also the account (choice 8)."""
        return self.client_id, self.customer, self.scope, self.account


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code. The callback URL contains it."""

    grant: Grant
    redirect_uri: str
    challenge: tuple[str, str]
    until: datetime
    used: bool = False


@dataclass(frozen=True, slots=True)
class TokenPair:
    """An access token, its refresh token, and the code for which they were issued."""

    grant: Grant
    access_token: str
    refresh_token: str
    until: datetime
    code: str


@dataclass(frozen=True, slots=True)
class ScaToken:
    """The proof of a fresh authentication of the customer. It gives access to the full history (service 4.8)."""

    consent_id: str | None
    until: datetime
    used: bool = False  # set only where a token is good for one call


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
    iban: str | None = None  # the account of a CAF consent
    renews: str | None = None  # the consent whose SCA is renewed
    rule: int | None = None  # of the scenario


@dataclass(slots=True)
class Consent:
    """A PSU's consent to reading accounts."""

    id: str
    client_id: str
    customer: str
    scope: str
    logical_ids: dict[str, str]  # of accounts, each with its IBAN
    redirect_uri: str
    given: datetime
    until: datetime
    sca_at: datetime
    full_until: datetime | None = None  # until then the same token reads the full history, after a renewal
    ended: str | None = None  # replaced or withdrawn


@dataclass(slots=True)
class Session:
    """A PSU's session on the pages of an SCA address, a consent address or the bank's own channel."""

    id: str
    address: str
    state: str | None = None
    customer: str | None = None
    debtor: Debtor | None = None
    chosen: tuple[str, ...] = ()  # IBANs that a client may read
    code: str | None = None  # which the drawn card reader shows
    wrong: int = 0  # codes that were typed wrong, and wrong numbers in the identity app
    method: str = ""  # which the customer chose; empty: the first that the bank offers
    approval: str | None = None  # the id of what the app has to approve
    compare: str | None = None  # the code on the page, which the app shows, or which is chosen there
    numbers: tuple[str, ...] = ()  # among which the customer chooses in the identity app
    approval_until: datetime | None = None
    callback: str | None = None  # to which the waiting page leads after an answer in the app
    subject: str | None = None  # in the channel, the initiation that waits for the app
    payee_accepted: bool = False  # the customer goes on after the verification of payee
