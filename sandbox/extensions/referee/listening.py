"""Passes calls and acts of customers from the web to the referee. The rules are imported only when the first call is
judged, so that a server starts faster."""

from typing import Any

from flask import Response

from sandbox.bank.state import Bank
from sandbox.contract.errors import Refusal
from sandbox.extensions.referee.fingerprints import compute_file_prints
from sandbox.lazy import load
from sandbox.storage.format import StateFileError
from sandbox.web.api.call_records import CallListener, Calls
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

PSU_PATHS = ("/psu/", "/_sandbox/psu/")


def listen(world: World, bank: Bank, calls: Calls) -> None:
    """Judges calls of the bank's interface if the setting `referee` is on. Is called some time after the calls were
    answered."""
    if bank.settings.referee == "on":
        load("sandbox.extensions.referee.stream:judge_calls")(world, bank, calls)


def watch(environ: dict[str, Any], response: Response, worlds: WorldRegistry) -> None:
    """Judges the acts of a customer that a request to a page or a control of PSUs performed. Is called after the reply.
    Does nothing for other paths, if the setting `referee` is off, or if the world cannot be loaded or is gone."""
    if not environ["PATH_INFO"].startswith(PSU_PATHS):
        return
    try:
        world = worlds.get_or_default(environ["sandbox.world"])
        if world.settings.referee == "on":
            load("sandbox.extensions.referee.stream:judge_act")(environ, response, world)
    except (StateFileError, Refusal):  # the world cannot be read back, or was dropped meanwhile
        pass


REFEREE = CallListener("referee", listen, watch, compute_file_prints)
