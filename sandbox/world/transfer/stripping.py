"""A life without what its callers kept secret. Each secret has one stand-in, so that all still fits together.

What the bank drew follows from the world's seed and secret, which a replay needs: it is only named by its number.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from sandbox.bank.mint import Mint
from sandbox.bank.records import Client, Origin
from sandbox.banking.pkce import challenge_of
from sandbox.seed.fixtures import Fixtures, load_fixtures
from sandbox.world.beginning import Beginning
from sandbox.world.calls import Exchange
from sandbox.world.log.memory_log import Act, MemoryLog
from sandbox.world.long_work import with_pauses
from sandbox.world.replay import replayed
from sandbox.world.transfer.form import Drawn, is_shipped, parameters_of
from sandbox.world.world import Life

STRIPPED = ("client secrets", "code verifiers and challenges", "state of callbacks", "codes, tokens and addresses")
AT_ONCE = 100  # acts between two pauses
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def stripped(life: Life) -> Life:
    """It goes the same way, but to another state hash where a secret stood in the bank."""
    strip = Strip(life)
    beginning = strip.beginning(life.beginning)
    acts = MemoryLog()
    for act in with_pauses(life.acts, AT_ONCE):
        acts.append(strip.act(act))
    plain = MemoryLog()
    for act in with_pauses(acts, AT_ONCE):
        plain.append(resolved(act, drawn_by(beginning)))
    bank = replayed(beginning, plain, life.pace.base)
    plain.release()
    calls = [strip.exchange(exchange) for exchange in life.exchanges]
    return life._replace(beginning=beginning, acts=acts, bank=bank, exchanges=calls)


class Strip:
    """The secrets of one life, each with its stand-in."""

    def __init__(self, life: Life) -> None:
        mint = Mint(life.beginning.seed, secret=life.beginning.secret)
        self._drawn = {mint.secret(): number for number in range(1, life.bank.mint.asked + 1)}
        self._names: dict[str, str] = {}
        self._numbers = count(1)
        self._public = {client.secret for client in load_fixtures().clients.values()}
        for act in with_pauses(life.acts, AT_ONCE):
            for name, value in named(act):
                if name == "verifier" and isinstance(value, str):
                    self._names[challenge_of("S256", value)] = challenge_of("S256", self._stand_in(value))

    def _stand_in(self, secret: str) -> str:
        """As long as a verifier has to be."""
        if secret not in self._names:
            self._names[secret] = f"stripped-{next(self._numbers)}-".ljust(43, "x")
        return self._names[secret]

    def beginning(self, beginning: Beginning) -> Beginning:
        fixtures = beginning.fixtures
        if is_shipped(fixtures):  # known to everyone
            return beginning
        clients = {name: self._client(client) for name, client in fixtures.clients.items()}
        others = (fixtures.customers, fixtures.accounts, clients, fixtures.profiles, fixtures.names)
        return replace(beginning, fixtures=Fixtures(fixtures.digest, *others))

    def _client(self, client: Client) -> Client:
        return client if client.secret in self._public else replace(client, secret=self._stand_in(client.secret))

    def act(self, act: Act) -> Act:
        return act._replace(arguments=tuple(self._argument(name, value) for name, value in named(act)))

    def _argument(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value in self._drawn:
            return Drawn(self._drawn[value])
        if name in ("state", "verifier") and isinstance(value, str):
            return self._stand_in(value)
        if name == "challenge" and value:
            return self._challenge(value)
        if isinstance(value, Origin) and value.challenge:
            return replace(value, challenge=self._challenge(value.challenge))
        if isinstance(value, Client):
            return self._client(value)
        if name == "changes":
            return tuple((key, self._stand_in(item) if key == "secret" else item) for key, item in value)
        return value

    def _challenge(self, challenge: tuple[str, str]) -> tuple[str, str]:
        method, text = challenge
        if method == "S256" and text not in self._names:
            self._names[text] = challenge_of(method, f"stripped-{next(self._numbers)}-".ljust(43, "x"))
        return method, self._stand_in(text)

    def exchange(self, exchange: Exchange) -> Exchange:
        def hidden(found: re.Match[str]) -> str:
            number = self._drawn.get(found[0])
            return found[0] if number is None else f"drawn-{number}"

        return exchange._replace(path=SECRET.sub(hidden, exchange.path))


def named(act: Act) -> Iterator[tuple[str, Any]]:
    """The arguments of an act by their names; an older program may have given fewer, when a verb took fewer."""
    names = (parameter.name for parameter in parameters_of(act.verb))
    return zip(names, act.arguments, strict=False)


def drawn_by(beginning: Beginning) -> Any:
    """What the mint of a world draws as its nth secret."""
    return lambda number: Mint(beginning.seed, number - 1, beginning.secret).secret()


def resolved(act: Act, secret_of: Any) -> Act:
    """An act of a stripped file with the secrets that its numbers stand for."""
    if not any(isinstance(value, Drawn) for value in act.arguments):
        return act
    given = (secret_of(value.number) if isinstance(value, Drawn) else value for value in act.arguments)
    return act._replace(arguments=tuple(given))
