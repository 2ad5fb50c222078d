"""The load: a process of its own that keeps connections busy with prepared bytes, and tells how busy it was itself.

An order is a line of JSON on standard input, its outcome a line on standard output.
In a request @ID@ becomes a fresh version 4 UUID, @NUMBER@ a fresh number, @TARGET@ the next of the targets.
"""

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle
from time import perf_counter, process_time
from types import TracebackType
from typing import Any, Self

NUMBERS = count(1)
SALT = int.from_bytes(os.urandom(6))


@dataclass(frozen=True)
class Outcome:
    """What a round of calls gave."""

    calls: int
    wrong: int  # answers with another status than the one expected
    rate: float  # calls a second
    p50: float  # ms
    p99: float  # ms
    longest: float  # ms
    busy: float  # the share of the time in which the load itself used a core


def requests(template: bytes, targets: list[str]) -> Iterator[bytes]:
    """The template, made anew for every call."""
    aims = cycle(target.encode() for target in targets or ["-"])
    for number, aim in zip(NUMBERS, aims, strict=False):
        fresh = b"%08x-%04x-4%03x-8000-%012x" % (number, number >> 32 & 0xFFFF, number & 0xFFF, SALT)
        yield template.replace(b"@ID@", fresh).replace(b"@NUMBER@", b"%010d" % number).replace(b"@TARGET@", aim)


def whole(reply: bytes) -> bool:
    """Whether the reply has all the bytes that it promises."""
    head = reply.find(b"\r\n\r\n")
    if head < 0:
        return False
    start = reply.find(b"ontent-Length: ", 0, head)
    if start < 0:
        return True
    return len(reply) >= head + 4 + int(reply[start + 15 : reply.find(b"\r", start)])


class Line:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.sent_at = 0.0

    def send(self, request: bytes) -> None:
        self.received = b""
        self.sent_at = perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Takes what came; whether the reply is whole now."""
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError(f"the server hung up after {self.received[:200]!r}")
        self.received += part
        return whole(self.received)


def run(order: dict[str, Any]) -> Outcome:
    """Every connection sends its next request as soon as it has its answer, for some seconds or some calls."""
    prepared = requests(order["request"].encode(), order.get("targets", []))
    lines = [Line(order["port"]) for _ in range(order["connections"])]
    by_number = {line.socket.fileno(): line for line in lines}
    poll = select.poll()
    for number in by_number:
        poll.register(number, select.POLLIN)
    expected, most = f"HTTP/1.1 {order['expected']}".encode(), order.get("calls", sys.maxsize)
    took: list[float] = []
    wrong = 0
    began, worked = perf_counter(), process_time()
    until = began + order.get("seconds", 600.0)
    sent = min(len(lines), most)
    for line in lines[:sent]:
        line.send(next(prepared))
    while len(took) < sent:
        for number, _ in poll.poll():
            line = by_number[number]
            if not line.receive():
                continue
            now = perf_counter()
            took.append(now - line.sent_at)
            wrong += not line.received.startswith(expected)
            if now < until and sent < most:
                sent += 1
                line.send(next(prepared))
    lasted, worked = perf_counter() - began, process_time() - worked
    for line in lines:
        line.socket.close()
    took.sort()
    p50, p99, longest = (took[int(share * (len(took) - 1))] * 1000 for share in (0.5, 0.99, 1))
    return Outcome(len(took), wrong, len(took) / lasted, p50, p99, longest, worked / lasted)


class Load:
    """The load's process, seen from the one that gives the orders."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "bench.load"]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait(10)

    def run(self, port: int, request: str, expected: int, *, connections: int = 8, **more: Any) -> Outcome:
        """One round; an answer that is not the expected one spoils the whole run."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        order = {"port": port, "request": request, "expected": expected, "connections": connections, **more}
        self.child.stdin.write(json.dumps(order) + "\n")
        self.child.stdin.flush()
        outcome = Outcome(**json.loads(self.child.stdout.readline()))
        assert not outcome.wrong, f"{outcome.wrong} of {outcome.calls} answers were not {expected}: {request[:80]}"
        return outcome


if __name__ == "__main__":
    for line_of_input in sys.stdin:
        print(json.dumps(vars(run(json.loads(line_of_input)))), flush=True)
