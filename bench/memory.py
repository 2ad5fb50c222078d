"""What a stored payment weighs by the interpreter's own count: `python -m bench.memory`, a process of its own."""

import gc
import io
import sys
import tracemalloc
from typing import Any

from bench.servers import BODY, CALLBACK, SCT


def environ_of(number: int) -> dict[str, Any]:
    """An initiation as the server hands it to the app."""
    body = BODY.replace("@NUMBER@", f"{number:010d}").encode()
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": f"/payments/{SCT}",
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8080",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": "127.0.0.1:8080",
        "HTTP_REQUEST_ID": f"{number:08x}-0000-4000-8000-000000000000",
        "HTTP_ACCEPT": "application/vnd.service.api+json; version=3",
        "HTTP_ACCEPT_LANGUAGE": "fr",
        "HTTP_CLIENT_ID": "demo-tpp",
        "HTTP_REDIRECT_URI": CALLBACK,
        "HTTP_CODE_CHALLENGE_METHOD": "S256",
        "HTTP_CODE_CHALLENGE": f"{'c' * 33}{number:010d}",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    # A server reads every text anew from the line, so none is shared between calls.
    return {key: value.encode().decode() if isinstance(value, str) else value for key, value in environ.items()}


def main(payments: int, warm: int = 5_000) -> None:
    from dataclasses import replace

    from sandbox.app import assemble, make_first_beginning
    from sandbox.machine import machine_time
    from sandbox.worlds.registry import WorldRegistry

    beginning = make_first_beginning(1, None, 0.0)
    # What is bounded, such as the log of what was asked and the referee's memory, is full before the count begins.
    worlds = WorldRegistry(replace(beginning, settings=replace(beginning.settings, requests_kept=500)), machine_time)
    app = assemble(worlds)

    def initiate(number: int) -> None:
        answered: list[str] = []

        def start_response(status: str, headers: Any, fault: Any = None) -> Any:
            answered.append(status)

        b"".join(app.wsgi_app(environ_of(number), start_response))
        assert answered == ["201 CREATED"], answered

    tracemalloc.start()
    for number in range(warm):
        initiate(number)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(warm, warm + payments):
        initiate(number)
    gc.collect()
    print((tracemalloc.get_traced_memory()[0] - before) / payments)


if __name__ == "__main__":
    main(int(sys.argv[1]))
