"""Gives each run a bank of its own. All these banks share one server, and each has its own path on it.

The problem: a suite may reset its world, load a scenario, or make worlds of its own and drop them. All these worlds
must differ from the default bank as the variant of the run says. At the end, the run must know which axes the calls in
all these worlds met, and which lies these worlds told.

The design: each run has its own application with its own registry of worlds. This registry begins each world as the
variant says. The application answers below `/worlds/NAME` of the shared server. Its default world is `/worlds/NAME`
itself, and a world `x` of the suite is at `/worlds/NAME/worlds/x`. So worlds of two runs never share an address. Before
a control ends a world or begins it again, the run stores the calls, axes and lies of this world.

At a server elsewhere (--url), a run has one world. There, what happened before a reset is lost, and worlds that the
suite makes do not have the variant.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol
from urllib.parse import unquote

import httpx
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.client import Controls, Refused
from sandbox.contract.decisions import AXES, DEFAULTS, Decisions, with_changes
from sandbox.contract.errors import Refusal
from sandbox.extensions.vary.call_comparison import (
    CALLS_COMPARED_MAX,
    ROWS_ASKED_MAX,
    fetch_explanation,
    has_met,
    list_axes_met,
    list_lies_met,
)
from sandbox.extensions.vary.runs import Result, VariantRun
from sandbox.extensions.vary.space import Variant
from sandbox.player.runs import HOST, WithinTransport
from sandbox.server.server import serve_in_background
from sandbox.web.api.app import split_path
from sandbox.worlds.beginning import Beginning
from sandbox.worlds.registry import WorldRegistry

Row = Mapping[str, Any]
# A control that ends a world or begins it again: the world in its address, and the one that it names.
ENDS = re.compile(r"(?:/worlds/([^/]+))?/_sandbox/(?:reset|scenario|rewind|import|worlds/([^/]+)(?:/[a-z]+)?)/?\Z")
READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Looks:
    """Which facts about a world `look_at` reads, besides the calls and the axes that they met."""

    lies: bool = False
    replies: bool = False  # explanations of calls, with their contents
    referee: bool = False
    export: bool = False


@dataclass
class WorldNotes:
    """The facts that were read from the worlds of a run. `rows` are the calls. They have explanations if
    `Looks.replies` asks for them."""

    rows: list[Row] = field(default_factory=list)
    met: frozenset[str] = frozenset()
    told: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)  # of the referee
    coverage: list[Row] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)

    def add(self, other: "WorldNotes") -> None:
        self.rows += other.rows
        self.met |= other.met
        self.told += [row for row in other.told if row not in self.told]  # a reset keeps what a world told
        self.findings += other.findings
        self.coverage += other.coverage
        self.exports += other.exports

    def make_run(self, tests: Mapping[str, Result], **more: Any) -> VariantRun:
        """Makes a VariantRun from these notes and the results of the tests. `more` has further fields of the
        VariantRun, such as `seconds`."""
        return VariantRun(
            tests,
            self.met,
            calls=len(self.rows),
            told=self.told,
            findings=self.findings,
            coverage=self.coverage,
            began=self.rows[0]["at"] if self.rows else "",
            **more,
        )


def look_at(controls: Controls, looks: Looks) -> WorldNotes:
    rows: list[Row] = list(controls.listed("requests"))
    notes = WorldNotes(rows, list_axes_met(controls, rows))
    if not rows:
        return notes
    if looks.lies:
        notes.told += list_lies_met(controls)
    if looks.replies:
        last = len(rows) - ROWS_ASKED_MAX
        for place, row in enumerate(rows):
            if place < CALLS_COMPARED_MAX or place >= last:
                rows[place] = {**row, "explanation": fetch_explanation(controls, row["request_id"])}
    if looks.referee:
        notes.findings += controls.call("GET", "/referee").body["findings"]
        notes.coverage.append({"cells": controls.call("GET", "/coverage").body["cells"]})
    if looks.export:
        address = f"{controls.base_url}/_sandbox/export"
        notes.exports.append(controls.http.get(address, params={"secrets": "strip"}, headers=controls.headers).text)
    return notes


class RunBank(Protocol):
    """The bank of one run."""

    @property
    def url(self) -> str: ...

    @property
    def controls(self) -> Controls: ...

    def read_notes(self, looks: Looks) -> WorldNotes: ...

    def end(self) -> None: ...


class Banks(Protocol):
    """Makes a bank for each run. `key` is the key of the controls."""

    @property
    def key(self) -> str | None: ...

    def begin(self, name: str, body: Mapping[str, Any], variant: Variant, looks: Looks) -> RunBank: ...


# At a server elsewhere


@dataclass
class RemoteBank:
    """The bank of a run, as a world of a server that was running before (--url)."""

    server: Controls
    name: str
    controls: Controls

    @property
    def url(self) -> str:
        return self.controls.base_url

    def read_notes(self, looks: Looks) -> WorldNotes:
        return look_at(self.controls, looks)

    def end(self) -> None:
        with suppress(Refused):
            self.server.drop_world(self.name)


@dataclass
class RemoteBanks:
    server: Controls

    @property
    def key(self) -> str | None:
        return self.server.key

    def begin(self, name: str, body: Mapping[str, Any], variant: Variant, looks: Looks) -> RemoteBank:
        return RemoteBank(self.server, name, begin_world(self.server, name, body, variant))


def begin_world(server: Controls, name: str, body: Mapping[str, Any], variant: Variant) -> Controls:
    night = {} if variant.night is None else {"clock": {**body.get("clock", {}), "at": variant.night}}
    controls = server.make_world(
        name, **{**body, **night}, variants=variant.axes, extensions=variant.extensions, replace=True
    )
    for fault in variant.faults:
        controls.call("POST", "/faults", fault)
    return controls


# At a server of this process


class OwnServer:
    """An application with its own registry of worlds. Runs use it one after the other."""

    def __init__(self, main: WorldRegistry) -> None:
        self.registry = WorldRegistry(main.beginning, main.machine_time)
        self.registry.line = main.line
        self.app: Flask = assemble(self.registry)
        self.controls = Controls(HOST, httpx.Client(transport=WithinTransport(app=self.app)))

    def begin(self, beginning: Beginning, variant: Variant) -> None:
        for world in self.registry.list_all():
            if world.name != "default":
                self.registry.drop(world.name)
        self.registry.beginning = beginning
        self.registry.adapt = lambda other: adapt_beginning(other, beginning, variant)
        self.registry.make("default", beginning, replacing=True)


def adapt_beginning(beginning: Beginning, server: Beginning, variant: Variant) -> Beginning:
    """Returns the beginning of a world that the suite makes, changed as the variant of the run says. `server` is the
    beginning of the run's default world. Keeps axes and faults that the suite itself sets."""
    settings = beginning.settings
    axes = {axis: value for axis, value in variant.axes.items() if is_at_default(settings, axis)}
    lines = [line for line in server.settings.extensions if line not in settings.extensions]
    if not axes and not lines and beginning.faults:
        return beginning
    changes = {"variants": axes, "extensions": (*settings.extensions, *lines)}
    return replace(beginning, settings=with_changes(settings, changes), faults=beginning.faults or server.faults)


