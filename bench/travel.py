"""Waiting and forking in the default world, through the controls (choice 10); nothing of the network is counted."""

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any
from uuid import UUID

from flask.testing import FlaskClient

from bench.servers import CALLBACK, SCT
from bench.table import Figure

ROUNDS = 21
SENT = {
    "Accept-Language": "fr",
    "Client-ID": "demo-tpp",
    "Redirect-URI": CALLBACK,
    "Code-Challenge-Method": "S256",
    "Code-Challenge": "c" * 43,
}
PAYMENT = {
    "creditor_account": {"iban": "BE68539007547034"},
    "creditor_name": "Jan Peeters",
    "endtoend_identification": "INVOICE-1",
    "instructed_amount": {"amount": "12.50", "currency": "EUR"},
}


def bank() -> FlaskClient:
    """The default world, frozen; a few days before the end of a month."""
    from sandbox.app import assemble, make_first_beginning
    from sandbox.banking.durations import read_instant
    from sandbox.machine import machine_time
    from sandbox.worlds.registry import WorldRegistry

    beginning = make_first_beginning(1, read_instant("2027-03-25T09:00:00+01:00"), 0.0)
    return assemble(WorldRegistry(beginning, machine_time)).test_client()


def initiated(http: FlaskClient, number: int, kind: str, version: int, **more: Any) -> tuple[str, str]:
    """The id and the address to sign at."""
    asked = SENT | {
        "Request-ID": str(UUID(int=number, version=4)),
        "Accept": f"application/vnd.service.api+json; version={version}",
    }
    reply = http.post(f"/{kind}/{SCT}", json=PAYMENT | more, headers=asked)
    assert reply.status_code == 201, reply.text
    return str(reply.get_json()["payment_id"]), reply.headers["Location"]


def timed(http: FlaskClient, path: str, **body: Any) -> float:
    """Milliseconds of one call of a control."""
    began = perf_counter()
    reply = http.post(f"/_sandbox{path}", json=body)
    assert reply.status_code < 300, reply.text
    return (perf_counter() - began) * 1000


def travel(rounds: int = ROUNDS) -> Iterator[Figure]:
    http = bank()
    unsigned, ended, forked = [], [], []
    for number in range(rounds):
        http.post("/_sandbox/reset")
        payment_id, _ = initiated(http, 2 * number, "payments", 3)
        order_id, address = initiated(
            http, 2 * number + 1, "periodic-payments", 2,
            start_date="2027-03-31", end_date="2027-03-31", frequency="MONTHLY",
        )  # fmt: skip
        http.post("/_sandbox/psu/approve", json={"address": address, "customer": "alice"})
        forked.append(timed(http, "/worlds/default/fork", **{"as": "b", "replace": True}))
        unsigned.append(timed(http, "/await", payment_id=payment_id, status="CANC"))
        ended.append(timed(http, "/await", payment_id=order_id, status="CANC"))
    yield Figure("await over the 60-minute time-out", median(unsigned), "ms", most=50)
    yield Figure("await over a month-end standing order", median(ended), "ms", most=50)
    yield Figure("fork of the default world", median(forked), "ms", most=20)
