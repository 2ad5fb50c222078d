"""What a world begins with, and how fast its time goes."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from sandbox.bank.rules import Rule
from sandbox.bank.state import Bank
from sandbox.banking.durations import LAST_MOMENT
from sandbox.contract.settings import Settings
from sandbox.seed import Fixtures, open_bank
from sandbox.seed.life import PEOPLE_SEEDS
from sandbox.world.faults import Fault
from sandbox.world.log.codec import keep

# People and history come from a seed's low bits, so that worlds with seeds of their own share them. Anyone who reads an
# account can find these bits; what must not be guessed comes from the secret.
SECRET_BYTES = 16


@keep("Pace")
@dataclass(frozen=True, slots=True)
class Pace:
    """Bank time = base + rate x machine time elapsed; frozen is the rate 0.

    A clock that runs fast for days stops at the last moment that a caller may write."""

    base: datetime
    since: float
    rate: float

    def at(self, machine: float) -> datetime:
        if not self.rate:
            return self.base
        gone = max(0.0, machine - self.since) * self.rate
        left = (LAST_MOMENT - self.base).total_seconds()
        return self.base + timedelta(seconds=gone) if gone < left else max(self.base, LAST_MOMENT)

    @property
    def frozen(self) -> bool:
        return self.rate == 0


@keep("Beginning")
@dataclass(frozen=True, slots=True)
class Beginning:
    """All that a world is made from; with its log it says everything."""

    fixtures: Fixtures
    seed: int
    at: datetime | None = None  # None: the machine's time when it is made
    rate: float = 1.0
    scenario: str = "default"
    settings: Settings = Settings()
    rules: tuple[Rule, ...] = ()
    faults: tuple[Fault, ...] = ()
    secret: str = field(default="", repr=False)  # hexadecimal; empty: ids and tokens follow from the seed alone


def bank_of(beginning: Beginning, opening: datetime) -> Bank:
    return open_bank(beginning.fixtures, beginning.seed, opening, beginning.settings, beginning.rules, beginning.secret)


def seed_of(seed: int, name: str) -> int:
    """The server's seed for `default`; for another world one that keeps the server's people."""
    if name == "default":
        return seed
    own = int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=4).digest())
    return (own + 1) * PEOPLE_SEEDS + seed % PEOPLE_SEEDS


def secret_of(secret: str, name: str) -> str:
    """A world's own secret. It leads neither to the server's nor to that of another world."""
    if not secret:
        return ""
    return blake2b(f"world/{name}".encode(), key=bytes.fromhex(secret), digest_size=SECRET_BYTES).hexdigest()


def seeded(beginning: Beginning, seed: int, guarded: bool) -> Beginning:
    """With a seed that was given, from which all ids and tokens follow, unless the server guards them."""
    return replace(beginning, seed=seed, secret=beginning.secret if guarded else "")


def nth_id(beginning: Beginning, number: int) -> str:
    """A version 4 UUID for a response whose request had none; it draws nothing from the bank."""
    text, key = f"response/{beginning.seed}/{number}".encode(), bytes.fromhex(beginning.secret)
    return str(UUID(bytes=blake2b(text, key=key, digest_size=16).digest(), version=4))
