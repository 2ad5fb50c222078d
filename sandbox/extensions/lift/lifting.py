"""Makes steps of recorded calls: what each call was about is found by its ids, tokens, addresses and challenges."""

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from sandbox.client.reply import sca_link
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.kinds import KINDS
from sandbox.contract.operations import OPERATIONS, Operation
from sandbox.extensions.lift.controls import is_question, lift_control
from sandbox.extensions.lift.gaps import gaps_of
from sandbox.extensions.lift.har import PRODUCTS, Recorded
from sandbox.extensions.lift.lifted import UNKNOWN, Lift, LiftedSubject, Make, Step
from sandbox.extensions.lift.orders import bulk_file, initiation, on_initiation
from sandbox.extensions.lift.pseudonyms import Pseudonyms
from sandbox.extensions.lift.tokens import account, accounts, consent, token, transactions
from sandbox.web.api.gate import UUID_4

PLACES = frozenset(part for row in OPERATIONS for part in row.path.split("/") if part and not part.startswith("<"))
SHAPES = [(row, re.compile(re.sub("<.*?>", "[^/]+", row.path))) for row in OPERATIONS]
REFUSED_PATHS = (404, 405)
OWN_CLIENT = "demo-tpp"
BY_FAULT = (429, 500, 502, 503, 504)
HEADER_CODES = ("GEN-1201-100001", "GEN-1202-100001")
ELSEWHERE = "https://elsewhere.example/"
BY_STATUS = {406: ("Accept", "Accept-Language"), 415: ("Content-Type",)}
PKCE = {"Code-Challenge-Method": "S256", "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}


def together(calls: Sequence[Recorded]) -> Iterator[list[Recorded]]:
    """The calls in groups: within a group each call overlaps one that began before it."""
    group: list[Recorded] = []
    last: Recorded | None = None  # of the group, the one that was answered last
    for call in calls:
        if group and (last is None or not last.overlaps(call)):
            yield group
            group, last = [], None
        group.append(call)
        if call.ended is not None and (last is None or last.ended is None or call.ended > last.ended):
            last = call
    if group:
        yield group


def branches_of(group: Sequence[Recorded]) -> list[list[Recorded]]:
    """Each call in the first branch whose last call was answered before it began."""
    branches: list[list[Recorded]] = []
    for call in group:
        free = next((branch for branch in branches if not branch[-1].overlaps(call)), [])
        if not free:
            branches.append(free)
        free.append(call)
    return branches


def lift_group(found: Lift, group: Sequence[Recorded], lift_call: Callable[[Recorded], None]) -> None:
    """The steps of a group: one after the other, or side by side where a barrier held a call."""
    branches = branches_of(group)
    if len(branches) == 1 or not found.has_barriers:
        if len(branches) > 1 and any(call.method != "GET" for call in group):
            found.unexplained.append(f"{group[0]} and {len(group) - 1} more went on at once: no record of their order")
        for call in group:
            lift_call(call)
        return
    written: list[list[Step]] = [[] for _ in branches]
    outer = found.steps
    for call in group:  # in the order of the record, so that names are known to the calls that follow
        found.steps = written[next(at for at, branch in enumerate(branches) if call in branch)]
        lift_call(call)
    found.steps = outer
    filled = [steps for steps in written if steps]
    found.steps += [{"parallel": filled}] if len(filled) > 1 else chain(*filled)


def lift(calls: Iterable[Recorded], names: Pseudonyms) -> Lift:
    """Lifts each call to a step, or lists it as unexplained."""
    record = list(calls)
    controls = [call.path[1:] for call in record if call.path[0] == "_sandbox"]
    answered = [call for call in record if call.method == "POST" and call.status == 201]
    times = Counter(call.headers.get("request-id", "") for call in answered)
    found = Lift(
        names,
        twins=[request_id for request_id in times if request_id and times[request_id] > 1],
        has_controls=bool(controls),
        has_barriers=any(path[:1] == ("holds",) for path in controls),
        record=record,
        followers={call.query["next"]: call for call in record if "next" in call.query},
    )
    gaps = {} if found.has_controls else gaps_of(record)
    for group in together([call for call in record if not is_question(call)]):
        if group[0].number in gaps:
            found.steps.append({"clock": gaps[group[0].number]})
        lift_group(found, group, partial(_lift_one, found))
    return found


def _lift_one(found: Lift, call: Recorded) -> None:
    if call.path[0] == "_sandbox":
        lift_control(found, call)
        return
    row = operation_of(call)
    if row is None:
        _lift_path(found, call)
    elif call.is_lost and call.method == "POST":
        _lift_lost(found, row, call)
    elif call.is_lost and not found.has_controls:
        found.unexplained.append(f"{call}: its reply was lost")
    elif call.status == 495:
        found.unexplained.append(f"{call}: refused for its certificate")
    else:
        _lift_call(found, row, call)


def operation_of(call: Recorded) -> Operation | None:
    path = "/" + "/".join(call.path)
    return next((row for row, shape in SHAPES if row.method == call.method and shape.fullmatch(path)), None)


def _lift_path(found: Lift, call: Recorded) -> None:
    """A path or a method that the bank does not have."""
    if call.status not in REFUSED_PATHS:
        found.unexplained.append(f"{call}: no operation of the bank has this path")
        return
    words = (word if word in PLACES | PRODUCTS else UNKNOWN for word in call.path)
    content = {"method": call.method, "path": "/" + "/".join(words), "refused": call.outcome.get("error", call.status)}
    found.steps.append({"call": content})


def _lift_lost(found: Lift, row: Operation, call: Recorded) -> None:
    """A POST whose reply never came; the client that has it again does so by the same call."""
    request_id = call.headers.get("request-id")
    later = found.record[found.record.index(call) + 1 :]
    if request_id and any(one.headers.get("request-id") == request_id for one in later):
        found.retried.setdefault(request_id, []).append(_add_fault(found, row, {"cut": "before"}))
        return
    step = LIFTS[row.name](found, call)
    if step is None:
        return
    _add_fault(found, row, {"cut": "before"})
    ((word, content),) = ((name, value) for name, value in step.items() if name != "as")
    found.steps.append({word: content | {"lost": True} | ({"resend": False} if word in RESENDING else {})})


def _add_fault(found: Lift, row: Operation, what: Step) -> Step:
    """For the next call of the operation; where the record has controls, it has the fault itself."""
    step = {"fault": {"when": {"operation": row.name, "nth": 1}, **what}}
    if not found.has_controls:
        found.steps.append(step)
    return step


def _lift_call(found: Lift, row: Operation, call: Recorded) -> None:
    step = LIFTS[row.name](found, call)
    faults = found.retried.pop(call.headers.get("request-id", ""), [])
    if step is None:  # no step makes the call that these were for
        found.steps[:] = [one for one in found.steps if not any(one is fault for fault in faults)]
        return
    if call.status in BY_FAULT:
        _add_fault(found, row, {"answer": {"status": call.status}})
    ((word, content),) = ((name, value) for name, value in step.items() if name != "as")
    client = client_of(call)
    if client not in (None, OWN_CLIENT) and word != "call":
        content["client"] = client
    headers = wrong_headers(row, call) | (twin_headers(found, call) if call.method == "POST" else {})
    if headers:
        content["headers"] = headers
    if call.is_lost or (call.status == 200 and isinstance(call.reply, str) and call.reply):
        content.pop("expect", None)
        content["lost"] = True
    named: Step = {"as": step["as"]} if "as" in step else {}
    address = sca_link(call.outcome)
    if call.status == 401 and address:  # where the customer authenticates again
        subject = LiftedSubject(found.new_name("authentication"))
        found.subjects[address] = subject
        found.steps.append({word: content | {"refused": call.outcome["error"]}, "as": subject.name})
        return
    if call.status >= 400:
        content["refused"] = call.outcome.get("error", call.status) if call.status not in BY_FAULT else call.status
        named = {}
    found.steps.append({word: content} | named)


def client_of(call: Recorded) -> str | None:
    """By its header, at /token by its credentials."""
    if "client-id" in call.headers:
        return call.headers["client-id"]
    scheme, _, encoded = call.headers.get("authorization", "").partition(" ")
    try:
        return b64decode(encoded).decode().partition(":")[0] if scheme.lower() == "basic" else None
    except ValueError:
        return None


def wrong_headers(row: Operation, call: Recorded) -> dict[str, str | None]:
    """The headers that got the call refused; None is one that was missing."""
    if call.status in BY_STATUS:
        return {name: call.headers.get(name.lower()) for name in BY_STATUS[call.status]}
    if call.outcome.get("error_code") not in HEADER_CODES:
        return {}
    found: dict[str, str | None] = {}
    request_id = call.headers.get("request-id")
    if request_id is None or UUID_4.match(request_id) is None:
        found["Request-ID"] = None if request_id is None else "no-uuid"
    demanded = [
        *(("Client-ID",) if row.bank_headers else ()),
        *(("Redirect-URI",) if row.redirect_uri else ()),
        *(PKCE if row.pkce and call.token is None else ()),
    ]
    found |= {name: None for name in demanded if name.lower() not in call.headers}
    if found:
        return found
    # Which header the error names; its value stays in the record.
    text = str(call.outcome.get("error_description", ""))
    values = {"Redirect-URI": ELSEWHERE, "Code-Challenge-Method": "none", "Code-Challenge": "short"}
    return {name: value for name, value in values.items() if f"'{name}'" in text}


def twin_headers(found: Lift, call: Recorded) -> dict[str, Any]:
    """Of an initiation that came more than once with its Request-ID: the same again, also its challenge."""
    request_id = call.headers.get("request-id", "")
    if request_id not in found.twins:
        return {}
    headers = {"Request-ID": f"00000000-0000-4000-8000-{found.twins.index(request_id) + 1:012}"}
    return headers if call.token is not None else headers | PKCE


ASKED = {"status": "status", "details": "details", "cancellation": "cancel"}  # words of steps, by operation
RESENDING = ("pay", "order", "file")
LIFTS: dict[str, Make] = {
    "payment_initiation": initiation("pay", PAYMENT),
    "standing_order_initiation": initiation("order", STANDING_ORDER),
    "bulk_initiation": bulk_file,
    **{f"{kind}_{asked}": on_initiation(word) for kind in KINDS for asked, word in ASKED.items()},
    "consent_addresses": consent,
    "token": token,
    "accounts": accounts,
    "account": account,
    "transactions": transactions,
}
