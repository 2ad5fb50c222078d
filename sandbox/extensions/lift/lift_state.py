"""The state of a lift. A lift is one conversion of recorded calls into the steps of a scenario."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sandbox.client.transport import sca_link
from sandbox.extensions.lift.pseudonyms import ScenarioPseudonyms
from sandbox.recordings.recorded_calls import RecordedCall

Step = dict[str, Any]
StepMaker = Callable[["LiftState", RecordedCall], Step | None]
OPENING = datetime.fromisoformat("2027-03-01T09:00:00+01:00")  # the beginning of a record without times
UNKNOWN = "unknown"  # a token, id or account that no earlier call of the record brought
CUSTOMER = "alice"  # signs if the record does not name the customer


@dataclass
class LiftedSubject:
    """An initiation, a consent or a second authentication in the recording. Steps refer to it by its name."""

    name: str
    status: str = ""
    is_approved: bool = False
    has_debtor: bool = False
    verifier: str | None = None  # a fixed PKCE verifier, if the step has one
    last: Step | None = None  # the content of the last step about it
    approval: Step | None = None  # the content of the step that the lift added for its customer
    accounts: list[str] = field(default_factory=list)  # the accounts that were read with its tokens
    is_of_one_account: bool = False  # whether it is a CAF consent, which names one account


@dataclass
class LiftState:
    """The state of a lift: the steps that were made so far, the calls for which no step could be made, and the names of
    steps to which the steps of later calls refer."""

    names: ScenarioPseudonyms
    record: Sequence[RecordedCall]
    has_controls: bool  # whether the record says when time moved and who signed
    has_barriers: bool  # whether the record says which of two calls acted first
    repeated_ids: list[str]  # Request-IDs of initiations that were accepted more than once
    following_pages: dict[str, RecordedCall]  # the calls for a next page, by its key
    steps: list[Step] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    subjects: dict[str, LiftedSubject] = field(default_factory=dict)  # by id, address and challenge
    tokens: dict[str, str] = field(default_factory=dict)  # names of steps by access and refresh tokens
    consents: dict[str, LiftedSubject] = field(default_factory=dict)  # by access and refresh tokens
    accounts: dict[str, str] = field(default_factory=dict)  # the names of accounts, by logical id
    codes: dict[str, LiftedSubject] = field(default_factory=dict)  # by authorization code
    pages: dict[str, str] = field(default_factory=dict)  # names of steps by the next_page_key that they brought
    sca_tokens: set[str] = field(default_factory=set)
    lost_calls: dict[str, list[Step]] = field(default_factory=dict)  # faults of calls that came again, by Request-ID
    names_given: int = 0

    def make_name(self, kind: str) -> str:
        self.names_given += 1
        return f"{kind}-{self.names_given}"

    def add_unexplained(self, call: RecordedCall, reason: str) -> None:
        """Adds a call for which no step can be made, with the reason."""
        self.unexplained.append(f"{call}: {reason}")

    def add_subject(self, call: RecordedCall, subject: LiftedSubject, *more_keys: str) -> None:
        """Stores a subject under several keys: the address in the reply, the PKCE challenge of the call, and
        `more_keys`. Later calls refer to the subject by one of these keys."""
        address = sca_link(call.reply_json) or call.reply_headers.get("location")
        for key in (address, call.headers.get("code-challenge"), *more_keys):
            if key:
                self.subjects[key] = subject

    def make_token_words(self, call: RecordedCall) -> Step:
        """Returns `{"token": NAME}` for a step whose call had an access token. NAME is the step that received this
        token, or `unknown`. Returns `{}` if the call had no token."""
        token = call.access_token
        return {} if token is None else {"token": self.tokens.get(token, UNKNOWN)}

    def approve(self, subject: LiftedSubject) -> None:
        """Inserts a step in which the customer approves the subject, directly behind the last step about the subject.
        There, the address at which the customer approves is still valid.

        Does nothing if the subject is approved already. Also does nothing if the recording has calls of the controls,
        because they show when the customer approved.
        """
        if subject.is_approved or self.has_controls:
            return
        subject.is_approved = True
        subject.approval = {"approves": subject.name} | ({} if subject.has_debtor else {"customer": CUSTOMER})
        self.name_customer(subject)
        places = (at for at, step in enumerate(self.steps, 1) if any(part is subject.last for part in step.values()))
        self.steps.insert(next(places, len(self.steps)), {"psu": subject.approval})

    def name_customer(self, subject: LiftedSubject) -> None:
        """Completes the step in which a customer approves a consent. The customer is the owner of the accounts that
        were read with the consent. Unless the consent is for one account only, the step also gets these accounts. Does
        nothing if there is no such step, or if no account was read yet."""
        if subject.approval is None or not subject.accounts:
            return
        subject.approval["customer"] = self.names.owner(subject.accounts)
        if not subject.is_of_one_account:
            subject.approval["accounts"] = list(subject.accounts)

    def add_account(self, call: RecordedCall, logical_id: str, iban: str) -> None:
        """Stores an account under the logical id that a reply has for it. If the token of the call belongs to a
        consent, adds the account to the accounts of that consent."""
        name = self.accounts[logical_id] = self.names.debtor(iban)
        subject = self.consents.get(call.access_token or "")
        if subject is not None and name not in subject.accounts:
            subject.accounts.append(name)
            self.name_customer(subject)
