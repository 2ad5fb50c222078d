"""The console of a bank with many payments: how long its pages take, and what an open page asks for each second."""

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from uuid import uuid4

from werkzeug.test import Client

from bench.table import Figure
from sandbox.assembly import assemble, first_beginning
from sandbox.machine import machine_time
from sandbox.register import Worlds
from sandbox.rules.durations import read_instant

HEADERS = {
    "Accept": "application/vnd.service.api+json; version=3",
    "Accept-Language": "fr",
    "Client-ID": "demo-tpp",
    "Redirect-URI": "http://127.0.0.1:9000/callback",
    "Code-Challenge-Method": "S256",
    "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
}
BODY = {
    "creditor_account": {"iban": "BE68539007547034"},
    "creditor_name": "Jan Peeters",
    "endtoend_identification": "INVOICE-2027-001",
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
}
# The address, what it is called, and how many ms it may take: the first paint of 300 ms leaves the browser half.
PAGES = (
    ("/_sandbox/", "console, its first page", 150),
    ("/_sandbox/console/payments?page=150", "console, a late page of payments", 150),
    ("/_sandbox/console/live", "console, what an open page asks for", 10),
)


def console(count: int = 10_000, rounds: int = 15) -> Iterator[Figure]:
    worlds = Worlds(first_beginning(seed=1, at=read_instant("2027-03-01T09:00:00+01:00"), rate=0), machine_time)
    http = Client(assemble(worlds))
    for _ in range(count):
        reply = http.post("/payments/sepa-credit-transfers", json=BODY, headers=HEADERS | {"Request-ID": str(uuid4())})
        assert reply.status_code == 201, reply.text
    for path, name, most in PAGES:
        times = []
        for _ in range(rounds):
            began = perf_counter()
            assert http.get(path).status_code == 200
            times.append((perf_counter() - began) * 1000)
        yield Figure(f"{name}, {count:,} payments", median(times), "ms", most=most)
