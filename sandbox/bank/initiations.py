"""Functions for all kinds of initiations: replies, references, access, Request-IDs and SCA addresses (choice 2, choice
5)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from sandbox.bank import accounts
from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.records import (
    UNSIGNED,
    AcceptedRequest,
    Initiation,
    Origin,
    Payment,
    PaymentRequest,
    ScaAddress,
    StandingOrder,
    StandingOrderRequest,
)
from sandbox.bank.state import Bank
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.moves import Status

CONFLICTS_SHOWN = 10  # ids that a refusal lists if several initiations have the same reference
SEPA_SET = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]*")


@dataclass(frozen=True, slots=True)
class InitiationOutcome:
    """The outcome of an initiation, from which its reply is made. `sca_token` is the last part of the SCA address."""

    payment_id: str
    endtoend_identification: str
    status: Status
    sca_token: str


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The caller, its Request-ID and a fingerprint of the call. The bank recognises a repeated call by them."""

    client_id: str
    request_id: str
    fingerprint: bytes


def register(bank: Bank, subject: Initiation, rule: int | None, group: str, reference: str | None) -> None:
    """Registers an initiation with the rule that it matched, and writes the first line of its journal. `reference` is
    the TPP's own reference, if it has one. `group` is the group of initiations in which this reference is looked up."""
    subject.rule = rule
    getattr(bank, subject.kind.register)[subject.id] = subject
    if reference is not None:
        key = (subject.origin.client_id, group, reference)
        same_reference = bank.references.get(key)
        if isinstance(same_reference, list):
            same_reference.append(subject.id)
        else:  # nearly always the only one: the smaller record
            bank.references[key] = (subject.id,) if same_reference is None else [*same_reference, subject.id]
    if subject.debtor is not None:
        list_for_customers(bank, subject, (subject.debtor.iban,))
    bank.begin(subject)


def list_for_customers(bank: Bank, subject: Initiation, ibans: Iterable[str]) -> None:
    """Adds an initiation to the lists that the owners and signers of its accounts see in the bank's own channel."""
    accounts = (bank.accounts[iban] for iban in ibans if iban in bank.accounts)
    list_name = "orders" if subject.kind is kinds.STANDING_ORDER else "payments"
    for name in dict.fromkeys(name for account in accounts for name in (*account.owners, *account.may_sign)):
        bank.leaving_from.setdefault((name, list_name), []).append(subject.id)


def demand_name(bank: Bank, name: str) -> None:
    """Refuses a name with characters outside the SEPA set if the decision `names` is `sepa` (service 2.1 rule 9)."""
    if SEPA_SET.fullmatch(name) is None and bank.decisions.names == "sepa":
        raise make_invalid("creditor_name", "it has a character outside the SEPA set", "choice 5")


def is_refused_late(bank: Bank, name: str) -> bool:
    """Whether the name has characters outside the SEPA set and the bank refuses them only at the settlement, because
    the decision `names` is `late`."""
    return SEPA_SET.fullmatch(name) is None and bank.decisions.names == "late"


def find_repeated_initiation(
    bank: Bank, order: PaymentRequest | StandingOrderRequest, origin: Origin, group: str, request_key: RequestKey
) -> InitiationOutcome | None:
    """Returns the outcome of an earlier initiation, with a new SCA address, if the call repeats it (service 4.6). This
    is so if the client's newest initiation with this reference is unsigned and has the same content and origin. If the
    decision `reinitiation` is `new`, no call counts as a repetition.

    Otherwise returns None, or raises a Refusal if the reference was used before and the decision `duplicate_external`
    is `refused`.
    """
    same_reference = bank.references.get((origin.client_id, group, order.endtoend_identification), ())
    earlier = bank.find_initiation(same_reference[-1]) if same_reference else None
    if (
        isinstance(earlier, Payment | StandingOrder)
        and earlier.status in UNSIGNED
        and (earlier.order, earlier.origin) == (order, origin)
        and bank.decisions.reinitiation != "new"
    ):
        return answer(bank, request_key, earlier)
    if same_reference and bank.decisions.duplicate_external == "refused":
        raise make_invalid("endtoend_identification", "it was used before", "choice 5")
    return None


def answer(bank: Bank, request_key: RequestKey, initiation: Payment | StandingOrder) -> InitiationOutcome:
    """Returns the outcome of an accepted initiation with a new SCA address, and stores the initiation under the
    Request-ID."""
    token = initiation.sca_token = create_address(bank, initiation.id, bank.find_decisions(initiation).sca_address_life)
    remember(bank, request_key, initiation.id, token)
    return InitiationOutcome(initiation.id, initiation.order.endtoend_identification, initiation.status, token)


