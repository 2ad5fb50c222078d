"""Rules of a scenario: conditions on an initiation, and the effects on an initiation that meets them (choice 13)."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any

from sandbox.bank.records import Origin, PaymentRequest, StandingOrderRequest
from sandbox.banking import patterns
from sandbox.banking.calendar import move_to_banking_day
from sandbox.banking.payees import PayeeCheck
from sandbox.contract import kinds
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import EUR
from sandbox.contract.moves import Status

KINDS = (*kinds.KINDS, "consent")  # what a TPP asks for
DEBIT = "direct_debit"  # a habit of a customer; only rules that say so are about it

# Values for the facts that an error's text may name, when a scenario refuses and no real values exist.
NAMED = ("iban", "country", "currency", "client", "status", "method")
BARE: dict[str, Any] = {"seconds": 5, "allow": "", "expected": "another"}


@dataclass(frozen=True, slots=True)
class AmountCondition:
    """Conditions on an amount. A condition that is None always fits."""

    equal: Decimal | None = None
    over: Decimal | None = None
    under: Decimal | None = None

    def holds(self, number: Decimal) -> bool:
        return (
            (self.equal is None or number == self.equal)
            and (self.over is None or number > self.over)
            and (self.under is None or number < self.under)
        )


@dataclass(frozen=True, slots=True)
class RuleCondition:
    """The conditions of a rule on an initiation. A condition that is None always fits. Texts with `*`, `?` or `[` are
    patterns."""

    kind: str | None = None
    product: str | None = None
    client: str | None = None
    customer: str | None = None
    debtor: str | None = None
    creditor_iban: str | None = None
    creditor_name: str | None = None
    amount: AmountCondition | None = None
    currency: str | None = None
    endtoend_identification: str | None = None
    nth: int | None = None  # counts the initiations that fit all other conditions
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """An effect of a rule. It is due when the time `after` has passed since the initiation reached the status `on`. The
    effect moves the initiation to another status, or returns its money. A return of money changes no status."""

    on: Status
    move: Status
    after: timedelta = timedelta()
    reason: str | None = None
    back: str = ""  # return, recall or refund; after a direct debit the status means nothing

    def compute_due_time(self, reached: datetime) -> datetime:
        """Returns when the effect is due. `reached` is the time at which the initiation reached the status `on`. Money
        is returned only on banking days."""
        at = reached + self.after
        return move_to_banking_day(at) if self.back else at


@dataclass(frozen=True, slots=True)
class Psu:
    """How a simulated customer acts without a browser."""

    does: str  # approves, refuses, never, or wrong_code
    customer: str | None = None
    account: str | None = None  # an IBAN
    accounts: tuple[str, ...] = ()
    after: timedelta = timedelta()
    then: "Psu | None" = None  # the second signer


@dataclass(frozen=True, slots=True)
class AddedFinding:
    """A finding (a fault) that a scenario adds to a bulk file. `bulk` is the number of the batch, counted from 1, or 0
    for the whole file."""

    bulk: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ScenarioRule:
    """A rule of a scenario. Only the first rule that fits an initiation applies. The journal and refusals show the
    title of the rule."""

    title: str
    when: RuleCondition
    then: tuple[RuleEffect, ...] = ()
    timings: tuple[tuple[str, timedelta], ...] = ()
    psu: Psu | None = None
    validation: tuple[AddedFinding, ...] = ()
    refuse: str | None = None  # the name of a row of the catalogue
    payee: PayeeCheck | None = None  # the outcome of the verification of payee
    unreachable: bool = False  # the beneficiary's bank takes no instant payments

    def with_timings(self, decisions: Decisions) -> Decisions:
        """Returns the decisions with this rule's timings."""
        timings: dict[str, Any] = dict(self.timings)
        return replace(decisions, **timings)


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """The facts of an initiation that the conditions of rules are compared with. A fact that is None is unknown and
    fails each condition on it."""

    kind: str
    client: str
    product: str | None = None
    customer: str | None = None
    debtor: str | None = None
    creditor_iban: str | None = None
    creditor_name: str | None = None
    amount: Decimal | None = None
    currency: str | None = None
    endtoend_identification: str | None = None


def make_rule_facts(order: PaymentRequest | StandingOrderRequest, origin: Origin) -> RuleFacts:
    return RuleFacts(
        kinds.STANDING_ORDER.name if isinstance(order, StandingOrderRequest) else kinds.PAYMENT.name,
        origin.client_id,
        order.product,
        customer=origin.customer,
        debtor=order.debtor.iban if order.debtor else None,
        creditor_iban=order.creditor_iban if isinstance(order, StandingOrderRequest) else order.creditor.iban,
        creditor_name=order.creditor_name,
        amount=order.amount.number if order.amount else None,
        currency=order.amount.currency if order.amount else EUR,
        endtoend_identification=order.endtoend_identification,
    )


