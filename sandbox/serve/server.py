"""waitress, with what the bank needs of it: chunked bodies told, waiting without holding a worker, cut connections."""

import re
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import ClientDisconnected
from waitress.server import MultiSocketServer
from waitress.task import ErrorTask, WSGITask

from sandbox.files.admission import FILE_BYTES_MAX
from sandbox.serve import connections
from sandbox.serve.connections import USUAL, Bounds, Listener, fitting
from sandbox.serve.line_faults import LineFaults
from sandbox.serve.workers import Workers
from sandbox.web.api.failures import HEADER_BYTES_MAX, unread
from sandbox.world.faults import LINE, WAITS, Line

BACKLOG = 4_096  # connections that the system keeps until they are accepted
BRIEF_BYTES_MAX = 100_000  # of a body
JOINED_BYTES_MAX = 65_536  # of a reply
CONTROLS = "/_sandbox/"
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000  # above the application's own bounds, so that those are told
# A caller that closed its side (POLLRDHUP, of Linux alone), or of whom a reset came.
HUNG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
HEADER_NAME = re.compile(rb"(?<=\n)[A-Za-z0-9-]+(?=:)")
END_SECONDS_MAX = 5  # for the lines that are still open


class Task(WSGITask):  # type: ignore[misc]
    """Tells the application what waitress hides: that a body came in chunks, and how to wait and to hang up."""

    lower_case = False  # waitress capitalizes the names of headers
    wrote_header: bool

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        workers = self.channel.server.task_dispatcher
        environ["sandbox.chunked"] = bool(self.request.chunked)
        environ["sandbox.reserve"] = workers.reserve
        environ["sandbox.wait"] = workers.wait
        environ["sandbox.hold"] = workers.hold
        environ["sandbox.listens"] = self.channel.listens
        environ["sandbox.gone"] = lambda: workers.is_ending or self.channel.has_hung_up
        environ["sandbox.reset"] = self.channel.reset
        environ["sandbox.cut"] = ClientDisconnected
        environ["sandbox.close"] = self.set_close_on_finish
        environ["sandbox.lower"] = partial(setattr, self, "lower_case", True)
        if behind_tls(environ):
            environ["wsgi.url_scheme"] = "https"
        return environ

    def build_response_header(self) -> bytes:
        head: bytes = super().build_response_header()
        return HEADER_NAME.sub(lambda name: name[0].lower(), head) if self.lower_case else head

    def write(self, data: bytes) -> None:
        """A short body leaves with its head: each piece by itself costs a call of the system, here and there."""
        is_whole = self.complete and self.has_body and self.content_length == len(data)
        if self.wrote_header or not is_whole or not 0 < len(data) <= JOINED_BYTES_MAX:
            super().write(data)
            return
        head = self.build_response_header()
        self.wrote_header, self.content_bytes_written = True, len(data)
        self.channel.write_soon(head + data)

    def finish(self) -> None:
        super().finish()
        self.channel.answered()


def behind_tls(environ: dict[str, Any]) -> bool:
    """Whether a proxy on this machine, and no other, says that it ended the TLS; addresses begin with https then."""
    forwarded = environ.get("HTTP_X_FORWARDED_PROTO") == "https"
    return forwarded and ip_address(environ["REMOTE_ADDR"]).is_loopback


class Unread(ErrorTask):  # type: ignore[misc]
    """What waitress refuses by itself, in the bank's body."""

    def execute(self) -> None:
        request_id = getattr(self.request, "headers", {}).get("REQUEST_ID", "")
        response = unread(self.request.error.code, request_id, getattr(self.request, "refusal", None))
        self.status = response.status
        self.response_headers.extend(list(response.headers))
        self.set_close_on_finish()
        self.channel.linger()
        body = response.get_data()
        self.content_length = len(body)
        self.write(body)


class Channel(connections.Channel):
    """A connection of ours; an application of another's in the same program keeps waitress as it is."""

    task_class = Task
    error_task_class = Unread

    def listens(self) -> str:
        """The address that the caller connected to; empty where the connection is gone."""
        try:
            host, port = self.socket.getsockname()[:2]
        except OSError:
            return ""
        return f"{self.adj.url_scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    @property
    def is_brief(self) -> bool:
        """Whether its next call likely is: no control, and no large body."""
        request = self.requests[0]
        is_small = not request.chunked and request.content_length <= BRIEF_BYTES_MAX
        return is_small and CONTROLS not in getattr(request, "path", "")

    @property
    def has_hung_up(self) -> bool:
        """Whether the caller closed the connection while its call is answered. The loop reads nothing meanwhile, so the
        system is asked; what the caller sent before it closed may still lie there unread."""
        try:
            watched = select.poll()
            watched.register(self.socket, HUNG_UP)
            return bool(watched.poll(0))
        except (OSError, ValueError):  # it is closed here too
            return True


class Kind(NamedTuple):
    """What the server speaks."""

    scheme: str = "http"
    channel: type[Channel] = Channel
    wrap: Callable[[Any], Any] = lambda line: line


PLAIN = Kind()


def server_of(app: Any, host: str, port: int, threads: int, bounds: Bounds = USUAL, kind: Kind = PLAIN) -> Any:
    """A server that listens already; `run` serves. It holds as many connections as the process may open files."""
    adjustments = Adjustments(
        host=host,
        port=port,
        threads=threads,
        ident=None,
        url_scheme=kind.scheme,
        asyncore_use_poll=True,
        backlog=BACKLOG,
        recv_bytes=connections.READ_BYTES,
        inbuf_overflow=connections.OVERFLOW,
        outbuf_overflow=connections.OVERFLOW,
        outbuf_high_watermark=connections.DISK_MAX,  # no worker waits for a caller that does not read
        max_request_header_size=HEADER_BYTES_MAX,
        max_request_body_size=BODY_BYTES_MAX,
    )
    settings = getattr(app, "config", {})
    workers = Workers(threads, brief_here=not settings.get(WAITS, True))
    lines: dict[int, Any] = {}
    opened: dict[int, Any] = {}
    bounds = bounds._replace(connections=fitting(bounds.connections))
    listeners = [
        Listener(app, lines, dispatcher=workers, adj=adjustments, sockinfo=place) for place in adjustments.listen
    ]
    line: Line | None = settings.get(LINE)
    for one in listeners:
        if line is not None:
            one.line_faults = LineFaults(one)
            one.line = line
            line.tell(one.line_faults.order, tls=kind.scheme == "https")
        one.active_channels, one.bounds, one.channel_class, one.wrap = opened, bounds, kind.channel, kind.wrap
        one.asyncore = workers.readers
    if len(listeners) == 1:
        return listeners[0]
    places = [(one.effective_host, one.effective_port) for one in listeners]
    server = MultiSocketServer(lines, adjustments, places, workers, listeners[0].log_info)
    server.asyncore = workers.readers
    return server


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
