"""Why a call was answered so: the rule and its clause, and what it was judged on (choice 10)."""

from datetime import datetime
from typing import NamedTuple

import orjson

from sandbox.bank.state import Bank
from sandbox.bank.subjects import Subject
from sandbox.banking.durations import write_instant
from sandbox.banking.money import Money
from sandbox.contract.variants import AXES, EVERYWHERE
from sandbox.web.api.call_record import CallRecord

TEXT_MAX = 200  # characters of what a caller gave


class Why(NamedTuple):
    """The explanation that is kept with a call."""

    error: str | None
    rule: str
    clause: str
    subject: str | None
    state: str | None
    scenario_rule: str | None


NOWHERE = Why(None, "the path is none of the bank's", "choice 1", None, None, None)


def why(bank: Bank, call: CallRecord) -> Why:
    subject, refusal = call.subject, call.refusal
    state = rule = None
    if subject is not None:
        found = bank.find_subject(subject)
        if found is not None:
            state, rule = state_of(call, found), bank.title_of(found)
    if call.fault is not None:
        return Why(None, f"a fault rule: {call.fault.title}", "choice 13", subject, state, rule or call.fault.title)
    if call.surprise is not None:
        return Why(None, call.surprise, "choice 13", subject, state, rule)
    if refusal is not None:
        by_rule = refusal.facts.get("rule")
        return Why(refusal.error.name, refusal.text, refusal.clause, subject, state, str(by_rule) if by_rule else rule)
    if call.operation is None:
        return NOWHERE
    return Why(None, "Accepted: all checks passed", call.operation.clause, subject, state, rule)


def decided(call: CallRecord) -> str:
    """The numbers and dates that decided a refusal, as JSON; empty where none did."""
    refusal = call.refusal
    if refusal is None or not refusal.decided or call.fault is not None:
        return ""
    numbers = {name: plain(value) for name, value in refusal.decided.items()}
    return orjson.dumps(numbers).decode()


def plain(value: object) -> object:
    """As JSON has it; instants in Brussels time, amounts as text."""
    match value:
        case bool() | int() | None:
            return value
        case datetime():
            return write_instant(value)
        case Money():
            return f"{value.number:.2f} {value.currency}"
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return str(value)[:TEXT_MAX]


def variants_met(call: CallRecord) -> str:
    """The axes that a call met and that are not at their default (contract/variants)."""
    if not call.variants:
        return ""
    met = call.met | EVERYWHERE
    return " ".join(f"{axis}={value}" for axis, value in call.variants if axis in met or AXES[axis].by_settings)


def state_of(call: CallRecord, found: Subject) -> str:
    """What it was judged at: of a cancellation that was done, the status before it."""
    before = found.history[-1].source if call.method == "DELETE" and call.refusal is None else None
    return (before or found.status).value
