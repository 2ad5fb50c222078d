"""Lets a world lie, that is, give replies with a wrong fact. The setting `lie` switches on a filter of replies, and the
world lists the replies that the filter changed.

The setting has the name of a lie, or `listed`. With `listed`, no reply is changed, but the list shows what each lie
would have changed. So one run of a suite shows which lies could change a reply to its calls. With the setting `lie_as:
failure`, a call gets an error in place of a reply that the lie would change. So a test that fails in such a run needs
this reply.

The list is kept in memory as long as its world exists, also after a reset. It is not stored.
"""

import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

import orjson

from sandbox.contract.added_settings import AddedSetting, value_of
from sandbox.contract.errors import Error, Refusal
from sandbox.extensions.vary.lies import BY_NAME, CALLBACK, INITIATIONS, LIES, Memory, Telling
from sandbox.extensions.vary.space import LIE, LISTED
from sandbox.web.api.call import Call
from sandbox.web.api.replies import ReplyContent
from sandbox.web.api.reply_filter import ReplyFilter
from sandbox.worlds.world import World

TOLD_AS = "lie_as"
NO_LIE = "none"
FAILURE = "failure"
SETTINGS = (
    AddedSetting(LIE, (NO_LIE, LISTED, *BY_NAME), "What this bank says that is not true.", "choice 13"),
    AddedSetting(TOLD_AS, ("reply", FAILURE), "Whether a lie is told, or the reply fails instead.", "choice 13"),
)
TOLD_MAX = 50  # replies of one lie in one world
SHOWN = 6  # characters of a secret
SECRETS = ("refresh_token", "code")
VALUE_MAX = 300  # characters of a value that is shown
ABSENT = "nothing"


class ToldLie(NamedTuple):
    """A reply that a lie changed, or would have changed. It is the `nth` reply of the operation in its world, counted
    from 1. `told` is the wrong value of `field`, and `true` is the true value."""

    lie: str
    operation: str
    nth: int
    request_id: str
    call: str
    field: str
    told: Any
    true: Any


