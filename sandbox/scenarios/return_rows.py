"""The `then` of a rule: moves, and money that comes back after the settlement or a direct debit (choice 13)."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sandbox.bank.rules import DEBIT, RuleCondition, RuleEffect, ScenarioRule
from sandbox.contract.moves import Status
from sandbox.contract.reasons import CODE_FORM, Reason
from sandbox.reader.scalars import DURATION, exactly_one, one_of, text
from sandbox.reader.shapes import Table
from sandbox.reader.tree import Wrong, join_names

REASON = text(CODE_FORM, Reason.ACCOUNT_CLOSED.code)
STATUS = one_of(Status, "status")
SETTLED = (Status.ACSC, Status.ACSP)
BACK = {"return": ("payment", DEBIT), "recall": ("payment",), "refund": (DEBIT,)}  # and the kinds that know it
# What a rule about a direct debit may look at: it is no TPP's.
OF_DEBITS = ("kind", "customer", "debtor", "creditor_iban", "creditor_name", "amount", "currency", "nth")


def _then(rows: dict[str, Any]) -> RuleEffect:
    what, after = exactly_one(rows, ("move", *BACK)), rows.get("after", timedelta())
    if what in BACK:
        if "reason" in rows:
            raise Wrong(f"the reason is the value of {what}", f"{what}: {rows['reason']}", "reason")
        on = Status(rows.get("on", Status.ACSC))
        if on not in SETTLED:
            raise Wrong(f"only a settled payment can be sent back, not one that is {on.value}", "say on: ACSC", "on")
        return RuleEffect(on, on, after, rows[what], what)
    if "on" not in rows:
        raise Wrong("'on' is missing")
    move = Status(rows["move"])
    if "reason" in rows and move not in (Status.RJCT, Status.CANC):
        raise Wrong("a reason goes with RJCT or CANC only", key="reason")
    return RuleEffect(Status(rows["on"]), move, after, rows.get("reason"))


THEN = Table(
    {"on": STATUS, "after": DURATION, "move": STATUS, "reason": REASON, **dict.fromkeys(BACK, REASON)},
    _then,
    one_of=("move", *BACK),
    called="a move",
)


def check_returns(when: RuleCondition, moves: Iterable[RuleEffect]) -> None:
    """Checks that a return fits the kind of the rule."""
    for at, then in enumerate(moves):
        if then.back and when.kind not in BACK[then.back]:
            kinds = join_names(BACK[then.back])
            raise Wrong(f"a {then.back} is of a {kinds} only", f"say kind: {kinds}", f"then.{at}.{then.back}")


def check_debit(rule: ScenarioRule, given: Iterable[str]) -> None:
    """Checks that a rule about direct debits only returns the money."""
    others = [name for name in given if name not in ("title", "when", "then")]
    if others:
        why = "a direct debit belongs to no TPP: a rule can only return its money"
        raise Wrong(why, "then: [{refund: MD06}]", others[0])
    if len(rule.then) != 1 or not rule.then[0].back:
        raise Wrong("a direct debit has no statuses", "then: [{refund: MD06, after: 5d}]", "then")
    unknown = [name for name in ("product", "client", "endtoend_identification") if getattr(rule.when, name)]
    if unknown:
        raise Wrong("a direct debit has none", f"it has {join_names(OF_DEBITS[1:])}", f"when.{unknown[0]}")
