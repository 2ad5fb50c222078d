"""The well-known values of a scenario: beneficiary names and TPP references that always lead to the same outcome
(choice 13)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from sandbox.bank.rules import RuleEffect, ScenarioRule
from sandbox.banking.durations import write_duration
from sandbox.contract.errors import Error
from sandbox.contract.kinds import KINDS
from sandbox.contract.products import PRODUCTS
from sandbox.scenarios.model import Scenario
from sandbox.scenarios.reading import load

HEAD = ("write", "as the", "of a", "and", "which gives")


@dataclass(frozen=True, slots=True)
class WellKnownValue:
    """A beneficiary name or a TPP reference, and the outcome that an initiation with it always has."""

    value: str
    field: str  # where to write it: creditor_name, or reference
    kinds: tuple[str, ...]  # payment, standing_order, bulk, consent, direct_debit
    product: str | None
    effect: str
    outcome: str  # statuses and codes, with the marks of Markdown
    rule: ScenarioRule

    @property
    def kind_words(self) -> str:
        words = " or ".join(KINDS[kind].label if kind in KINDS else kind.replace("_", " ") for kind in self.kinds)
        return f"{words} ({self.product})" if self.product else words

    @property
    def currency(self) -> str:
        """The currency that a payment with this value can have: EUR, or USD for a product that is not SEPA."""
        return "EUR" if self.product is None or PRODUCTS[self.product].sepa else "USD"

    @property
    def plain_outcome(self) -> str:
        return self.outcome.replace("`", "")


def list_values(rules: Iterable[ScenarioRule]) -> Iterator[WellKnownValue]:
    """Yields the well-known value of each rule about one beneficiary name or one reference. Skips rules without such a
    condition, and rules about a pattern."""
    for rule in rules:
        when = rule.when
        value = when.creditor_name or when.endtoend_identification
        if value is None or "*" in value:
            continue
        field = "creditor_name" if when.creditor_name else "reference"
        kinds = ("payment", "standing_order") if when.kind is None else (when.kind,)
        effect = rule.title[:1].lower() + rule.title[1:]
        yield WellKnownValue(value, field, kinds, when.product, effect, _describe_outcome(rule), rule)


@cache
def list_default_values() -> tuple[WellKnownValue, ...]:
    return tuple(list_values(load("default").rules))


def write_markdown(scenario: Scenario) -> str:
    """Returns a table in Markdown with a row for each well-known value of the scenario."""
    lines = [HEAD, ("---",) * len(HEAD)]
    for row in list_values(scenario.rules):
        place = f"`{row.field}`" if row.field == "creditor_name" else row.field
        lines.append((f"`{row.value}`", place, row.kind_words, row.effect, row.outcome))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _describe_outcome(rule: ScenarioRule) -> str:
    """Returns the outcome of a rule as Markdown: statuses and reasons, an error, or the timings that it sets."""
    if rule.refuse is not None:
        row = Error[rule.refuse].value
        return f"{row.status} `{row.error}` `{row.code}`"
    if rule.payee is not None:
        return f"`{rule.payee.outcome}` on the page with `payee_check: page`"
    if rule.unreachable:
        return "refused on the page"
    if rule.then:
        return ", ".join(map(_describe_effect, rule.then))
    if rule.validation:
        return ", ".join("`RJCT`" + (f" of bulk {row.bulk}" if row.bulk else "") for row in rule.validation)
    return ", ".join(f"`{name}` {write_duration(span)}" for name, span in rule.timings)


def _describe_effect(effect: RuleEffect) -> str:
    if effect.back:  # the status stays
        return f"`{effect.on}`, then a {effect.back} `{effect.reason}`"
    return f"`{effect.move}`" + (f" `{effect.reason}`" if effect.reason else "")
