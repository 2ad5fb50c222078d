"""waitress, with bounds against hostile callers. Everything that extends a class of waitress is in this file.

Theory. waitress has one thread that reads all connections (its loop), and a fixed number of workers that answer calls.
A caller can harm the others in four ways, and waitress has no bound against any of them:

- *Slow or silent*: it opens connections and sends little or nothing. waitress closes a connection that was silent for
  a time, but one byte a minute keeps it open, and at 100 connections it accepts no further one. Here a whole request
  must come within 30 s, and 1 s more for each 10,000 bytes that came. If there are too many connections, the one that
  has waited longest for a request is closed.
- *Deaf*: it asks for large replies and reads none. In waitress, the worker waits until the caller has read the reply.
  Here a reply is buffered, in a temporary file if it is large. The connection is closed if its caller reads no byte for
  30 s.
- *Huge*: it sends headers, chunk sizes or trailers without end, or many large bodies at once. waitress bounds the head
  and the body of one request. Here the size line and the trailer of a chunked body are bounded too, and so are the
  bytes that all connections use together.
- *Ambiguous*: it sends a request that two programs would read differently (RFC 9112). A proxy before the bank may take
  for a body what the bank takes for a second request, which passed no check of the proxy (request smuggling). Here an
  ambiguous request is refused, and its connection ends.

Three invariants hold. The loop waits for no caller and for no worker. A worker waits for no caller. Each connection is
in a state that ends by itself (see `BankChannel.is_overdue`), unless the bank is answering its call. SECURITY.md names
the bounds, and tests/api/test_connections.py tests them.

Each class is named after the class of waitress that it extends. waitress has hooks for some of the changes: the classes
of parser, task, channel and dispatcher are attributes, and `Adjustments` has the sizes of buffers. It has no hook for
the time at which a connection is closed, for the steps after a refusal, and for the accounting of memory. For these,
the classes here override methods.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from heapq import nsmallest
from ipaddress import ip_address
from logging import CRITICAL, Logger
from socket import SHUT_RDWR, SHUT_WR, SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Any, NamedTuple

from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask
from waitress.utilities import RequestHeaderFieldsTooLarge

from sandbox.contract.errors import Error, Refusal
from sandbox.machine import seconds_passed
from sandbox.machine.operating_system import has_hung_up
from sandbox.server.line_faults import LineFaults
from sandbox.server_address import write_address
from sandbox.web.api.failures import make_unreadable_reply

CONNECTIONS_MAX = 4_000  # pools of a test suite hold some hundreds
FIRST_SECONDS = 30  # for the first byte of the first request, with TLS also for the handshake
IDLE_SECONDS = 120  # between two requests
REQUEST_SECONDS = 30  # for a whole request, and 1 s more for each SLOWEST bytes that came
SLOWEST = 10_000  # bytes a second
UNREAD_SECONDS = 30  # for a reply of which the caller takes no byte
LINGER_SECONDS = 5  # while the rest of a refused request is read and dropped, so that the refusal reaches its caller
MEMORY_MAX = 256_000_000  # bytes of unfinished requests and unread replies, of all connections
DISK_MAX = 1_000_000_000  # the same, of what overflowed to temporary files
OVERFLOW = 500_000  # bytes of a body or of a reply in memory; a larger one is in a temporary file
CONTROL_LINE_MAX = 4_096  # bytes of a chunk's size line
TRAILER_MAX = 65_536
SWEEP_SECONDS = 0.25
SWEEP_BYTES = 16_000_000  # of traffic, after which the next sweep is due at once
READ_BYTES = 16_384  # at once; a record of TLS has no more, so no record is left half read
JOINED_BYTES_MAX = 65_536  # of a body that is sent in one piece with its head
ACCEPTED_MAX = 64  # connections that are accepted, or closed to make room, in one go
WORLD_WAITING_MAX = 200  # calls of one world that wait at once
WAITING_MAX = 400  # calls of all worlds that wait at once: each has a thread
ENDS_WITHIN = 1.0  # seconds for the calls that are under way
HEADER_NAME = re.compile(rb"(?<=\n)[A-Za-z0-9-]+(?=:)")


class Bounds(NamedTuple):
    """The bounds of one server, for all its addresses together: the number of open connections, and the bytes of
    unfinished requests and unread replies in memory and in temporary files."""

    connections: int = CONNECTIONS_MAX
    memory: int = MEMORY_MAX
    disk: int = DISK_MAX


DEFAULT_BOUNDS = Bounds()


def demand_known_expectation(value: str) -> None:
    """Refuses a header Expect that asks for anything but 100-continue (RFC 9110, 10.1.1)."""
    if value and any(part.strip().lower() not in ("", "100-continue") for part in value.split(",")):
        raise Refusal(Error.EXPECTATION_FAILED)


def demand_framing(head: bytes, version: str) -> None:
    """Refuses a head (request line and headers, as they were sent) that two programs could read differently. Also
    refuses a version other than HTTP/1.1 and HTTP/1.0, and an HTTP/1.1 request without Host."""
    lower = head.lower()
    if version == "1.1" and lower.count(b"\nhost:") == 1 and b"\ntransfer-encoding:" not in lower:
        return  # nearly all requests
    # A line that begins with a space belongs to the one before.
    lines = [line for line in lower.split(b"\r\n")[1:] if line and line[:1] not in b" \t"]
    header_counts = Counter(line.partition(b":")[0] for line in lines)
    if version not in ("1.0", "1.1"):
        raise Refusal(Error.INPUT_INVALID, input="request", why="its version is neither HTTP/1.1 nor HTTP/1.0")
    if header_counts[b"transfer-encoding"] and (header_counts[b"content-length"] or version == "1.0"):
        reason = "beside Content-Length" if header_counts[b"content-length"] else "HTTP/1.0 knows none"
        raise Refusal(Error.HEADER_INVALID, input="Transfer-Encoding", why=reason)  # RFC 9112, 6.1
    if header_counts[b"host"] > 1:
        raise Refusal(Error.HEADER_INVALID, input="Host", why="it is there twice")  # RFC 9112, 3.2
    if not header_counts[b"host"] and version != "1.0":
        raise Refusal(Error.HEADER_MISSING, input="Host")


class BankParser(HTTPRequestParser):  # type: ignore[misc]
    """Reads a request. Refuses a request if two programs could disagree about where it ends, if its target cannot be
    read, or if it expects anything but 100-continue. Refuses a chunked body whose size line or trailer is too long."""

    completed: bool
    expect_continue: bool
    refusal: Refusal | None = None  # why the request is refused, in the bank's words

    def parse_header(self, head: bytes) -> None:
        try:
            super().parse_header(head)
            demand_framing(head, self.version)
            demand_known_expectation(self.headers.get("EXPECT", ""))
        except Refusal as refusal:
            self.refusal = refusal
            raise ParsingError(refusal.text) from None
        except ValueError:  # a target such as http://[::1/
            self.refusal = Refusal(Error.INPUT_INVALID, input="request", why="its target cannot be read")
            raise ParsingError(self.refusal.text) from None

    def received(self, data: bytes) -> int:
        count: int = super().received(data)
        chunks = self.body_rcv if self.chunked and not self.completed else None
        if chunks is not None and (len(chunks.control_line) > CONTROL_LINE_MAX or len(chunks.trailer) > TRAILER_MAX):
            self.error = RequestHeaderFieldsTooLarge("the size line or the trailer of a chunked body")
            self.completed = True
        if self.completed:
            self.expect_continue = False  # else waitress would ask for a body that is here, and wait for ever
        return count

    @property
    def size(self) -> int:
        """The number of bytes of the request that have been read."""
        return int(self.header_bytes_received + self.body_bytes_received)


class BankTask(WSGITask):  # type: ignore[misc]
    """Answers a call. Adds the entries `sandbox.*` to the WSGI environ: whether the body is chunked, and functions by
    which the application waits, or changes how the reply and the connection end."""

    has_lower_case_headers = False  # waitress capitalizes the names of headers
    wrote_header: bool

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        workers = self.channel.server.task_dispatcher
        environ["sandbox.chunked"] = bool(self.request.chunked)
        environ["sandbox.reserve"] = workers.reserve
        environ["sandbox.wait"] = workers.wait
        environ["sandbox.hold"] = workers.hold
        environ["sandbox.listens"] = self.channel.find_address
        environ["sandbox.gone"] = lambda: workers.is_ending or self.channel.has_hung_up
        environ["sandbox.reset"] = self.channel.reset
        environ["sandbox.cut"] = ClientDisconnected
        environ["sandbox.close"] = self.set_close_on_finish
        environ["sandbox.lower"] = partial(setattr, self, "has_lower_case_headers", True)
        if is_behind_tls(environ):
            environ["wsgi.url_scheme"] = "https"
        return environ

    def execute(self) -> None:
        """Answers the call. If a BaseException such as SystemExit is raised, closes the connection and raises it again.
        waitress would leave the connection open."""
        try:
            super().execute()
        except Exception:
            raise
        except BaseException:
            self.channel.cancel()
            self.channel.server.pull_trigger()
            raise

    def build_response_header(self) -> bytes:
        head: bytes = super().build_response_header()
        return HEADER_NAME.sub(lambda name: name[0].lower(), head) if self.has_lower_case_headers else head

    def write(self, data: bytes) -> None:
        """Sends bytes of the body. If they are the whole body and at most JOINED_BYTES_MAX, sends them together with
        the head. Two separate sends would take two system calls on each side, which costs 4 % of the CPU of a status
        GET."""
        is_whole = self.complete and self.has_body and self.content_length == len(data)
        if self.wrote_header or not is_whole or not 0 < len(data) <= JOINED_BYTES_MAX:
            super().write(data)
            return
        head = self.build_response_header()
        self.wrote_header, self.content_bytes_written = True, len(data)
        self.channel.write_soon(head + data)

    def finish(self) -> None:
        super().finish()
        self.channel.end_reply()


def is_behind_tls(environ: dict[str, Any]) -> bool:
    """Whether a proxy on this machine says, in X-Forwarded-Proto, that the caller used TLS. Ignores this header if it
    comes from another machine."""
    forwarded = environ.get("HTTP_X_FORWARDED_PROTO") == "https"
    return forwarded and ip_address(environ["REMOTE_ADDR"]).is_loopback


class BankErrorTask(ErrorTask):  # type: ignore[misc]
    """Replies to a request that the parser refused, and closes the connection. The reply has the bank's error body."""

    def execute(self) -> None:
        request_id = getattr(self.request, "headers", {}).get("REQUEST_ID", "")
        response = make_unreadable_reply(self.request.error.code, request_id, getattr(self.request, "refusal", None))
        self.status = response.status
        self.response_headers.extend(list(response.headers))
        self.set_close_on_finish()
        self.channel.linger()
        body = response.get_data()
        self.content_length = len(body)
        self.write(body)


