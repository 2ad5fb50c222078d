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
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.refuses = False  # new lines are closed at once
        self.stalls = False  # bytes are taken and never passed on: a line that is half open
        self.delay = 0.0  # seconds for each piece
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Closes all lines."""
        while self._open:
            self._close(self._open.pop())

    def lead_to(self, target: Path) -> None:
        """From now on it leads to another database."""
        self._target = str(target)
        self.cut()

    def mend(self) -> None:
        """New lines work again; those that stalled stay as they are, as their bytes are gone."""
        self.refuses = self.stalls = False
        self.delay = 0.0

    def close(self) -> None:
        self.refuses = True
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                here.close()
                continue
            there = socket.socket(socket.AF_UNIX)
            try:
                there.connect(self._target)
            except OSError:
                here.close()
                there.close()
                continue
            self._open += [here, there]
            for source, target in ((here, there), (there, here)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

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
        self._close(source)
        self._close(target)

    @staticmethod
    def _close(end: socket.socket) -> None:
        """A line whose other end is gone can't be shut down; it is closed all the same."""
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
