"""The stored values of a world that are not acts: its beginning (the inputs from which it is made), and the clock,
fault rules and barriers that testers set."""

import zlib
from collections import deque
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from operator import is_
from typing import Any, NamedTuple
from uuid import UUID

from sandbox.bank.rules import ScenarioRule
from sandbox.bank.state import Bank
from sandbox.contract.decisions import Decisions
from sandbox.people import Fixtures, open_bank
from sandbox.people.life import PEOPLE_SEEDS
from sandbox.storage.codec import decode_bytes, encode_bytes, make_record
from sandbox.storage.format import stored_as
from sandbox.worlds.clock import Pace
from sandbox.worlds.faults import Fault, OrderedFaults
from sandbox.worlds.holds import StoredHold

# People and history come from a seed's low bits, so that worlds with seeds of their own share them. Anyone who reads an
# account can find these bits; what must not be guessed comes from the secret.
SECRET_BYTES = 16
# The fields that are equal in nearly all worlds of a server. They are nearly all bytes of a beginning.
ALIKE = ("fixtures", "settings", "rules", "faults")
_packed: deque[tuple[list[Any], bytes]] = deque(maxlen=8)  # the last values that were compressed, with their bytes


@dataclass(frozen=True, slots=True)
class Beginning:
    """The inputs from which a world is made. Together with its log, they determine everything in its bank."""

    fixtures: Fixtures
    seed: int
    at: datetime | None = None  # None: the machine's time when it is made
    rate: float = 1.0
    scenario: str = "default"
    settings: Decisions = Decisions()
    rules: tuple[ScenarioRule, ...] = ()
    faults: tuple[Fault, ...] = ()
    secret: str = field(default="", repr=False)  # hexadecimal; empty: ids and tokens follow from the seed alone


@stored_as("ControlState")
class ControlState(NamedTuple):
    """The part of a world that testers control: the clock's pace, the fault rules, and the barriers, at which calls
    wait until a tester releases them. The log of the world does not have it."""

    pace: Pace
    faults: OrderedFaults
    holds: tuple[StoredHold, ...] = ()  # of a world that servers share


def make_bank(beginning: Beginning, opening: datetime) -> Bank:
    return open_bank(beginning.fixtures, beginning.seed, opening, beginning.settings, beginning.rules, beginning.secret)


def write_beginning(beginning: Beginning, opening: datetime) -> bytes:
    """Encodes a beginning. `opening` is the bank time at which the world began, and is encoded too. The first line is
    JSON with the fields that differ between worlds. The fields in ALIKE follow, compressed.

    Most worlds of a server have equal values in the fields of ALIKE. So their bytes are equal too, and are decoded only
    once for 1,000 worlds.
    """
    alike = [getattr(beginning, name) for name in ALIKE]
    own = {row.name: getattr(beginning, row.name) for row in fields(Beginning) if row.name not in ALIKE}
    return b"%b\n%b" % (encode_bytes(own | {"opening": opening}), _pack_alike(alike))


def _pack_alike(alike: list[Any]) -> bytes:
    """Returns the values of the fields in ALIKE, compressed. If the same objects were compressed recently, returns the
    cached bytes, because compressing takes most of the time in which a world is made."""
    for earlier, packed_fields in tuple(_packed):
        if all(map(is_, earlier, alike)):
            return packed_fields
    packed_fields = zlib.compress(encode_bytes(dict(zip(ALIKE, alike, strict=True))))
    _packed.append((alike, packed_fields))
    return packed_fields


def read_beginning(content: bytes) -> tuple[Beginning, datetime]:
    """Returns the beginning, and the opening, which is the bank time at which the world began. Raises ValueError or
    TypeError if the content cannot be decoded."""
    line, _, packed_fields = content.partition(b"\n")
    own = decode_bytes(line)
    if not isinstance(own, dict) or not isinstance(opening := own.pop("opening", None), datetime):
        raise ValueError("it has no opening")
    return make_record(Beginning, own | _read_alike(packed_fields)), opening


def read_controls(content: bytes) -> ControlState:
    """Decodes the control state. Raises ValueError if the content cannot be decoded."""
    controls = decode_bytes(content)
    if not isinstance(controls, ControlState):
        raise ValueError("it is no state of controls")
    return controls


@lru_cache(maxsize=256)
def _read_alike(packed_fields: bytes) -> dict[str, Any]:
    try:
        content = zlib.decompress(packed_fields)
    except zlib.error as error:
        raise ValueError(f"it cannot be decompressed: {error}") from None
    return dict(decode_bytes(content))


def compute_seed(seed: int, name: str) -> int:
    """Returns the seed of the world `name`. `seed` is the seed of the server, which is also the seed of the world
    `default`. Every other world has its own seed, from which the same people are generated as from the server's
    seed."""
    if name == "default":
        return seed
    own = int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=4).digest())
    return (own + 1) * PEOPLE_SEEDS + seed % PEOPLE_SEEDS


def compute_secret(secret: str, name: str) -> str:
    """Returns the secret of a world, which is empty if the server has none. Neither the server's secret nor another
    world's can be computed from it."""
    if not secret:
        return ""
    return blake2b(f"world/{name}".encode(), key=bytes.fromhex(secret), digest_size=SECRET_BYTES).hexdigest()


def change_seed(beginning: Beginning, seed: int, guarded: bool) -> Beginning:
    """Returns the beginning with another seed. If `guarded` is true, because the server is on a network, keeps the
    secret. Otherwise removes the secret, so that ids and tokens follow from the seed alone."""
    return replace(beginning, seed=seed, secret=beginning.secret if guarded else "")


def compute_nth_id(beginning: Beginning, number: int) -> str:
    """Returns the id of a call to which the caller gave no id: a version 4 UUID. The reply shows this id. `number` is
    the number of the call in its world. The bank's own source of ids is not used, so the bank's later ids do not depend
    on such calls."""
    text, key = f"response/{beginning.seed}/{number}".encode(), bytes.fromhex(beginning.secret)
    return str(UUID(bytes=blake2b(text, key=key, digest_size=16).digest(), version=4))
