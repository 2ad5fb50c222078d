"""Why a call was answered so: the rule and its clause, and what it was judged on (choice 10)."""

from typing import Any, NamedTuple

from sandbox.errors import Refusal
from sandbox.wire.gate import Call


class Why(NamedTuple):
    """What is kept with the call."""

    error: str | None
    rule: str
    clause: str
    subject: str | None
    state: str | None
    scenario_rule: str | None


NOWHERE = Why(None, "the path is none of the bank's", "choice 1", None, None, None)


def why(environ: dict[str, Any]) -> Why:
    call: Call | None = environ.get("sandbox.call")
    refusal: Refusal | None = environ.get("sandbox.refusal")
    subject = None if call is None else call.subject
    state = rule = None
    if call is not None and subject is not None:
        found = call.world.bank.known(subject)
        if found is not None:
            state, number = found.status.value, getattr(found, "rule", None)
            rule = None if number is None else call.world.bank.rulebook.rules[number].title
    fault = environ.get("sandbox.fault")
    if fault is not None and (fault.answer is not None or fault.cut is not None):
        return Why(None, f"a fault rule: {fault.title}", "choice 13", subject, state, rule)
    if refusal is not None:
        row = refusal.error.value
        by_rule = refusal.facts.get("rule")
        return Why(refusal.error.name, refusal.text, row.clause, subject, state, str(by_rule) if by_rule else rule)
    if call is None:
        return NOWHERE
    return Why(None, f"{call.operation.name} was admitted and done", call.operation.clause, subject, state, rule)