class ToldLies:
    """The replies that lies changed in one world, at most TOLD_MAX of each lie. Also has values of the world's earlier
    replies, which later lies may use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.memory = Memory()
        self.rows: list[ToldLie] = []
        self._by_lie: Counter[str] = Counter()
        self._replies: Counter[str] = Counter()

    def count_reply(self, operation: str) -> int:
        self._replies[operation] += 1
        return self._replies[operation]

    def note(self, row: ToldLie) -> None:
        self._by_lie[row.lie] += 1
        if self._by_lie[row.lie] <= TOLD_MAX:
            self.rows.append(row)


_told: WeakKeyDictionary[World, ToldLies] = WeakKeyDictionary()
_told_lock = threading.Lock()


def find_lies(world: World) -> ToldLies:
    with _told_lock:
        return _told.setdefault(world, ToldLies())


def list_lies(world: World) -> list[dict[str, Any]]:
    """Returns the reply of the control `GET /_sandbox/lies`: the replies that lies changed, or would have changed."""
    lies = find_lies(world)
    with lies.lock:
        return [row._asdict() for row in lies.rows]


def tell_lie_in_reply(call: Call, reply: ReplyContent) -> ReplyContent:
    operation = call.operation.name
    text = f"{call.operation.method} {call.environ['PATH_INFO']}"

    def fail() -> None:
        raise Refusal(Error.INTERNAL)

    body = _filter_body(
        call.world, operation, reply.body, (call.request_id, text), partial(_make_telling, call=call), fail
    )
    return reply if body is reply.body else reply._replace(body=body)


def _make_telling(memory: Memory, is_told: bool, call: Call | None = None) -> Telling:
    return Telling(memory, call, is_told)


def tell_lie_at_callback(world: World, address: str) -> str:
    parts = urlsplit(address)
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    failed = {"error": "server_error"} | {name: parameters[name] for name in ("state",) if name in parameters}
    text = f"{CALLBACK} {parts.scheme}://{parts.netloc}{parts.path}"
    body = _filter_body(world, CALLBACK, parameters, ("", text), _make_telling, lambda: failed)
    return address if body is parameters else urlunsplit(parts._replace(query=urlencode(body)))


def _filter_body(
    world: World,
    operation: str,
    body: Any,
    call_names: tuple[str, str],
    telling: Callable[[Memory, bool], Telling],
    fail: Callable[[], Any],
) -> Any:
    """Returns a copy of the body that the world's lie has changed, or the same object if the lie changes nothing. With
    `lie: listed`, tries all lies and returns the same object. With `lie_as: failure`, calls `fail` if a lie would
    change the body, and returns its result. Notes each change that a lie made or would have made.

    `call_names` are the Request-ID of the call and its text in the list. `telling` makes the Telling, which has the
    facts that a lie may use.
    """
    lies = find_lies(world)
    name = value_of(world.settings, LIE)
    fails = value_of(world.settings, TOLD_AS) == FAILURE
    is_told = name != LISTED and not fails
    with lies.lock:
        nth, memory = lies.count_reply(operation), lies.memory
    result = body
    for lie in LIES if name == LISTED else (BY_NAME[name],):
        if operation not in lie.operations:
            continue
        changed = copy_value(body)
        lie.tell(changed, telling(memory, is_told))
        difference = find_first_difference(make_plain(body), make_plain(changed))
        if difference is None:
            continue
        with lies.lock:
            lies.note(ToldLie(lie.name, operation, nth, *call_names, *difference))
        if fails:
            return fail()
        if is_told:
            result = changed
    with lies.lock:
        _remember(memory, operation, body)
    return result


def _remember(memory: Memory, operation: str, body: Any) -> None:
    """Stores the payment id of an initiation, or the parameters of a callback. A later lie may show them in another
    flow. Does nothing for other operations."""
    if operation in INITIATIONS:
        memory.note_payment(body["payment_id"])
    elif operation == CALLBACK:
        memory.note_callback(body)


def copy_value(value: Any) -> Any:
    """Returns a deep copy of dictionaries and lists. Does not copy other values, because no lie changes a value in
    place."""
    if isinstance(value, dict):
        return {name: copy_value(inner) for name, inner in value.items()}
    return [copy_value(inner) for inner in value] if isinstance(value, list) else value


def make_plain(body: Any) -> Any:
    """Returns the body as a caller parses it from JSON, so that two bodies can be compared."""
    return orjson.loads(orjson.dumps(body))


def find_first_difference(true: Any, changed: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """Returns the first difference of two bodies: the field, the changed value and the true value, each as a report
    shows it. If two lists differ in length, shows their lengths in place of their values. Returns None if the bodies
    are equal. `place` is the path of the field that the two bodies come from, and empty for whole bodies."""
    if true == changed:
        return None
    if isinstance(true, dict) and isinstance(changed, dict):
        names = dict.fromkeys((*true, *changed))
        rows = (
            (f"{place}.{name}" if place else name, true.get(name, ABSENT), changed.get(name, ABSENT)) for name in names
        )
    elif isinstance(true, list) and isinstance(changed, list) and len(true) == len(changed):
        rows = ((f"{place}[{number}]", *pair) for number, pair in enumerate(zip(true, changed, strict=True)))
    elif isinstance(true, list) and isinstance(changed, list):
        return place, f"{len(changed)} entries", f"{len(true)} entries"
    else:
        return place, _show_value(place, changed), _show_value(place, true)
    return next(filter(None, (find_first_difference(before, now, path) for path, before, now in rows)), None)


def _show_value(place: str, value: Any) -> Any:
    """Returns the value of the field with the path `place`, as a report shows it. Numbers and None stay as they are,
    other values become a text of limited length, and a secret is cut to its first characters."""
    if isinstance(value, str) and value != ABSENT and place.rpartition(".")[2] in SECRETS:
        return f"{value[:SHOWN]}..."
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text[:VALUE_MAX]


FILTER = ReplyFilter(LIE, tell_lie_in_reply, tell_lie_at_callback)
