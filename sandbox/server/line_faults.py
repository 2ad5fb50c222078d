"""Faults of connections that a tester orders: the port is closed, new connections get no answer, or the TLS handshake
fails (choice 13)."""

import threading
from collections.abc import Callable
from contextlib import suppress
from socket import AF_INET6, IPPROTO_IPV6, IPV6_V6ONLY, socket
from typing import Any

from waitress import wasyncore

from sandbox.worlds.faults import ENDED, LineFault

ALERT = bytes.fromhex("15030300020228")  # TLS: fatal, handshake_failure
UNANSWERED_MAX = 200  # open connections that get no answer; more are closed at once
BIND_AGAIN_SECONDS = 0.1
BIND_TRIES = 50


class LineFaults:
    """The fault of connections that is in force at one listening server. Any thread may call `order` and `end`. All
    other methods run in the server's loop, the thread that reads the connections."""

    def __init__(self, listener: Any) -> None:
        self._listener = listener
        self._fault: LineFault | None = None
        self._until = 0.0
        self._unanswered: list[socket] = []
        self._is_closed = False
        self._is_ending = False  # the server takes no new connection any more
        self._waking = threading.Lock()
        self._is_over = False

    def end(self) -> None:
        """Stops waking the server's loop, because the server is ending. After that, the loop's file number may belong
        to another file, and a wake-up would write a byte into that file."""
        with self._waking:
            self._is_over = True

    def order(self, fault: LineFault) -> None:
        """Begins a fault, which ends by itself after `fault.seconds`. The kind ENDED closes the port for good, because
        the server is ending. Ignores every other fault if the port is closed or the server is ending."""
        if fault.kind == ENDED:
            self._is_ending = True
            self._wake(self._stop)
        if self._is_closed or self._is_ending:
            return
        self._fault, self._until = fault, self._listener.clock() + fault.seconds
        self._wake(lambda: self._begin(fault))

    def _stop(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            wasyncore.dispatcher.close(self._listener)

    def _begin(self, fault: LineFault) -> None:
        for channel in list(self._listener.active_channels.values()):
            if not channel.requests and not channel.total_outbufs_len:
                channel.hang_up()
        if fault.kind == "closed":
            self._stop()
        self._end_after(fault.seconds)

    def _end_after(self, seconds: float, tries: int = BIND_TRIES) -> None:
        timer = threading.Timer(seconds, lambda: self._wake(lambda: self._end(tries)))
        timer.daemon = True
        timer.start()

    def _wake(self, function: Callable[[], None]) -> None:
        """Makes the server's loop run the function. Does nothing if the server has ended."""
        with self._waking, suppress(OSError, ValueError):
            if not self._is_over:
                self._listener.trigger.pull_trigger(function)

    def _end(self, tries: int) -> None:
        if self._is_ending:
            return
        if self._is_closed and not self._listen_again():
            if tries:
                self._end_after(BIND_AGAIN_SECONDS, tries - 1)
            return
        if self._listener.clock() < self._until:
            return  # another fault was ordered since
        self._fault = None
        for connection in self._unanswered:
            connection.close()
        self._unanswered = []

    def _listen_again(self) -> bool:
        server = self._listener
        try:
            server.create_socket(server.family, server.socktype)
            if server.family == AF_INET6:
                server.socket.setsockopt(IPPROTO_IPV6, IPV6_V6ONLY, 1)
            server.set_reuse_addr()
            server.bind((server.effective_host, int(server.effective_port)))
            server.accept_connections()
        except OSError:
            wasyncore.dispatcher.close(server)
            return False
        self._is_closed = False
        return True

    @property
    def is_on(self) -> bool:
        return self._fault is not None

    def apply_to(self, connection: socket) -> bool:
        """Applies the fault in force to a new connection, and returns True. Returns False if no fault is in force. The
        fault `closed` closes the connection. The faults `silent` and `handshake` keep it open without an answer, or
        close it if UNANSWERED_MAX connections are kept open already. `handshake` first sends a TLS alert."""
        if self._fault is None:
            return False
        if self._fault.kind == "handshake":
            with suppress(OSError):
                connection.send(ALERT)
        if self._fault.kind != "closed" and len(self._unanswered) < UNANSWERED_MAX:
            self._unanswered.append(connection)  # open: the caller gets no byte but the alert
        else:
            connection.close()
        return True
