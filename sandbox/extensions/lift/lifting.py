"""Makes a scenario of recorded calls.

The problem: a recording has what a client sent and received. A scenario says what happened: who paid, who signed, when
time passed. Each call becomes the step that sends it again. The ids, tokens, addresses and PKCE challenges of earlier
calls show which initiation or consent a call is about. A call that they do not explain gets no step, and is listed as
unexplained.

A recording with calls of the sandbox's controls says when time passed and who signed. In a recording of another bank,
this must be inferred from the calls. Some calls can only follow an act of the customer, such as a call for the token of
a consent. Before such a call, steps for the act of the customer are inserted (`LiftState.approve`,
`initiation_steps.reach_status`). Some inserted steps move the clock. So no other step moves the clock between the
initiation or consent and the call that can only follow the act. The time that passed between the two in the recording
passes in the scenario after that call, and before the next one.
"""

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import quote

from sandbox.banking.durations import write_duration, write_instant
from sandbox.banking.pkce import EXAMPLE_CHALLENGE
from sandbox.client.transport import sca_link
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.kinds import KINDS
from sandbox.contract.operations import OPERATIONS, Operation
from sandbox.contract.reasons import BROUGHT_BY_TIME
from sandbox.extensions.lift import account_steps, initiation_steps
from sandbox.extensions.lift.control_steps import is_question, lift_control
from sandbox.extensions.lift.default_words import drop_spelling_axes, is_time_out, read_error
from sandbox.extensions.lift.lift_state import OPENING, UNKNOWN, LiftedSubject, LiftState, Step, StepMaker
from sandbox.extensions.lift.pseudonyms import FIRST_NUMBER, ScenarioPseudonyms
from sandbox.reader.tree import read_yaml
from sandbox.recordings import RecordedCall, Recording, RecordingError, read_recording
from sandbox.recordings.recorded_calls import PRODUCTS
from sandbox.scenarios.reading import SHIPPED, load, read_content
from sandbox.storage.transfer.form import FORMAT
from sandbox.web.api.gate import UUID_4

GZIP = b"\x1f\x8b"  # the first bytes of a compressed export
OPENING_BALANCE = {"EUR": "100000.00"}
# the parts of a scenario that stay, if the record loads a scenario
KEPT = ("extends", "seed", "clock", "bank", "settings", "rules", "faults")
SHORTEST_GAP = timedelta(seconds=10)  # a shorter time is added to the next gap
BY_TIME = ("ACSC", "ACWP")  # statuses to which time alone leads a signed initiation
PLACES = frozenset(part for row in OPERATIONS for part in row.path.split("/") if part and not part.startswith("<"))
SHAPES = [(row, re.compile(re.sub("<.*?>", "[^/]+", row.path))) for row in OPERATIONS]
REFUSED_PATHS = (404, 405)
OWN_CLIENT = "demo-tpp"
BY_FAULT = (429, 500, 502, 503, 504)
HEADER_CODES = ("GEN-1201-100001", "GEN-1202-100001")
OTHER_CALLBACK = "https://elsewhere.example/"
BY_STATUS = {406: ("Accept", "Accept-Language"), 415: ("Content-Type",)}
PKCE = {"Code-Challenge-Method": "S256", "Code-Challenge": EXAMPLE_CHALLENGE}
WORDS = {"status": "status", "details": "details", "cancellation": "cancel"}  # the words of steps, by operation
RESENDING = ("pay", "order", "file")
STEP_MAKERS: dict[str, StepMaker] = {
    "payment_initiation": initiation_steps.make_initiation_lifter("pay", PAYMENT),
    "standing_order_initiation": initiation_steps.make_initiation_lifter("order", STANDING_ORDER),
    "bulk_initiation": initiation_steps.lift_bulk_file,
    **{f"{kind}_{asked}": initiation_steps.make_lookup_lifter(word) for kind in KINDS for asked, word in WORDS.items()},
    "consent_addresses": account_steps.consent,
    "token": account_steps.token,
    "accounts": account_steps.accounts,
    "account": account_steps.account,
    "transactions": account_steps.transactions,
}


# The scenario


