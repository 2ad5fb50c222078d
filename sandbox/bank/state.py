"""The class `Bank`: the registers of one bank, its clock, and the function `move`, which alone changes a status."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sandbox.bank.bounded_registers import TrackedDict
from sandbox.bank.clock import Agenda, Clock
from sandbox.bank.habits import Habits
from sandbox.bank.ledger import Books, Compartment, Ledger
from sandbox.bank.mint import Mint
from sandbox.bank.records import (
    AcceptedRequest,
    Account,
    Batch,
    BulkFile,
    CallbackNote,
    Code,
    Consent,
    ConsentAddress,
    Customer,
    Fact,
    Initiation,
    PairKey,
    Payment,
    Refund,
    RegisteredClient,
    ScaAddress,
    ScaToken,
    Session,
    StandingOrder,
    Subject,
    TokenPair,
    list_cancellation_facts,
)
from sandbox.bank.rules import Rulebook, ScenarioRule
from sandbox.contract import moves
from sandbox.contract.decisions import Decisions, note_reads, with_changes
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.moves import Status, Trigger


class Bank:
    """All state of one bank. It depends only on the bank's beginning (fixtures, scenario, seed, settings) and its acts
    (the logged calls that changed it). A register is a dict of records by id.

    All public attributes except `decisions` together are the state that is stored and compared.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_note",
        "decisions",
    )  # not state: not stored, not compared

    decisions: Decisions  # the settings, by which it decides; reading one is noted
    _note: Callable[[str], None] | None

    def __new__(cls, *args: object, **kwargs: object) -> "Bank":
        bank = super().__new__(cls)
        bank._note = None
        return bank

    def __init__(
        self,
        opening: datetime,
        seed: int,
        settings: Decisions,
        customers: dict[str, Customer],
        accounts: dict[str, Account],
        clients: dict[str, RegisteredClient],
        past_of: Callable[[], Books],
        habits: Habits,
        rules: tuple[ScenarioRule, ...] = (),
        secret: str = "",
    ) -> None:
        self.settings = settings
        self.clock = Clock(opening)
        self.agenda = Agenda()
        self.mint = Mint(seed, secret=secret)
        self.ledger = Ledger(past_of)
        self.habits = habits
        self.journal: list[Fact] = []
        self.rulebook = Rulebook(rules)
        self.rule_at_work: str | None = None  # the title of the rule that makes the moves now
        self.callbacks: list[CallbackNote] = []  # where customers without a browser were sent back to
        self.customers = customers
        self.accounts = accounts
        self.clients = clients
        self.payments: dict[str, Payment] = {}
        self.standing_orders: dict[str, StandingOrder] = {}
        self.bulks: dict[str, BulkFile] = {}
        self.files_waiting: dict[str, int] = {}  # of the files that are not validated yet: their bytes, packed
        self.message_ids: dict[tuple[str, str], str] = TrackedDict()  # of files that were taken, by client
        # The TPP's own references: (client, kind, reference) to the ids that bear it.
        self.references: dict[tuple[str, str, str], tuple[str, ...] | list[str]] = TrackedDict()
        self.sca_addresses: dict[str, ScaAddress] = {}
        self.asked: dict[tuple[str, str], AcceptedRequest] = {}
        self._begin_grants()
        # Payments and files with one signature that need more; a dict keeps their order.
        self.partly_signed: dict[str, None] = {}
        # The amounts of signed payments that are not executed yet: those of today, and those of a later day.
        self.reserved: dict[Compartment, Decimal] = {}
        self.reserved_later: dict[Compartment, Decimal] = {}
        self.refunds: dict[str, Refund] = {}  # scheduled ones, by the reference of the line or the id of the payment
        self.spent: dict[tuple[str, date], Decimal] = {}
        # The initiations that leave from a customer's accounts: by customer, payments and files, or orders.
        self.leaving_from: dict[tuple[str, str], list[str]] = {}
        self.beneficiaries: dict[tuple[str, str], None] = {}  # customers, and whom they paid by a signature

    def _begin_grants(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.approvals: dict[str, str] = {}  # what apps have to approve, to the sessions whose pages wait
        self.codes: dict[str, Code] = {}
        self.flows: dict[str, tuple[str, str | None]] = TrackedDict()  # of each client's last flow: code and state
        self.pairs: dict[PairKey, TokenPair] = {}
        self.newest_pair: dict[tuple[str, str], PairKey] = TrackedDict()  # of a client and scope
        # Every token ever given, by the pair that it belongs or belonged to.
        self.access_tokens: dict[str, PairKey] = TrackedDict()
        self.refresh_tokens: dict[str, PairKey] = TrackedDict()
        self.sca_tokens: dict[str, ScaToken] = {}
        self.consent_addresses: dict[str, ConsentAddress] = {}
        self.answered: dict[str, str] = {}  # consent addresses that were used, and how
        self.consents: dict[str, Consent] = {}
        self.consent_of: dict[PairKey, str] = TrackedDict()  # the newest consent of a client, PSU and scope

    @property
    def settings(self) -> Decisions:
        """The decisions of the bank. Reading a field here does not call the function that `note_decisions` sets.
        Reading it from `decisions` does."""
        settings: Decisions = self.__dict__["settings"]
        return settings

    @settings.setter
    def settings(self, settings: Decisions) -> None:
        self.__dict__["settings"] = settings
        self.decisions = self._copy_noting(settings)

    def note_decisions(self, note: Callable[[str], None]) -> None:
        """Sets the function that is called when a field of an axis is read from `decisions`. The function gets the name
        of the field. An axis is a decision that has a few named values. If all axes have their default values, only the
        first read of each field is reported. Otherwise every read is reported."""
        self._note = note
        self.decisions = self._copy_noting(self.settings)

    def _copy_noting(self, decisions: Decisions) -> Decisions:
        return decisions if self._note is None else note_reads(decisions, self._note)

    @property
    def next_at(self) -> datetime | None:
        """The time of the next scheduled event or habit of a customer, or None if there is neither."""
        promises = self.agenda.promises
        promised = promises[0].at if promises else None
        habit = None if self.habits.since is None else self.habits.next_at
        if promised is None or habit is None:
            return habit if promised is None else promised
        return min(promised, habit)

    @property
    def made(self) -> int:
        """The number of ids, journal lines and postings made so far. The log stores it with each act. A replay compares
        it with the stored number, and so detects an act with another result."""
        return self.mint.asked + len(self.journal) + self.ledger.posted

    def find_subject(self, subject_id: str) -> Subject | None:
        """Returns the initiation or the batch of a file with that id, or None."""
        initiation = self.find_initiation(subject_id)
        if initiation is None and "/" in subject_id:
            return self._find_batch(*subject_id.split("/", 1))
        return initiation

    def find_initiation(self, subject_id: str) -> Initiation | None:
        """Returns the initiation with that id, or None. A batch of a file is not an initiation."""
        return self.payments.get(subject_id) or self.standing_orders.get(subject_id) or self.bulks.get(subject_id)

    def find_register(self, kind: InitiationKind) -> Mapping[str, Initiation]:
        register: Mapping[str, Initiation] = getattr(self, kind.register)
        return register

    def _find_batch(self, bulk_id: str, number: str) -> Batch | None:
        """Returns a batch of a file, or None. `number` comes from callers and can be any text."""
        bulk = self.bulks.get(bulk_id)
        place = int(number) if bulk and number.isascii() and number.isdecimal() and len(number) < 10 else 0
        return bulk.parts[place - 1] if bulk and 0 < place <= len(bulk.parts) else None

    def demand_subject(self, subject_id: str) -> Subject:
        subject = self.find_subject(subject_id)
        assert subject is not None, f"nothing is called {subject_id}"
        return subject

    def can(self, subject: Subject, trigger: Trigger) -> bool:
        """Whether the table of moves permits the trigger in the present status of the subject."""
        return moves.find_move(subject.path, subject.status, trigger, subject) is not None

    def begin(self, subject: Subject) -> None:
        """Writes the first line of the journal about an initiation."""
        self._write(subject, Trigger.RECEIVED, None, subject.status, None)

    def move(self, subject: Subject, trigger: Trigger, reason: str | None = None) -> None:
        """Changes the status of a subject by a row of the table of moves, and adds a line to the journal. Raises a
        Refusal if the table has no row for the present status and the trigger."""
        row = moves.find_move(subject.path, subject.status, trigger, subject)
        if row is None:
            decided_by = list_cancellation_facts(subject)
            raise Refusal(Error.NOT_CANCELLABLE, status=subject.status, subject=subject.id, decided_by=decided_by)
        self._write(subject, trigger, subject.status, row.target, reason)
        subject.status = row.target
        subject.reason = reason
        if row.target is not Status.PATC:  # signed, cancelled or timed out: it waits in nobody's channel any more
            self.partly_signed.pop(subject.id, None)

    def note(self, subject: Subject, trigger: Trigger, reason: str | None) -> None:
        """Adds a line to the journal without a change of status."""
        self._write(subject, trigger, subject.status, subject.status, reason)

    def note_change(self, name: str, trigger: Trigger, reason: str | None) -> None:
        """Adds a line to the journal about a customer or an account."""
        self.journal.append(Fact(len(self.journal) + 1, self.clock.now, name, trigger, None, None, reason))

    def _write(
        self, subject: Subject, trigger: Trigger, source: Status | None, target: Status, reason: str | None
    ) -> None:
        rule = self.find_title(subject) if source is None else self.rule_at_work
        fact = Fact(len(self.journal) + 1, self.clock.now, subject.id, trigger, source, target, reason, rule)
        self.journal.append(fact)
        subject.history = (*subject.history, fact)
        if source is not target and subject.rule is not None:
            self._promise_by_rule(subject, target)

    def _promise_by_rule(self, subject: Initiation, status: Status) -> None:
        """Schedules what the initiation's rule demands after the new status: moves, returns of money, and acts of the
        simulated customer."""
        rule = self.rulebook.rules[subject.rule or 0]
        for then in rule.then:
            if then.on is status:
                self.agenda.add(then.compute_due_time(self.clock.now), subject.id, Trigger.RULED)
        if rule.psu is not None and status is subject.kind.waits:
            self.agenda.add(self.clock.now + rule.psu.after, subject.id, Trigger.PSU_ACTS)

    def find_title(self, subject: Subject) -> str | None:
        """Returns the title of the rule that matched a subject, or None."""
        return None if subject.rule is None else self.rulebook.rules[subject.rule].title

    def find_decisions(self, subject: Initiation) -> Decisions:
        """Returns the decisions that apply to an initiation: those of the bank, with the timings of the rule that it
        matched, if any."""
        return self.find_decisions_of_rule(subject.rule)

    def find_decisions_of_rule(self, rule: int | None) -> Decisions:
        if rule is None or not self.rulebook.rules[rule].timings:
            return self.decisions
        return self._copy_noting(self.rulebook.rules[rule].with_timings(self.settings))


def change_settings(bank: Bank, changes: tuple[tuple[str, Any], ...]) -> None:
    """Changes settings from now on. Scheduled events keep their times. A change of `life` also switches the habits of
    all customers on or off."""
    before = bank.settings.life
    bank.settings = with_changes(bank.settings, dict(changes))
    if bank.settings.life != before:
        bank.habits.switch(bank, bank.settings.life == "on", bank.clock.now)
