"""A server in a thread of this process, and a bank at it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.client import Controls
from sandbox.serve.server import end, port_of, server_of
from sandbox.testing.bank import Bank
from sandbox.testing.start import Start, world_options

THREADS = 4
HOST = "127.0.0.1"
NAME_MAX = 64


@contextmanager
def serve_world(app: Any, start: Start) -> Iterator[Bank]:
    """Serves a default world on a free port until the block ends."""
    server = server_of(app, HOST, 0, THREADS)
    thread = threading.Thread(target=server.run, name="bank-sandbox", daemon=True)
    thread.start()
    try:
        with at_server(f"http://{HOST}:{port_of(server)}") as bank:
            yield bank
            bank.drop()
    finally:
        end(server)
        thread.join()


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