def lift_file(content: bytes, title: str) -> tuple[str, list[str]]:
    """Makes a scenario from the content of a recording's file. Returns the same values as `lift_recording`. Raises
    RecordingError if the content cannot be used (see `read_liftable`)."""
    return lift_recording(read_liftable(content), title)


def read_liftable(content: bytes) -> Recording:
    """Reads a recording. Raises RecordingError if the content is not a recording, or is the export of a world."""
    if content.startswith(GZIP) or FORMAT.encode() in content[:200]:
        raise RecordingError("it is the export of a world: use `bank-sandbox import`, which plays it again")
    return read_recording(content)


def lift_recording(recording: Recording, title: str) -> tuple[str, list[str]]:
    """Makes a scenario that repeats the recorded calls. Returns it as YAML, with a list of lines for the user: one line
    for each call for which no step could be made, and one for each group of simultaneous calls whose order is not
    known."""
    calls = recording.calls
    head = find_loaded_scenario(calls)
    people = {name: head[name] for name in ("extends", "bank") if name in head}
    fixtures = read_content(people, "scenario").fixtures if people else load("default").fixtures
    patterns = [row["when"].get("creditor_name") for row in head.get("rules", ()) if isinstance(row.get("when"), dict)]
    lift = lift_calls(calls, ScenarioPseudonyms(fixtures, tuple(pattern for pattern in patterns if pattern)))
    if not lift.has_controls:
        head["clock"] = {"at": write_instant(find_opening(calls)), "frozen": True}
    return write_scenario_text(title, head, lift), lift.unexplained


def find_loaded_scenario(calls: Sequence[RecordedCall]) -> dict[str, Any]:
    """Returns the content of the first scenario that a call of the recording loads, limited to the parts in `KEPT`.
    Returns an empty dictionary if no call loads a scenario."""
    for call in calls:
        if call.method == "PUT" and call.path == ("_sandbox", "scenario") and call.status == 200:
            shipped, content = SHIPPED.get(str(call.json.get("name"))), call.json.get("scenario")
            if shipped is not None or not isinstance(content, dict):
                content = read_yaml(shipped or call.body, "scenario.yaml").to_python() or {}
            return {name: value for name, value in content.items() if name in KEPT}
    return {}


def write_scenario_text(title: str, loaded: Mapping[str, Any], lift: LiftState) -> str:
    lines = [
        f"scenario: {json.dumps(title)}",
        "about: Lifted from a record. Names, IBANs and communications are other ones.",
    ]
    head = {"clock": {"at": "2027-03-01T09:00", "frozen": True}}
    head |= {name: loaded[name] for name in KEPT if name in loaded}
    if isinstance(head.get("settings"), dict):
        head["settings"] = drop_spelling_axes(head["settings"])
    head["bank"] = add_payers(loaded.get("bank"), lift.names)
    lines += [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items() if value or name == "extends"
    ]
    lines += ["steps:" if lift.steps else "steps: []"]
    for step in lift.steps:
        rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in step.items()]
        lines += [f"  {'-' if at == 0 else ' '} {row}" for at, row in enumerate(rows)]
    lines += [f"# Not explained: {line}" for line in lift.unexplained]
    return "\n".join(lines) + "\n"


def add_payers(loaded: Any, names: ScenarioPseudonyms) -> Any:
    """Returns the part `bank` of the scenario. `loaded` is this part in the scenario that the recording loads, or None.
    Adds the accounts that replace accounts at another bank, with their owners. Returns `loaded` itself if there are no
    such accounts."""
    if not names.debtors:
        return loaded
    bank = dict(loaded) if isinstance(loaded, dict) else {}
    customers, accounts = dict(bank.get("customers", {})), dict(bank.get("accounts", {}))
    business = {names.payers[name] for name in names.business}
    for at, (name, payer) in enumerate(names.payers.items()):
        kind = "business" if payer in business else "private"
        customers[payer] = {"name": payer.replace("-", " ").capitalize(), "kind": kind, "language": "fr"}
        accounts[name] = {"number": FIRST_NUMBER + at, "owners": [payer], "opening": OPENING_BALANCE}
    return bank | {"customers": customers, "accounts": accounts}


# Time between calls


