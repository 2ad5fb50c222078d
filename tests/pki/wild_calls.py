"""Calls of every route of a server with hostile headers and queries: none is answered by a fault of ours.

`python -m tests.pki.wild_calls COUNT SEED` makes so many; a failure names the call that repeats it. With a path or an
address of a database behind them, the worlds are kept there.
"""

import logging
import re
import socket
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import orjson
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.contract.operations import BY_NAME
from sandbox.server.server import serve_in_background
from sandbox.storage.store import open_store
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.pki.spelling import BODIES, VALUES
from tests.tpp import SCT, Tpp, headers, payment, version

PATIENCE = 30
ENOUGH = 200_000  # bytes of an answer
LOOKS_EVERY = 50  # calls between two looks at what those before them left behind
LOOKS = ("/_sandbox/requests", "/_sandbox/referee", "/_sandbox/health", "/_sandbox/metrics", "/_sandbox/console/calls")
OURS = (500, 502, 504)  # no call orders them here: faults of the bank would be 503
HONEST = "/worlds/honest"
WORLDS = (*[""] * 8, "/worlds/wild", "/worlds/x%00", "/worlds/", "/worlds/..", "/worlds/" + "x" * 70)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "PROPFIND")
ODD = (
    "",
    " ",
    "x",
    "0",
    "-1",
    "9" * 400,
    "%00",
    "%ff",
    "é",
    "\xff\xfe",
    "null",
    "[]",
    "{}",
    "'",
    '"',
    "<b>",
    "../..",
    "a,b;c=d",
)
DATES = (
    "Mon, 01 Mar 2027 08:00:00 GMT",
    "2027-03-01T08:00:00Z",
    "2027-03-01T08:00:00+23:59",
    "2027-02-30T08:00:00Z",
    "Mon, 99 Foo 2027 99:99:99 GMT",
    "1",
    "1e999",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+23:59",
    "Fri, 31 Dec 9999 23:59:59 -2359",
    "Mon, 01 Jan 0001 00:00:00 GMT",
    "٢٠٢٧-٠٣-٠١".encode().decode("latin-1"),
)
HOSTS = (
    *("localhost", "127.0.0.1:1", "evil.example", "evil.example:444", "[::1]", "[::1", "[::1].evil.example", "a@b"),
    *("localhost:port", "localhost:99999", "localhost:", ":80", ".", "xn--", "\xe9.example", "a/b", "a?b#c", "a b"),
    *("x" * 300, "x" * 5_000),
)
EXPECTS = ("100-continue", "100-Continue", "other", "100-continue, other", "", "100-continue=1")
NAMED = {
    "Date": DATES,
    "Host": HOSTS,
    "Expect": EXPECTS,
    "Accept": (
        "*/*",
        "application/vnd.service.api+json; version=3",
        "application/vnd.service.api+json; version=9" * 50,
        "text/html",
    ),
    "Accept-Language": ("fr", "nl;q=0", "*", "en;q=x", "fr;q=1e5", "x-y-z" * 200),
    "Authorization": ("Bearer x", "Bearer", "Basic", "Basic x", "Basic //8=", "Digest a=b", "bearer  "),
    "Content-Type": (
        "application/json",
        "application/json; charset=x",
        "text/csv",
        "multipart/form-data",
        "a/b; boundary=",
    ),
    "Content-Length": ("0", "1", "-1", "x", "99999999999"),
    "Transfer-Encoding": ("chunked", "gzip", "chunked, chunked"),
    "Client-ID": ("demo-tpp", "other-tpp", "idle-tpp", "nobody"),
    "Request-ID": ("00000000-0000-4000-8000-000000000000", "x" * 3_000),
    "Redirect-URI": (
        "http://localhost/x",
        "https://evil.example/_sandbox/callback",
        "http://[::1/",
        "javascript:1",
        "http://a:b/",
    ),
    "Code-Challenge-Method": ("S256", "plain", "none"),
    "Code-Challenge": ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "x"),
    "Digest": ("SHA-256=x", "sha-256=", "MD5=x", "SHA-256=,SHA-256="),
    "Signature": ("a.b.c", "..", "eyJhbGciOiJub25lIn0..x", "=" * 500),
    "SCA-Token": ("x",),
    "PaymentInformationID": ("x", "x" * 100),
    "X-Sandbox-Key": ("x",),
    "X-Forwarded-Proto": ("https", "ftp", "https, http"),
    "X-Forwarded-For": ("127.0.0.1", "x"),
    "X-Client-Cert": ("x", "-----BEGIN%20CERTIFICATE-----"),
    "Cookie": ("sandbox-console=x", "=;=;", "sandbox-console-key=\xff", "a" * 5_000),
    "Origin": ("null", "https://evil.example", "http://"),
    "Sec-Fetch-Site": ("cross-site", "x"),
    "If-None-Match": ("*", 'W/"x"', "x"),
    "If-Modified-Since": DATES,
    "Range": ("bytes=0-1", "bytes=-", "x"),
    "Upgrade": ("websocket", "h2c"),
    "Connection": ("close", "upgrade", "keep-alive, x"),
}
FIRST = ("Date", "Host", "Expect")  # what is hostile most often
NAMES = ("x%00", "%ff", "%2e%2e", "..", "a%2Fb", "%", "%zz", "x" * 2_000, "\xe9", "%F0%9F%8F%A6", "-1", "")
WORDS = (
    *(
        "path",
        "self",
        "scope",
        "iban",
        "paymentIdType",
        "paymentFileIdType",
        "date_from",
        "date_to",
        "pagesize",
        "next",
    ),
    *("currency", "psu_involved", "since", "limit", "after", "format", "waive", "within", "from", "until", "page", "q"),
    *("status", "range", "rule", "lang", "state", "code", "error", "notice", "back", "news", "client_id", "replace"),
    *("redirect_uri", "response_type", "v", "live"),
)
BODIES_OF_NONE = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"\xff",
    b"{" * 2_000,
    b'{"a":1e400}',
    b'{"a":"\\ud800"}',
    b"a=b&a=c&=&%00",
    b"<a/>",
    b"a;b\n1;2\n",
)


