"""Reads from the bank what the signing pages show about an initiation or consent that is waiting for a PSU.

A `SigningPage` has all values of one page. A page is about a signing or consent address, an initiation in the bank's
own channel, or an approval in the app. The field `view` has the values that differ between payments, standing orders,
files and consents.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sandbox.bank import (
    accounts,
    confirmations,
    consent_sessions,
    consents,
    payee_checks,
    signing,
    signing_methods,
    standing_orders,
)
from sandbox.bank.behaviours import find_behaviour
from sandbox.bank.execution import find_day_of_payment, find_execution_day, is_late
from sandbox.bank.records import (
    APP,
    CARD_READER,
    IDENTITY_APP,
    Account,
    Batch,
    BulkFile,
    ConsentAddress,
    Customer,
    Debtor,
    FilePayees,
    Initiation,
    Origin,
    Payment,
    PaymentRequest,
    Session,
    StandingOrder,
    StandingOrderRequest,
)
from sandbox.bank.signing_methods import Offer, SigningAttempt
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.banking.money import Money
from sandbox.banking.payees import PayeeCheck
from sandbox.banking.recurrence import Occurrence
from sandbox.contract import kinds
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.products import PRODUCTS

# A file may have 100,000 transactions. A page shows its first ones.
BULKS_SHOWN = 20
TRANSFERS_SHOWN = 5
APP_PATHS = {APP: "/app", IDENTITY_APP: "/identity-app"}  # of the pages of each app


# Views of one kind


class PayingCompartment(NamedTuple):
    debtor: Debtor
    owners: str  # their names


@dataclass(frozen=True, slots=True)
class SingleView:
    """An initiation that is paid from one account."""

    order: Any
    source: PayingCompartment | None  # None until the PSU chooses an account

    @property
    def is_named(self) -> bool:
        """Whether the TPP named the account that pays. If it did, the PSU does not choose an account."""
        return self.order.debtor is not None

    @property
    def sources(self) -> tuple[PayingCompartment, ...]:
        return (self.source,) if self.source else ()


@dataclass(frozen=True, slots=True)
class PaymentView(SingleView):
    order: PaymentRequest
    today: date
    due: date  # the day on which it is executed
    is_late: bool  # the day's cut-off has passed
    taken: Money | None  # out of the debtor's compartment, if that has another currency
    payee: PayeeCheck | None  # what an earlier signer was told

    @property
    def is_deletable(self) -> bool:
        return PRODUCTS[self.order.product].deletable


@dataclass(frozen=True, slots=True)
class OrderView(SingleView):
    """A standing order, with its first and its last execution."""

    order: StandingOrderRequest
    first: Occurrence
    last: Occurrence | None

    is_late = False


@dataclass(frozen=True, slots=True)
class FileDebit:
    """The sum that a file takes from one account."""

    source: PayingCompartment
    amount: Money
    count: int


@dataclass(frozen=True, slots=True)
class FileView:
    """A file: the bulks that would be paid, and the bulks that were refused."""

    message_id: str | None
    debits: tuple[FileDebit, ...]
    payable: list[dict[str, Any]]  # the first bulks
    payable_count: int
    refused: list[dict[str, Any]]
    refused_count: int

    is_named = True  # each bulk names its account
    is_late = False

    @property
    def sources(self) -> tuple[PayingCompartment, ...]:
        return tuple(debit.source for debit in self.debits)

    @property
    def count(self) -> int:
        return sum(debit.count for debit in self.debits)

    @property
    def amount(self) -> Money:
        """The sum. Files are always in euro (choice 7)."""
        return Money(sum((debit.amount.number for debit in self.debits), Decimal()), "EUR")


class AccountChoice(NamedTuple):
    """An account that the PSU may choose, with the balance of each compartment."""

    account: Account
    balances: list[Money]


@dataclass(frozen=True, slots=True)
class ConsentView:
    """A consent that a TPP asks for."""

    address: ConsentAddress
    tpp: str
    choices: list[AccountChoice]
    chosen: list[Account]
    days: int  # of validity
    until: date
    sca_days: int  # for which an authentication is enough
    earlier: date | None  # when the consent that this one replaces was given

    sources = ()  # a consent pays nothing

    @property
    def is_named(self) -> bool:
        """Whether the TPP named the account. If it did, the PSU does not choose an account."""
        return not consent_sessions.needs_choice(self.address)


InitiationView = PaymentView | OrderView | FileView
View = InitiationView | ConsentView


def make_view(bank: Bank, initiation: Initiation, chosen_debtor: Debtor | None) -> InitiationView:
    """Returns the view of an initiation. `chosen_debtor` is the account that the PSU chose in this session, or None."""
    return VIEWS[initiation.kind](bank, initiation, chosen_debtor or initiation.debtor)


def make_listed_view(bank: Bank, initiation: Initiation) -> InitiationView:
    """Returns the view of an initiation for a list. The view of a file has all bulks without errors, even if they can
    no longer be paid."""
    if isinstance(initiation, BulkFile):
        return _make_file_view(bank, initiation, [part for part in initiation.parts if not part.findings])
    return make_view(bank, initiation, None)


def _make_source(bank: Bank, debtor: Debtor) -> PayingCompartment:
    owners = bank.accounts[debtor.iban].owners
    return PayingCompartment(debtor, ", ".join(bank.customers[owner].name for owner in owners))


def _make_payment_view(bank: Bank, payment: Payment, debtor: Debtor | None) -> PaymentView:
    order = payment.order
    debited = accounts.convert_at_fixed_rate(order.amount, debtor.currency) if debtor else order.amount
    return PaymentView(
        order,
        _make_source(bank, debtor) if debtor else None,
        bank.clock.today,
        find_day_of_payment(bank, order) or bank.clock.today,
        is_late(bank, order),
        debited if debited.currency != order.amount.currency else None,
        payment.payee if payment.signatures else None,
    )


def _make_order_view(bank: Bank, order: StandingOrder, debtor: Debtor | None) -> OrderView:
    last = standing_orders.find_last_execution(order)
    return OrderView(
        order.order,
        _make_source(bank, debtor) if debtor else None,
        standing_orders.compute_nth_execution(bank, order, 1),
        standing_orders.compute_nth_execution(bank, order, last) if last else None,
    )


def _make_file_view(bank: Bank, file: BulkFile, payable: list[Batch]) -> FileView:
    refused = [part for part in file.parts if not part.is_payable]
    return FileView(
        file.message_id,
        _list_debits(bank, payable),
        [_describe_payable_bulk(bank, part) for part in payable[:BULKS_SHOWN]],
        len(payable),
        [_describe_refused_bulk(part) for part in refused[:BULKS_SHOWN]],
        len(refused),
    )


def _list_debits(bank: Bank, payable: list[Batch]) -> tuple[FileDebit, ...]:
    sums: dict[Debtor, Decimal] = defaultdict(Decimal)
    counts: dict[Debtor, int] = defaultdict(int)
    for part in payable:
        sums[part.debtor] += part.paying.control_sum
        counts[part.debtor] += part.paying.number_of_transactions
    return tuple(
        FileDebit(_make_source(bank, debtor), Money(number, debtor.currency), counts[debtor])
        for debtor, number in sums.items()
    )


def _describe_payable_bulk(bank: Bank, part: Batch) -> dict[str, Any]:
    batch = part.paying
    return {
        "name": batch.payment_information_id,
        "debtor": batch.debtor_iban,
        "amount": Money(batch.control_sum, batch.debtor_currency),
        "count": batch.number_of_transactions,
        "planned": batch.execution_date,
        "on": find_execution_day(bank, batch.execution_date) or bank.clock.today,
        "first": batch.transfers[:TRANSFERS_SHOWN],
    }


def _describe_refused_bulk(part: Batch) -> dict[str, Any]:
    batch = part.batch
    return {
        "name": batch.payment_information_id,
        "amount": Money(batch.control_sum, "EUR"),
        "count": batch.number_of_transactions,
        "faults": part.findings.count,
    }


VIEWS: dict[InitiationKind, Callable[[Bank, Any, Debtor | None], InitiationView]] = {
    kinds.PAYMENT: _make_payment_view,
    kinds.STANDING_ORDER: _make_order_view,
    kinds.BULK: lambda bank, file, debtor: _make_file_view(bank, file, file.payable_parts),
}


def make_consent_view(bank: Bank, session: Session, address: ConsentAddress) -> ConsentView:
    renewed = bank.consents[address.renews] if address.renews else None
    until = renewed.until if renewed else bank.clock.now + bank.decisions.consent_life
    return ConsentView(
        address,
        find_tpp_name(bank, address.client_id),
        list_account_choices(bank, session.customer) if session.customer else [],
        [bank.accounts[iban] for iban in session.chosen],
        bank.decisions.consent_life.days,
        find_brussels_date(until),
        bank.decisions.sca_renewal_after.days,
        _find_date_of_replaced_consent(bank, address, session.customer),
    )


def list_account_choices(bank: Bank, customer: str) -> list[AccountChoice]:
    return [
        AccountChoice(account, [bank.ledger.read_balance(account.iban, currency) for currency in account.currencies])
        for account in consents.list_choosable_accounts(bank, customer)
    ]


def _find_date_of_replaced_consent(bank: Bank, address: ConsentAddress, customer: str | None) -> date | None:
    if customer is None or address.renews is not None:
        return None
    consent_id = bank.consent_of.get((address.client_id, customer, address.scope, address.iban))
    valid = (consent for consent in consents.list_valid_consents(bank, customer) if consent.id == consent_id)
    return next((find_brussels_date(consent.given) for consent in valid), None)


# Pages


class MethodChoice(NamedTuple):
    """The customer's signing methods, and the method in use. If the method in use is an app, also the approval for
    which the customer is asked in that app."""

    offers: tuple[Offer, ...] = ()  # each with the reason for which it is refused
    method: str = CARD_READER  # as the customer chose, else the first that is permitted
    approval: str | None = None
    compare: str | None = None
    seconds_left: int = 0
    numbers: tuple[str, ...] = ()  # among which the customer chooses in the identity app
    tries_left: int = 0  # after a wrong number there


class PayeeView(NamedTuple):
    """The verification of payee for one beneficiary."""

    name: str  # as the TPP sent it
    iban: str
    check: PayeeCheck
    is_stopped: bool  # the customer can only leave


class CompartmentOption(NamedTuple):
    """A compartment that the PSU may choose."""

    account: Account
    currency: str
    balance: Money
    available: Money

    @property
    def value(self) -> str:
        """The value by which the form names the compartment."""
        return f"{self.account.iban} {self.currency}"


@dataclass(frozen=True, slots=True)
class SigningPage:
    session: Session
    origin: Origin | ConsentAddress  # the TPP, its language, and its address for the callback
    kind: str  # the variant of the sentences
    view: View
    tpp: str
    customers: list[Customer]
    customer: Customer | None  # who is logged in
    likely: str | None  # the customer whom the initiation or the address concerns
    methods: MethodChoice
    ends_in: int | None  # seconds until its address ends, or what waits in an app; None in the channel without an app
    id: str = ""  # of an initiation, as all that follows
    options: tuple[CompartmentOption, ...] = ()
    signers: tuple[str, ...] = ()
    signatures_required: int = 1
    payee: PayeeView | FilePayees | None = None  # what the customer has to see before they sign

    @property
    def language(self) -> str | None:
        """The language that the TPP asked for, else the language of the customer who logged in or, before the log-in,
        of the customer who probably signs. None if no language is known (choice 2)."""
        likely = next((customer for customer in self.customers if customer.id == self.likely), None)
        reader = self.customer or likely
        return self.origin.language or (reader.language if reader else None)

    @property
    def chosen_option(self) -> str:
        """The value by which the form names the compartment that the PSU has chosen, or an empty text if the PSU has
        not chosen."""
        debtor = self.session.debtor
        return f"{debtor.iban} {debtor.currency}" if debtor else ""

    @property
    def is_chosen(self) -> bool:
        return self.session.debtor is not None or bool(self.session.chosen)


def find_session(bank: Bank, session_id: str, address: str) -> Session | None:
    """Returns a copy of the session. Returns None if there is no such session, or if it belongs to another address."""
    session = bank.sessions.get(session_id)
    return copy(session) if session is not None and session.address == address else None


def make_page_in_app(bank: Bank, approval: str) -> SigningPage:
    """Returns the page of the initiation or consent that the customer is asked to approve in the app. Raises Refusal if
    the approval is over."""
    session = confirmations.find_waiting_session(bank, approval)
    initiation = confirmations.make_approval_request(bank, session).initiation
    return make_signing_page(bank, session, initiation or consent_sessions.find_waiting_address(bank, session.address))


def make_signing_page(bank: Bank, session: Session, subject: Initiation | ConsentAddress) -> SigningPage:
    initiation = None if isinstance(subject, ConsentAddress) else subject
    origin = subject if isinstance(subject, ConsentAddress) else subject.origin
    address = bank.sca_addresses.get(session.address) or bank.consent_addresses.get(session.address)
    methods = list_methods(bank, session, initiation)
    ends = [count_seconds_until(bank, address.until)] if address else []
    ends += [methods.seconds_left] if methods.seconds_left else []
    page = SigningPage(
        session=copy(session),
        origin=origin,
        kind=find_kind(subject),
        view=make_consent_view(bank, session, subject)
        if isinstance(subject, ConsentAddress)
        else make_view(bank, subject, session.debtor),
        tpp=find_tpp_name(bank, origin.client_id),
        customers=list(bank.customers.values()),
        customer=bank.customers[session.customer] if session.customer else None,
        likely=guess_customer(bank, subject),
        methods=methods,
        ends_in=min(ends, default=None),
    )
    if initiation is None:
        return page
    debtor = session.debtor or initiation.debtor
    return replace(
        page,
        id=initiation.id,
        options=_list_options(bank, session.customer, initiation),
        signers=tuple(bank.customers[name].name for name in initiation.signatures),
        signatures_required=find_behaviour(initiation).signatures_required(bank, initiation, debtor),
        payee=_make_payee_view(bank, initiation),
    )


def _make_payee_view(bank: Bank, initiation: Initiation) -> PayeeView | FilePayees | None:
    if isinstance(initiation, BulkFile):
        return initiation.payees
    check = payee_checks.find_check(bank, initiation)
    if check is None:
        return None
    order = initiation.order
    iban = order.creditor.iban if isinstance(order, PaymentRequest) else order.creditor_iban
    return PayeeView(order.creditor_name, iban or "", check, payee_checks.is_stopped(bank, check))


def find_kind(subject: Initiation | ConsentAddress) -> str:
    """Returns the kind by which the pages choose their sentences: `consent` or `renewal`, or the word for the
    initiation's kind."""
    if isinstance(subject, ConsentAddress):
        return "renewal" if subject.renews else "consent"
    return subject.kind.words