def find_opening(record: Sequence[RecordedCall]) -> datetime:
    """Returns the time of the first call. Returns OPENING if there are no calls, or if a call has no time."""
    times = [call.began for call in record]
    return OPENING if None in times or not times else times[0] or OPENING


def find_gaps(record: Sequence[RecordedCall]) -> dict[int, str]:
    """Returns how much time passes directly before each call, by the number of the call. A call has no entry if this
    time is below SHORTEST_GAP, or if the clock must not move there (see `find_last_places`). Then the time is added to
    the time before a later call. Returns an empty dictionary if a call of the recording has no time."""
    if any(call.began is None for call in record):
        return {}
    last = find_last_places(record)
    gaps: dict[int, str] = {}
    pending_gap, until = timedelta(), 0
    for at, (before, call) in enumerate(zip(record, record[1:], strict=False), 1):
        assert before.began is not None and call.began is not None
        until = max([until, *(last.get(key, 0) for key in list_begun_keys(before))])
        pending_gap += call.began - before.began
        if pending_gap >= SHORTEST_GAP and at > until:
            gaps[call.number] = write_duration(timedelta(seconds=round(pending_gap.total_seconds())))
            pending_gap = timedelta()
    return gaps


def list_begun_keys(call: RecordedCall) -> Iterator[str]:
    """Yields the ids and the PKCE challenge of the initiation or consent that this call begins. Later calls refer to it
    by these keys. Yields nothing for a call that begins none."""
    if call.status == 201 or call.path[0] == "consent-uris":
        reference = call.json.get("endtoend_identification") or call.headers.get("paymentinformationid")
        reply = call.reply_json
        yield from (str(reply[name]) for name in ("payment_id", "payment_file_id") if name in reply)
        yield from (quote(reference, safe=""),) if isinstance(reference, str) else ()
        yield call.headers.get("code-challenge", "")


def find_last_places(record: Sequence[RecordedCall]) -> dict[str, int]:
    """Returns for each id or PKCE challenge the index of the last call before which the clock must not move. For an id,
    this is the last status call with a status that time alone does not bring. For a challenge, this is the last call to
    /token whose verifier fits the challenge."""
    last: dict[str, int] = {}
    for at, call in enumerate(record):
        if len(call.path) > 3 and not is_reached_by_time(call):
            last[call.path[2]] = at
        last |= dict.fromkeys(call.challenges, at)
    return last


def is_reached_by_time(call: RecordedCall) -> bool:
    status, reason = call.reply_json.get("status"), call.reply_json.get("reason")
    is_cancelled_by_time = is_time_out(call) or (status == "CANC" and reason in BROUGHT_BY_TIME)
    return call.path[3] != "status" or status in BY_TIME or is_cancelled_by_time


# Calls at the same time


def group_concurrent_calls(calls: Sequence[RecordedCall]) -> Iterator[list[RecordedCall]]:
    """Yields the calls in groups. Each call of a group, except the first, began before an earlier call of the group was
    answered."""
    group: list[RecordedCall] = []
    last: RecordedCall | None = None  # the call of the group that was answered last
    for call in calls:
        if group and (last is None or not last.overlaps(call)):
            yield group
            group, last = [], None
        group.append(call)
        if call.ended is not None and (last is None or last.ended is None or call.ended > last.ended):
            last = call
    if group:
        yield group


def split_branches(group: Sequence[RecordedCall]) -> list[list[RecordedCall]]:
    """Splits a group of calls into branches. The calls of a branch do not overlap in time. Each call joins the first
    branch whose last call was answered before this call began. If there is none, the call begins a new branch."""
    branches: list[list[RecordedCall]] = []
    for call in group:
        branch = next((branch for branch in branches if not branch[-1].overlaps(call)), [])
        if not branch:
            branches.append(branch)
        branch.append(call)
    return branches


