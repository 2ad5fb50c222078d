"""What the pages of one application share, while it runs."""

from collections import OrderedDict
from secrets import token_urlsafe
from threading import Lock
from typing import NamedTuple

from flask import Flask

from sandbox.banking.pkce import EXAMPLE_CHALLENGE, EXAMPLE_VERIFIER, challenge_of
from sandbox.world.registry import Worlds

VERIFIERS_KEPT, NOTICES_KEPT = 500, 200
FILES = ("console.js", "console.svg")  # its own, in the folder `static`


class Verifiers:
    """The PKCE verifiers of the console's own flows, by challenge; the oldest go first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, str] = OrderedDict({EXAMPLE_CHALLENGE: EXAMPLE_VERIFIER})

    def new_challenge(self) -> str:
        verifier = token_urlsafe(48)
        challenge = challenge_of("S256", verifier)
        with self._lock:
            self._kept[challenge] = verifier
            if len(self._kept) > VERIFIERS_KEPT:
                self._kept.popitem(last=False)
        return challenge

    def of(self, challenge: str) -> str | None:
        if challenge == EXAMPLE_CHALLENGE:
            return EXAMPLE_VERIFIER
        return self._kept.get(challenge)


class Notice(NamedTuple):
    """The outcome of an action, and the command that does the same."""

    session: str
    text: str
    curl: str
    refused: bool = False


class Notices:
    """The last ones after a button was pressed, by number, each for one browser alone; the oldest go first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made = 0
        self._kept: OrderedDict[int, Notice] = OrderedDict()

    def add(self, notice: Notice) -> int:
        with self._lock:
            self._made += 1
            self._kept[self._made] = notice
            if len(self._kept) > NOTICES_KEPT:
                self._kept.popitem(last=False)
            return self._made

    def of(self, number: str, session: str) -> Notice | None:
        if not (number.isascii() and number.isdigit() and len(number) < 12):
            return None
        found = self._kept.get(int(number))
        return found if found is not None and found.session == session else None


class Desk(NamedTuple):
    """The worlds, and what the console keeps for its visitors; `key` is what guards the controls, if anything does."""

    worlds: Worlds
    key: str | None
    bank_app: Flask  # answers the demo client's calls
    notices: Notices
    verifiers: Verifiers
