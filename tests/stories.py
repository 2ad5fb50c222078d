"""A world that follows a scenario, in a test."""

from typing import Any

from werkzeug.test import TestResponse

from tests.tpp import SCT, Tpp, payment


def put(tpp: Tpp, **content: Any) -> TestResponse:
    """The world begins again with a scenario that says this."""
    return tpp.control("PUT", "/scenario", scenario=content)


def follow(tpp: Tpp, **content: Any) -> None:
    reply = put(tpp, **content)
    assert reply.status_code == 200, reply.text


def ruled(tpp: Tpp, **rule: Any) -> None:
    """The world follows one rule, called `the rule`, before those of the default scenario."""
    follow(tpp, rules=[{"title": "the rule", **rule}])


def faulty(tpp: Tpp, **fault: Any) -> None:
    reply = tpp.control("POST", "/faults", **fault)
    assert reply.status_code == 201, reply.text


def journal_of(tpp: Tpp, subject: str) -> list[tuple[str, str | None, str | None]]:
    """Status reached, reason and rule of each line."""
    return [(row["to"], row["reason"], row["rule"]) for row in tpp.listed("journal") if row["subject"] == subject]


def told(tpp: Tpp, payment_id: str, product: str = SCT) -> tuple[str, str | None]:
    reply = tpp.status(payment_id, product).get_json()
    return reply["status"], reply.get("reason")


def signed_by_alice(tpp: Tpp, product: str = SCT, **changes: Any) -> str:
    reply = tpp.initiate(product, payment(product, **changes))
    tpp.signed(reply, "alice")
    return str(reply.get_json()["payment_id"])


def explained(tpp: Tpp, request_id: str) -> dict[str, Any]:
    reply = tpp.control("GET", f"/explain/{request_id}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.get_json()
    return found
