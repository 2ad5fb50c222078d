"""Standing orders that the probes begin, sign and read."""

from typing import Any

from werkzeug.test import TestResponse

from tests.payer import approve
from tests.spec.bodies import ALICE
from tests.tpp import SCT, Tpp, payment, version

PATH = "/periodic-payments/sepa-credit-transfers"


def initiate(tpp: Tpp, **changes: Any) -> TestResponse:
    usual = {"debtor_account": {"iban": ALICE}, "frequency": "MONTHLY", "start_date": "2027-04-01"}
    body = payment(**{"product": SCT} | usual | changes)
    return tpp.call("POST", PATH, json=body, accept=version(2))


def begun(tpp: Tpp, **changes: Any) -> tuple[str, str]:
    """The id of a standing order that was accepted, and where it is signed."""
    reply = initiate(tpp, **changes)
    assert reply.status_code == 201, reply.text
    return reply.get_json()["payment_id"], reply.headers["Location"]


def signed(tpp: Tpp, **changes: Any) -> str:
    payment_id, address = begun(tpp, **changes)
    reply = approve(tpp, address, "alice")
    assert reply.status_code == 200, reply.text
    return payment_id


def status(tpp: Tpp, payment_id: str) -> dict[str, Any]:
    found: dict[str, Any] = tpp.call("GET", f"{PATH}/{payment_id}/status", accept=version(2)).get_json()
    return found


def runs(tpp: Tpp, payment_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tpp.control("GET", f"/standing-orders/{payment_id}").get_json()["executions"]
    return found