class BankChannel(HTTPChannel):  # type: ignore[misc]
    """One connection. `is_overdue` says whether the connection must be closed, because what it waits for (such as the
    rest of a request) takes too long.

    A connection that is closed for silence or slowness gets no answer, because nobody would read it. Only a fault rule
    of a tester sends the status 408 (choice 4).
    """

    parser_class = BankParser
    task_class = BankTask
    error_task_class = BankErrorTask
    will_close: bool
    close_when_flushed: bool
    total_outbufs_len: int
    had_request = False  # whether a whole request ever came
    is_lingering = False  # whether the reply was sent before the whole request was read
    is_sending = False

    def __init__(self, server: Any, *more: Any, **named: Any) -> None:
        self.waits_since: float = server.clock()  # when it opened, a request began or a reply ended
        self.sent_at: float = self.waits_since  # when the caller last took a byte of a reply
        super().__init__(server, *more, **named)

    # Receiving

    def received(self, data: bytes) -> bool:
        if self.is_lingering:
            return False
        self.server.traffic += len(data)
        request = self.request
        is_accepted: bool = super().received(data)
        if self.request is not request or request is None:
            self.waits_since = self.server.clock()
        self.had_request = self.had_request or bool(self.requests)
        return is_accepted

    # Sending

    def write_soon(self, data: Any) -> int:
        if not self.total_outbufs_len:
            self.sent_at = self.server.clock()
        if len(self.outbufs) > 1:
            # One buffer is sent, and one collects all later replies. waitress would begin a buffer for each reply, and
            # small buffers never overflow to a file: a caller who asks much and reads nothing would fill the memory.
            self.current_outbuf_count = 0
        self.server.traffic += len(data)
        return int(super().write_soon(data))

    def _flush_some(self, do_close: bool = True) -> bool:
        self.is_sending = True
        try:
            has_sent: bool = super()._flush_some(do_close=do_close)
        finally:
            self.is_sending = False
        if has_sent:
            self.sent_at = self.server.clock()
        return has_sent

    def writable(self) -> bool:
        """Whether the loop should send bytes or close the connection. Bytes that a worker is sending do not count. If
        they counted, the loop would look again and again until the worker is done, which takes 40 % more CPU for a
        status GET with 8 callers. A worker that cannot send all bytes wakes the loop."""
        has_bytes_to_send = self.total_outbufs_len and not self.is_sending
        return bool(self.will_close or self.close_when_flushed or has_bytes_to_send)

    def handle_write(self) -> None:
        """Sends bytes, and closes the connection if it must be closed, as waitress does. But if the request was refused
        before it was read completely, ends only the sending side here, and the rest of the request is read and dropped.
        Closing a connection with unread bytes would destroy the refusal on its way."""
        if self.is_lingering and self.close_when_flushed:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len and not self.will_close:
                self.close_when_flushed, self.waits_since = False, self.server.clock()
                with suppress(OSError):
                    self.socket.shutdown(SHUT_WR)
                return
        super().handle_write()

    def end_reply(self) -> None:
        """Notes that the reply is complete, and that the wait for the next request begins. If a fault of connections is
        in force, closes the connection after the reply."""
        self.waits_since = self.server.clock()
        faults = self.server.line_faults
        if faults is not None and faults.is_on:
            self.close_when_flushed = True

    # Closing

    def linger(self) -> None:
        """Notes that the reply was sent before the whole request was read. The rest of the request is then dropped."""
        self.is_lingering, self.waits_since = True, self.server.clock()

    def reset(self) -> None:
        """Makes the connection end with a reset (RST) when it is closed, instead of an orderly end."""
        with suppress(OSError):
            self.socket.setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))

    def is_overdue(self, now: float) -> bool:
        if self.is_lingering:
            return now - self.waits_since > LINGER_SECONDS
        if self.total_outbufs_len:
            return now - self.sent_at > UNREAD_SECONDS
        if self.requests:
            return False
        if self.request is not None:
            return bool(now - self.waits_since > REQUEST_SECONDS + self.request.size / SLOWEST)
        return now - self.waits_since > (IDLE_SECONDS if self.had_request else FIRST_SECONDS)

    def hang_up(self) -> None:
        """Makes the loop close the connection at its next turn. If the connection were closed here, a new file could
        get the same file number, and the loop would take this file for the connection."""
        self.will_close = True
        self.server.active_channels.pop(self._fileno, None)
        with suppress(OSError):
            self.socket.shutdown(SHUT_RDWR)  # wakes the loop, also if the caller takes nothing

    def handle_close(self) -> None:
        super().handle_close()
        if self.request is not None:
            self.request.close()

    def close(self) -> None:
        """Closes the connection and its temporary files, which waitress would leave to the garbage collector."""
        self.handle_close()

    # State

    @property
    def bytes_used(self) -> tuple[int, int]:
        """Returns the bytes that the connection uses in memory, and in temporary files."""
        sizes = [parser.size for parser in (self.request, *self.requests) if parser]
        in_memory = sum(min(size, OVERFLOW) for size in sizes) + min(self.total_outbufs_len, 2 * OVERFLOW)
        return in_memory, sum(sizes) + self.total_outbufs_len - in_memory

    def find_address(self) -> str:
        """Returns the address of this server to which the caller connected, such as `http://127.0.0.1:9000`. Returns an
        empty text if the connection is closed."""
        try:
            host, port = self.socket.getsockname()[:2]
        except OSError:
            return ""
        return write_address(self.adj.url_scheme, host, port)

    @property
    def has_hung_up(self) -> bool:
        """Whether the caller has closed the connection. Asks the operating system, because the loop does not read a
        connection while its call is answered. Also True if bytes that the caller sent before are still unread."""
        try:
            return has_hung_up(self.socket)
        except (OSError, ValueError):  # it is closed here too
            return True


