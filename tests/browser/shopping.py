"""The demo shop on a port of its own, for tests and for pictures."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from waitress import create_server

from sandbox.extensions.shop.app import CALLBACK, create_app
from sandbox.extensions.shop.bank_client import BankClient
from sandbox.extensions.shop.demo import Demo
from sandbox.server.server import end


@contextmanager
def standing(bank: str) -> Iterator[str]:
    """The shop's address, with its demo bar."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        address = f"http://127.0.0.1:{door.getsockname()[1]}"
        demo = Demo(bank)
        line = BankClient(bank, "demo-tpp", "demo-secret", f"{address}{CALLBACK}", demo.read_now)
        shop = create_app(line)
        demo.join(shop)
        server = create_server(shop, sockets=[door])
        serving = Thread(target=server.run)
        serving.start()
        try:
            yield address
        finally:
            end(server)
            serving.join(5)
            line.http.close()
            demo.controls.http.close()
