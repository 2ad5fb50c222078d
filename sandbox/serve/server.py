"""waitress, with what the bank needs of it: chunked bodies told, waiting without holding a worker, cut connections."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import ClientDisconnected
from waitress.server import MultiSocketServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask

from sandbox.files.admission import FILE_BYTES_MAX
from sandbox.serve import connections
from sandbox.serve.connections import USUAL, Bounds, Listener, fitting
from sandbox.serve.line_faults import LineFaults
from sandbox.web.api.unread_requests import HEADER_BYTES_MAX, unread
from sandbox.world.line import LINE, Line

BACKLOG = 4_096  # connections that the system keeps until they are accepted
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000  # above the application's own bounds, so that those are told
WAITING_MAX = 200  # calls that wait at once; beyond that they share the workers
READY_MAX = 16
ENDS_WITHIN = 1.0  # seconds for the calls that are under way
HEADER_NAME = re.compile(rb"(?<=\n)[A-Za-z0-9-]+(?=:)")
END_SECONDS_MAX = 5  # for the lines that are still open


class Workers(ThreadedTaskDispatcher):  # type: ignore[misc]
    """A call that waits by a fault rule gets a worker of its own meanwhile, so that others go on (choice 13)."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.least = threads
        self.waiting = 0
        self._ready = (
            0  # workers that stay for calls that are handed on: a thread for each would cost more than the call
        )
        self._counting = threading.Lock()
        self._ending = threading.Event()
        self._held: set[threading.Event] = set()
        self.set_thread_count(threads)

    def wait(self, seconds: float) -> None:
        extra = self._count(+1)
        try:
            self._ending.wait(seconds)
        finally:
            if extra:
                self._count(-1)

    def hold(self, event: threading.Event, seconds: float) -> bool:
        """Waits for the event, or not at all where no worker is left for others."""
        if not self._count(+1):
            return False
        self._held.add(event)
        try:
            event.wait(0 if self._ending.is_set() else seconds)
        finally:
            self._held.discard(event)
            self._count(-1)
        return True

    @contextmanager
    def beside(self) -> Iterator[bool]:
        """While a call is at another server, which may hand one of its own to this one: False where no worker is left
        for that."""
        has_room = self._count(+1)
        self._ready = min(READY_MAX, max(self._ready, self.waiting))
        try:
            yield has_room
        finally:
            if has_room:
                self._count(-1)

    def shutdown(self, cancel_pending: bool = True, timeout: float = ENDS_WITHIN) -> bool:
        """Those who wait are answered at once: the server ends within 2 s (choice 12)."""
        self._ending.set()
        for event in tuple(self._held):
            event.set()
        return bool(super().shutdown(cancel_pending, timeout))

    def _count(self, change: int) -> bool:
        with self._counting:
            if self._ending.is_set() or self.waiting + change > WAITING_MAX:
                return False
            self.waiting += change
            self.set_thread_count(self.least + max(self.waiting, self._ready))
            return True


class Task(WSGITask):  # type: ignore[misc]
    """Tells the application what waitress hides: that a body came in chunks, and how to wait and to hang up."""

    lower_case = False

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        environ["sandbox.chunked"] = bool(self.request.chunked)
        environ["sandbox.wait"] = self.channel.server.task_dispatcher.wait
        environ["sandbox.beside"] = self.channel.server.task_dispatcher.beside
        environ["sandbox.hold"] = self.channel.server.task_dispatcher.hold
        environ["sandbox.reset"] = self.channel.reset
        environ["sandbox.cut"] = ClientDisconnected
        environ["sandbox.close"] = self.set_close_on_finish
        environ["sandbox.lower"] = self.use_lower_case
        if behind_tls(environ):
            environ["wsgi.url_scheme"] = "https"
        return environ

    def use_lower_case(self) -> None:
        """waitress capitalizes the names of headers: this reply has them in lower case."""
        self.lower_case = True

    def build_response_header(self) -> bytes:
        head: bytes = super().build_response_header()
        return HEADER_NAME.sub(lambda name: name[0].lower(), head) if self.lower_case else head

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
    workers = Workers(threads)
    lines: dict[int, Any] = {}
    opened: dict[int, Any] = {}
    bounds = bounds._replace(connections=fitting(bounds.connections))
    listeners = [
        Listener(app, lines, dispatcher=workers, adj=adjustments, sockinfo=place) for place in adjustments.listen
    ]
    line: Line | None = getattr(app, "config", {}).get(LINE)
    for one in listeners:
        if line is not None:
            one.line_faults = LineFaults(one)
            one.line = line
            line.tell(one.line_faults.order, tls=kind.scheme == "https")
        one.active_channels, one.bounds, one.channel_class, one.wrap = opened, bounds, kind.channel, kind.wrap
    if len(listeners) == 1:
        return listeners[0]
    places = [(one.effective_host, one.effective_port) for one in listeners]
    return MultiSocketServer(lines, adjustments, places, workers, listeners[0].log_info)


def port_of(server: Any) -> int:
    """Where it listens, also when a name stood for several addresses."""
    listening = getattr(server, "effective_listen", None)
    return int(listening[0][1] if listening else server.effective_port)


def end(server: Any) -> None:
    """Ends, from another thread, a server of one address: first who works, then who listens."""
    server.task_dispatcher.shutdown()
    if getattr(server, "line", None) is not None:
        server.line.forget(server.line_faults.order)
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