@dataclass(frozen=True)
class Wild:
    """One call, as bytes."""

    method: str
    target: str
    sent: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.target}: {self.sent[:3_000]!r}"


class Faults(logging.Handler):
    """What the server logs of faults of its own."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info or record.levelno >= logging.ERROR:
            self.found.append(self.format(record))


class Aim(NamedTuple):
    """A route, and what its calls say in Accept."""

    method: str
    rule: str
    accept: str


class Known(NamedTuple):
    """What is there when a call comes."""

    payment_id: str
    token: str


def aims_of(app: Flask) -> tuple[list[Aim], list[Aim]]:
    """Every route: those of the bank's interface, and all others."""
    bank, others = set[Aim](), set[Aim]()
    for rule in app.url_map.iter_rules():
        operation = BY_NAME.get(rule.endpoint)
        accept = "*/*" if operation is None else version(operation.versions[0])
        aims = {Aim(method, rule.rule, accept) for method in (rule.methods or set()) - {"OPTIONS"}}
        (others if operation is None else bank).update(aims)
    return sorted(bank), sorted(others)


def filled(rule: str, random: Random, known: Known, *, whole: bool = False) -> str:
    """The path of a rule: values that are there mostly, or anything."""
    there = {**VALUES, "product": SCT, "payment_id": known.payment_id, "id": known.payment_id}

    def value(match: re.Match[str]) -> str:
        return there.get(match[1].rpartition(":")[2], "x") if whole or random.random() < 0.85 else random.choice(NAMES)

    return re.sub(r"<([^>]+)>", value, rule)


def wild_call(aims: tuple[list[Aim], list[Aim]], random: Random, known: Known) -> Wild:
    aim = random.choice(random.choice(aims))
    method = random.choice(METHODS) if random.random() < 0.1 else aim.method
    target = random.choice(WORLDS) + filled(aim.rule, random, known)
    if random.random() < 0.5:
        target += query(random)
    body = body_of(aim.rule, random)
    rows = right_headers(aim, known.token if random.random() < 0.5 else None)
    rows |= {"Content-Length": str(len(body)), "Request-ID": str(UUID(int=random.getrandbits(128), version=4))}
    return Wild(method, target, message(method, target, spoilt(rows, random), body))


def right_headers(aim: Aim, token: str | None) -> dict[str, str]:
    rows = {**headers(accept=aim.accept), "Host": "localhost", "Content-Type": "application/json"}
    return rows if token is None else rows | {"Authorization": f"Bearer {token}"}


def message(method: str, target: str, rows: Iterable[tuple[str, str]], body: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in rows)
    text = f"{method} {target} HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
    return text.encode("latin-1", "replace") + body


def calls_with_one_fault(aims: Iterable[Aim], known: Known) -> Iterator[Wild]:
    """For each route and each hostile value of the first headers: a call in which nothing else is wrong."""
    never = Random(0)
    for aim in aims:
        target = filled(aim.rule, never, known, whole=True)
        body = orjson.dumps(payment()) if aim.method == "POST" else b""
        for name in FIRST:
            for value in NAMED[name]:
                rows = {**right_headers(aim, None), "Content-Length": str(len(body)), name: value}
                yield Wild(aim.method, target, message(aim.method, target, rows.items(), body))


def query(random: Random) -> str:
    words = [(random.choice(WORDS), random.choice((*ODD, *DATES))) for _ in range(random.randint(1, 4))]
    if random.random() < 0.3:
        words.append(random.choice(words))
    return "?" + "&".join(f"{word}={value}".replace(" ", "+") for word, value in words)


def body_of(rule: str, random: Random) -> bytes:
    if random.random() < 0.4:
        return random.choice(BODIES_OF_NONE)
    if rule.startswith("/payments"):
        return orjson.dumps(
            payment() | {random.choice(list(payment())): random.choice((None, 1, "x", [], {}, "9" * 300))}
        )
    return orjson.dumps(BODIES.get(rule.removeprefix("/_sandbox"), {"at": "9" * 20, "name": "\0", "amount": 1e308}))


