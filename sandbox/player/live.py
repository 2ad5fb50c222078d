"""Plays a scenario within a server that runs, step by step, for a page that shows them as they come."""

from collections.abc import Callable, Iterator
from functools import cache
from secrets import token_hex
from typing import Any

import httpx

from sandbox.app import assemble
from sandbox.client import Controls, Refused, Unreadable
from sandbox.player.line_log import RecordingTransport
from sandbox.player.playback import play
from sandbox.player.runs import MachineTime, read_script, stage_of, world_name
from sandbox.world.played_step import PlayedStep
from sandbox.world.registry import Worlds

HOST = "http://127.0.0.1"


class WithinTransport(httpx.WSGITransport):
    """Calls an application of this process. A reply that a fault rule cuts is a connection that broke."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = super().handle_request(request)
            response.read()
        except ConnectionError as broken:
            raise httpx.ReadError(str(broken), request=request) from None
        return response


def player_of(worlds: Worlds, machine_time: MachineTime) -> Callable[[str], Iterator[PlayedStep]]:
    """What the console calls with a scenario's name. Each run has a world of its own, which stays for a look."""

    @cache
    def app() -> Any:
        return assemble(worlds)  # without a lock: it is reached from within only

    def steps(name: str) -> Iterator[PlayedStep]:
        script = read_script(name)
        world = world_name(script, f".{token_hex(3)}")
        transport = RecordingTransport(WithinTransport(app=app()))
        yield PlayedStep("world", world)
        try:
            with httpx.Client(transport=transport) as line:
                for step in play(stage_of(script, Controls(HOST, line), world, line, transport), machine_time):
                    word = "skipped" if step.skipped else "holds" if step.passed else "fails"
                    yield PlayedStep(word, step.text, step.faults)
        except (Refused, Unreadable, httpx.TransportError) as fault:
            yield PlayedStep("fails", "the run ended early", (str(fault) or type(fault).__name__,))

    return steps
