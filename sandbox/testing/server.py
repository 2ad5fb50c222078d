"""A server in a thread of this process, and a bank at it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.client import Controls
from sandbox.serve.server import in_background
from sandbox.testing.bank import Bank
from sandbox.testing.start import Start, world_options

NAME_MAX = 64


@contextmanager
def serve_world(app: Any) -> Iterator[Bank]:
    """Serves a default world on a free port until the block ends."""
    with in_background(app) as address, at_server(address) as bank:
        yield bank
        bank.drop()


@contextmanager
def at_server(base_url: str, key: str | None = None) -> Iterator[Bank]:
    """The address of a running server."""
    with Controls(base_url, key=key) as controls:
        yield Bank(controls, "default")


@contextmanager
def world_of(server: Bank, name: str, start: Start, variants: Mapping[str, str] | None = None) -> Iterator[Bank]:
    """A new world at a server, dropped with its forks at the end."""
    name = name[:NAME_MAX]
    server.controls.make_world(name, **world_options(start), variants=variants or None)
    bank = Bank(server.controls, name)
    try:
        yield bank
    finally:
        bank.drop()