def spoilt(rows: dict[str, str], random: Random) -> list[tuple[str, str]]:
    """The headers of a right call, of which some are missing, there twice, or say anything."""
    twice = []
    names = (random.choice((*NAMED, *FIRST, *FIRST)) for _ in range(random.choice((0, 1, 1, 1, 2, 4))))
    for name in names:
        values = (*NAMED[name], *NAMED[name], *ODD)
        if random.random() < 0.2:
            twice.append((name, random.choice(values)))
        rows[name] = random.choice(values)
        if random.random() < 0.1:
            del rows[name]
    found = [*rows.items(), *twice]
    random.shuffle(found)
    return found


class Line:
    """Sends calls to a server, each on a connection of its own."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self.place = (str(place.hostname), int(place.port or 0))

    def send(self, sent: bytes) -> bytes:
        """All that comes back; an end of the connection is an answer too."""
        found = b""
        with socket.create_connection(self.place, PATIENCE) as line:
            try:
                line.sendall(sent)
                line.shutdown(socket.SHUT_WR)
                while (part := line.recv(65_536)) and len(found) < ENOUGH:
                    found += part
            except ConnectionError:
                pass
        return found

    def ask(self, method: str, path: str, content: Any = None) -> tuple[int, bytes]:
        """Status and body of a right call."""
        body = b"" if content is None else orjson.dumps(content)
        rows = {**headers(), "Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in rows.items())
        answer = self.send(f"{method} {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode() + body)
        return status_of(answer), answer.partition(b"\r\n\r\n")[2]


def status_of(answer: bytes) -> int:
    """0 where the connection ended without an answer."""
    first = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n").partition(b"\r\n")[0].split()
    return int(first[1]) if len(first) > 1 and first[0].startswith(b"HTTP/") else 0


def look_at_what_is_left(line: Line, told: str) -> None:
    """What others do after these calls: they look at what is kept of them, and pay in a world of their own."""
    for world in ("", "/worlds/wild", HONEST):
        for path in LOOKS:
            status, body = line.ask("GET", f"{world}{path}")
            assert status in (200, 501), f"{told}\nafterwards {world}{path} is {status}: {body[:500]!r}"
    status, body = line.ask("POST", f"{HONEST}/payments/{SCT}", payment())
    assert status == 201, f"{told}\nafterwards a payment in another world is {status}: {body[:500]!r}"


def begin_again(app: Flask, line: Line) -> Known:
    """Worlds as they were first loaded."""
    for world in ("", "/worlds/wild"):
        line.ask("DELETE", f"{world}/_sandbox/faults")
        line.ask("POST", f"{world}/_sandbox/reset")
    status, body = line.ask("POST", f"/payments/{SCT}", payment())
    assert status == 201, body
    return Known(str(orjson.loads(body)["payment_id"]), Tpp(app).token_for("alice"))


@contextmanager
def served(state: str | None = None) -> Iterator[tuple[Flask, Line]]:
    beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    store = None if state is None else open_store(state)
    app = assemble(WorldRegistry(beginning, lambda: 1_800_000_000.0, store))
    try:
        with serve_in_background(app) as address:
            yield app, Line(address)
    finally:
        if store is not None:
            store.close()


@contextmanager
def watched() -> Iterator[Faults]:
    """The faults of our own that are logged meanwhile."""
    faults = Faults()
    logging.getLogger().addHandler(faults)
    try:
        yield faults
    finally:
        logging.getLogger().removeHandler(faults)


def answered(line: Line, call: Wild, told: str) -> int:
    answer = line.send(call.sent)
    status = status_of(answer)
    assert status not in OURS and b"Traceback" not in answer, f"{told}\n{answer[:2_000]!r}"
    return status


def one_fault_each() -> Counter[int]:
    """Each route of the bank's interface with each hostile Date, Host and Expect."""
    statuses = Counter[int]()
    with watched() as faults, served() as (app, line):
        bank, _ = aims_of(app)
        for call in calls_with_one_fault(bank, begin_again(app, line)):
            statuses[answered(line, call, str(call))] += 1
            assert not faults.found, f"{call}\n{faults.found}"
        look_at_what_is_left(line, "each route with each value")
    return statuses


def storm(count: int, seed: int, state: str | None = None) -> Counter[int]:
    """So many calls; the statuses that they were answered with. A fault of ours is an AssertionError."""
    statuses = Counter[int]()
    with watched() as faults, served(state) as (app, line):
        aims, known = aims_of(app), Known("", "")
        for number in range(count):
            if number % LOOKS_EVERY == 0:
                known = begin_again(app, line)
            call = wild_call(aims, Random(f"{seed}/{number}"), known)
            told = f"seed {seed}, number {number}, {call}"
            statuses[answered(line, call, told)] += 1
            if number % LOOKS_EVERY == LOOKS_EVERY - 1:
                look_at_what_is_left(line, told)
            assert not faults.found, f"{told}\n{faults.found}"
    return statuses


if __name__ == "__main__":
    count, seed, *rest = sys.argv[1:]
    sys.stdout.write(f"{dict(sorted(storm(int(count), int(seed), *rest).items()))}\n")