def find_tpp_name(bank: Bank, client_id: str) -> str:
    client = bank.clients.get(client_id)
    return client.name if client else client_id


def guess_customer(bank: Bank, subject: Initiation | ConsentAddress) -> str | None:
    """Returns the customer who probably signs, or None if the customer cannot be guessed. For an initiation, this is
    the customer of its access token. Without a token, it is the first owner of the named account, or for a file the
    first customer who may sign the whole file. For a consent, this is the customer whose consent is renewed, or the
    first owner of the named account."""
    if isinstance(subject, ConsentAddress):
        return consents.guess_customer(bank, subject)
    if subject.origin.customer is not None:
        return subject.origin.customer
    behaviour = find_behaviour(subject)
    if subject.kind.one_account:
        return behaviour.owner(bank, subject)
    return next(iter(behaviour.may_sign(bank, subject)), None)


def _list_options(bank: Bank, customer: str | None, initiation: Initiation) -> tuple[CompartmentOption, ...]:
    """Returns the compartments from which the customer may choose, or none before the log-in. They belong to accounts
    with online access. A SEPA initiation is paid only in euro (service 2.1 rule 1)."""
    return tuple(
        CompartmentOption(
            account, currency, bank.ledger.read_balance(*debtor), accounts.compute_available_funds(bank, debtor)
        )
        for account in (signing.list_signing_accounts(bank, customer) if customer else ())
        if account.online
        for currency in account.currencies
        if currency == "EUR" or not initiation.sepa
        for debtor in (Debtor(account.iban, currency),)
    )


