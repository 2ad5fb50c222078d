"""Proposes calls that would decide many open axes. The calls that cost least at a real bank come first.

A candidate is a call of the recording with something changed. It is tried on the played bank, right after its original
call: under the best hypothesis, and under each open value of the axes that it reads. If the replies differ, the call
decides the axis. Reads come first, and payments are proposed only if the caller wants them.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from sandbox.contract.operations import BY_NAME
from sandbox.extensions.calibrate.comparison import compare, own_facts
from sandbox.extensions.calibrate.played_bank import ADDRESS
from sandbox.extensions.calibrate.playing import RecordedStep
from sandbox.extensions.calibrate.search import Choice, ValueSearch
from sandbox.extensions.calibrate.variables import Variables
from sandbox.recordings.recorded_calls import RecordedCall

PROPOSALS_MAX = 12
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
SHOWN_HEADERS = ("accept", "accept-language", "client-id", "redirect-uri", "content-type", "scope", "sca-token")
READS, PAYS = 0, 1  # what a call costs


class Proposal(NamedTuple):
    """A call to make next at the real bank, and the axes that this call decides."""

    decides: tuple[str, ...]
    curl: str
    python: str
    cost: int


class Candidate(NamedTuple):
    source: RecordedStep
    call: RecordedCall
    cost: int


def propose(search: ValueSearch, open_choices: Sequence[Choice], *, payments: bool) -> list[Proposal]:
    """Returns few calls that together decide many open axes, found by a greedy search. The cheapest calls come first,
    and among equally cheap calls, those that decide most."""
    deciding = [
        (candidate, axes)
        for candidate in candidates_of(search.steps, search, payments=payments)
        if (axes := decided_by(search, candidate, open_choices))
    ]
    left, proposals = {axis for axis, _ in open_choices}, list[Proposal]()
    while deciding and len(proposals) < PROPOSALS_MAX:
        candidate, axes = min(deciding, key=lambda row: (row[0].cost, -len(row[1] & left)))
        deciding.remove((candidate, axes))
        if axes & left:
            shown = tuple(sorted(axes & left))
            proposals.append(Proposal(shown, curl_of(candidate.call), python_of(candidate.call), candidate.cost))
            left -= axes
    return proposals


def decided_by(search: ValueSearch, candidate: Candidate, open_choices: Sequence[Choice]) -> frozenset[str]:
    """Returns the axes that the call would decide. It decides an axis if an open value of that axis leads to another
    reply than the best hypothesis."""
    scene = search.scene_after(candidate.source)
    step = candidate.source._replace(call=candidate.call)
    (best,) = search.play(scene, search.variants, [step])
    facts = own_facts(best.reply, ADDRESS)
    axes = set()
    for choice in open_choices:
        if choice[0] in best.met and choice[0] not in axes:
            (other,) = search.play(scene, search.with_values(choice), [step])
            if compare(facts, own_facts(other.reply, ADDRESS), Variables()):
                axes.add(choice[0])
    return frozenset(axes)


def candidates_of(steps: Sequence[RecordedStep], search: ValueSearch, *, payments: bool) -> Iterator[Candidate]:
    """Yields candidates made from the last accepted call of each operation: a read also with something changed, an
    initiation only changed. Yields calls that pay or cancel only with `payments`."""
    last = {step.operation: step for step in steps if step.facts.status < 300 and not step.is_control}
    for operation, step in last.items():
        row, call = BY_NAME[operation], step.call
        if row.method == "GET":
            for changed in changed_reads(operation, call):
                yield Candidate(step, changed, READS)
        elif payments and row.success == 201:
            for changed in changed_initiations(call):
                yield Candidate(step, changed, PAYS)
        elif payments and row.method == "DELETE":
            yield Candidate(step, call, PAYS)


def changed_reads(operation: str, call: RecordedCall) -> Iterator[RecordedCall]:
    yield call
    version = call.headers.get("accept", "").partition(";")
    yield with_headers(call, {"accept": version[0]})
    yield with_headers(call, {"accept": f"{version[0]}; version=1"})
    yield with_headers(call, {"accept-language": "fr-BE"})
    yield without_header(call, "client-id")
    yield without_header(call, "redirect-uri")
    if operation == "transactions":
        on = call.began.date() if call.began else None
        yield with_query(call, {})
        yield with_query(call, {"currency": "JPY"})
        if on is not None:
            old = {"date_from": str(on - timedelta(days=300)), "date_to": str(on - timedelta(days=120))}
            yield without_header(with_query(call, old), "sca-token")
            yield without_header(with_query(call, old | {"psu_involved": "true"}), "sca-token")
            yield with_query(call, {"date_from": str(on - timedelta(days=60)), "pagesize": "50"})
        yield with_path(call, 1, UNKNOWN_ID)
    if operation == "account":
        yield with_path(call, 1, UNKNOWN_ID)
    if operation == "consent_addresses":
        yield with_headers(call, {"accept-language": "nl-BE, fr;q=0.5"})
        yield with_headers(call, {"code-challenge-method": "plain"})
    if operation.endswith("_status"):
        yield with_path(call, 2, UNKNOWN_ID)


def changed_initiations(call: RecordedCall) -> Iterator[RecordedCall]:
    yield call
    yield with_headers(call, {"request-id": UNKNOWN_ID})
    body = call.json
    if body:
        yield with_body(call, body | {"unknown_field": "x"})
        yield with_body(call, body | {"creditor_name": "René"})
        amount = body.get("instructed_amount")
        if isinstance(amount, dict) and isinstance(amount.get("amount"), str):
            inner = amount | {"amount": float(amount["amount"])}
            yield with_body(call, body | {"instructed_amount": inner})
    yield with_headers(call, {"code-challenge-method": "plain"})


def with_headers(call: RecordedCall, headers: Mapping[str, str]) -> RecordedCall:
    return replace(call, headers={**call.headers, **headers})


def without_header(call: RecordedCall, name: str) -> RecordedCall:
    return replace(call, headers={key: value for key, value in call.headers.items() if key != name})


def with_query(call: RecordedCall, query: Mapping[str, str]) -> RecordedCall:
    return replace(call, url=call.split._replace(query=urlencode(query)).geturl())


def with_path(call: RecordedCall, place: int, part: str) -> RecordedCall:
    path = call.split.path.replace(call.path[place], part)
    return replace(call, url=call.split._replace(path=path).geturl())


def with_body(call: RecordedCall, body: Mapping[str, Any]) -> RecordedCall:
    return replace(call, body=json.dumps(body))


def shown_headers(call: RecordedCall) -> dict[str, str]:
    """Returns the headers that the reader of a proposal must send. Shell variables such as `$TOKEN` stand for
    secrets."""
    headers = {"Request-ID": "$(uuidgen)"}
    if call.access_token is not None:
        headers["Authorization"] = "Bearer $TOKEN"
    for name in SHOWN_HEADERS:
        if name in call.headers:
            headers[name.title().replace("-Id", "-ID").replace("-Uri", "-URI")] = call.headers[name]
    if "SCA-Token" in headers or "Sca-Token" in headers:
        headers.pop("Sca-Token", None)
        headers["SCA-Token"] = "$SCA_TOKEN"
    if "code-challenge" in call.headers:
        headers |= {
            "Code-Challenge-Method": call.headers.get("code-challenge-method", "S256"),
            "Code-Challenge": "$CHALLENGE",
        }
    return headers


def curl_of(call: RecordedCall) -> str:
    parts = ["curl", "-i"] + (["-X", call.method] if call.method != "GET" else [])
    for name, value in shown_headers(call).items():
        parts += ["-H", f'"{name}: {value}"']
    if call.body:
        parts += ["--data", shlex.quote(call.body)]
    return " ".join([*parts, shlex.quote(call.url)])


def python_of(call: RecordedCall) -> str:
    headers = {name: value for name, value in shown_headers(call).items() if not value.startswith("$(")}
    body = f", content={call.body!r}" if call.body else ""
    return f"httpx.request({call.method!r}, {call.url!r}, headers={{'Request-ID': str(uuid4()), **{headers!r}}}{body})"
