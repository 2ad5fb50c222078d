"""Reduces a call and its reply to an Observation, without secrets; replies are not changed."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl

import orjson
from flask import Response

from sandbox.bank import statements
from sandbox.bank.state import Bank
from sandbox.banking.callbacks import end_of
from sandbox.contract.errors import Error, Refusal
from sandbox.referee.kinds import BESIDE_TOKEN, OTHER_ALGORITHM, PLAIN, UNDATED, UNSIGNED
from sandbox.referee.observations import Likeness, Observation, fingerprint
from sandbox.referee.rule import INITIATIONS
from sandbox.web.api.call_contents import body_of
from sandbox.web.api.gate import Call
from sandbox.world.calls import Exchange
from sandbox.world.faults import Fault

NEXT_KEY = b'"next_page_key":"'
FORM_MAX = 16_384
LARGE = 100_000
BODY_MAX = 1_000_000  # of a refused call; what was accepted was read anyway
QUERY_MAX = 4_000  # characters that are looked at; what is kept of a call is bounded
NAME_MAX = 100
FACT_MAX = 300
RECOMMENDED = "ES256"  # service 5.8
# Statuses from which a client cannot know whether the call was done.
UNCERTAIN = (408, 500, 502, 504)
PATIENCE = 10.0  # seconds of an ordered delay after which a client is taken to have hung up
# What a program writes where it has no code.
PLACEHOLDERS = ("", "None", "null", "undefined", "nil", "NaN", "[object Object]")

PRINT = "sandbox.print"  # where the fingerprint of a large body is kept


def print_body(call: Call | None, status: int) -> None:
    """Before the world's lock is taken: for a file of 60 MB this takes long."""
    if call is None or call.operation.name not in INITIATIONS or status >= 300:
        return
    if (call.request.content_length or 0) > LARGE:
        call.request.environ[PRINT] = fingerprint(body_of(call.request))


def observe_call(
    bank: Bank, environ: dict[str, Any], response: Response, exchange: Exchange, ended: float
) -> Observation:
    """Observes one exchange of any operation."""
    call: Call | None = environ.get("sandbox.call")
    status, operation = exchange.status, exchange.operation
    seen = Observation(
        exchange,
        bank,
        operation,
        exchange.client_id or "",
        exchange.subject,
        status,
        environ["sandbox.started"],
        ended,
    )
    seen.state = exchange.state
    if status >= 300:
        read_refusal(seen, environ, response)
    fault: Fault | None = environ.get("sandbox.fault")
    seen.lost = status in UNCERTAIN or (fault is not None and (bool(fault.cut) or fault.delay >= PATIENCE))
    if environ.get("QUERY_STRING"):
        seen.query = dict(parse_qsl(environ["QUERY_STRING"][:QUERY_MAX], keep_blank_values=True))
    authorization: str | None = environ.get("HTTP_AUTHORIZATION")
    if authorization is not None and authorization[:7].lower() == "bearer ":
        seen.bearer = fingerprint(authorization[7:].strip())
    if call is not None:
        seen.version, seen.product = call.version, call.path.get("product", "")[:NAME_MAX] or None
        read = READERS.get(call.operation.name)
        if read is not None:
            read(seen, call, response, authorization)
    seen.key = (
        operation,
        seen.version,
        status,
        seen.error,
        seen.state,
        seen.product,
        environ.get("HTTP_ACCEPT_LANGUAGE", "")[:NAME_MAX],
        seen.bearer is not None,
        bool(seen.query),
        seen.marks,
    )
    return seen


def read_refusal(seen: Observation, environ: dict[str, Any], response: Response) -> None:
    refusal: Refusal | None = environ.get("sandbox.refusal")
    if refusal is not None:
        seen.error, seen.facts = seen.exchange.error, facts_of(refusal)
    if seen.status in (429, 503):
        told = response.headers.get("Retry-After", "")
        seen.retry_after = int(told) if told.isascii() and told.isdigit() else None


def facts_of(refusal: Refusal) -> Mapping[str, Any]:
    """The facts of a refusal, with long texts cut."""
    if all(len(fact) <= FACT_MAX for fact in refusal.facts.values() if isinstance(fact, str)):
        return refusal.facts
    return {name: fact[:FACT_MAX] if isinstance(fact, str) else fact for name, fact in refusal.facts.items()}


def read_consent(seen: Observation, call: Call, response: Response, authorization: str | None) -> None:
    read_challenge(seen, call)
    if seen.accepted:
        seen.addresses = addresses_of(content_of(response))


def read_challenge(seen: Observation, call: Call) -> None:
    if call.challenge is not None:
        seen.challenge = call.challenge[0], fingerprint(call.challenge[1])
        if call.challenge[0] == PLAIN:
            seen.marks |= {PLAIN}


def read_initiation(seen: Observation, call: Call, response: Response, authorization: str | None) -> None:
    if seen.accepted or 0 < (call.request.content_length or 0) <= BODY_MAX:
        content = body_of(call.request)
        seen.body = call.request.environ.get(PRINT) or fingerprint(content)
        if seen.accepted or seen.lost:
            seen.likeness = likeness_of(seen, content)
    read_challenge(seen, call)
    if authorization is not None and call.header("Code-Challenge") is not None:
        seen.marks |= {BESIDE_TOKEN}
    proof = call.header("Signature")
    if proof is not None:
        seen.signed = algorithm_of(proof)
        if call.header("Digest") is None or call.header("Date") is None:
            seen.marks |= {UNDATED}
        if seen.signed not in (None, RECOMMENDED):
            seen.marks |= {OTHER_ALGORITHM}
    elif seen.accepted and call.client.keys:
        seen.marks |= {UNSIGNED}


