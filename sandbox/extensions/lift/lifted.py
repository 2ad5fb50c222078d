"""The result of a lift so far, and the subjects of the recorded calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.client.reply import sca_link
from sandbox.extensions.lift.har import Recorded
from sandbox.extensions.lift.pseudonyms import Pseudonyms

Step = dict[str, Any]
Make = Callable[["Lift", Recorded], Step | None]
UNKNOWN = "unknown"  # a token, id or account that the record does not explain
CUSTOMER = "alice"  # signs where the record does not say who did


@dataclass
class LiftedSubject:
    """An initiation or a consent of the record."""

    name: str
    status: str = ""
    is_approved: bool = False
    has_debtor: bool = False
    verifier: str | None = None  # where the lifted call has a challenge of its own
    last: Step | None = None  # what the last step about it takes
    approval: Step | None = None  # what its customer did, as the record does not say who it was
    accounts: list[str] = field(default_factory=list)  # that were read with its tokens
    is_of_one_account: bool = False  # a CAF consent: its account is given


@dataclass
class Lift:
    """The result of a lift so far."""

    names: Pseudonyms
    steps: list[Step] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    subjects: dict[str, LiftedSubject] = field(default_factory=dict)  # by id, address and challenge
    tokens: dict[str, str] = field(default_factory=dict)  # names by access and refresh tokens
    consents: dict[str, LiftedSubject] = field(default_factory=dict)  # by access and refresh tokens
    accounts: dict[str, str] = field(default_factory=dict)  # names by logical-id
    codes: dict[str, LiftedSubject] = field(default_factory=dict)  # by authorization code
    pages: dict[str, str] = field(default_factory=dict)  # names of the steps that brought each next_page_key
    sca_tokens: set[str] = field(default_factory=set)
    twins: list[str] = field(default_factory=list)  # Request-IDs of initiations that came more than once
    has_controls: bool = False  # the record says when time moved and who signed
    has_barriers: bool = False  # the record says which of two calls acted first
    record: Sequence[Recorded] = ()
    followers: dict[str, Recorded] = field(default_factory=dict)  # the calls for a next page, by its key
    retried: dict[str, list[Step]] = field(default_factory=dict)  # faults of calls that came again, by Request-ID
    _count: int = 0

    def new_name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count}"


def keep_subject(found: Lift, call: Recorded, subject: LiftedSubject, subject_id: str | None = None) -> None:
    address = sca_link(call.outcome) or call.reply_headers.get("location")
    for key in (subject_id, address, call.headers.get("code-challenge")):
        if key:
            found.subjects[key] = subject


def token_words(found: Lift, call: Recorded) -> Step:
    """The token of a call under the name of the step that brought it."""
    return {} if call.token is None else {"token": found.tokens.get(call.token, UNKNOWN)}


def approve(found: Lift, subject: LiftedSubject) -> None:
    """Adds the customer's step right after the last one about the subject: the time that follows ends its address."""
    if subject.is_approved or found.has_controls:
        return
    subject.is_approved = True
    subject.approval = {"approves": subject.name} | ({} if subject.has_debtor else {"customer": CUSTOMER})
    name_customer(found, subject)
    places = (at for at, step in enumerate(found.steps, 1) if any(one is subject.last for one in step.values()))
    found.steps.insert(next(places, len(found.steps)), {"psu": subject.approval})


def name_customer(found: Lift, subject: LiftedSubject) -> None:
    """The customer of a consent is who owns the accounts that were read with it."""
    if subject.approval is None or not subject.accounts:
        return
    subject.approval["customer"] = found.names.owner(subject.accounts)
    if not subject.is_of_one_account:
        subject.approval["accounts"] = list(subject.accounts)


def keep_account(found: Lift, call: Recorded, logical_id: str, iban: str) -> None:
    """An account that a reply of the record names."""
    name = found.accounts[logical_id] = found.names.debtor(iban)
    subject = found.consents.get(call.token or "")
    if subject is not None and name not in subject.accounts:
        subject.accounts.append(name)
        name_customer(found, subject)