def lift_group(lift: LiftState, group: Sequence[RecordedCall], lift_one: Callable[[RecordedCall], None]) -> None:
    """Makes the steps of a group of calls that overlap in time. If the recording has barriers, the branches of the
    group become a `parallel` step. Otherwise the steps run one after the other. If the group has several calls and not
    all are GET, a line in `unexplained` then says that their order is not known."""
    branches = split_branches(group)
    if len(branches) == 1 or not lift.has_barriers:
        if len(branches) > 1 and any(call.method != "GET" for call in group):
            other_calls = f"{len(group) - 1} more went on at once: no record of their order"
            lift.unexplained.append(f"{group[0]} and {other_calls}")
        for call in group:
            lift_one(call)
        return
    steps_by_branch: list[list[Step]] = [[] for _ in branches]
    outer = lift.steps
    for call in group:  # in the order of the record, so that names are known to the calls that follow
        lift.steps = steps_by_branch[next(at for at, branch in enumerate(branches) if call in branch)]
        lift_one(call)
    lift.steps = outer
    filled = [steps for steps in steps_by_branch if steps]
    lift.steps += [{"parallel": filled}] if len(filled) > 1 else chain(*filled)


# Calls


def lift_calls(record: Sequence[RecordedCall], names: ScenarioPseudonyms) -> LiftState:
    """Makes a step of each call, or adds the call to `unexplained` if no step can be made. Returns the state, which has
    all steps."""
    controls = [call.path[1:] for call in record if call.path[0] == "_sandbox"]
    accepted = [call for call in record if call.method == "POST" and call.status == 201]
    times = Counter(call.headers.get("request-id", "") for call in accepted)
    lift = LiftState(
        names,
        record,
        has_controls=bool(controls),
        has_barriers=any(path[:1] == ("holds",) for path in controls),
        repeated_ids=[request_id for request_id in times if request_id and times[request_id] > 1],
        following_pages={call.query["next"]: call for call in record if "next" in call.query},
    )
    gaps = {} if lift.has_controls else find_gaps(record)
    for group in group_concurrent_calls([call for call in record if not is_question(call)]):
        if group[0].number in gaps:
            lift.steps.append({"clock": gaps[group[0].number]})
        lift_group(lift, group, partial(lift_one_call, lift))
    return lift


def lift_one_call(lift: LiftState, call: RecordedCall) -> None:
    if call.path[0] == "_sandbox":
        lift_control(lift, call)
        return
    if not call.has_contents:
        lift.add_unexplained(call, "the recording has no bodies")
        return
    path = "/" + "/".join(call.path)
    row = next((row for row, shape in SHAPES if row.method == call.method and shape.fullmatch(path)), None)
    if row is None:
        lift_unknown_path(lift, call)
    elif call.is_lost and call.method == "POST":
        lift_lost_post(lift, row, call)
    elif call.is_lost and not lift.has_controls:
        lift.add_unexplained(call, "its reply was lost")
    elif call.status == 495:
        lift.add_unexplained(call, "refused for its certificate")
    else:
        lift_answered(lift, row, call)


def lift_unknown_path(lift: LiftState, call: RecordedCall) -> None:
    """Makes a step of a call with a path or a method that the bank does not have. If the bank did not refuse the call
    with 404 or 405, lists the call as unexplained instead."""
    if call.status not in REFUSED_PATHS:
        lift.add_unexplained(call, "no operation of the bank has this path")
        return
    path = "/".join(word if word in PLACES | PRODUCTS else UNKNOWN for word in call.path)
    refused = read_error(call)
    lift.steps.append({"call": {"method": call.method, "path": f"/{path}", "refused": refused}})


def lift_lost_post(lift: LiftState, row: Operation, call: RecordedCall) -> None:
    """Makes a step of a POST whose reply never came, and a step before it with a fault by which the reply is lost.
    Makes only the step with the fault if the client repeats the call later. The step of the repetition then loses its
    first reply, and sends its call again. If no step can be made of the call, makes neither."""
    request_id = call.headers.get("request-id")
    later = lift.record[lift.record.index(call) + 1 :]
    if request_id and any(other.headers.get("request-id") == request_id for other in later):
        lift.lost_calls.setdefault(request_id, []).append(add_fault(lift, row, {"cut": "before"}))
        return
    step = STEP_MAKERS[row.name](lift, call)
    if step is None:
        return
    add_fault(lift, row, {"cut": "before"})
    ((word, content),) = ((name, value) for name, value in step.items() if name != "as")
    lift.steps.append({word: content | {"lost": True} | ({"resend": False} if word in RESENDING else {})})


