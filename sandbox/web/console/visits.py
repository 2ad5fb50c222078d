"""A visit of the console: its world, its addresses, the proof that a form is ours, and what all visits share."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from flask import Flask, Request, Response

from sandbox.banking.pkce import same_text
from sandbox.web.api.addresses import bank_root_of, callback_of, root_of
from sandbox.web.controls.lock import shows_key
from sandbox.web.html import pages
from sandbox.web.html.filled import Typed
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

Facts = dict[str, Any]  # what a page shows, by the names that its template knows
T = TypeVar("T")
FILES = ("console.js", "console.svg")  # the console's own, in the folder `static`
SESSION_COOKIE = "sandbox-console"


class Latest(Generic[T]):
    """The last values that were kept; the oldest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[str, T] = OrderedDict()

    def keep(self, key: str, value: T) -> None:
        with self._lock:
            self._kept[key] = value
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def get(self, key: str) -> T | None:
        return self._kept.get(key)


class Notice(NamedTuple):
    """The outcome of an action, and the command that does the same; for one browser alone."""

    session: str
    text: str
    curl: str
    refused: bool = False


class RefusedForm(NamedTuple):
    """A form that was refused: the values that were typed, and the address it leads to; for one browser alone."""

    session: str
    address: str
    typed: Typed


class ConsoleState(NamedTuple):
    """The worlds, and what the console keeps for its visitors; `key` is what guards the controls, if anything does."""

    worlds: WorldRegistry
    key: str | None
    bank_app: Flask  # answers the demo client's calls
    numbers: Iterator[int]  # of notices
    notices: Latest[Notice]
    refused: Latest[RefusedForm]  # by the number of the notice
    verifiers: Latest[str]  # of PKCE in the console's own flows, by challenge


@dataclass(frozen=True, slots=True)
class ConsoleVisit:
    """One request of a page."""

    desk: ConsoleState
    world: World
    request: Request
    path: Mapping[str, str]
    session: str

    @property
    def prefix(self) -> str:
        """The address of the whole sandbox, without a world."""
        named = f"/worlds/{self.world.name}"
        return self.request.script_root.removesuffix(named)

    @property
    def root(self) -> str:
        """Where the console of this world begins."""
        return f"{self.request.script_root}/_sandbox"

    @property
    def below(self) -> str:
        """The path of the page, below the root."""
        return self.request.path.removeprefix("/_sandbox")

    @property
    def bank_address(self) -> str:
        """Where this world's bank answers."""
        return bank_root_of(self.request)

    def to_psu(self, path: str) -> str:
        """A page of the bank's own; at the same address it is told without the host, which a proxy may know better."""
        bank, here = self.bank_address, root_of(self.request)
        return f"{self.request.script_root if bank == here else bank}/psu{path}"

    @property
    def callback(self) -> str:
        """The address of this world's callback page."""
        return callback_of(self.request)

    def to(self, path: str, /, **query: object) -> str:
        """A page of the console; what is empty is left out of the query. A word of the query may be called `path`."""
        encoded = urlencode({name: value for name, value in query.items() if value not in (None, "")})
        return f"{self.root}{path}?{encoded}" if encoded else f"{self.root}{path}"

    def to_world(self, name: str) -> str:
        """The console of another world."""
        return f"{self.prefix}/_sandbox/" if name == "default" else f"{self.prefix}/worlds/{quote(name)}/_sandbox/"

    @property
    def proof(self) -> str:
        return pages.proof_of(self.session, "a form of the console")

    @property
    def is_proven(self) -> bool:
        """Whether the form that was sent is one of ours."""
        return same_text(self.request.form.get("proof", ""), self.proof)

    @property
    def is_admitted(self) -> bool:
        """Whether the caller has the key, by the header or by what the key form left with the browser."""
        return self.desk.key is None or shows_key(self.request, self.desk.key, by_cookie=True)

    @property
    def number(self) -> int:
        """The page of a list that is asked for; anything odd is the first."""
        text = self.request.args.get("page", "1")
        return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def session_of(request: Request) -> str:
    """The browser's, or a new one; it only ties a form to the browser that asked for it."""
    key = request.cookies.get(SESSION_COOKIE, "")
    return key if len(key) == 32 and key.isalnum() and key.isascii() else token_hex(16)


def keep(visit: ConsoleVisit, response: Response, cookie: str, value: str) -> None:
    """For every world of this sandbox, and for nobody else; no script reads it."""
    secure, path = visit.request.is_secure, visit.prefix or "/"
    response.set_cookie(cookie, value, path=path, secure=secure, httponly=True, samesite="Strict")


def keep_form(visit: ConsoleVisit) -> str:
    """Keeps what was typed, for the page that is opened with the number (`?notice=`) that it returns."""
    number = str(next(visit.desk.numbers))
    visit.desk.refused.keep(number, RefusedForm(visit.session, visit.root + visit.below, visit.request.form))
    return number
