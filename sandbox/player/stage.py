"""The context of a script: its world, TPP clients, captures and opening balances."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any

import httpx

from sandbox.client import Client, ClientReply, Controls, Flow, Initiation, Reference, Tokens
from sandbox.people.fixtures import Fixtures
from sandbox.player.step_result import RecordingTransport
from sandbox.scenarios import Scenario
from sandbox.scenarios.matching import MISSING, find_value
from sandbox.scenarios.model import walk_steps

CALLBACK = "http://127.0.0.1:9999/callback"
_REFERENCE = re.compile(r"\{([A-Za-z_][\w-]*)\.([^{}\s]{1,200})\}")
_DAY = re.compile(r"\{today(?:([+-][0-9]{1,4}))?\}")


class ScriptFault(Exception):
    """An error of the script, such as a reference to an unknown name."""


@dataclass(slots=True)
class Capture:
    """The results of a step. Later steps refer to them by the name that the step gave."""

    reply: ClientReply | None = None
    client: str = "demo-tpp"
    initiation: Initiation | None = None
    address: str | None = None
    flow: Flow | None = None
    callback: str | None = None
    tokens: Tokens | None = None
    logical_ids: dict[str, str] = field(default_factory=dict)  # by IBAN
    at: datetime | None = None  # the bank's time after the step, if the script measures elapsed time

    @property
    def reference(self) -> Reference | None:
        return self.initiation.reference if self.initiation else None

    def find_value(self, path: str) -> Any:
        """Returns the value of a reference `{name.path}` to this capture: a captured value, or else a field of the
        reply. Returns MISSING if the reply has no such field, and None if there is no reply."""
        values: dict[str, Callable[[], Any]] = {
            "payment_id": lambda: self.initiation and self.initiation.payment_id,
            "address": lambda: self.address,
            "callback": lambda: self.callback,
            "code": lambda: self.callback and httpx.URL(self.callback).params.get("code"),
            "state": lambda: self.flow and self.flow.state,
            "verifier": lambda: self.flow and self.flow.verifier,
            "redirect_uri": lambda: self.flow and self.flow.redirect_uri,
            "access_token": lambda: self.tokens and self.tokens.access,
            "refresh_token": lambda: self.tokens and self.tokens.refresh,
            "sca_token": lambda: self.tokens and self.tokens.sca_token,
            "request_id": lambda: self.reply and self.reply.request_id,
        }
        value = values[path]() if path in values else None
        return find_value(self.reply.body, path) if value is None and self.reply is not None else value


@dataclass
class ScenarioContext:
    """The state of a script that every step reads and changes."""

    scenario: Scenario
    transport: RecordingTransport
    controls: Controls
    captures: dict[str, Capture] = field(default_factory=dict)
    keys: Capture | None = None  # the latest results with tokens, even if their step gave no name
    reply: ClientReply | None = None
    opening: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    began: datetime | None = None  # the bank's time when the script began, if the script measures elapsed time
    measures: bool = False  # whether a step expects an elapsed time
    _tpps: dict[str, Client] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)  # IBANs of accounts that a step added
    let_go: Callable[[str], None] = lambda hold: None  # called after a step released the barrier of this name
    numbers: Iterator[int] = field(default_factory=partial(count, 1))  # the numbers in default references

    def find_tpp(self, name: str | None) -> Client:
        """Returns the TPP client of that name, or the demo client if `name` is None. For an unknown name, returns a
        client that is not registered."""
        name = name or "demo-tpp"
        if name not in self._tpps:
            values, here = self.people.clients.get(name), self.controls
            secret = values.secret if values else "no-secret"
            vendor = self.scenario.settings.vendor
            self._tpps[name] = Client(here.base_url, name, secret, CALLBACK, vendor=vendor, http=here.http)
        return self._tpps[name]

    @property
    def people(self) -> Fixtures:
        return self.scenario.fixtures

    def find_iban(self, name: str) -> str:
        """Returns the IBAN of an account, given by its name or its owner's name. Returns any other text unchanged."""
        return self.opened.get(name) or self.people.find_iban(name) or name

    def capture(self, name: Any) -> Capture:
        if not isinstance(name, str) or name not in self.captures:
            values = f"; so far there are {', '.join(self.captures)}" if self.captures else ""
            raise ScriptFault(f"nothing was captured as {name!r}{values}")
        return self.captures[name]

    def find_initiated(self, name: Any) -> tuple[Capture, Initiation]:
        capture = self.capture(name)
        if capture.initiation is None:
            raise ScriptFault(f"{name!r} is no payment, order or file that the bank took in")
        return capture, capture.initiation

    def find_reference(self, name: Any) -> Reference:
        """Returns the reference by which calls name the initiation that was captured under this name."""
        return self.find_initiated(name)[1].reference

    def find_with_tokens(self, name: Any) -> tuple[Capture, Tokens]:
        """Returns the capture of that name and its tokens. If `name` is None, returns the latest capture with tokens.
        Raises ScriptFault if there are no tokens."""
        capture = self.keys if name is None else self.capture(name)
        if capture is None:
            raise ScriptFault("no step brought tokens so far")
        if capture.tokens is None:
            raise ScriptFault(f"{name!r} has no tokens: there is a step `token: {name}`")
        return capture, capture.tokens

    def choose_access_token(self, content: dict[str, Any], default: Capture | None = None) -> str | None:
        """Returns the access token that a call sends, or None if it sends no token. The key `token` of a step is the
        name of a capture, the token itself, or null for no token. Without this key, returns the access token of
        `default`."""
        if "token" in content:
            name = content["token"]
            if not isinstance(name, str):
                return None
            if name not in self.captures:
                return name
            return self.find_with_tokens(name)[1].access
        return default.tokens.access if default is not None and default.tokens is not None else None

    def fill(self, value: Any) -> Any:
        """Returns the value with its references replaced, also inside dictionaries and lists. In a text, `{name.path}`
        is replaced by a captured value and `{today+7}` by a day. If a text is nothing but one `{name.path}`, replaces
        it by the value itself, of any type."""
        if isinstance(value, dict):
            return {name: self.fill(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.fill(inner) for inner in value]
        if not isinstance(value, str) or "{" not in value:
            return value
        alone = _REFERENCE.fullmatch(value)
        if alone:
            return self._fill_match(alone)
        text = _REFERENCE.sub(lambda match: str(self._fill_match(match)), value)
        return _DAY.sub(lambda day: (self.read_now().date() + timedelta(days=int(day[1] or 0))).isoformat(), text)

    def _fill_match(self, match: re.Match[str]) -> Any:
        value = self.capture(match[1]).find_value(match[2])
        if value is None or value is MISSING:
            raise ScriptFault(f"{match[1]!r} has no {match[2]}")
        return value

    def read_balances(self) -> dict[tuple[str, str], Decimal]:
        """Returns the balance of each compartment, read from the controls."""
        return {
            (row["iban"], part["currency"]): Decimal(str(part["balance"]))
            for row in self.controls.listed("accounts")
            for part in row["balances"]
        }

    def make_branch(self, let_go: Callable[[str], None]) -> "ScenarioContext":
        """Returns a context for a branch of steps. It has its own connection and last reply, but the same captures. It
        calls `let_go` after a step of the branch released a barrier."""
        transport, here = RecordingTransport(self.transport.line), self.controls
        line = httpx.Client(transport=transport, timeout=here.http.timeout)
        controls = Controls(here.base_url, line, here.key)
        return replace(self, transport=transport, controls=controls, let_go=let_go, _tpps={})

    def begin(self) -> None:
        """Drops all captures. Stores the balances with which `unchanged` compares, and the time with which `elapsed`
        compares."""
        self.captures.clear()
        self.opened.clear()
        self.keys = self.reply = None
        self.opening = self.read_balances()
        expectations = [step.content for step in walk_steps(self.scenario.steps) if step.what == "expect"]
        self.measures = any(isinstance(content, dict) and "elapsed" in content for content in expectations)
        self.began = self.read_now() if self.measures else None

    def read_now(self) -> datetime:
        """Returns the bank's time."""
        return self.controls.clock.get().now
