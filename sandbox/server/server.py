"""A server of an application: made, started beside other work, ended."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import MultiSocketServer

from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.server.bounded_waitress import (
    DISK_MAX,
    OVERFLOW,
    READ_BYTES,
    USUAL,
    BankChannel,
    BankDispatcher,
    BankServer,
    Bounds,
)
from sandbox.server.line_faults import LineFaults
from sandbox.server.open_files import fitting
from sandbox.web.api.failures import HEADER_BYTES_MAX
from sandbox.worlds.faults import LINE, ConnectionFault

BACKLOG = 4_096  # connections that the system keeps until they are accepted
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000  # above the application's own bounds, so that it refuses in its words
END_SECONDS_MAX = 5  # for the connections that are still open


class Transport(NamedTuple):
    """What a server speaks: HTTP, or HTTP over TLS."""

    scheme: str = "http"
    channel: type[BankChannel] = BankChannel
    wrap: Callable[[Any], Any] = lambda line: line


PLAIN = Transport()


def server_of(
    app: Any, host: str, port: int, threads: int, bounds: Bounds = USUAL, transport: Transport = PLAIN
) -> Any:
    """A server that listens already; `run` serves. It holds as many connections as the process may open files."""
    adjustments = Adjustments(
        host=host,
        port=port,
        threads=threads,
        ident=None,
        url_scheme=transport.scheme,
        asyncore_use_poll=True,
        backlog=BACKLOG,
        recv_bytes=READ_BYTES,
        inbuf_overflow=OVERFLOW,
        outbuf_overflow=OVERFLOW,
        outbuf_high_watermark=DISK_MAX,  # no worker waits for a caller that does not read
        max_request_header_size=HEADER_BYTES_MAX,
        max_request_body_size=BODY_BYTES_MAX,
    )
    workers = BankDispatcher(threads)
    lines: dict[int, Any] = {}
    opened: dict[int, Any] = {}
    bounds = bounds._replace(connections=fitting(bounds.connections))
    servers = [
        BankServer(app, lines, dispatcher=workers, adj=adjustments, sockinfo=place) for place in adjustments.listen
    ]
    line: ConnectionFault | None = getattr(app, "config", {}).get(LINE)
    for server in servers:
        if line is not None:
            server.line_faults = LineFaults(server)
            server.line = line
            line.tell(server.line_faults.order, tls=transport.scheme == "https")
        server.active_channels, server.bounds = opened, bounds
        server.channel_class, server.wrap = transport.channel, transport.wrap
    if len(servers) == 1:
        return servers[0]
    places = [(server.effective_host, server.effective_port) for server in servers]
    return MultiSocketServer(lines, adjustments, places, workers, servers[0].log_info)


def port_of(server: Any) -> int:
    """Where it listens, also when a name stood for several addresses."""
    listening = getattr(server, "effective_listen", None)
    return int(listening[0][1] if listening else server.effective_port)


def end(server: Any) -> None:
    """Ends, from another thread, a server of one address: first who works, then who listens."""
    server.task_dispatcher.shutdown()
    if getattr(server, "line", None) is not None:
        server.line.forget(server.line_faults.order)
        server.line_faults.end()
    trigger = server.trigger
    with trigger.lock:  # the order closes the trigger: the loop, which may be awake, runs it after the pull
        trigger.thunks.append(lambda: wasyncore.close_all(server._map))
        trigger._physical_pull()


@contextmanager
def in_background(app: Any, host: str = "127.0.0.1", port: int = 0, threads: int = 4) -> Iterator[str]:
    """Serves beside the caller's own work, and ends with it; the value is the address."""
    server = server_of(app, host, port, threads)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{port_of(server)}"
    finally:
        end(server)
        thread.join(END_SECONDS_MAX)