def add_fault(lift: LiftState, row: Operation, reply_change: Step) -> Step:
    """Makes a step with a fault for the next call of the operation, adds it to the steps, and returns it.
    `reply_change` says what the fault does with the reply. If the recording has calls of the controls, the step is
    returned but not added, because one of those calls set the fault."""
    step = {"fault": {"when": {"operation": row.name, "nth": 1}, **reply_change}}
    if not lift.has_controls:
        lift.steps.append(step)
    return step


def lift_answered(lift: LiftState, row: Operation, call: RecordedCall) -> None:
    step = STEP_MAKERS[row.name](lift, call)
    faults = lift.lost_calls.pop(call.headers.get("request-id", ""), [])
    if step is None:  # no step makes the call that these faults were for
        lift.steps[:] = [step for step in lift.steps if not any(step is fault for fault in faults)]
        return
    if call.status in BY_FAULT:
        add_fault(lift, row, {"answer": {"status": call.status}})
    ((word, content),) = ((name, value) for name, value in step.items() if name != "as")
    client = find_client(call)
    if client not in (None, OWN_CLIENT) and word != "call":
        content["client"] = client
    headers = find_wrong_headers(row, call) | (find_repeated_headers(lift, call) if call.method == "POST" else {})
    if headers:
        content["headers"] = headers
    if call.is_lost or (call.status == 200 and isinstance(call.reply, str) and call.reply):
        content.pop("expect", None)
        content["lost"] = True
    name_field: Step = {"as": step["as"]} if "as" in step else {}
    error, address = read_error(call), sca_link(call.reply_json)
    if call.status == 401 and address:  # where the customer authenticates again
        content["refused"] = error
        subject = lift.subjects[address] = LiftedSubject(lift.make_name("authentication"))
        name_field = {"as": subject.name}
    elif call.status >= 400:
        content["refused"] = call.status if call.status in BY_FAULT else error
        name_field = {}
    lift.steps.append({word: content} | name_field)


def find_client(call: RecordedCall) -> str | None:
    """Returns the client id from the header Client-ID, else from the credentials of a call to /token. Returns None if
    the call has neither."""
    if "client-id" in call.headers:
        return call.headers["client-id"]
    scheme, _, encoded = call.headers.get("authorization", "").partition(" ")
    try:
        return b64decode(encoded).decode().partition(":")[0] if scheme.lower() == "basic" else None
    except ValueError:
        return None


def find_wrong_headers(row: Operation, call: RecordedCall) -> dict[str, str | None]:
    """Returns the headers for which the bank refused the call, with values for which it refuses the step too. A header
    that was missing has the value None. Returns an empty dictionary if the bank did not refuse the call for its
    headers."""
    if call.status in BY_STATUS:
        return {name: call.headers.get(name.lower()) for name in BY_STATUS[call.status]}
    if call.reply_json.get("error_code") not in HEADER_CODES:
        return {}
    headers: dict[str, str | None] = {}
    request_id = call.headers.get("request-id")
    if request_id is None or UUID_4.match(request_id) is None:
        headers["Request-ID"] = None if request_id is None else "no-uuid"
    demanded = [
        *(("Client-ID",) if row.bank_headers else ()),
        *(("Redirect-URI",) if row.redirect_uri else ()),
        *(PKCE if row.pkce and call.access_token is None else ()),
    ]
    headers |= {name: None for name in demanded if name.lower() not in call.headers}
    if headers:
        return headers
    # The error names the header; its value stays in the record.
    text = str(call.reply_json.get("error_description", ""))
    values = {"Redirect-URI": OTHER_CALLBACK, "Code-Challenge-Method": "none", "Code-Challenge": "short"}
    return {name: value for name, value in values.items() if f"'{name}'" in text}


def find_repeated_headers(lift: LiftState, call: RecordedCall) -> dict[str, Any]:
    """Returns fixed headers for an initiation that was accepted more than once, because the repetitions must be
    identical: a Request-ID, and a PKCE challenge if the call has no access token. Returns an empty dictionary for other
    calls."""
    request_id = call.headers.get("request-id", "")
    if request_id not in lift.repeated_ids:
        return {}
    headers = {"Request-ID": f"00000000-0000-4000-8000-{lift.repeated_ids.index(request_id) + 1:012}"}
    return headers if call.access_token is not None else headers | PKCE
