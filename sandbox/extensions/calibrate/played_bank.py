"""A bank in this process, on which the calls of a recording are played. It can return to an earlier state."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

from sandbox.app import assemble, make_first_beginning
from sandbox.bank.state import Bank
from sandbox.contract.decisions import AXES, Decisions, with_changes
from sandbox.server_address import HOST, PORT, URL
from sandbox.storage.bank_copy import copy_bank
from sandbox.storage.memory_log import MemoryLog
from sandbox.storage.state_hash import list_state
from sandbox.worlds.clock import Pace
from sandbox.worlds.clock_moves import move_clock
from sandbox.worlds.counts import Limits
from sandbox.worlds.faults import OrderedFaults
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import WorldSnapshot
from sandbox.worlds.world import World

ADDRESS = URL  # the address of the played bank in its calls
WORLD = "default"
NO_FAULTS = OrderedFaults((), {}, {})
# Settings of the played bank. A long recording must not lose anything, and functions that only take time are off.
PLAYED = {"acts_kept": 1_000_000_000, "contents_kept": 0, "requests_kept": 1, "referee": "off"}
NOT_COMPARED = frozenset(("settings", "journal"))
AXES_OF_FIELD: dict[str, list[str]] = {}
for _axis in AXES.values():
    for _name in _axis.fields:
        AXES_OF_FIELD.setdefault(_name, []).append(_axis.name)


T = TypeVar("T")


class Moment(NamedTuple):
    """The state of a played bank: its records, and the counts of calls that are stored beside them. Nothing changes a
    Moment."""

    state: Bank
    limits: Any
    first_calls: frozenset[tuple[str, str]]


class OwnReply(NamedTuple):
    """A reply of a PlayedBank. It has the status, headers and body as the bank's application returned them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str


class PlayedBank:
    """A bank in an application without a server. `met` has the axes that the bank's code has read since `met` was last
    cleared."""

    def __init__(self, settings: Mapping[str, Any] = {}) -> None:
        self._settings = {**PLAYED, **settings}
        self._beginning = make_first_beginning(rate=0.0)
        self._worlds = WorldRegistry(self._beginning, lambda: 0.0)
        self._app = assemble(self._worlds)
        self._world = self._worlds.default
        self.met: set[str] = set()
        self._decisions = lru_cache(1_000)(
            lambda pairs: with_changes(Decisions(), {**self._settings, "variants": pairs})
        )

    def go_to(self, moment: Moment, variants: Mapping[str, str]) -> None:
        """Sets the bank to the state of a moment, and its axes to the values in `variants`."""
        bank = copy_bank(moment.state)
        bank.settings = self._decisions(tuple(sorted(variants.items())))
        pace = Pace(bank.clock.now, 0.0, 0.0)
        beginning = replace(self._beginning, at=bank.clock.now)
        snapshot = WorldSnapshot(beginning, pace, bank, MemoryLog(), NO_FAULTS, [], 0)

        def begin() -> World:
            return World.from_snapshot(WORLD, snapshot, self._worlds.machine_time)

        self._world = self._worlds.settle(WORLD, begin, replacing=True)
        limits = self._world.calls.limits
        assert isinstance(limits, Limits)
        limits.restore(moment.limits)
        self._world.axes.restore_first_uses(moment.first_calls)

    def copy_moment(self) -> Moment:
        counts = self._counts()
        return Moment(self._world.ask(copy_bank), *counts)

    def _counts(self) -> tuple[Any, frozenset[tuple[str, str]]]:
        limits = self._world.calls.limits
        assert isinstance(limits, Limits)
        return limits.copy_counts(), self._world.axes.copy_first_uses()

    def is_at(self, moment: Moment) -> bool:
        """Whether the bank is in the same state as at this moment, so that each call would get the same reply. The
        values of the axes are not compared."""
        now = self._counts()
        return now == moment[1:] and self._world.ask(lambda bank: are_same_records(bank, moment.state))

    def ask(self, look: Callable[[Bank], T]) -> T:
        """Calls a function with the bank and returns its result. The function may also change the bank."""
        return self._world.enter(look)

    def note_axes(self) -> None:
        """Makes the bank add each axis to `met` when its code next reads the axis, even if the code has read it
        before."""
        self._world.look(lambda bank: bank.note_decisions(self._note))

    def _note(self, field: str) -> None:
        self.met.update(AXES_OF_FIELD.get(field, ()))

    def wait_until(self, at: datetime) -> None:
        """Moves the bank's clock forward to this time. Does nothing if the clock is past it."""
        if at > self._world.look(lambda bank: bank.clock.now):
            move_clock(self._world, lambda now: (max(now, at), 0.0))

    def send(self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> OwnReply:
        """Sends a call and returns its reply. `path` is percent-encoded."""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote(path, "latin-1"),
            "REQUEST_URI": f"{path}?{query}" if query else path,
            "QUERY_STRING": query,
            "SERVER_NAME": HOST,
            "SERVER_PORT": str(PORT),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": f"{HOST}:{PORT}",
            "REMOTE_ADDR": HOST,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            "wsgi.errors": BytesIO(),
            "wsgi.multithread": False,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in headers.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value.encode().decode("latin-1")
        begun: list[Any] = []

        def start(status: str, reply_headers: list[tuple[str, str]], failure: Any = None) -> Any:
            begun[:] = [int(status[:3]), tuple(reply_headers)]
            return None

        reply = self._app(environ, start)
        try:
            content = b"".join(reply)
        finally:
            close = getattr(reply, "close", None)
            if close is not None:
                close()
        return OwnReply(begun[0], begun[1], content.decode())


def are_same_records(bank: Bank, other: Bank) -> bool:
    """Whether two banks have the same records. The settings are not compared, and neither is the journal, because no
    reply depends on it."""
    registers = zip(list_state(bank), list_state(other), strict=True)
    return all(own == others or own[0] in NOT_COMPARED for own, others in registers)
