"""What follows an initiation, in a test: the PSU's part by the controls, the callback, tokens, and the books."""

from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from werkzeug.test import TestResponse

from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from tests.tpp import CALLBACK, ISCT, SCT, VERIFIER, Tpp, payment, refused, version

FORM = "application/x-www-form-urlencoded"
SECRETS = {"demo-tpp": "demo-secret", "other-tpp": "other-secret", "idle-tpp": "idle-secret"}


@dataclass(frozen=True)
class Begun:
    """A payment that was accepted, and where it is signed."""

    id: str
    product: str
    address: str


def begin(tpp: Tpp, product: str = SCT, *, headers: dict[str, str | None] | None = None, **changes: Any) -> Begun:
    reply = tpp.initiate(product, payment(product, **changes), **headers or {})
    assert reply.status_code == 201, reply.text
    return Begun(reply.get_json()["payment_id"], product, reply.headers["Location"])


def approve(tpp: Tpp, address: str, customer: str | None = None, **more: Any) -> TestResponse:
    who = {} if customer is None else {"customer": customer}
    return tpp.control("POST", "/psu/approve", address=address, **who, **more)


def refuse(tpp: Tpp, address: str, **more: Any) -> TestResponse:
    return tpp.control("POST", "/psu/refuse", address=address, **more)


def cosign(tpp: Tpp, payment_id: str, customer: str) -> TestResponse:
    return tpp.control("POST", "/psu/sign", payment_id=payment_id, customer=customer)


def refuse_further(tpp: Tpp, payment_id: str, customer: str) -> TestResponse:
    return tpp.control("POST", "/psu/refuse", payment_id=payment_id, customer=customer)


def move(tpp: Tpp, payment_id: str, status: str, **more: Any) -> TestResponse:
    return tpp.control("POST", f"/payments/{payment_id}/move", status=status, **more)


def signed(tpp: Tpp, product: str = SCT, customer: str | None = "alice", **changes: Any) -> Begun:
    begun = begin(tpp, product, **changes)
    reply = approve(tpp, begun.address, customer)
    assert reply.status_code == 200, reply.text
    return begun


def callback(reply: TestResponse) -> dict[str, str]:
    """What the bank appended to the callback, and its own query."""
    assert reply.status_code == 200, reply.text
    return dict(parse_qsl(urlsplit(reply.get_json()["redirect"]).query, keep_blank_values=True))


def basic(client_id: str, secret: str) -> str:
    return "Basic " + b64encode(f"{client_id}:{secret}".encode()).decode()


def post_form(tpp: Tpp, form: Any, **changes: str | None) -> TestResponse:
    """POST /token; a form is a map, a list of pairs, or text as it is."""
    sent: dict[str, str | None] = {
        "authorization": basic(tpp.client_id, SECRETS.get(tpp.client_id, "")),
        "content_type": FORM,
        "accept_language": None,
        "client_id": None,
    }
    return tpp.call("POST", "/token", data=form if isinstance(form, str | bytes) else urlencode(form), **sent | changes)


def code_form(code: str, /, **changes: str | None) -> dict[str, str]:
    form: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    return {name: value for name, value in (form | changes).items() if value is not None}


def refresh_form(token: str, **changes: str | None) -> dict[str, str]:
    form = {"grant_type": "refresh_token", "refresh_token": token} | changes
    return {name: value for name, value in form.items() if value is not None}


def a_code(tpp: Tpp, customer: str = "alice", **headers: str | None) -> str:
    """From a payment of one euro that the customer signs."""
    begun = begin(tpp, headers=headers, instructed_amount__amount="1.00")
    return callback(approve(tpp, begun.address, customer))["code"]


def tokens(tpp: Tpp, customer: str = "alice") -> dict[str, Any]:
    reply = post_form(tpp, code_form(a_code(tpp, customer)))
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.get_json()
    return found


def refreshed(tpp: Tpp, pair: dict[str, Any]) -> dict[str, Any]:
    reply = post_form(tpp, refresh_form(pair["refresh_token"]))
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.get_json()
    return found


def bearer(pair: dict[str, Any]) -> str:
    return f"Bearer {pair['access_token']}"


def details(tpp: Tpp, begun: Begun, pair: dict[str, Any] | None, **changes: str | None) -> TestResponse:
    token = {} if pair is None else {"authorization": bearer(pair)}
    return tpp.call("GET", f"/payments/{begun.product}/{begun.id}/details", **token, **changes)


def cancel(tpp: Tpp, begun: Begun, pair: dict[str, Any] | None, **changes: str | None) -> TestResponse:
    token = {} if pair is None else {"authorization": bearer(pair)}
    given = {"accept": version(2)} | token | changes
    return tpp.call("DELETE", f"/payments/{begun.product}/{begun.id}", **given)


def status(tpp: Tpp, begun: Begun) -> str:
    return str(tpp.status(begun.id, begun.product).get_json()["status"])


def told(tpp: Tpp, begun: Begun) -> tuple[str, str | None]:
    """The status and its reason."""
    reply = tpp.status(begun.id, begun.product).get_json()
    return reply["status"], reply.get("reason")


def clock_to(tpp: Tpp, instant: str) -> None:
    reply = tpp.control("POST", "/clock", set=instant)
    assert reply.status_code == 200, reply.text


def history(tpp: Tpp, begun: Begun) -> list[tuple[str, datetime]]:
    """Each status with the instant at which it was reached."""
    rows = tpp.control("GET", f"/payments/{begun.id}").get_json()["history"]
    return [(row["status"], read_instant(row["at"])) for row in rows]


def instant(text: str) -> datetime:
    return read_instant(text)


def balance(bank: Bank, iban: str, currency: str = "EUR") -> Decimal:
    return bank.ledger.read_balance(iban, currency).number


def booked(bank: Bank, iban: str, payment_id: str, currency: str = "EUR") -> list[tuple[Decimal, str, str]]:
    """The transactions of one payment on an account: amount, execution date, value date."""
    return [
        (line.posting.amount.number, line.entry.on.isoformat(), line.entry.value_on.isoformat())
        for line in bank.ledger.list_lines(iban, currency)
        if line.entry.reference.startswith(payment_id)
    ]


def is_balanced(bank: Bank) -> bool:
    """The sum of all postings is zero in every currency."""
    return not any(bank.ledger.sum_by_currency().values())


def spendable(tpp: Tpp, iban: str, amount: Decimal, product: str = ISCT) -> bool:
    """Whether an initiation from that account would find its funds."""
    reply = tpp.initiate(
        product, payment(product, debtor_account__iban=iban, instructed_amount__amount=f"{amount:.2f}")
    )
    return reply.status_code == 201 or not refused(reply, 403, "SBX-0403-000001", iban)
