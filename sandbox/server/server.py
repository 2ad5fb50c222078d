"""Makes, runs and ends the HTTP server of an application. Also raises the number of files that the process may open."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import MultiSocketServer

from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.machine.operating_system import demand_open_files, open_files_max
from sandbox.server.bounded_waitress import (
    DEFAULT_BOUNDS,
    DISK_MAX,
    OVERFLOW,
    READ_BYTES,
    BankChannel,
    BankDispatcher,
    BankServer,
    Bounds,
)
from sandbox.server.line_faults import LineFaults
from sandbox.server_address import write_address
from sandbox.web.api.failures import HEADER_BYTES_MAX
from sandbox.worlds.faults import LINE, ConnectionFault

BACKLOG = 4_096  # connections that the system keeps until they are accepted
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000  # above the application's own bounds, so that it refuses in its words
END_SECONDS_MAX = 5  # for the connections that are still open
FILES_EACH = 2  # of a connection: its socket, and sometimes a body or a reply in a temporary file
FILES_SPARE = 128  # for the program itself


class Transport(NamedTuple):
    """The parts of a server that differ between HTTP and HTTPS. `wrap` turns the plain socket of a new connection into
    the socket that the server reads and writes."""

    scheme: str = "http"
    channel: type[BankChannel] = BankChannel
    wrap: Callable[[Any], Any] = lambda line: line


PLAIN = Transport()


def raise_files(connections: int) -> None:
    """Raises the process's limit of open files to what this number of connections needs, as far as the system allows
    it."""
    demand_open_files(FILES_EACH * connections + FILES_SPARE)


def limit_connections(connections: int) -> int:
    """Returns `connections`, or the number of connections for which the process may open enough files, if that is
    lower."""
    most = open_files_max()
    return connections if most is None else max(1, min(connections, (most - FILES_SPARE) // FILES_EACH))


def make_server(
    app: Any, host: str, port: int, threads: int, bounds: Bounds = DEFAULT_BOUNDS, transport: Transport = PLAIN
) -> Any:
    """Makes a server that already listens on `host` and `port`. Its method `run` answers calls. If the host name has
    several addresses, the server listens on all of them."""
    adjustments = make_adjustments(threads, transport.scheme, host=host, port=port)
    workers = BankDispatcher(threads)
    sockets: dict[int, Any] = {}
    channels: dict[int, Any] = {}
    bounds = bounds._replace(connections=limit_connections(bounds.connections))
    ordered_faults: ConnectionFault | None = getattr(app, "config", {}).get(LINE)
    servers = [
        BankServer(app, sockets, dispatcher=workers, adj=adjustments, sockinfo=address)
        for address in adjustments.listen
    ]
    for server in servers:
        if ordered_faults is not None:
            server.line_faults = LineFaults(server)
            server.ordered_faults = ordered_faults
            ordered_faults.add_listener(server.line_faults.order, tls=transport.scheme == "https")
        server.active_channels, server.bounds = channels, bounds
        server.channel_class, server.wrap = transport.channel, transport.wrap
    if len(servers) == 1:
        return servers[0]
    addresses = [(server.effective_host, server.effective_port) for server in servers]
    return MultiSocketServer(sockets, adjustments, addresses, workers, servers[0].log_info)


def make_server_on(listener: socket.socket, app: Any, threads: int) -> BankServer:
    """Makes a server that accepts the connections of `listener`, a socket that is bound to its address. Its method
    `run` answers calls."""
    address = (listener.family, listener.type, listener.proto, listener.getsockname())
    server = BankServer(
        app,
        _sock=listener,
        dispatcher=BankDispatcher(threads),
        adj=make_adjustments(threads, PLAIN.scheme, sockets=[listener]),
        sockinfo=address,
        bind_socket=False,
    )
    server.bounds = DEFAULT_BOUNDS._replace(connections=limit_connections(DEFAULT_BOUNDS.connections))
    return server


def make_adjustments(threads: int, scheme: str, **address: Any) -> Adjustments:
    """Returns the settings of waitress for a server. `address` says where it listens, in waitress's own words."""
    return Adjustments(
        **address,
        threads=threads,
        ident=None,
        url_scheme=scheme,
        asyncore_use_poll=True,
        backlog=BACKLOG,
        recv_bytes=READ_BYTES,
        inbuf_overflow=OVERFLOW,
        outbuf_overflow=OVERFLOW,
        outbuf_high_watermark=DISK_MAX,  # no worker waits for a caller that does not read
        max_request_header_size=HEADER_BYTES_MAX,
        max_request_body_size=BODY_BYTES_MAX,
    )


def find_port(server: Any) -> int:
    """Returns the port on which a server listens. Also works for a server that listens on several addresses."""
    addresses = getattr(server, "effective_listen", None)
    return int(addresses[0][1] if addresses else server.effective_port)


def end(server: Any) -> None:
    """Ends a server that listens on one address. Ends its workers (the threads that answer calls) first, then its loop
    (the thread that reads the connections). The loop's own thread must not call this function."""
    server.task_dispatcher.shutdown()
    if getattr(server, "ordered_faults", None) is not None:
        server.ordered_faults.remove_listener(server.line_faults.order)
        server.line_faults.end()
    trigger = server.trigger
    with trigger.lock:  # the loop may be awake already, and must close the trigger only after it was pulled here
        trigger.thunks.append(lambda: wasyncore.close_all(server._map))
        trigger.pull_trigger()


@contextmanager
def serve_in_background(app: Any, host: str = "127.0.0.1", port: int = 0, threads: int = 4) -> Iterator[str]:
    """Serves an application on `host` and `port` in a thread while the block runs. Yields the address."""
    server = make_server(app, host, port, threads)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield write_address("http", host, find_port(server))
    finally:
        end(server)
        thread.join(END_SECONDS_MAX)