def is_at_default(settings: Decisions, axis: str) -> bool:
    row = AXES[axis]
    return all(getattr(settings, name) == value for name, value in row.find_value(DEFAULTS[axis]).fields)


class LocalBank:
    """The bank of a run. Its address is a path of the server that all runs share."""

    def __init__(
        self, banks: "LocalBanks", name: str, own: OwnServer, looks: Looks, probed_axis: str | None = None
    ) -> None:
        self.banks, self.name, self.own = banks, name, own
        self._probed_axis = probed_axis  # replies to calls that meet this axis fail
        self.url = f"{banks.url}/worlds/{name}"
        self.controls = own.controls
        self._looks = looks  # what is read from a world that ends before the run does
        self._noted = WorldNotes()
        self._lock = Lock()

    def answer(self, environ: dict[str, Any], start_response: Callable[..., Any], path: str) -> Iterable[bytes]:
        environ["SCRIPT_NAME"] = f"{environ.get('SCRIPT_NAME', '')}/worlds/{self.name}"
        environ["PATH_INFO"] = path
        ends = None if environ["REQUEST_METHOD"] in READING else ENDS.match(path)
        if ends is not None:
            self._note_world(unquote(ends[2] or ends[1] or "default"), self._looks)
        if self._probed_axis is None or "/_sandbox" in path:
            return self.own.app(environ, start_response)
        return self._answer_or_fail(self._probed_axis, environ, start_response)

    def _answer_or_fail(
        self, axis: str, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answers a call of the bank's interface. If the call met the axis, replaces the reply by a 500."""
        world, _ = split_path(environ["PATH_INFO"])
        heads: list[Any] = []

        def keep_head(*head: Any) -> Any:
            heads.append(head)

        body = list(self.own.app(environ, keep_head))
        controls = self.controls if world == "default" else self.controls.world(world)
        row = fetch_explanation(controls, environ.get("HTTP_REQUEST_ID", ""))
        if has_met(axis, row.get("operation"), row.get("variants", {})):
            start_response("500 Internal Server Error", [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return []
        start_response(*heads[0])
        return body

    def read_notes(self, looks: Looks) -> WorldNotes:
        for world in self.own.registry.list_all():
            self._note_world(world.name, looks)
        return self._noted

    def _note_world(self, name: str, looks: Looks) -> None:
        try:
            self.own.registry.find(name)
        except Refusal:
            return
        controls = self.controls if name == "default" else self.controls.world(name)
        notes = look_at(controls, looks)
        with self._lock:
            self._noted.add(notes)

    def end(self) -> None:
        self.banks.take_back(self)


class LocalBanks:
    """The server that all runs share. The application of a run answers the calls below `/worlds/NAME`, where NAME is
    the name of that run."""

    key: str | None = None

    def __init__(self, machine_time: Callable[[], float], seed: int) -> None:
        self._main = WorldRegistry(make_first_beginning(seed), machine_time)
        self.app = assemble(self._main)
        self._answer_others = self.app.wsgi_app
        self.app.wsgi_app = self._answer  # type: ignore[method-assign]
        self._server = Controls(HOST, httpx.Client(transport=WithinTransport(app=self.app)))
        self._free: list[OwnServer] = []
        self._used: dict[str, LocalBank] = {}
        self._lock = Lock()
        self.url = ""

    def begin(self, name: str, body: Mapping[str, Any], variant: Variant, looks: Looks) -> LocalBank:
        begin_world(self._server, name, body, variant)  # raises Refused if the body or the variant is wrong
        world = self._main.find(name)
        beginning = replace(world.beginning, faults=world.faults.rules)
        self._main.drop(name)
        with self._lock:
            own = self._free.pop() if self._free else None
        own = own or OwnServer(self._main)
        own.begin(beginning, variant)
        bank = self._used[name] = LocalBank(self, name, own, looks, variant.probed_axis)
        return bank

    def take_back(self, bank: LocalBank) -> None:
        with self._lock:
            self._used.pop(bank.name, None)
            self._free.append(bank.own)

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        name, path = split_path(environ["PATH_INFO"])
        bank = self._used.get(name)
        if bank is None:
            return self._answer_others(environ, start_response)
        return bank.answer(environ, start_response, path)


@contextmanager
def start_local_banks(machine_time: Callable[[], float], jobs: int, seed: int) -> Iterator[LocalBanks]:
    """Starts the server that all runs share, on a free loopback port. Yields the server, and stops it at the end."""
    banks = LocalBanks(machine_time, seed)
    with serve_in_background(banks.app, threads=2 * jobs + 2) as url:
        banks.url = url
        yield banks
