"""Servers to measure: each a process of its own, started, asked and stopped."""

import http.client
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from bench.load import requests

SCT = "sepa-credit-transfers"
CALLBACK = "http://127.0.0.1:9000/callback"
BODY = (
    '{"creditor_account": {"iban": "BE68539007547034"}, "creditor_name": "Jan Peeters", '
    '"endtoend_identification": "INVOICE-@NUMBER@", "instructed_amount": {"amount": "12.50", "currency": "EUR"}, '
    '"remittance_information_unstructured": "Invoice @NUMBER@"}'
)
VENDOR = "application/vnd.service.api+json; version="
VERIFIER = "v" * 43
CALLER = (
    "Host: 127.0.0.1",
    "Request-ID: @ID@",
    f"Accept: {VENDOR}3",
    "Accept-Language: fr",
    "Client-ID: demo-tpp",
)


def written(method: str, path: str, *lines: str, body: str = "", target: str = "") -> str:
    """A request as it goes over the wire. Its length is counted with every number, and a target, already in place."""
    length = len(body.replace("@NUMBER@", "0" * 10).replace("@TARGET@", target))
    head = (f"{method} {path} HTTP/1.1", *lines, *([f"Content-Length: {length}"] if body else []))
    return "\r\n".join(head) + "\r\n\r\n" + body


STATUS = written("GET", f"/payments/{SCT}/@TARGET@/status", *CALLER)


def initiation(method: str, challenge: str, body: str = BODY) -> str:
    flow = (f"Redirect-URI: {CALLBACK}", f"Code-Challenge-Method: {method}", f"Code-Challenge: {challenge}")
    return written("POST", f"/payments/{SCT}", *CALLER, *flow, "Content-Type: application/json", body=body)


INITIATION = initiation("S256", f"{'c' * 33}@NUMBER@")
CHEAP = BODY.replace("12.50", "0.01")  # a customer can pay it thousands of times
SIGNABLE = initiation("plain", VERIFIER, CHEAP)  # its code can be exchanged
WORLD = written("PUT", "/_sandbox/worlds/w@NUMBER@", "Host: 127.0.0.1", "Content-Type: application/json", body="{}")
RESET = written("POST", "/_sandbox/reset", "Host: 127.0.0.1", "Content-Length: 0")


class Server:
    """A process that says `listening on` an address once it does."""

    def __init__(self, name: str, *command: str) -> None:
        self.name = name
        self.command = [sys.executable, *command]

    def __enter__(self) -> Self:
        self.began = perf_counter()
        self.child = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True
        )
        assert self.child.stdout is not None
        for line in self.child.stdout:
            if line.startswith("listening on "):
                self.port = int(line.rstrip().rpartition(":")[2])
                return self
        raise RuntimeError(f"{self.name} did not start: {' '.join(self.command)}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.terminate()
        self.child.wait(40)  # a server that shares a database gives its worlds up first
        assert self.child.stdout is not None
        self.child.stdout.close()

    def since_start(self) -> float:
        """Seconds since the process was asked for."""
        return perf_counter() - self.began

    def ask(self, method: str, path: str, **content: Any) -> Any:
        """One call of the controls."""
        line = http.client.HTTPConnection("127.0.0.1", self.port)
        line.request(method, f"/_sandbox{path}", json.dumps(content) if content else None)
        reply = line.getresponse()
        answer = json.loads(reply.read())
        assert reply.status < 300, answer
        line.close()
        return answer

    def initiate(self, world: str) -> str:
        """A payment in that world; the answer is its id."""
        head, _, body = next(requests(INITIATION.encode(), [])).partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        line = http.client.HTTPConnection("127.0.0.1", self.port)
        line.request("POST", f"/worlds/{world}/payments/{SCT}", body, headers)
        answer = json.loads(line.getresponse().read())
        line.close()
        return str(answer["payment_id"])

    def payments(self, most: int = 1000) -> list[str]:
        """Ids that the bank knows, evenly from all of them."""
        ids = [row["payment_id"] for row in self.ask("GET", "/payments")["payments"]]
        return ids[:: max(1, len(ids) // most)]

    def memory(self, kind: str = "VmRSS") -> int | None:
        """Bytes in real memory, now or (VmHWM) at the most so far, where the machine tells."""
        try:
            lines = Path(f"/proc/{self.child.pid}/status").read_text().splitlines()
        except OSError:
            return None
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))


def bank(threads: int, log: str = "off") -> Server:
    options = ("--port", "0", "--frozen", "--seed", "1", "--threads", str(threads), "--log", log)
    return Server("bank", "-m", "sandbox", "serve", *options)


def floor(kind: str, threads: int) -> Server:
    return Server(kind, "-m", "bench.floor", kind, str(threads))