def count_seconds_until(bank: Bank, end: datetime) -> int:
    """Returns the bank time that is left until `end` in whole seconds, rounded up, or 0 if no time is left."""
    return max(0, math.ceil((end - bank.clock.now).total_seconds()))


def list_methods(bank: Bank, session: Session, initiation: Initiation | None) -> MethodChoice:
    """Returns the customer's signing methods, the method in use, and the approval that waits in an app. If the bank
    refuses a method because of a risk, its offer has the reason. Before the log-in, no methods are known. If the
    customer chose a method for another initiation in the channel, this choice and its approval do not count."""
    if session.customer is None:
        return MethodChoice()
    methods = signing_methods.list_offers(bank, SigningAttempt(session.customer, initiation, session.debtor))
    offers = tuple(offer for offer in methods if offer.cause not in ("inactive", "bank"))
    first = next((offer.method for offer in offers if not offer.cause), CARD_READER)
    if session.subject is not None and (initiation is None or initiation.id != session.subject):
        return MethodChoice(offers, first)  # the method was chosen for another initiation in the channel
    until = session.approval_until
    seconds_left = 0 if until is None else count_seconds_until(bank, until)
    # A wrong number drops the approval, and nothing else does while the customer and the method stay.
    is_wrong = session.method == IDENTITY_APP and session.approval is None
    return MethodChoice(
        offers,
        session.method or first,
        session.approval,
        session.compare,
        seconds_left,
        session.numbers,
        bank.decisions.wrong_codes_max - session.wrong if is_wrong else 0,
    )
