"""Exports a world: a head, every act, the stored calls, and hashes of the outcome.

A stripped file has no secrets of callers. Each secret is replaced everywhere by a text of its own, so the file can
still be replayed. A secret that the bank drew is replaced by its number, for example as the third secret. The replay
draws it again from the world's seed and secret, which the file must contain anyway.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count
from typing import Any

from sandbox.bank.mint import Mint
from sandbox.bank.records import Origin, RegisteredClient
from sandbox.bank.verbs import list_parameters
from sandbox.banking.pkce import compute_challenge
from sandbox.contract.errors import Error, Refusal
from sandbox.people.fixtures import load_fixtures
from sandbox.storage import checkpoint
from sandbox.storage.bank_copy import release_bank
from sandbox.storage.codec import encode, encode_arguments
from sandbox.storage.format import find_program_version
from sandbox.storage.long_work import pause_between
from sandbox.storage.memory_log import Act, MemoryLog, play
from sandbox.storage.state_hash import hash_outcome, hash_state
from sandbox.storage.transfer import form
from sandbox.storage.transfer.file_reader import FINDINGS_MAX
from sandbox.storage.transfer.form import CarriedFinding, DrawnSecret
from sandbox.worlds.beginning import Beginning, make_bank
from sandbox.worlds.calls import Exchange
from sandbox.worlds.snapshot import WorldSnapshot, replay
from sandbox.worlds.world import World

ACTS_AT_ONCE, CALLS_AT_ONCE = 50, 200  # lines between two pauses: one or two milliseconds
STRIPPED = ("client secrets", "code verifiers and challenges", "state of callbacks", "codes, tokens and addresses")
AT_ONCE = 100  # acts between two pauses
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def export_lines(world: World, strip: bool = False, findings: Sequence[CarriedFinding] = ()) -> Generator[bytes]:
    """Returns a generator of the lines of the file to which a world is exported. `findings` are the findings that it
    contains. With `strip`, each secret is replaced, and the same secret always by the same text, so that the file can
    still be replayed. Raises a Refusal if acts of the world were deleted."""
    snapshot = world.snapshot()
    if snapshot.acts.start is not None:
        reason = "its first acts are kept no longer (acts_kept), and an export holds all acts"
        raise Refusal(Error.CONTROL_INVALID, input="world", why=reason)
    if strip:
        whole, snapshot = snapshot, strip_secrets(snapshot)
        release_bank(whole.bank)
    return write_lines(world.name, snapshot._replace(findings=tuple(findings)), strip)


def write_lines(name: str, snapshot: WorldSnapshot, strip: bool) -> Generator[bytes]:
    digest = sha256()

    def write_line(content: dict[str, Any]) -> bytes:
        line = form.encode_line(content)
        digest.update(line)
        return line

    try:
        yield write_line(make_head(name, snapshot, strip))
        for number, act in enumerate(pause_between(snapshot.acts, ACTS_AT_ONCE), 1):
            yield write_line(act_line(number, act))
        for exchange in pause_between(snapshot.exchanges, CALLS_AT_ONCE):
            yield write_line({"call": form.call_row(exchange)})
        for finding in snapshot.findings[:FINDINGS_MAX]:
            yield write_line({"finding": form.make_finding_row(finding)})
        hashes = {"state": hash_state(snapshot.bank), "outcome": hash_outcome(snapshot.bank)}
        ends = {"end": len(snapshot.acts), **hashes, "digest": digest.hexdigest()}
        yield form.encode_line(ends)
    finally:
        release_bank(snapshot.bank)


def make_head(name: str, snapshot: WorldSnapshot, strip: bool) -> dict[str, Any]:
    beginning = snapshot.beginning
    assert beginning.at is not None
    fixtures = beginning.fixtures
    digest = form.compute_people_digest(fixtures)
    people: dict[str, Any] = {"digest": digest}
    if form.is_shipped(fixtures):
        people["fixtures"] = form.SHIPPED
    else:
        people["whole"] = encode(replace(fixtures, digest=digest))
    return {
        "format": form.FORMAT,
        "version": form.VERSION,
        "program": find_program_version(),
        "program_digest": checkpoint.compute_program_digest(),
        "world": name,
        "scenario": beginning.scenario,
        "seed": beginning.seed,
        "secret": beginning.secret,
        "opening": form.write_exact_time(beginning.at),
        "now": form.write_exact_time(snapshot.pace.base),
        "rate": float(snapshot.pace.rate),
        "first_rate": float(beginning.rate),
        "acts": len(snapshot.acts),
        "calls": snapshot.calls,
        "stripped": list(STRIPPED) if strip else [],
        "people": people,
        "past": form.compute_past_digest(snapshot.bank),
        "settings": encode(beginning.settings),
        "rules": encode(beginning.rules),
        "faults": encode(beginning.faults),
        "ordered": encode(snapshot.faults),
    }


def act_line(number: int, act: Act) -> dict[str, Any]:
    arguments = encode_arguments(act.verb, act.arguments)
    line = {
        "act": number,
        "at": form.write_exact_time(act.at),
        "verb": act.verb,
        "arguments": arguments,
        "made": act.made,
    }
    return line | ({"id": act.id} if act.id else {})


def strip_secrets(snapshot: WorldSnapshot) -> WorldSnapshot:
    """Returns a copy of the snapshot without secrets. A replay of the copy gives the statuses and balances of the
    world. The hash of the whole state differs if the bank stored a secret of a caller."""
    strip = SecretStripper(snapshot)
    beginning = strip.strip_beginning(snapshot.beginning)
    acts = MemoryLog()
    for act in pause_between(snapshot.acts, AT_ONCE):
        acts.append(strip.act(act))
    with_drawn_secrets = MemoryLog()
    for act in pause_between(acts, AT_ONCE):
        with_drawn_secrets.append(form.restore_secrets(act, form.make_secret_finder(beginning)))
    bank = replay(beginning, with_drawn_secrets, snapshot.pace.base)
    calls = [strip.strip_exchange(exchange) for exchange in snapshot.exchanges]
    return snapshot._replace(beginning=beginning, acts=acts, bank=bank, exchanges=calls)


def list_drawn_secrets(snapshot: WorldSnapshot) -> dict[str, DrawnSecret]:
    """Returns a DrawnSecret for each secret that the bank drew, by the secret. In a world that servers share, secrets
    depend on the ids of acts, so the acts are replayed to find which act drew which secret."""
    beginning = snapshot.beginning
    mint = Mint(beginning.seed, secret=beginning.secret)
    secrets: dict[str, DrawnSecret] = {}

    def draw(until: int, act_id: str) -> None:
        mint.salt = act_id
        while mint.asked < until:
            secret = mint.draw_secret()
            secrets[secret] = DrawnSecret(mint.asked, act_id)

    if any(act.id for act in pause_between(snapshot.acts, AT_ONCE)):
        assert beginning.at is not None
        bank = make_bank(beginning, beginning.at)
        for act in pause_between(snapshot.acts, AT_ONCE):
            play(bank, [act])
            draw(bank.mint.asked, act.id)
        release_bank(bank)
    draw(snapshot.bank.mint.asked, "")
    return secrets


class SecretStripper:
    """Replaces the secrets of a world in its beginning, acts and calls. The same secret is always replaced by the same
    text."""

    def __init__(self, snapshot: WorldSnapshot) -> None:
        self._drawn = list_drawn_secrets(snapshot)
        self._names: dict[str, str] = {}
        self._numbers = count(1)
        self._public = {client.secret for client in load_fixtures().clients.values()}
        for act in pause_between(snapshot.acts, AT_ONCE):
            for name, value in name_arguments(act):
                if name == "verifier" and isinstance(value, str):
                    self._names[compute_challenge("S256", value)] = compute_challenge("S256", self._stand_in(value))

    def _stand_in(self, secret: str) -> str:
        """Returns the text that replaces a secret. It has the least length of a PKCE code verifier, so that it can
        replace one."""
        if secret not in self._names:
            self._names[secret] = f"stripped-{next(self._numbers)}-".ljust(43, "x")
        return self._names[secret]

    def strip_beginning(self, beginning: Beginning) -> Beginning:
        fixtures = beginning.fixtures
        if form.is_shipped(fixtures):  # known to everyone
            return beginning
        clients = {name: self._strip_client(client) for name, client in fixtures.clients.items()}
        return replace(beginning, fixtures=replace(fixtures, clients=clients))

    def _strip_client(self, client: RegisteredClient) -> RegisteredClient:
        return client if client.secret in self._public else replace(client, secret=self._stand_in(client.secret))

    def act(self, act: Act) -> Act:
        return act._replace(arguments=tuple(self._strip_argument(name, value) for name, value in name_arguments(act)))

    def _strip_argument(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value in self._drawn:
            return self._drawn[value]
        if name in ("state", "verifier") and isinstance(value, str):
            return self._stand_in(value)
        if name == "challenge" and value:
            return self._strip_challenge(value)
        if isinstance(value, Origin) and value.challenge:
            return replace(value, challenge=self._strip_challenge(value.challenge))
        if isinstance(value, RegisteredClient):
            return self._strip_client(value)
        if name == "changes":
            return tuple((key, self._stand_in(item) if key == "secret" else item) for key, item in value)
        return value

    def _strip_challenge(self, challenge: tuple[str, str]) -> tuple[str, str]:
        method, text = challenge
        if method == "S256" and text not in self._names:
            self._names[text] = compute_challenge(method, f"stripped-{next(self._numbers)}-".ljust(43, "x"))
        return method, self._stand_in(text)

    def strip_exchange(self, exchange: Exchange) -> Exchange:
        def hidden(match: re.Match[str]) -> str:
            drawn = self._drawn.get(match[0])
            return match[0] if drawn is None else f"drawn-{drawn.number}"

        return exchange._replace(path=SECRET.sub(hidden, exchange.path))


def name_arguments(act: Act) -> Iterator[tuple[str, Any]]:
    """Yields the arguments of an act with their names."""
    names = (parameter.name for parameter in list_parameters(act.verb))
    return zip(names, act.arguments, strict=False)
