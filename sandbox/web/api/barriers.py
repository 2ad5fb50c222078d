"""Where a call may be held on its way: before its act, after it, and before its reply (choice 13)."""

import threading
from collections.abc import Callable
from typing import Any

from flask import Response

from sandbox.web.api.call_lines import client_of
from sandbox.web.api.gate import Call, admit
from sandbox.world.holds import HeldCall, Wait

View = Callable[[Call], Response]


def stand(call: Call, place: str) -> None:
    """Holds the call at this place if a barrier waits for it; a world without barriers costs one look."""
    holds = call.world.holds
    if not holds:
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
    """All checks of the headers, then the view between its barriers; none of them under the world's lock."""
    admit(call)
    stand(call, "before_act")
    try:
        return view(call)
    finally:
        stand(call, "after_act")
