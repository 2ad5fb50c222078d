"""Proposes calls that would decide axes of which several values are still open. Calls that cost least at a real bank
come first: reads before payments. Payments are proposed only on request.

A candidate is made from an accepted call of the recording. It is played at the moment of that call with the best
hypothesis (the axis values that explain the recording best), and again with each open value of the axes that it reads.
If the replies differ, the candidate decides the axis.

The reader makes the proposed calls at a later time, with other tokens. So a proposal has names for the values that the
reader must fill in, such as `$TOKEN` in a curl line and `token` in a line of Python. Its days are counted from today.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

from sandbox.banking.calendar import find_brussels_date
from sandbox.bulkfiles.samples import fill_sample
from sandbox.client.bodies import payment_body, standing_order_body
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.extensions.calibrate.comparison import compare, read_own_facts
from sandbox.extensions.calibrate.endings import (
    ENDINGS,
    SIGN,
    PaymentEnding,
    describe_ending,
    is_initiation,
    play_ending,
    with_version,
)
from sandbox.extensions.calibrate.played_bank import ADDRESS, OwnReply
from sandbox.extensions.calibrate.playing import RecordedStep, Scene
from sandbox.extensions.calibrate.reconstruction import read_sca_token
from sandbox.extensions.calibrate.search import OF_BALANCES, Choice, ValueSearch
from sandbox.extensions.calibrate.variables import Variables
from sandbox.recordings.recorded_calls import RecordedCall

PROPOSALS_MAX = 20
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
NEW_REFERENCE = "NEW-REFERENCE"
SHOWN_HEADERS = (
    *("Authorization", "Accept", "Accept-Language", "Client-ID", "Redirect-URI", "Content-Type", "Scope"),
    *("PaymentInformationID", "SCA-Token", "Code-Challenge-Method", "Code-Challenge"),
)
OWN_ACCOUNTS_MAX, PAYEE = 4, "BE68539007547034"
SCT, ISCT, XB = PRODUCTS
ORDER: Any = {
    "creditor_iban": PAYEE,
    "creditor_name": "Jan Peeters",
    "amount": "1.00",
    "endtoend_identification": NEW_REFERENCE,
}
READS, PAYS = 0, 1  # the cost of a call at the real bank
HOUR_AND_MORE = timedelta(minutes=61)
MESSAGE_ID = re.compile(r"(<(?:\w+:)?MsgId>)[^<]*")
CREDITOR = re.compile(r"(<(?:\w+:)?CdtrAcct>\s*<(?:\w+:)?Id>\s*<(?:\w+:)?IBAN>\s*\w\w)\d\d")
DAY = re.compile(r"\b2\d{3}-\d\d-\d\d\b")
MEANINGS = {  # explanations of the names in a line
    "token": "access token of a consent or payment as in {call}",
    "sca_token": "came with it",
    "account": "logical id of its account",
    "payment": "id of a new payment like that of {call}, in the same status",
    "challenge": "a new one",
    "code": "of a new consent",
    "verifier": "of its challenge",
    "credentials": "client id and secret in Base64",
    "reference": "a new one",
    "request_id": "one new UUID",
    "signed": "DIGEST, DATE and SIGNATURE of the body",
}


class Proposal(NamedTuple):
    """One or more calls to make next at the real bank, as a line of curl and as a line of Python, and the axes that
    they decide."""

    decides: tuple[str, ...]
    curl: str
    python: str
    source: RecordedCall  # of which it is made


class Candidate(NamedTuple):
    source: RecordedStep
    calls: tuple[RecordedCall, ...]
    cost: int = READS
    wait: timedelta = timedelta()  # the time to wait before the calls
    is_same_id: bool = False  # whether all calls have the same Request-ID
    ending: PaymentEnding = SIGN  # what follows an accepted initiation


def propose(search: ValueSearch, open_choices: Sequence[Choice], *, payments: bool) -> list[Proposal]:
    """Returns at most PROPOSALS_MAX proposals that together decide many of the axes in `open_choices`, found by a
    greedy search. The cheapest calls come first. Among equally cheap calls, those that decide more axes come first."""
    scenes: dict[int, Scene] = {}
    deciding = []
    for candidate in list_candidates(search, payments=payments):
        number = candidate.source.number
        if number not in scenes:
            scenes[number] = find_scene(search, candidate.source)
        if axes := find_decided_axes(search, scenes[number], candidate, open_choices):
            deciding.append((candidate, axes))
    left, proposals = {axis for axis, _ in open_choices}, list[Proposal]()
    while deciding and len(proposals) < PROPOSALS_MAX:
        candidate, axes = min(deciding, key=lambda row: (row[0].cost, -len(row[1] & left)))
        deciding.remove((candidate, axes))
        if axes & left:
            proposals.append(make_proposal(candidate, tuple(sorted(axes & left))))
            left -= axes
    return proposals


def find_scene(search: ValueSearch, step: RecordedStep) -> Scene:
    """Returns the scene (the state of the played bank and of its client) in which candidates made from this step are
    played. It is the scene after the step. For a POST, which may be impossible twice, it is the scene before the
    step."""
    at = search.steps.index(step)
    return search.make_scene_before(at if step.call.method == "POST" else at + 1)


def find_decided_axes(
    search: ValueSearch, scene: Scene, candidate: Candidate, open_choices: Sequence[Choice]
) -> frozenset[str]:
    """Returns the axes that the candidate decides. It decides an axis if the played bank gives other replies with an
    open value of this axis, and the partners of this value, than with the axis values that explain the recording
    best."""
    met, best = play_candidate(search, scene, candidate, search.variants)
    axes = set()
    for choice in open_choices:
        if choice[0] in met and choice[0] not in axes:
            _, others = play_candidate(search, scene, candidate, search.with_values(*search.list_partners(choice)))
            if len(best) != len(others) or any(map(are_different, best, others)):
                axes.add(choice[0])
    return frozenset(axes)


def are_different(reply: OwnReply, other: OwnReply) -> bool:
    """Whether two replies differ in more than balances, which prove nothing because the first balances are unknown."""
    differences = compare(read_own_facts(reply, ADDRESS), read_own_facts(other, ADDRESS), Variables())
    return not all(map(OF_BALANCES.match, differences))


def play_candidate(
    search: ValueSearch, scene: Scene, candidate: Candidate, variants: Mapping[str, str]
) -> tuple[set[str], list[OwnReply]]:
    """Plays the calls of a candidate from the scene. After an accepted initiation, also plays the ending of the
    candidate. Returns the axes that were read, and the replies."""
    player, source = search.player, candidate.source
    player.go_to(scene, variants)
    met, replies = set[str](), list[OwnReply]()

    def play(call: RecordedCall, at: datetime) -> OwnReply:
        met.update(player.list_met())  # those that an act of the customer has read since
        result = player.play(source._replace(call=call, at=at))
        met.update(result.met)
        return result.reply

    at = source.at + candidate.wait

    for number, call in enumerate(candidate.calls):
        request_id = str(UUID(int=0 if candidate.is_same_id else number, version=4))
        replies.append(play(with_changes(call, {"request-id": request_id}), at))
    if is_initiation(candidate.calls[-1]):
        replies += play_ending(player, candidate.ending, candidate.calls[-1], at, replies[-1], play)
    return met, replies


def list_candidates(search: ValueSearch, *, payments: bool) -> Iterator[Candidate]:
    """Yields candidates made from the last accepted call of each operation and status: the call itself, the call twice,
    and the call with changes. Yields calls that pay or cancel only if `payments` is true."""
    last = {
        (step.operation, str(step.call.reply_json.get("status"))): step
        for step in search.steps
        if step.facts.status < 300 and not step.is_control and "type=" not in step.call.split.query.lower()
    }
    for step in last.values():
        call, same, on = step.call, (step.call, step.call), find_brussels_date(step.at)
        if call.method == "GET":
            yield from (Candidate(step, (changed,)) for changed in change_reads(step.operation, call, on))
            yield Candidate(step, same)
            if step.operation.endswith("_status"):
                yield Candidate(step, (call,), wait=HOUR_AND_MORE)
        elif "code_verifier" in call.form:
            yield Candidate(step, same)
            yield Candidate(step, (replace(call, body=urlencode(call.form | {"code_verifier": UNKNOWN_ID * 2})), call))
        elif payments and call.method == "DELETE":
            yield Candidate(step, same, PAYS)
        elif payments and is_initiation(call):
            ibans, twice = list(search.player.shown.accounts), (with_new_reference(call),) * 2
            for paid in list_initiations(call, ibans, on):
                yield from (Candidate(step, (paid,), PAYS, ending=ending) for ending in ENDINGS)
            yield from (Candidate(step, (changed,), PAYS) for changed in change_initiations(call, ibans, on))
            yield from (Candidate(step, twice, PAYS, is_same_id=is_same_id) for is_same_id in (False, True))


def change_reads(operation: str, call: RecordedCall, on: date) -> Iterator[RecordedCall]:
    yield call
    yield with_changes(call, {"accept": call.headers.get("accept", "").partition(";")[0]})
    yield with_version(call, 1)
    yield with_changes(call, {"accept-language": "fr-BE"})
    yield with_changes(call, without="client-id")
    yield with_changes(call, without="redirect-uri")
    if operation == "transactions":
        yield with_changes(call, query={})
        yield with_changes(call, query={"currency": "JPY"})
        old = {"date_from": str(on - timedelta(days=300)), "date_to": str(on - timedelta(days=120))}
        yield with_changes(call, without="sca-token", query=old)
        yield with_changes(call, without="sca-token", query=old | {"psu_involved": "true"})
        yield with_changes(call, query={"date_from": str(on - timedelta(days=60)), "pagesize": "50"})
    if operation in ("account", "transactions"):
        yield replace(call, url=call.url.replace(call.path[1], UNKNOWN_ID))
    if operation == "consent_addresses":
        yield with_changes(call, {"accept-language": "nl-BE, fr;q=0.5"})
        yield with_changes(call, {"code-challenge-method": "plain"})
    if operation.endswith("_details"):  # with the token of a payment
        yield with_changes(with_version(call, BY_NAME["accounts"].versions[0]), path="/accounts")
    if operation.endswith("_status"):
        yield replace(call, url=call.url.replace(call.path[2], UNKNOWN_ID))


def change_initiations(call: RecordedCall, ibans: Sequence[str], on: date) -> Iterator[RecordedCall]:
    """Yields initiations that the bank may refuse, or whose form differs from the recorded one."""
    fresh = with_new_reference(call)
    body = fresh.json
    amount = body.get("instructed_amount")
    if not isinstance(amount, dict):
        return
    yield with_changes(fresh, body=body | {"unknown_field": "x"})
    with suppress(ValueError):
        yield with_changes(
            fresh, body=body | {"instructed_amount": amount | {"amount": float(str(amount.get("amount")))}}
        )
    yield with_changes(fresh, {"code-challenge-method": "plain"})
    if call.path[:2] != ("payments", SCT):
        return
    for iban in ibans[:OWN_ACCOUNTS_MAX]:
        own = body | {"debtor_account": {"iban": iban}}
        yield with_changes(fresh, body=own)
        yield with_changes(fresh, body=own | {"creditor_account": {"iban": iban}})
        yield with_changes(fresh, body=own | {"instructed_amount": amount | {"amount": "9999999.00"}})
    yield make_standing_order(fresh, on)


def list_initiations(call: RecordedCall, ibans: Sequence[str], on: date) -> Iterator[RecordedCall]:
    """Yields the recorded initiation with a new reference, and an XML file also with a wrong IBAN. From a SEPA credit
    transfer, also makes initiations of other kinds: for today, for tomorrow, of other products, standing orders, and a
    file."""
    fresh = with_new_reference(call)
    yield fresh
    if (wrong := CREDITOR.sub(r"\g<1>00", fresh.body, count=1)) != fresh.body:
        yield replace(fresh, body=wrong)
    if call.path[:2] != ("payments", SCT) or not call.json:
        return
    tomorrow = on + timedelta(days=1)
    body = {name: value for name, value in fresh.json.items() if name != "requested_execution_date"}
    yield with_changes(fresh, body=body)
    yield with_changes(fresh, body=body | {"creditor_name": "René"})
    yield with_changes(fresh, body=body | {"requested_execution_date": str(tomorrow)})
    yield with_changes(fresh, path=f"/payments/{ISCT}", body=body)
    yield with_changes(fresh, path=f"/payments/{XB}", body=payment_body(XB, **ORDER, currency="USD"))
    yield make_standing_order(fresh, tomorrow)
    yield make_standing_order(fresh, tomorrow, tomorrow)
    for iban in ibans[:1]:
        table = re.sub(r"^BE\d+", iban, fill_sample("three-bulks.csv", on).decode(), flags=re.MULTILINE)
        headers = {"content-type": "text/csv", "paymentinformationid": NEW_REFERENCE}
        yield replace(with_changes(with_version(fresh, 2), headers, path="/bulk-payments/csv"), body=table)


def make_standing_order(call: RecordedCall, start: date, end: date | None = None) -> RecordedCall:
    body = standing_order_body(**ORDER, start_date=start, end_date=end)
    return with_changes(with_version(call, 2), path=f"/periodic-payments/{SCT}", body=body)


def with_changes(
    call: RecordedCall,
    headers: Mapping[str, str] = {},
    without: str = "",
    path: str = "",
    query: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> RecordedCall:
    """Returns a copy of the call with changes. `headers` are added or replaced, and the header `without` is removed.
    `path` (below the address of the bank), `query` and `body` (as JSON) replace those of the call if they are given."""
    sent = {name: value for name, value in {**call.headers, **headers}.items() if name != without}
    url = call.split._replace(path=urlsplit(call.address).path + path) if path else call.split
    url = url if query is None else url._replace(query=urlencode(query))
    return replace(call, headers=sent, url=url.geturl(), body=call.body if body is None else json.dumps(body))


def with_new_reference(call: RecordedCall) -> RecordedCall:
    """Returns the call with another identification, or another MsgId if it sends an XML file."""
    fresh = {"endtoend_identification": NEW_REFERENCE}
    if fresh.keys() <= call.json.keys():
        return with_changes(call, body=call.json | fresh)
    return replace(call, body=MESSAGE_ID.sub(rf"\g<1>{NEW_REFERENCE}", call.body, count=1))


# Calls as lines of code


def fill_text(text: str, names: Mapping[str, str], on: date, *, is_shell: bool) -> str:
    """Returns the text as a part of a shell command or of a Python f-string. Replaces each text in `names` by a
    variable of that name, and each date by a date counted from today. `on` is the day of the recorded call."""

    def replacement(match: re.Match[str]) -> str:
        if match[0] in names:
            return f"${names[match[0]].upper()}" if is_shell else f"{{{names[match[0]]}}}"
        try:
            days = (date.fromisoformat(match[0]) - on).days
        except ValueError:
            return match[0]
        return f"$(date -d '{days} days' +%F)" if is_shell else f"{{date.today() + timedelta({days})}}"

    escaped = re.sub(r'([\\"$`])', r"\\\1", text) if is_shell else re.sub("([{}])", r"\1\1", text)
    texts = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub("|".join((*texts, DAY.pattern)), replacement, escaped)


def make_proposal(candidate: Candidate, decides: tuple[str, ...]) -> Proposal:
    on, calls = find_brussels_date(candidate.source.at), candidate.calls
    names = {text: name for call in calls for text, name in name_texts(call).items()}
    used = {*names.values(), *(["request_id"] if candidate.is_same_id else [])}
    used |= {"signed"} if "signature" in calls[-1].headers else set()
    notes = [f"{name.upper()}: {meaning}" for name, meaning in MEANINGS.items() if name in used]
    notes += [describe_ending(candidate.ending, calls[-1])] if is_initiation(calls[-1]) else []
    curl = "; ".join(write_curl(call, names, on, is_same_id=candidate.is_same_id) for call in calls)
    python = ", ".join(write_python(call, names, on, is_same_id=candidate.is_same_id) for call in calls)
    if candidate.wait:
        seconds = int(candidate.wait.total_seconds())
        curl, python = f"sleep {seconds}; {curl}", f"sleep({seconds}), {python}"
    comment = f"  # {'; '.join(notes)}".format(call=candidate.source.call) if notes else ""
    return Proposal(decides, curl + comment, python + comment, candidate.source.call)


def name_texts(call: RecordedCall) -> dict[str, str]:
    """Returns the texts of a call, such as tokens, that are of no use to a reader who makes the call later. Each is
    mapped to the name of the variable that replaces it."""
    _, _, secret = call.headers.get("authorization", "").partition(" ")
    texts = {
        secret: "token" if call.access_token else "credentials",
        read_sca_token(call): "sca_token",
        call.headers.get("code-challenge", ""): "challenge",
        NEW_REFERENCE if NEW_REFERENCE in call.body + call.headers.get("paymentinformationid", "") else "": "reference",
    }
    if call.path[0] == "accounts":
        texts |= dict.fromkeys(call.path[1:2], "account")
    elif len(call.path) > 2:
        texts[call.path[2]] = "payment"
    if call.path == ("token",):
        texts |= {quote(call.form["code"], safe=""): "code", quote(call.form["code_verifier"], safe=""): "verifier"}
    return {text: name for text, name in texts.items() if text and UNKNOWN_ID not in text}


def list_shown_headers(call: RecordedCall) -> dict[str, str]:
    return {name: call.headers[name.lower()] for name in SHOWN_HEADERS if name.lower() in call.headers}


def write_curl(call: RecordedCall, names: Mapping[str, str], on: date, *, is_same_id: bool) -> str:
    parts = ["curl", "-i"] + (["-X", call.method] if call.method != "GET" else [])
    parts += ["-H", '"Request-ID: $REQUEST_ID"' if is_same_id else '"Request-ID: $(uuidgen)"']
    for name, value in list_shown_headers(call).items():
        parts += ["-H", f'"{name}: {fill_text(value, names, on, is_shell=True)}"']
    if "signature" in call.headers:
        parts += ["-H", '"Signature: $SIGNATURE"', "-H", '"Digest: $DIGEST"', "-H", '"Date: $DATE"']
    if call.body:
        parts += ["--data-binary", f'"{fill_text(call.body, names, on, is_shell=True)}"']
    return " ".join([*parts, f'"{fill_text(call.url, names, on, is_shell=True)}"'])


def write_python(call: RecordedCall, names: Mapping[str, str], on: date, *, is_same_id: bool) -> str:
    def literal(text: str) -> str:
        words = fill_text(text, names, on, is_shell=False)
        return f"f{words!r}" if "{" in words else repr(words)

    request_id = "request_id" if is_same_id else "(request_id := str(uuid4()))"
    headers = "".join(f", {name!r}: {literal(value)}" for name, value in list_shown_headers(call).items())
    content = f", content={literal(call.body)}" if call.body else ""
    if "signature" in call.headers:
        headers, content = f"{headers}, **signed(request_id, body := {literal(call.body)})", ", content=body"
    return (
        f"httpx.request({call.method!r}, {literal(call.url)}, headers={{'Request-ID': {request_id}{headers}}}{content})"
    )
