"""Hints to the next useful calls, made from the reply of a control."""

from collections.abc import Callable, Iterator
from typing import Any

from sandbox.extensions.agents.tool import Arguments, Hint

HINTS_MAX = 4
FIRST_FAILURE = 400
EXPLAIN, REQUESTS, REFEREE = "get_explain_request_id", "get_requests", "get_referee"
SEARCH, OVERVIEW = "search_documentation", "look_around"

Hinting = Callable[[Any, Arguments], Iterator[Hint]]


def explain_hint(call: Any, reason: str) -> Hint:
    return Hint(EXPLAIN, {"request_id": str(call["request_id"])}, reason)


def after_requests(value: Any, _: Arguments) -> Iterator[Hint]:
    """Yields one hint for each combination of operation and status among the refused calls. The hint points to the
    newest call of the combination. Skips calls without a Request-ID."""
    kinds = set()
    for call in reversed(value["requests"]):
        kind = call["operation"], call["status"]
        if call["status"] >= FIRST_FAILURE and call["request_id"] and kind not in kinds:
            kinds.add(kind)
            yield explain_hint(call, f"why {call['operation'] or call['path']} was answered with {call['status']}")


def after_findings(value: Any, _: Arguments) -> Iterator[Hint]:
    """Yields one hint for each broken rule. The hint points to a call that broke the rule. The worst severity comes
    first. Skips waived findings and calls without a Request-ID."""
    rules = set()
    severity = ("error", "warning", "advice")
    findings = [row for row in value["findings"] if not row["waved_off"]]
    for row in sorted(findings, key=lambda row: severity.index(row["severity"])):
        if row["rule"] not in rules and row["call"]["request_id"]:
            rules.add(row["rule"])
            yield explain_hint(row["call"], f"the call in which the referee saw {row['rule']}")


def after_explanation(value: Any, _: Arguments) -> Iterator[Hint]:
    operation, subject = str(value["operation"]), value["subject"]
    if subject:
        kind = next((row for word, row in SUBJECTS.items() if operation.startswith(word)), None)
        if kind:
            yield Hint(kind, {"payment_id": subject}, "what became of it since")
    if value["scenario_rule"]:
        yield Hint("get_faults", {}, f"the scenario decided: {value['scenario_rule']}")
    if value["status"] >= FIRST_FAILURE and value["clause"]:
        yield Hint(SEARCH, {"words": f"{value['clause']} {value['error'] or ''}".strip()}, "what the clause says")


SUBJECTS = {
    "payment_": "get_payments_payment_id",
    "standing_order_": "get_standing_orders_payment_id",
    "bulk_": "get_bulk_payments_payment_id",
}
NEXT_STATUS = {"ACSP": "ACSC", "PDNG": "ACSC", "RCVD": "PATC", "ACTC": "ACSC"}


def after_initiation(value: Any, arguments: Arguments) -> Iterator[Hint]:
    status = NEXT_STATUS.get(value["status"])
    if status:
        identifier = value.get("payment_id") or value.get("payment_file_id") or arguments.get("payment_id")
        yield Hint("post_await", {"payment_id": identifier, "status": status}, "moves time until it has that status")
    if value.get("reason"):
        yield Hint(SEARCH, {"words": f"reason {value['reason']}"}, "what the reason means")


def after_approval(value: Any, _: Arguments) -> Iterator[Hint]:
    if value and value.get("redirect"):
        yield Hint("get_payments", {"limit": 1}, "the payment that was signed; the client under test opens `redirect`")


def after_clock(value: Any, _: Arguments) -> Iterator[Hint]:
    yield Hint("get_timeline", {}, "what falls due next")


def after_fault(_: Any, __: Arguments) -> Iterator[Hint]:
    yield Hint("get_faults", {}, "how often each fault was met")
    yield Hint("delete_faults", {}, "ends all faults")


HINTS: dict[str, Hinting] = {
    "GET /requests": after_requests,
    "GET /referee": after_findings,
    "GET /explain/<request_id>": after_explanation,
    "GET /payments/<payment_id>": after_initiation,
    "GET /bulk-payments/<payment_id>": after_initiation,
    "POST /payments/<payment_id>/move": after_initiation,
    "POST /psu/approve": after_approval,
    "POST /clock": after_clock,
    "POST /faults": after_fault,
}


def find_hints(control: str, value: Any, arguments: Arguments) -> list[Hint]:
    """Returns at most HINTS_MAX hints about the next useful calls, made from the reply `value` of a control. Returns an
    empty list if HINTS has no function for the control, or if the reply is no JSON object."""
    if control not in HINTS or not isinstance(value, dict):
        return []
    return list(HINTS[control](value, arguments))[:HINTS_MAX]