def likeness_of(seen: Observation, content: bytes) -> Likeness | None:
    """Of a payment as the bank took it; of a call that failed, as its body has it."""
    found = seen.bank.payments.get(seen.subject or "")
    if found is not None:
        order = found.order
        payee = order.creditor.iban or order.creditor.bban
        payer = order.debtor.iban if order.debtor is not None else ""
        parts = (order.product, payee, f"{order.amount.number:f}", order.amount.currency, payer)
        return Likeness(tuple(str(part or "") for part in parts), order.endtoend_identification)
    return None if seen.accepted else likeness_in(seen.product or "", content)


def likeness_in(product: str, content: bytes) -> Likeness | None:
    """By the fields of a body of version 3 (service 2.1); None where they are not there."""
    try:
        body = orjson.loads(content[:BODY_MAX])
        creditor, amount, debtor = body["creditor_account"], body["instructed_amount"], body.get("debtor_account") or {}
        number = Decimal(amount["amount"])
        payee, payer = creditor.get("iban") or creditor.get("bban"), debtor.get("iban")
        parts = (product, payee, f"{number:f}", amount["currency"], payer)
        return Likeness(tuple(str(part or "") for part in parts), str(body["endtoend_identification"]))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return None


def algorithm_of(proof: str) -> str | None:
    """The algorithm in the header of a JWS."""
    head = proof.partition(".")[0]
    try:
        content = orjson.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, binascii.Error):
        return None
    found = content.get("alg") if isinstance(content, dict) else None
    return found[:20] if isinstance(found, str) else None


def read_token(seen: Observation, call: Call, response: Response, authorization: str | None) -> None:
    """Reads the form of a token call; secrets are kept as fingerprints."""
    if (call.request.content_length or 0) > FORM_MAX:
        return
    form = dict(parse_qsl(body_of(call.request).decode("latin-1"), keep_blank_values=True))
    for field in ("code", "refresh"):
        if value := form.get("refresh_token" if field == "refresh" else field):
            setattr(seen, field, fingerprint(value))
    seen.secret_in_form = "client_secret" in form
    if not seen.accepted and form.get("code", "x") in PLACEHOLDERS:
        seen.placeholder = form["code"]
    verifier = form.get("code_verifier")
    if not seen.accepted:
        return
    if verifier and seen.code is not None:
        hashed = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        seen.proves = (fingerprint(hashed), fingerprint(verifier))
        seen.letters = len(set(verifier))
    content = content_of(response)
    if isinstance(content, dict) and isinstance(content.get("refresh_token"), str):
        seen.given_refresh = fingerprint(content["refresh_token"])


def read_accounts(seen: Observation, call: Call, response: Response, authorization: str | None) -> None:
    seen.grant, seen.account = call.grant, call.path.get("logical_id", "")[:NAME_MAX] or None


def read_transactions(seen: Observation, call: Call, response: Response, authorization: str | None) -> None:
    seen.grant = call.grant
    seen.account = call.path["logical_id"][:NAME_MAX]
    if asked := seen.query.get("next"):
        seen.asked_next = fingerprint(asked)
    proof = call.header("SCA-Token")
    seen.sca = proof is not None
    if seen.error == "SCA_REQUIRED":
        seen.addresses = (fingerprint(str(seen.facts["address"])),)
    if not seen.accepted or call.grant is None:
        return
    if response.is_sequence:
        body = response.get_data()
        begins = body.rfind(NEXT_KEY)
        if begins >= 0:
            key = body[begins + len(NEXT_KEY) :].partition(b'"')[0]
            seen.given_next = fingerprint(key)
    since = seen.query.get("date_from")
    if since is not None and seen.asked_next is None:
        seen.behind = date.fromisoformat(since) < statements.oldest_day(seen.bank)
    if seen.behind:
        seen.fresh = is_fresh(seen, call, proof)


def is_fresh(seen: Observation, call: Call, proof: str | None) -> bool:
    assert call.grant is not None
    try:
        return statements.is_fresh(seen.bank, call.grant, proof)
    except Refusal as refusal:  # the consent ended since the call was answered
        assert refusal.error is Error.CONSENT_ENDED
        return True


def content_of(response: Response) -> Any:
    """The body of a reply as JSON; empty where a fault rule made it unreadable."""
    if not response.is_sequence:
        return None
    try:
        return orjson.loads(response.get_data())
    except orjson.JSONDecodeError:
        return None


def addresses_of(content: Any) -> tuple[bytes, ...]:
    """Fingerprints of the tokens of consent addresses."""
    rows = content if isinstance(content, list) else []
    found = (row.get("consent_uri") for row in rows if isinstance(row, dict))
    return tuple(fingerprint(end_of(address)) for address in found if isinstance(address, str))


READERS: dict[str, Callable[[Observation, Call, Response, str | None], None]] = {
    "token": read_token,
    "transactions": read_transactions,
    "accounts": read_accounts,
    "account": read_accounts,
    "consent_addresses": read_consent,
    **dict.fromkeys(INITIATIONS, read_initiation),
}
