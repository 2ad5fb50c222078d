"""How many connections a server holds, how long one may be silent or slow, and how much it may send unread.

A connection that is closed for silence or slowness gets no answer: nobody reads one there. A status of its own (408)
is only told by a fault rule (choice 4).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from heapq import nsmallest
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit
from socket import SHUT_RDWR, SHUT_WR, SO_LINGER, SOL_SOCKET
from struct import pack
from typing import Any, NamedTuple

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.utilities import RequestHeaderFieldsTooLarge

from sandbox.contract.errors import Error, Refusal
from sandbox.machine import seconds_passed
from sandbox.serve.framing import demand_framing, demand_known_expectation
from sandbox.serve.line_faults import LineFaults

CONNECTIONS_MAX = 4_000  # pools of a test suite hold some hundreds
FIRST_SECONDS = 30  # for the first byte of the first request, with TLS also for the handshake
IDLE_SECONDS = 120  # between two requests
REQUEST_SECONDS = 30  # for a whole request, and longer for each byte that came:
SLOWEST = 10_000  # bytes in a second
UNREAD_SECONDS = 30  # for a reply of which the caller takes no byte
SWEEP_SECONDS = 0.25
MEMORY_MAX = 256_000_000  # bytes of unfinished requests and unread replies, of all connections
DISK_MAX = 1_000_000_000  # the same, of what overflowed to temporary files
SWEEP_BYTES = 16_000_000  # look again at the latest when so much came in or went out
OVERFLOW = 500_000  # bytes of a body or of a reply that memory holds; a larger one lies in a temporary file
LINGER_SECONDS = 5  # what a refused caller still sends is read and dropped, so that the refusal reaches it
READ_BYTES = 16_384  # at once; a record of TLS has no more, so none is left half read
AT_ONCE = 64  # connections that are accepted, or closed to make room, in one go
FILES_EACH = 2  # its socket, and for some a body or a reply in a temporary file
FILES_SPARE = 128  # for the program itself
CONTROL_LINE_MAX = 4_096  # bytes of a chunk's size line
TRAILER_MAX = 65_536


class Bounds(NamedTuple):
    """Of one server, whatever number of addresses it listens on."""

    connections: int = CONNECTIONS_MAX
    memory: int = MEMORY_MAX
    disk: int = DISK_MAX


USUAL = Bounds()


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """waitress bounds headers and bodies, but neither size lines nor trailers of a chunked body."""

    completed: bool
    expect_continue: bool
    refusal: Refusal | None = None  # why the request is not passed on, in the bank's words

    def parse_header(self, head: bytes) -> None:
        try:
            super().parse_header(head)
            demand_framing(head, self.version)
            demand_known_expectation(self.headers.get("EXPECT", ""))
        except Refusal as refusal:
            self.refusal = refusal
            raise ParsingError(refusal.text) from None
        except ValueError:  # of a target such as http://[::1/
            self.refusal = Refusal(Error.INPUT_INVALID, input="request", why="its target cannot be read")
            raise ParsingError(self.refusal.text) from None

    def received(self, data: bytes) -> int:
        taken: int = super().received(data)
        lines = self.body_rcv if self.chunked and not self.completed else None
        if lines is not None and (len(lines.control_line) > CONTROL_LINE_MAX or len(lines.trailer) > TRAILER_MAX):
            self.error = RequestHeaderFieldsTooLarge("the size line or the trailer of a chunked body")
            self.completed = True
        if self.completed:
            self.expect_continue = False  # all of it is here; waitress would ask for the rest, and wait for ever
        return taken

    @property
    def held(self) -> int:
        return int(self.header_bytes_received + self.body_bytes_received)


class Channel(HTTPChannel):  # type: ignore[misc]
    """One connection. What it waits for, and since when, says whether it is overdue."""

    parser_class = Parser
    will_close: bool
    close_when_flushed: bool
    total_outbufs_len: int
    moved: float  # when the caller took a byte of the reply
    proven = False  # whether a whole request ever came
    lingers = False  # whether the reply was sent before all of the request was read
    sends = False  # whether bytes are on their way to the system

    def __init__(self, server: Any, *more: Any, **named: Any) -> None:
        self.since: float = server.clock()  # when it opened, a request began or a reply ended
        self.moved = self.since
        super().__init__(server, *more, **named)

    def received(self, data: bytes) -> bool:
        if self.lingers:
            return False
        self.server.passed += len(data)
        before = self.request
        taken: bool = super().received(data)
        if self.request is not before or before is None:
            self.since = self.server.clock()
        self.proven = self.proven or bool(self.requests)
        return taken

    def answered(self) -> None:
        """A reply ended; what comes next is another request."""
        self.since = self.server.clock()
        faults = self.server.line_faults
        if faults is not None and faults.is_on:
            self.close_when_flushed = True

    def reset(self) -> None:
        """The connection ends with a reset (RST) when it is closed, as if a middle box had dropped it."""
        with suppress(OSError):
            self.socket.setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))

    def linger(self) -> None:
        """The reply ends before the request does."""
        self.lingers, self.since = True, self.server.clock()

    def write_soon(self, data: Any) -> int:
        if not self.total_outbufs_len:
            self.moved = self.server.clock()
        if len(self.outbufs) > 1:
            # One buffer is sent and one collects what comes behind it: waitress would begin one for each request, and
            # small ones stay in memory.
            self.current_outbuf_count = 0
        self.server.passed += len(data)
        return int(super().write_soon(data))

    def _flush_some(self, do_close: bool = True) -> bool:
        self.sends = True
        try:
            sent: bool = super()._flush_some(do_close=do_close)
        finally:
            self.sends = False
        if sent:
            self.moved = self.server.clock()
        return sent

    def writable(self) -> bool:
        """Not while a worker sends: the loop could not, and would look again and again until the worker is done. A
        worker that leaves bytes behind wakes the loop."""
        return bool(self.will_close or self.close_when_flushed or (self.total_outbufs_len and not self.sends))

    def handle_write(self) -> None:
        """As waitress has it, but for the end of a refusal: closing with bytes unread would destroy the reply."""
        if self.lingers and self.close_when_flushed:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len and not self.will_close:
                self.close_when_flushed, self.since = False, self.server.clock()
                with suppress(OSError):
                    self.socket.shutdown(SHUT_WR)
                return
        super().handle_write()

    def is_overdue(self, now: float) -> bool:
        if self.lingers:
            return now - self.since > LINGER_SECONDS
        if self.total_outbufs_len:
            return now - self.moved > UNREAD_SECONDS
        if self.requests:
            return False
        if self.request is not None:
            return bool(now - self.since > REQUEST_SECONDS + self.request.held / SLOWEST)
        return now - self.since > (IDLE_SECONDS if self.proven else FIRST_SECONDS)

    @property
    def held(self) -> tuple[int, int]:
        """Bytes in memory, and in temporary files."""
        amounts = [parser.held for parser in (self.request, *self.requests) if parser]
        memory = sum(min(amount, OVERFLOW) for amount in amounts) + min(self.total_outbufs_len, 2 * OVERFLOW)
        return memory, sum(amounts) + self.total_outbufs_len - memory

    def handle_close(self) -> None:
        super().handle_close()
        if self.request is not None:
            self.request.close()

    def close(self) -> None:
        """When the server ends; waitress would leave temporary files to the collector."""
        self.handle_close()

    def hang_up(self) -> None:
        """The loop closes it when it is its turn: a file descriptor that is closed before may be another's by then."""
        self.will_close = True
        self.server.active_channels.pop(self._fileno, None)
        with suppress(OSError):
            self.socket.shutdown(SHUT_RDWR)  # wakes the loop, also where the caller takes nothing


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """Accepts many at once, and closes what is overdue, or longest silent where room is short."""

    channel_class = Channel
    bounds = USUAL
    wrap: Callable[[Any], Any] = staticmethod(lambda line: line)  # what a connection is read and written through
    clock: Callable[[], float] = staticmethod(seconds_passed)
    passed = 0  # bytes since the last sweep
    line_faults: LineFaults | None = None
    _swept = 0.0

    def pull_trigger(self) -> None:
        """Wakes the thread that reads, unless that is this one."""
        if not self.task_dispatcher.readers.is_here:
            super().pull_trigger()

    def readable(self) -> bool:
        now = self.clock()
        if now - self._swept >= SWEEP_SECONDS or self.passed > SWEEP_BYTES:
            self._swept, self.passed = now, 0
            self.sweep(now)
        return bool(self.accepting) and (self._has_room() or next(self._waiting(), None) is not None)

    def sweep(self, now: float) -> None:
        for channel in list(self.active_channels.values()):
            if channel.is_overdue(now):
                channel.hang_up()
        self._shed()

    def _shed(self) -> None:
        """Where all together hold too much, the longest waiting go first."""
        holding = {channel: channel.held for channel in list(self.active_channels.values())}
        memory, disk = (sum(held[place] for held in holding.values()) for place in (0, 1))
        if memory <= self.bounds.memory and disk <= self.bounds.disk:
            return
        for channel in sorted(holding, key=_order):
            here, there = holding[channel]
            if (memory > self.bounds.memory and here) or (disk > self.bounds.disk and there):
                channel.hang_up()
                memory, disk = memory - here, disk - there

    def handle_accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                line, address = self.socket.accept()
                self.set_socket_options(line)
            except (BlockingIOError, ConnectionError):
                return
            except OSError:  # no file descriptor is left, or the caller is gone
                self._make_room()
                return
            if self.line_faults is not None and self.line_faults.takes(line):
                continue
            if not self._has_room():
                self._make_room()
            self.channel_class(self, self.wrap(line), self.fix_addr(address), self.adj, map=self._map)

    def _has_room(self) -> bool:
        return len(self.active_channels) < self.bounds.connections

    def _make_room(self) -> None:
        """Several places at once, so that a flood does not cost a search for each."""
        count = max(1, min(AT_ONCE, self.bounds.connections // AT_ONCE))
        for channel in nsmallest(count, self._waiting(), key=_order):
            channel.hang_up()

    def _waiting(self) -> Iterator[Channel]:
        """Those for which nobody works at the moment."""
        return (channel for channel in list(self.active_channels.values()) if not channel.requests)


def _order(channel: Channel) -> tuple[bool, float]:
    """Connections that never sent a request come first, then the longest waiting."""
    return channel.proven, channel.since


def raise_files(connections: int) -> None:
    """Lets the process open as many files as so many connections need, as far as it may."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    needed = FILES_EACH * connections + FILES_SPARE
    if soft != RLIM_INFINITY and soft < needed:
        most = needed if hard == RLIM_INFINITY else min(hard, needed)
        with suppress(ValueError, OSError):
            setrlimit(RLIMIT_NOFILE, (most, hard))


def fitting(connections: int) -> int:
    """So many, or as many as the process may open files for."""
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return connections if soft == RLIM_INFINITY else max(1, min(connections, (soft - FILES_SPARE) // FILES_EACH))
