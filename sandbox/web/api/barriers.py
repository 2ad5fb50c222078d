"""Where a call may be held on its way: before its act, after it, and before its reply (choice 13)."""

import threading
from typing import Any

from sandbox.web.api.call import Call
from sandbox.web.api.call_lines import client_of
from sandbox.world.holds import HeldCall, Wait


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
