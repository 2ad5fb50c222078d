"""Standing orders in a test: their bodies, and how they come to life."""

from typing import Any

from werkzeug.test import TestResponse

from tests.tpp import SCT, Tpp, payment, version

ALICE = "BE16539100001774"
SAVINGS = "BE36539100002481"  # alice's
PATH = f"/periodic-payments/{SCT}"


def contract(**changes: Any) -> dict[str, Any]:
    """A good FIXED body; a change of None takes a field away, `a__b` reaches inside."""
    return payment(**{"start_date": "2027-04-01", "frequency": "MONTHLY"} | changes)


def variable(**changes: Any) -> dict[str, Any]:
    """A good VARIABLE body with neither bound."""
    given = {
        "periodic_payment_type": "VARIABLE",
        "creditor_account": {"iban": SAVINGS},
        "instructed_amount": {"currency": "EUR"},
    }
    return contract(**given | changes)


def order(tpp: Tpp, body: Any, **changes: str | None) -> TestResponse:
    return tpp.call("POST", PATH, json=body, **{"accept": version(2), **changes})


def ordered(tpp: Tpp, body: Any) -> str:
    """The id of a standing order that was accepted."""
    reply = order(tpp, body)
    assert reply.status_code == 201, reply.text
    return str(reply.get_json()["payment_id"])


def signed(tpp: Tpp, body: Any, customer: str | None = "alice") -> str:
    reply = order(tpp, body)
    tpp.signed(reply, customer)
    return str(reply.get_json()["payment_id"])


def active(tpp: Tpp, body: Any, customer: str | None = "alice") -> str:
    """Signed, and a moment later."""
    payment_id = signed(tpp, body, customer)
    tpp.advance("1s")
    return payment_id


def ask(tpp: Tpp, method: str, rest: str, **changes: str | None) -> TestResponse:
    return tpp.call(method, f"{PATH}/{rest}", **{"accept": version(2), **changes})


def status(tpp: Tpp, payment_id: str) -> tuple[str, str | None]:
    """Status and reason, as the bank's interface tells them."""
    reply = ask(tpp, "GET", f"{payment_id}/status")
    assert reply.status_code == 200, reply.text
    return reply.get_json()["status"], reply.get_json().get("reason")


def bearer(tpp: Tpp, customer: str = "alice") -> dict[str, str]:
    return {"authorization": f"Bearer {tpp.token_for(customer)}"}


def until(tpp: Tpp, instant: str) -> None:
    reply = tpp.control("POST", "/clock", set=instant)
    assert reply.status_code == 200, reply.text


def occurrences(tpp: Tpp, payment_id: str, state: str | None = None) -> list[dict[str, Any]]:
    """Past and coming ones, as the controls list them."""
    rows: list[dict[str, Any]] = tpp.control("GET", f"/standing-orders/{payment_id}").get_json()["occurrences"]
    return [row for row in rows if state in (None, row["state"])]