class TlsTask(BankTask):
    """Answers a call over TLS. Adds the caller's certificate, or None, to the WSGI environ."""

    def get_environment(self) -> dict[str, Any]:
        from sandbox.web.api.certificates import TLS_KEY  # with the cryptography that most banks never need

        environ = super().get_environment()
        environ[TLS_KEY] = self.channel.socket.certificate()
        return environ


class TlsChannel(BankChannel):
    """A connection over a `TlsSocket`. If TLS must send bytes before it can read, the read goes on when the socket is
    writable."""

    task_class = TlsTask

    def writable(self) -> bool:
        return bool(self.socket.wants_write or super().writable())

    def handle_write(self) -> None:
        if self.socket.wants_write:
            self.handle_read()
        super().handle_write()

    def handle_read(self) -> None:
        try:
            received = self.recv(READ_BYTES)
        except BlockingIOError:
            return
        if received:
            self.received(received)
        else:
            self.connected = False


class BankServer(TcpWSGIServer):  # type: ignore[misc]
    """Listens on one address, and accepts many connections at once. Closes overdue connections. If there are too many
    connections, closes those that have waited longest for a request. Servers of the same application share their
    connections and their bounds."""

    channel_class = BankChannel
    bounds = DEFAULT_BOUNDS
    wrap: Callable[[Any], Any] = staticmethod(lambda line: line)  # what a connection is read and written through
    clock: Callable[[], float] = staticmethod(seconds_passed)
    traffic = 0  # bytes since the last sweep
    line_faults: LineFaults | None = None
    _swept_at = 0.0

    def readable(self) -> bool:
        """Whether a connection may be accepted: there is room, or another connection that waits for a request can be
        closed. Also calls `sweep` every SWEEP_SECONDS, or sooner after SWEEP_BYTES of traffic. It does so here because
        waitress calls this method at each turn of its loop. waitress calls its hook `maintenance` only every 30 s."""
        now = self.clock()
        if now - self._swept_at >= SWEEP_SECONDS or self.traffic > SWEEP_BYTES:
            self._swept_at, self.traffic = now, 0
            self.sweep(now)
        return bool(self.accepting) and (self._has_room() or next(self._waiting_channels(), None) is not None)

    def sweep(self, now: float) -> None:
        """Closes overdue connections. If the connections together use too many bytes, also closes some of those that
        use them. Begins with connections that never sent a request, and then takes those that have waited longest."""
        for channel in list(self.active_channels.values()):
            if channel.is_overdue(now):
                channel.hang_up()
        usage = {channel: channel.bytes_used for channel in list(self.active_channels.values())}
        memory, disk = (sum(used[place] for used in usage.values()) for place in (0, 1))
        if memory <= self.bounds.memory and disk <= self.bounds.disk:
            return
        for channel in sorted(usage, key=_make_closing_key):
            in_memory, on_disk = usage[channel]
            if (memory > self.bounds.memory and in_memory) or (disk > self.bounds.disk and on_disk):
                channel.hang_up()
                memory, disk = memory - in_memory, disk - on_disk

    def handle_accept(self) -> None:
        for _ in range(ACCEPTED_MAX):
            try:
                line, address = self.socket.accept()
                self.set_socket_options(line)
            except (BlockingIOError, ConnectionError):
                return
            except OSError:  # no file descriptor is left, or the caller is gone
                self._make_room()
                return
            if self.line_faults is not None and self.line_faults.apply_to(line):
                continue
            if not self._has_room():
                self._make_room()
            self.channel_class(self, self.wrap(line), self.fix_addr(address), self.adj, map=self._map)

    def _has_room(self) -> bool:
        return len(self.active_channels) < self.bounds.connections

    def _make_room(self) -> None:
        """Closes the connections that have waited longest for a request, so that new connections can be accepted.
        Closes several at once, so that in a flood of connections not each new one costs a search."""
        count = max(1, min(ACCEPTED_MAX, self.bounds.connections // ACCEPTED_MAX))
        for channel in nsmallest(count, self._waiting_channels(), key=_make_closing_key):
            channel.hang_up()

    def _waiting_channels(self) -> Iterator[BankChannel]:
        """Returns the connections without a call that waits for its answer."""
        return (channel for channel in list(self.active_channels.values()) if not channel.requests)


def _make_closing_key(channel: BankChannel) -> tuple[bool, float]:
    """Returns a sort key for the connections to close: first those that never sent a request, then those that have
    waited longest."""
    return channel.had_request, channel.waits_since


class BankDispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Answers calls with a fixed number of threads, and with one more for each call that waits on purpose (choice 13).

    A call waits on purpose if a fault rule delays it, if a barrier holds it, or after a wrong key. While it waits, its
    thread cannot answer calls of other worlds. So the call first reserves one more thread with `reserve`, and it is
    refused if too many calls wait already. The fixed number of threads is therefore always there for calls that do not
    wait. The bound of one world is lower than that of the server, so that one world cannot take all threads.
    """

    queue_logger = Logger("sandbox.queue", CRITICAL)  # waitress would log each call that finds no idle thread

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.fixed_count = threads
        self.waiting: Counter[str] = Counter()  # the number of calls that wait, by their world
        self._counting = threading.Lock()
        self._ending = threading.Event()
        self._awaited: set[threading.Event] = set()
        self.set_thread_count(threads)

    def start_new_thread(self, target: Callable[[int], None], thread_no: int) -> None:
        """Starts a thread. Raises RuntimeError if it cannot be started, and does not count it then. waitress would
        count it."""
        try:
            super().start_new_thread(target, thread_no)
        except RuntimeError:
            self.threads.discard(thread_no)
            raise

    @contextmanager
    def reserve(self, world: str) -> Iterator[bool]:
        """Adds a thread while the block runs, for a call of this world that is about to wait. Yields True. Yields False
        and adds no thread if too many calls wait already, if the server is ending, or if no thread can be started."""
        has_room = self._begin_wait(world)
        try:
            yield has_room
        finally:
            if has_room:
                self._end_wait(world)

    @property
    def is_ending(self) -> bool:
        """Whether the server was asked to stop. Long work for a call should then end."""
        return self._ending.is_set()

    def wait(self, seconds: float) -> None:
        """Waits for this number of seconds, or until the server ends. The caller must have reserved a thread."""
        self._ending.wait(seconds)

    def hold(self, event: threading.Event, seconds: float) -> None:
        """Waits until the event is set, the seconds are over, or the server ends. The caller must have reserved a
        thread."""
        self._awaited.add(event)
        event.wait(0 if self._ending.is_set() else seconds)
        self._awaited.discard(event)

    def shutdown(self, cancel_pending: bool = True, timeout: float = ENDS_WITHIN) -> bool:
        """Ends the threads. First ends the waits of all calls, so that they are answered at once and the server ends
        within 2 s (choice 12)."""
        self._ending.set()
        for event in tuple(self._awaited):
            event.set()
        return bool(super().shutdown(cancel_pending, timeout))

    def _begin_wait(self, world: str) -> bool:
        with self._counting:
            is_full = self.waiting[world] >= WORLD_WAITING_MAX or self.waiting.total() >= WAITING_MAX
            if is_full or self._ending.is_set():
                return False
            self.waiting[world] += 1
            try:
                self._fit_threads()
            except RuntimeError:  # the system starts no further thread
                self.waiting[world] -= 1
                return False
            return True

    def _end_wait(self, world: str) -> None:
        with self._counting:
            self.waiting[world] -= 1
            if not self.waiting[world]:
                del self.waiting[world]
            if not self._ending.is_set():
                self._fit_threads()

    def _fit_threads(self) -> None:
        self.set_thread_count(self.fixed_count + self.waiting.total())
