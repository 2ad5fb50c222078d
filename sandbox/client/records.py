"""The bank's replies as records, and the reference by which a client names an initiation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sandbox.client.flows import Flow
from sandbox.client.transport import ClientReply, languages_of, segment
from sandbox.contract import kinds


class PathKind(StrEnum):
    """The kinds of initiations, each by the first part of its path."""

    PAYMENT = kinds.PAYMENT.path
    STANDING_ORDER = kinds.STANDING_ORDER.path
    BULK = kinds.BULK.path

    @property
    def row(self) -> kinds.InitiationKind:
        return kinds.BY_PATH[self.value]


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference by which a call names an initiation. `id` is the bank's id. If `external` is set, `id` is the TPP's
    own reference instead (choice 5)."""

    product: str
    id: str
    kind: PathKind = PathKind.PAYMENT
    external: bool = False

    @property
    def path(self) -> str:
        return f"/{self.kind}/{segment(self.product)}/{segment(self.id)}"

    @property
    def query(self) -> dict[str, str] | None:
        """The query that says that the id is the TPP's own reference. None for the bank's id, which needs no query
        (choice 5)."""
        return {self.kind.row.id_type: "EXTERNAL"} if self.external else None

    def operation(self, verb: str) -> str:
        return f"{self.kind.row.name}_{verb}"


@dataclass(frozen=True, slots=True)
class Initiation:
    """A payment, standing order or bulk file that the bank accepted."""

    reference: Reference
    status: str | None  # None in version 1
    sca_address: str | None  # with the flow's state; a bulk file gets it from its status (service 4.6)
    flow: Flow
    reply: ClientReply
    external_id: str | None = None
    transaction_ref: str | None = None  # version 1 only

    @property
    def payment_id(self) -> str:
        return self.reference.id

    @property
    def external(self) -> Reference:
        assert self.external_id is not None, "it was sent without a reference of its own"
        return Reference(self.reference.product, self.external_id, self.reference.kind, external=True)


@dataclass(frozen=True, slots=True)
class BatchInfo:
    """A batch of a bulk file, from the reply to a question for the file's status (choice 7)."""

    payment_information_id: str | None  # None if the file does not have it; then the batch is refused
    status: str
    number_of_transactions: int | None
    control_sum: Decimal | None
    reason: str | None
    errors: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class StatusInfo:
    status: str
    reason: str | None
    reply: ClientReply
    sca_address: str | None = None  # bulk files: with the flow's state
    flow: Flow | None = None
    bulks: tuple[BatchInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token and a refresh token, with the other fields of the reply that brought them (service 2.6)."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    expires_in: int
    scope: str
    reply: ClientReply = field(repr=False)
    logical_id: str | None = None
    sca_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ConsentAddresses:
    """The addresses at which the PSU may give a consent, by language. Each has the state of `flow` in its query."""

    addresses: Mapping[str, str]
    flow: Flow
    language: str
    reply: ClientReply = field(repr=False)

    @property
    def address(self) -> str:
        """The address in the language that the client prefers, or the first address if no language fits."""
        preferred = (self.addresses[name] for name in languages_of(self.language) if name in self.addresses)
        return next(preferred, next(iter(self.addresses.values())))


@dataclass(frozen=True, slots=True)
class AccountEntry:
    iban: str
    logical_id: str
    currency: str


@dataclass(frozen=True, slots=True)
class CompartmentInfo:
    currency: str
    balance: Decimal


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """An account with its balance, and the balances of its other currencies (service 2.7)."""

    type: str
    iban: str
    currency: str
    balance: Decimal
    multicurrency: bool
    other_compartments: tuple[CompartmentInfo, ...]
    reply: ClientReply = field(repr=False)


@dataclass(frozen=True, slots=True)
class TransactionInfo:
    """A transaction (choice 8)."""

    transaction_ref: str
    amount: Decimal
    currency: str
    execution_date: str
    value_date: str | None
    counterparty_account: str | None
    counterparty_info: str | None
    communication: str | None
    communication_type: str | None
    remittance_info: str | None
    pending: bool = False  # signed and not booked yet; not part of the balance (service 2.8 does not show such lines)


@dataclass(frozen=True, slots=True)
class TransactionList:
    transactions: tuple[TransactionInfo, ...]
    next_page_key: str | None
    reply: ClientReply = field(repr=False)
