"""waitress, with what the bank needs of it: chunked bodies told, waiting without holding a worker, cut connections."""

import threading
import time
from typing import Any

from waitress import create_server
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.server import BaseWSGIServer, MultiSocketServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask

from sandbox.files.admission import FILE_BYTES_MAX
from sandbox.wire.unread import unread

HEADER_BYTES_MAX = 65_536
BODY_BYTES_MAX = FILE_BYTES_MAX + 1_000_000  # above the application's own bounds, so that those are told
WAITING_MAX = 200  # calls that wait at once; beyond that they share the workers


class Patience:
    """A call that waits by a fault rule gets a worker of its own meanwhile, so that others go on (choice 13)."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.waiting = 0
        self.dispatcher: ThreadedTaskDispatcher | None = None
        self._lock = threading.Lock()

    def wait(self, seconds: float) -> None:
        extra = self._count(+1)
        try:
            time.sleep(seconds)
        finally:
            if extra:
                self._count(-1)

    def _count(self, change: int) -> bool:
        with self._lock:
            if self.dispatcher is None or self.waiting + change > WAITING_MAX:
                return False
            self.waiting += change
            self.dispatcher.set_thread_count(self.threads + self.waiting)
            return True


class Unread(ErrorTask):  # type: ignore[misc]
    """What waitress refuses by itself, in the bank's body."""

    def execute(self) -> None:
        response = unread(self.request.error.code, getattr(self.request, "headers", {}).get("REQUEST_ID", ""))
        self.status = response.status
        self.response_headers.extend(list(response.headers))
        self.set_close_on_finish()
        body = response.get_data()
        self.content_length = len(body)
        self.write(body)


def server_of(app: Any, host: str, port: int, threads: int) -> Any:
    """A server that listens already; `run` serves."""
    patience = Patience(threads)

    class Task(WSGITask):  # type: ignore[misc]
        """Tells the application what waitress hides: that a body came in chunks."""

        def get_environment(self) -> dict[str, Any]:
            environ: dict[str, Any] = super().get_environment()
            environ["sandbox.chunked"] = bool(self.request.chunked)
            environ["sandbox.wait"] = patience.wait
            environ["sandbox.cut"] = ClientDisconnected
            return environ

    class Channel(HTTPChannel):  # type: ignore[misc]
        task_class = Task
        error_task_class = Unread

    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(threads)
    patience.dispatcher = dispatcher
    made = create_server(
        app,
        host=host,
        port=port,
        threads=threads,
        ident=None,
        asyncore_use_poll=True,
        max_request_header_size=HEADER_BYTES_MAX,
        max_request_body_size=BODY_BYTES_MAX,
        _dispatcher=dispatcher,
    )
    for part in (made.map if isinstance(made, MultiSocketServer) else made._map).values():
        if isinstance(part, BaseWSGIServer):
            part.channel_class = Channel
    return made


def port_of(server: Any) -> int:
    """Where it listens, also when a name stood for several addresses."""
    listening = getattr(server, "effective_listen", None)
    return int(listening[0][1] if listening else server.effective_port)
