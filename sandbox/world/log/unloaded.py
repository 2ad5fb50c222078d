"""What a world that is put away takes along beside its bank: its calls, and what other rooms keep of it.

It is of this program's life alone: a state file that is opened anew has none.
"""

import pickle
from collections.abc import Iterable
from typing import Any

from sandbox.world.log.checkpoint import read_plain

Calls = list[tuple[Any, ...]]


def written(calls: Iterable[tuple[Any, ...]], kept: dict[str, bytes]) -> bytes:
    return pickle.dumps((list(calls), kept), protocol=5)


def read(content: bytes | None) -> tuple[Calls, dict[str, bytes]]:
    """Nothing where nothing was put."""
    return ([], {}) if content is None else read_plain(content)