def find(
    bank: Bank,
    client_id: str,
    group: str,
    reference: str,
    *,
    external: bool,
    customer: str | None = None,
    field: str = "payment-id",
    deleting: bool = False,
) -> Initiation:
    """Returns the initiation with the bank's id `reference`, or with the TPP's own reference if `external`.

    If several initiations have the TPP's reference, returns the newest of them if the decision `ambiguous_external` is
    `newest` and the call does not delete (`deleting`). Otherwise refuses the reference. Also refuses an unknown
    reference, an initiation of another `group` (such as another payment product), one of another client and, if
    `customer` is given, one of another customer. `field` is the name of the refused input in the Refusal.
    """
    if external:
        fitting = bank.references.get((client_id, group, reference), ())
        if len(fitting) > 1 and not deleting and bank.decisions.ambiguous_external == "newest":
            fitting = fitting[-1:]
        if len(fitting) > 1:
            decided_by = {"fitting": len(fitting), "newest": list(fitting[-CONFLICTS_SHOWN:])}
            raise Refusal(Error.CONFLICT, input=field, decided_by=decided_by)
        reference = fitting[0] if fitting else ""
    subject = bank.find_initiation(reference)
    if subject is None or subject.reference_group != group:
        raise Refusal(Error.NOT_FOUND, input=field)
    if subject.origin.client_id != client_id:
        if bank.decisions.foreign_id == "403":
            raise Refusal(Error.ACCESS_DENIED, input=field, why="it is another client's")
        raise Refusal(Error.NOT_FOUND, input=field)
    if customer is not None and not _belongs_to(bank, subject, customer):
        raise Refusal(Error.ACCESS_DENIED, input=field, why="it is another customer's")
    return subject


def _belongs_to(bank: Bank, subject: Initiation, customer: str) -> bool:
    """Whether the customer is the PSU of the initiation or signed it. If its PSU is not known yet, whether the customer
    may use the account that pays. If no account is known either, returns True."""
    if subject.customer is not None:
        return customer == subject.customer or customer in subject.signatures
    return subject.debtor is None or _may_use(bank, subject.debtor.iban, customer)


def _may_use(bank: Bank, iban: str, customer: str) -> bool:
    """Whether the customer owns the account or signs for it. Also true for an account of another bank."""
    account = bank.accounts.get(iban)
    return account is None or customer in account.may_sign + account.owners


def demand_own(bank: Bank, iban: str, customer: str | None) -> None:
    """Refuses an account that does not belong to the PSU of the call's token. Does nothing if the call has no PSU
    (choice 2)."""
    if customer is not None and not _may_use(bank, iban, customer):
        raise Refusal(Error.ACCESS_DENIED, input=accounts.FIELD, why="it belongs to another customer")


def is_cancelled_again(bank: Bank, initiation: Initiation) -> bool:
    """Whether the bank accepts a second cancellation of this initiation. Returns False if it is not cancelled yet.
    Service 3.4 is silent about a second cancellation, so the decision `cancel_again` applies. For `204` returns True.
    For `404` raises NOT_FOUND. For any other value returns False, and the table of moves then refuses the
    cancellation."""
    if initiation.status is not Status.CANC:
        return False
    match bank.decisions.cancel_again:
        case "204":
            return True
        case "404":
            raise Refusal(Error.NOT_FOUND, input=initiation.kind.id_input)
        case _:
            return False


# A Request-ID is used once. A later identical call gets the reply of the first call (choice 2).


def demand_fresh(bank: Bank, client_id: str, request_id: str) -> None:
    """Refuses a Request-ID that an initiation has used, unless the decision `request_id_reuse` is `allow`."""
    if (client_id, request_id) in bank.asked and bank.decisions.request_id_reuse != "allow":
        decided_by = describe_first_use(bank, bank.asked[client_id, request_id])
        raise Refusal(Error.HEADER_INVALID, input="Request-ID", why="it was used before", decided_by=decided_by)


def find_identical_call(bank: Bank, request_key: RequestKey) -> AcceptedRequest | None:
    """Returns the accepted initiation of the call that first used this Request-ID, if this call is identical to it.

    Returns None if the Request-ID is new, or if the decision `request_id_reuse` is `allow`. Raises a Refusal if the two
    calls differ, or if the decision is `refuse`.
    """
    earlier = bank.asked.get((request_key.client_id, request_key.request_id))
    if earlier is None:
        return None
    reuse = bank.decisions.request_id_reuse
    if reuse == "allow":
        return None
    if earlier.fingerprint == request_key.fingerprint and reuse == "replay":
        return earlier
    reason = "it was used before, for another call"
    raise Refusal(Error.HEADER_INVALID, input="Request-ID", why=reason, decided_by=describe_first_use(bank, earlier))


def describe_first_use(bank: Bank, earlier: AcceptedRequest) -> dict[str, object]:
    """Returns when a Request-ID was first used and for which initiation. A refusal shows these facts as its reason."""
    subject = bank.find_subject(earlier.subject_id)
    when = {} if subject is None or not subject.history else {"first_used": subject.history[0].at}
    return when | {"used_for": earlier.subject_id}


def remember(bank: Bank, request_key: RequestKey, subject_id: str, sca_token: str) -> None:
    """Stores an accepted initiation under its Request-ID. Does not replace an earlier initiation under the same id. If
    too many are stored, drops the oldest."""
    bank.asked.setdefault(
        (request_key.client_id, request_key.request_id), AcceptedRequest(request_key.fingerprint, subject_id, sca_token)
    )
    if len(bank.asked) > bank.decisions.remembered_max:  # a call for each initiation would take time
        forget_oldest(bank.asked, bank.decisions)


# Addresses at which a PSU signs (service 4.6 rule 3, choice 5).


def create_address(bank: Bank, subject_id: str, life: timedelta) -> str:
    """Creates an SCA address for a subject. Returns its token, which the URL contains."""
    token = bank.mint.draw_secret()
    until = bank.clock.now + life
    bank.sca_addresses[token] = ScaAddress(token, subject_id, until)
    return token
