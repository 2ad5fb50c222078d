"""One request for a page of the console: its world, its links, the proof in its forms, and the state that all requests
share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from flask import Flask, Request
from werkzeug.datastructures import MultiDict

from sandbox.banking.pkce import is_same_secret
from sandbox.contract.errors import Refusal
from sandbox.web.api.addresses import find_bank_root, find_callback, find_root
from sandbox.web.html import pages
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

Facts = dict[str, Any]  # what a page shows, by the names that its template knows
T = TypeVar("T")
FILES = ("console.js", "console.svg")  # the console's own, in the folder `static`


class Latest(Generic[T]):
    """A dictionary with a limited number of values. It drops the oldest value when there are too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._values: dict[str, T] = {}

    def keep(self, key: str, value: T) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                del self._values[next(iter(self._values))]

    def get(self, key: str) -> T | None:
        return self._values.get(key)


class Notice(NamedTuple):
    """The outcome of an action. `call` is a call that does the same action, to show it as code. Only the browser of
    `session` sees the notice. `undo` is the bank time before the action. A rewind of the clock to this time undoes the
    action. If a rewind cannot undo the action, `undo` is None."""

    session: str
    text: str
    call: Any
    refused: bool = False
    undo: datetime | None = None


class RefusedForm(NamedTuple):
    """A form that is shown again with the values that were typed: after a refusal, after a preview, or after a no to a
    question. Only the browser of `session` sees the values. `address` is where the form is sent. `field` is the refused
    field. It is empty if the refusal is about no single field, or if there was no refusal."""

    session: str
    address: str
    typed: MultiDict[str, str]
    field: str = ""
    reason: str = ""


class ConsoleState:
    """The state that all visits of the console share."""

    def __init__(self, worlds: WorldRegistry, key: str | None, bank_app: Flask) -> None:
        self.worlds = worlds
        self.key = key  # of the controls, if they are guarded
        self.bank_app = bank_app  # answers the demo client's calls
        self.numbers = count(1)  # of notices
        self.notices = Latest[Notice](200)
        self.refused = Latest[RefusedForm](20)  # by the number of the notice; forms of up to 1 MB each
        self.verifiers = Latest[str](500)  # of PKCE in the console's own flows, by challenge


@dataclass(frozen=True, slots=True)
class ConsoleVisit:
    """One request to the console, with the links of its page."""

    state: ConsoleState
    world: World
    request: Request
    path: Mapping[str, str]
    session: str
    notice: Notice | None = None
    refused: RefusedForm | None = None

    @property
    def prefix(self) -> str:
        """The path of the whole sandbox, without the part that names a world."""
        return self.request.script_root.removesuffix(f"/worlds/{self.world.name}")

    @property
    def root(self) -> str:
        """The path of this world's console."""
        return f"{self.request.script_root}/_sandbox"

    @property
    def below(self) -> str:
        """The path of the page below the console's root, such as `/console/calls`."""
        return self.request.path.removeprefix("/_sandbox")

    @property
    def bank_address(self) -> str:
        return find_bank_root(self.request)

    @property
    def callback(self) -> str:
        """The address of this world's callback page."""
        return find_callback(self.request)

    def to(self, path: str, /, **query: object) -> str:
        """Returns the address of a page of the console. A parameter with an empty value is left out of the query. The
        query may have a parameter called `path`, because the argument `path` is positional only."""
        encoded = urlencode({name: value for name, value in query.items() if value not in (None, "")})
        return f"{self.root}{path}?{encoded}" if encoded else f"{self.root}{path}"

    def again(self, **changes: object) -> str:
        """Returns the address of this page with these query parameters changed. Leaves out parameters with an empty
        value, and the parameter `notice` unless `changes` has it."""
        return self.to(self.below, **{**self.request.args, "notice": "", **changes})

    @property
    def listed(self) -> str:
        """The query of this page of a list: filters, order and page number. The links to the rows of the list contain
        it, so that `to_list` can lead back from a row to this page."""
        return self.again().partition("?")[2]

    def to_list(self, path: str) -> str:
        """Returns the address of the list at `path`, with the filters, order and page number that the list had when
        this page was opened from it."""
        return self.to(path, **dict(parse_qsl(self.request.args.get("list", ""))))

    def to_psu(self, path: str) -> str:
        """Returns the address of one of the bank's pages for customers. If the bank and the console have the same
        address, returns only the path, because the browser may reach both through a proxy with another host name."""
        bank = self.bank_address
        return f"{self.request.script_root if bank == find_root(self.request) else bank}/psu{path}"

    def to_world(self, name: str) -> str:
        """Returns the address of the console of the world `name`."""
        return f"{self.prefix}/_sandbox/" if name == "default" else f"{self.prefix}/worlds/{quote(name)}/_sandbox/"

    @property
    def proof(self) -> str:
        return pages.compute_proof(self.session, "a form of the console")

    @property
    def is_proven(self) -> bool:
        """Whether the sent form has the proof that the console made the form for this session."""
        return is_same_secret(self.request.form.get("proof", ""), self.proof)

    @property
    def number(self) -> int:
        """The page number in the query of a list, or 1 if the query has no valid number."""
        text = self.request.args.get("page", "1")
        return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1

    def keep_form(self, refusal: Refusal | None = None) -> str:
        """Stores the values of the sent form, and returns a number for them. A page that is opened with this number
        (`?notice=`) fills in its form with the values, and shows the refusal if there is one."""
        number, form = str(next(self.state.numbers)), self.request.form
        field = find_field(refusal, form) if refusal else ""
        reason = str(refusal.facts.get("why", refusal.text)) if refusal else ""
        address = self.root + self.below.replace("/console/preview/", "/console/do/")
        self.state.refused.keep(number, RefusedForm(self.session, address, form, field, reason))
        return number


def find_field(refusal: Refusal, form: MultiDict[str, str]) -> str:
    """Returns the form's field that a refusal is about, or an empty text if no field fits. Tries the refusal's input
    first. Then tries the words of the path with which the refusal's reason begins, the last word first: for
    `when.chance: ...`, first `chance`, then `when`."""
    path = str(refusal.facts.get("why", "")).partition(": ")[0]
    words = [str(refusal.facts.get("input", "")), *reversed(re.findall(r"\w+", path))]
    return next((word for word in words if word in form), "")
