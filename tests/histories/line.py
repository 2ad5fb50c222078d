"""A server's way to its database, which a test cuts and slows."""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path


class DatabaseLine:
    """Listens on a port and passes on to PostgreSQL's socket, until it is cut."""

    def __init__(self, target: Path) -> None:
        self._target = str(target)
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.is_cut = False
        self.delay = 0.0  # seconds for each piece
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.is_cut = True
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def mend(self) -> None:
        self.is_cut, self.delay = False, 0.0

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                try:
                    if self.is_cut:
                        raise OSError("cut")
                    far.connect(self._target)
                except OSError:
                    near.close()
                    far.close()
                    continue
                self._open += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                if self.delay:
                    time.sleep(self.delay)
                target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
