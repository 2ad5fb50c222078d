"""Programs in Python that start warm. The first import of the sandbox takes longer than most programs of the tests run.

One process imports modules and then waits. It forks for each program. The child gets the arguments, the folder and the
environment that its caller says, and runs as `python -m MODULE` does. It is a process of its own, and ends like one.
The first process has one thread, so that the fork is safe. A test about the start of a program, its imports, its
warnings or its hashes starts Python itself.
"""

import gc
import json
import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import IO

ROOT = Path(__file__).parents[1]
REQUEST_MAX = 1_000_000  # bytes
# What a pytest needs that serves a bank.
PYTEST = (
    *("pytest", "_pytest.assertion", "_pytest.junitxml", "_pytest.terminal"),
    *("sandbox.app", "sandbox.testing.start", "sandbox.server.server", "httpx", "waitress"),
)
# What the sandbox imports of others, with all its extensions.
LIBRARIES = (
    *(
        "pytest",
        "_pytest.assertion",
        "_pytest.terminal",
        "click.testing",
        "flask",
        "httpx",
        "waitress.server",
        "jinja2",
    ),
    *(
        "marshmallow.validate",
        "apispec.ext.marshmallow",
        "jsonschema",
        "cryptography.x509",
        "joserfc.jws",
        "joserfc.jwk",
    ),
    *("cryptography.hazmat.primitives.serialization", "lxml.etree", "yaml", "psycopg", "orjson", "stdnum.iban"),
    *("mcp.server.lowlevel", "mcp.server.stdio", "mcp.server.context", "uvicorn", "sqlite3", "concurrent.futures"),
)


class Warm:
    """The process that forks, seen from the tests."""

    def __init__(self, modules: Sequence[str], *, path: Sequence[Path] = ()) -> None:
        ours, theirs = socket.socketpair()
        words = [sys.executable, __file__, str(theirs.fileno()), *modules]
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("PY", "SANDBOX_"))}
        self._line = ours
        with theirs:
            self._process = subprocess.Popen(
                words, env=bare | {"PYTHONPATH": os.pathsep.join(map(str, path))}, pass_fds=[theirs.fileno()]
            )
        self._replies = ours.makefile("r")

    def run(
        self, words: Sequence[str], folder: Path, environment: Mapping[str, str], patience: float
    ) -> subprocess.CompletedProcess[str]:
        """Runs `python -m` with these words, and returns how it ended and what it wrote."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            request = json.dumps([list(words), str(folder), dict(environment)]).encode()
            assert len(request) < REQUEST_MAX
            socket.send_fds(self._line, [len(request).to_bytes(4)], [out.fileno(), err.fileno()])
            self._line.sendall(request)
            pid = int(self._replies.readline())
            self._line.settimeout(patience)
            try:
                code = int(self._replies.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            finally:
                self._line.settimeout(None)
            return subprocess.CompletedProcess(list(words), code, written(out), written(err))

    def end(self) -> None:
        self._replies.close()
        self._line.close()
        self._process.wait()


def written(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


@contextmanager
def warm(*modules: str, path: Sequence[Path] = ()) -> Iterator[Warm]:
    made = Warm(modules, path=path)
    try:
        yield made
    finally:
        made.end()


# The process itself. It imports nothing of the tests.


def serve(line: socket.socket) -> list[str]:
    """Forks for each request until the caller hangs up. Returns in a child only: the words of its program."""
    while True:
        head, descriptors, _, _ = socket.recv_fds(line, 4, 2)
        if not head:
            raise SystemExit
        content = json.loads(line.recv(int.from_bytes(head), socket.MSG_WAITALL))
        pid = os.fork()
        if not pid:
            line.close()
            become(descriptors, *content)
            return sys.argv
        for descriptor in descriptors:
            os.close(descriptor)
        line.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        line.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def become(descriptors: Sequence[int], words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Makes this process what a new one would be."""
    for target, descriptor in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *descriptors), strict=True):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    places = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[:] = [folder, *places, *(place for place in sys.path if place not in places)]
    sys.argv = words
    random.seed()


def import_all(names: Sequence[str]) -> None:
    """Imports modules. `sandbox.*` is each module of the sandbox but those that pytest wants to import itself."""
    for name in names:
        package = import_module(name.removesuffix(".*"))
        if name.endswith(".*"):
            for module in walk_packages(package.__path__, f"{package.__name__}."):
                if not module.name.endswith(("__main__", "pytest_plugin")):
                    import_module(module.name)


def main() -> None:
    _, descriptor, *names = sys.argv
    del sys.path[0]  # this folder
    import_all(names)
    gc.freeze()
    words = serve(socket.socket(fileno=int(descriptor)))
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
