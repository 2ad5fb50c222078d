"""What the pages of one application share, while it runs."""

from collections import OrderedDict
from secrets import token_urlsafe
from threading import Lock
from typing import NamedTuple

from flask import Flask

from sandbox.banking.pkce import EXAMPLE_CHALLENGE, EXAMPLE_VERIFIER, challenge_of
from sandbox.web.console.notices import Notices
from sandbox.world.registry import Worlds

VERIFIERS_KEPT = 500
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


class Desk(NamedTuple):
    """The worlds, and what the console keeps for its visitors; `key` is what guards the controls, if anything does."""

    worlds: Worlds
    key: str | None
    bank_app: Flask  # answers the demo client's calls
    notices: Notices
    verifiers: Verifiers
