"""Where a call may be held on its way: before its act, after it, and before its reply (choice 13)."""

import threading
from collections.abc import Callable
from typing import Any

from flask import Response

from sandbox.bank.state import Bank
from sandbox.web.api.call_lines import client_of
from sandbox.web.api.gate import Call, judge, judge_openly
from sandbox.world.holds import HeldCall, Wait

Answer = Response | Callable[[], Response]
View = Callable[[Bank, Call], Answer]


def stand(call: Call, place: str) -> None:
    """Holds the call at this place if a barrier waits for it; a world without barriers costs one look."""
    holds = call.world.holds
    if not holds.by_name:
        return
    environ = call.request.environ
    known = HeldCall(
        environ.get("HTTP_REQUEST_ID", "")[:64],
        call.operation.name,
        environ["REQUEST_METHOD"],
        environ["PATH_INFO"][:1_000],
        client_of(call),
    )
    holds.stand(place, known, call.world.look(lambda bank: bank.clock.now), waiting_of(environ))


def waiting_of(environ: dict[str, Any]) -> Wait:
    """How a call waits: on a server without holding a worker that others need."""
    found: Wait | None = environ.get("sandbox.hold")
    return found or wait_here


def wait_here(event: threading.Event, seconds: float) -> bool:
    event.wait(seconds)
    return True


def perform(view: View, call: Call) -> Response:
    """A call is judged and answered at one moment of its world, which it enters once. What a view returns instead of
    an answer is done after that: long work without the world's lock, and the change that a read turned out to need."""
    judge_openly(call)
    if call.world.holds.by_name:
        return _perform_in_steps(view, call)
    answer = _door_of(call)(_answer, view, call)
    return answer if isinstance(answer, Response) else answer()


def _answer(bank: Bank, view: View, call: Call) -> Answer:
    judge(bank, call)
    return view(bank, call)


def _perform_in_steps(view: View, call: Call) -> Response:
    """The same between barriers, none of them under the world's lock."""
    call.world.ask(judge, call)
    stand(call, "before_act")
    try:
        answer = _door_of(call)(view, call)
        return answer if isinstance(answer, Response) else answer()
    finally:
        stand(call, "after_act")


def _door_of(call: Call) -> Callable[..., Any]:
    """A read waits for no file that is read beside it."""
    return call.world.ask if call.operation.method == "GET" else call.world.enter
