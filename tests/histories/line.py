"""A server's way to its database, which a test cuts, slows, stalls and refuses."""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path


class DatabaseLine:
    """Listens on a port and passes bytes on to PostgreSQL's socket."""

    def __init__(self, target: Path) -> None:
        self._target = str(target)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.refuses = False  # new lines are closed at once
        self.stalls = False  # bytes are taken and never passed on: a line that is half open
        self.delay = 0.0  # seconds for each piece
        self._accepts = threading.Thread(target=self._accept, daemon=True)
        self._accepts.start()

    def cut(self) -> None:
        """Ends all lines. The threads that pass their bytes on then close the sockets."""
        with self._lock:
            for end in self._open:
                with suppress(OSError):  # its other end is gone
                    end.shutdown(socket.SHUT_RDWR)

    def lead_to(self, target: Path) -> None:
        """From now on it leads to another database."""
        self._target = str(target)
        self.cut()

    def mend(self) -> None:
        """New lines work again; those that stalled stay as they are, as their bytes are gone."""
        self.refuses = self.stalls = False
        self.delay = 0.0

    def close(self) -> None:
        """Returns once every socket is closed."""
        self._is_closed = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._accepts.join()
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            there = socket.socket(socket.AF_UNIX)
            try:
                if self.refuses or self._is_closed:
                    raise ConnectionRefusedError
                there.connect(self._target)
            except OSError:
                here.close()
                there.close()
                continue
            with self._lock:
                self._open |= {here, there}
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            thread = threading.Thread(target=self._pass_both_ways, args=(here, there), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _pass_both_ways(self, here: socket.socket, there: socket.socket) -> None:
        back = threading.Thread(target=self._pass_on, args=(there, here), daemon=True)
        back.start()
        self._pass_on(here, there)
        back.join()
        with self._lock:
            self._open -= {here, there}
            here.close()
            there.close()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        """A piece that came while the line stalls is lost, and so is all behind it."""
        has_stalled = False
        with suppress(OSError):
            while piece := source.recv(65_536):
                if self.delay:
                    time.sleep(self.delay)
                has_stalled = has_stalled or self.stalls
                if not has_stalled:
                    target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