# The conditions that are patterns or words. RuleCondition and RuleFacts have the same field names.
WORDS = ("kind", "product", "client", "customer", "debtor", "creditor_iban", "creditor_name", "currency")
PATTERNS = (*WORDS, "endtoend_identification")
texts_of = attrgetter(*PATTERNS)


def list_text_conditions(when: RuleCondition) -> tuple[tuple[str, str, bool], ...]:
    """Returns the conditions of a rule on texts. Each is the name of the fact, the expected text, and whether this text
    is a pattern."""
    texts = zip(PATTERNS, texts_of(when), strict=True)
    return tuple((name, text, patterns.is_pattern(text)) for name, text in texts if text is not None)


def fits(when: RuleCondition, texts: tuple[tuple[str, str, bool], ...], facts: RuleFacts, now: datetime) -> bool:
    """Whether the facts meet all conditions of a rule except `nth`. A direct debit meets only rules of the kind
    `direct_debit`. `texts` are the rule's conditions on texts, from `list_text_conditions`."""
    if facts.kind == DEBIT and when.kind != DEBIT:
        return False
    for name, pattern, is_pattern in texts:
        value = getattr(facts, name)
        if value is None or not (patterns.fits(value, pattern) if is_pattern else value == pattern):
            return False
    if when.amount is not None and (facts.amount is None or not when.amount.holds(facts.amount)):
        return False
    return (when.since is None or now >= when.since) and (when.until is None or now < when.until)


@dataclass(slots=True)
class Rulebook:
    """The rules of a bank. `met` has, for each rule with `nth`, the number of initiations that fitted its other
    conditions."""

    rules: tuple[ScenarioRule, ...] = ()
    met: dict[int, int] = field(default_factory=dict)
    _asked: tuple[tuple[tuple[str, str, bool], ...], ...] = ()
    _by_name: dict[str | None, list[int]] = field(default_factory=dict)  # the creditor's; None: rules that ask no name
    _of_payees: tuple[int, ...] = ()  # the rules that decide a verification of payee

    def __post_init__(self) -> None:
        self._asked = tuple(list_text_conditions(rule.when) for rule in self.rules)
        self._by_name = {}
        self._of_payees = tuple(number for number, rule in enumerate(self.rules) if rule.payee is not None)
        for number, texts in enumerate(self._asked):
            exact = (pattern for name, pattern, is_pattern in texts if name == "creditor_name" and not is_pattern)
            self._by_name.setdefault(next(exact, None), []).append(number)

    def find_first_match(
        self, facts: RuleFacts, now: datetime, before: RuleFacts | None = None
    ) -> tuple[int | None, bool]:
        """Returns the number of the first rule that fits, or None. A rule with `nth` fits only the n-th initiation that
        meets its other conditions. The second value says whether the count of such a rule has changed.

        `before` are the facts of an earlier call for the same initiation. Rules that fit these earlier facts are
        skipped, because the earlier call has already counted the initiation for them.
        """
        counted = False
        # Without the rules for another creditor's name: most rules ask for one.
        rules_by_name = self._by_name.get(facts.creditor_name, []) if facts.creditor_name is not None else []
        for number in sorted([*self._by_name.get(None, []), *rules_by_name]):
            rule, texts = self.rules[number], self._asked[number]
            if not fits(rule.when, texts, facts, now) or (before and fits(rule.when, texts, before, now)):
                continue
            if rule.when.nth is not None:
                counted = True
                self.met[number] = self.met.get(number, 0) + 1
                if self.met[number] != rule.when.nth:
                    continue
            return number, counted
        return None, counted

    def find_payee_check(self, kind: str, iban: str, name: str, now: datetime) -> PayeeCheck | None:
        """Returns the outcome of a verification of payee that the first fitting rule sets, or None if no rule fits. A
        rule with a condition on anything but the kind, the payee and the time does not fit. So no rule with `nth` fits,
        and nothing is counted in `met`."""
        facts = RuleFacts(kind, "", creditor_iban=iban, creditor_name=name)
        for number in self._of_payees:
            rule = self.rules[number]
            if rule.when.nth is None and fits(rule.when, self._asked[number], facts, now):
                return rule.payee
        return None

    def match_or_refuse(self, facts: RuleFacts, now: datetime, before: RuleFacts | None = None) -> int | None:
        """Returns the number of the first rule that fits, or None. Raises a Refusal if that rule refuses.

        A refused initiation still counts for `nth`. Rules are matched at the initiation, and again at the signature,
        when the customer is known. At the signature, `before` has the facts of the initiation. Rules that fit `before`
        are then skipped, so that no rule counts an initiation twice.
        """
        number, counted = self.find_first_match(facts, now, before)
        rule = None if number is None else self.rules[number]
        if rule is not None and rule.refuse is not None:
            inputs: dict[str, Any] = dict.fromkeys(NAMED, "of this call") | BARE
            inputs |= {"input": "initiation", "why": f"the scenario says so ({rule.title})", "rule": rule.title}
            raise Refusal(Error[rule.refuse], lasting=counted, **inputs)
        return number
