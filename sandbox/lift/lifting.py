"""Makes steps of recorded calls: what each call was about is found by its ids, tokens, addresses and challenges."""

from base64 import b64decode
from collections.abc import Iterable

from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.operations import OPERATIONS
from sandbox.lift.controls import lift_control
from sandbox.lift.har import Recorded
from sandbox.lift.lifted import BY_FAULT, HEADER_CODES, OWN_CLIENT, Lift, Make, Subject, address_in
from sandbox.lift.orders import bulk_file, initiation, on_initiation
from sandbox.lift.pseudonyms import Pseudonyms
from sandbox.lift.tokens import account, accounts, consent, token, transactions


def lift(calls: Iterable[Recorded], names: Pseudonyms) -> Lift:
    """Lifts each call to a step, or lists it as unexplained."""
    rows = list(calls)
    found = Lift(names, has_controls=any(call.path[:1] == ("_sandbox",) for call in rows))
    for call in rows:
        if call.path[0] == "_sandbox":
            lift_control(found, call)
            continue
        operation = operation_of(call)
        if operation is None or operation not in LIFTS:
            found.unexplained.append(f"{call}: no operation of the bank has this path")
        elif call.status == 0 and not (found.has_controls and call.method == "GET"):
            found.unexplained.append(f"{call}: its reply was lost")
        elif call.outcome.get("error_code") in HEADER_CODES or call.status in (405, 406, 415, 495):
            found.unexplained.append(f"{call}: refused for its headers, {call.status}")
        else:
            _lift_call(found, operation, call)
    return found


def operation_of(call: Recorded) -> str | None:
    for row in OPERATIONS:
        parts = tuple(part for part in row.path.split("/") if part)
        if row.method != call.method or len(parts) != len(call.path):
            continue
        if all(part.startswith("<") or part == actual for part, actual in zip(parts, call.path, strict=True)):
            return row.name
    return None


def _lift_call(found: Lift, operation: str, call: Recorded) -> None:
    if call.status in BY_FAULT and not found.has_controls:
        found.steps.append({"fault": {"when": {"operation": operation, "nth": 1}, "answer": {"status": call.status}}})
    step = LIFTS[operation](found, call)
    if step is None:
        return
    ((word, content),) = ((name, value) for name, value in step.items() if name != "as")
    client = client_of(call)
    if client not in (None, OWN_CLIENT):
        content["client"] = client
    if call.status == 0 or (call.status == 200 and isinstance(call.reply, str) and call.reply):
        content.pop("expect", None)
        content["lost"] = True
    address = address_in(call.outcome)
    if call.status == 401 and address:  # where the customer authenticates again
        subject = Subject(found.new_name("authentication"))
        found.subjects[address] = subject
        found.steps.append({word: content | {"refused": call.outcome["error"]}, "as": subject.name})
        return
    if call.status >= 400:
        content["refused"] = call.outcome.get("error", call.status) if call.status not in BY_FAULT else call.status
        step.pop("as", None)
    found.steps.append({word: content} | ({"as": step["as"]} if "as" in step else {}))


def client_of(call: Recorded) -> str | None:
    """By its header, at /token by its credentials."""
    if "client-id" in call.headers:
        return call.headers["client-id"]
    scheme, _, rows = call.headers.get("authorization", "").partition(" ")
    try:
        return b64decode(rows).decode().partition(":")[0] if scheme.lower() == "basic" else None
    except ValueError:
        return None


LIFTS: dict[str, Make] = {
    "payment_initiation": initiation("pay", PAYMENT),
    "standing_order_initiation": initiation("order", STANDING_ORDER),
    "bulk_initiation": bulk_file,
    **{f"{kind}_status": on_initiation("status") for kind in ("payment", "standing_order", "bulk")},
    **{f"{kind}_details": on_initiation("details") for kind in ("payment", "standing_order")},
    **{f"{kind}_cancellation": on_initiation("cancel") for kind in ("payment", "standing_order", "bulk")},
    "consent_addresses": consent,
    "token": token,
    "accounts": accounts,
    "account": account,
    "transactions": transactions,
}
