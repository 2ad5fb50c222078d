"""Rules of a scenario: when an initiation looks like this, then let it go like that (choice 13)."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase

from sandbox.rules.lifecycle import Status
from sandbox.settings import Settings

KINDS = ("payment", "standing_order", "bulk", "consent")


@dataclass(frozen=True, slots=True)
class AmountIs:
    """A bound or a value; all that are given must hold."""

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
class When:
    """What an initiation must look like; what is left out always fits. Names with a * are patterns."""

    kind: str | None = None
    product: str | None = None
    client: str | None = None
    customer: str | None = None
    debtor: str | None = None
    creditor_iban: str | None = None
    creditor_name: str | None = None
    amount: AmountIs | None = None
    currency: str | None = None
    endtoend_identification: str | None = None
    nth: int | None = None  # of the initiations that fit the rest
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Then:
    """A move that happens some time after a status was reached."""

    on: Status
    move: Status
    after: timedelta = timedelta()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Psu:
    """A customer who needs no browser."""

    does: str  # approves, refuses, never, or wrong_code
    customer: str | None = None
    account: str | None = None  # an IBAN
    accounts: tuple[str, ...] = ()
    after: timedelta = timedelta()
    then: "Psu | None" = None  # the second signer


@dataclass(frozen=True, slots=True)
class Added:
    """A finding that a scenario adds to a file; `bulk` counts from 1, 0 is the whole file."""

    bulk: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """First match wins; the title is what explain and the journal tell."""

    title: str
    when: When
    then: tuple[Then, ...] = ()
    timings: tuple[tuple[str, timedelta], ...] = ()
    psu: Psu | None = None
    validation: tuple[Added, ...] = ()
    refuse: str | None = None  # the name of a row of the catalogue

    def settings(self, settings: Settings) -> Settings:
        """The bank's settings with this rule's timings."""
        return replace(settings, **dict(self.timings)) if self.timings else settings


@dataclass(frozen=True, slots=True)
class Looks:
    """What a rule may look at; what is not known yet fits no rule that asks for it."""

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


# The conditions that are patterns or words, by the name that both sides share.
WORDS = ("kind", "product", "client", "customer", "debtor", "creditor_iban", "creditor_name", "currency")
PATTERNS = (*WORDS, "endtoend_identification")


def fits(when: When, looks: Looks, now: datetime) -> bool:
    """All but `nth`."""
    for name in PATTERNS:
        wanted = getattr(when, name)
        if wanted is not None and not fnmatchcase(getattr(looks, name) or "", wanted):
            return False
    if when.amount is not None and (looks.amount is None or not when.amount.holds(looks.amount)):
        return False
    return (when.since is None or now >= when.since) and (when.until is None or now < when.until)


@dataclass(slots=True)
class Rulebook:
    """The rules of a bank, and how often each was met."""

    rules: tuple[Rule, ...] = ()
    met: dict[int, int] = field(default_factory=dict)

    def first(self, looks: Looks, now: datetime) -> int | None:
        """The number of the first rule that fits; counts for `nth` as it goes."""
        for number, rule in enumerate(self.rules):
            if not fits(rule.when, looks, now):
                continue
            if rule.when.nth is not None:
                self.met[number] = self.met.get(number, 0) + 1
                if self.met[number] != rule.when.nth:
                    continue
            return number
        return None
