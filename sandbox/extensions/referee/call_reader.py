"""Reduces a call and its reply to an Observation, without secrets; replies are not changed."""

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
from sandbox.banking.names import end_of
from sandbox.contract.errors import Error, Refusal
from sandbox.extensions.referee.fingerprints import file_prints, fingerprint
from sandbox.extensions.referee.observations import MENDED_BY_PSU, CallMark, Likeness, Observation
from sandbox.extensions.referee.rule import INITIATIONS
from sandbox.web.api.call_records import CallRecord
from sandbox.worlds.calls import Exchange
from sandbox.worlds.faults import MALFORMED

NEXT_KEY = b'"next_page_key":"'
FORM_MAX = 16_384
BODY_MAX = 1_000_000  # of a refused call; what was accepted was read anyway
QUERY_MAX = 4_000  # characters that are looked at; what is kept of a call is bounded
NAME_MAX = 100
FACT_MAX = 300
REMITTANCE = "remittance_information"
RECOMMENDED = "ES256"  # service 5.8
# Statuses from which a client cannot know whether the call was done.
UNCERTAIN = (408, 500, 502, 504)
LETTERS_LEAST = 8  # different ones in a verifier
PATIENCE = 10.0  # seconds of an ordered delay after which a client is taken to have hung up
# What a program writes where it has no code.
PLACEHOLDERS = ("", "None", "null", "undefined", "nil", "NaN", "[object Object]")


def observe_call(bank: Bank, record: CallRecord, exchange: Exchange) -> Observation:
    """Observes one exchange of any operation."""
    status, operation = exchange.status, exchange.operation
    event = Observation(
        exchange,
        bank,
        operation,
        exchange.client_id or "",
        exchange.subject,
        status,
        record.started,
        record.ended,
    )
    event.state = exchange.state
    if status >= 300:
        read_refusal(event, record)
    fault = record.fault
    event.lost = status in UNCERTAIN or (fault is not None and (bool(fault.cut) or fault.delay >= PATIENCE))
    event.unread = fault is not None and (bool(fault.cut) or fault.change == MALFORMED)
    if record.query:
        event.query = dict(parse_qsl(record.query[:QUERY_MAX], keep_blank_values=True))
    authorization = record.headers.get("HTTP_AUTHORIZATION")
    if authorization is not None and authorization[:7].lower() == "bearer ":
        event.bearer = fingerprint(authorization[7:].strip())
    if operation is not None:
        event.version, event.product = record.version, record.named.get("product", "")[:NAME_MAX] or None
        read = READERS.get(operation)
        if read is not None:
            read(event, record)
    event.key = (
        operation,
        event.version,
        status,
        event.error,
        event.state,
        event.product,
        record.headers.get("HTTP_ACCEPT_LANGUAGE", "")[:NAME_MAX],
        event.bearer is not None,
        bool(event.query),
        event.marks,
    )
    return event


def read_refusal(event: Observation, record: CallRecord) -> None:
    if record.refusal is not None:
        event.error, event.facts = event.exchange.error, facts_of(record.refusal)
    if event.status in (429, 503):
        seconds = record.response.headers.get("Retry-After", "")
        event.retry_after = int(seconds) if seconds.isascii() and seconds.isdigit() else None


def facts_of(refusal: Refusal) -> Mapping[str, Any]:
    """The facts of a refusal, with long texts cut."""
    if all(len(fact) <= FACT_MAX for fact in refusal.facts.values() if isinstance(fact, str)):
        return refusal.facts
    return {name: fact[:FACT_MAX] if isinstance(fact, str) else fact for name, fact in refusal.facts.items()}


def read_consent(event: Observation, record: CallRecord) -> None:
    read_challenge(event, record)
    content = content_of(record.response) if event.accepted else None
    found = (row.get("consent_uri") for row in content if isinstance(row, dict)) if isinstance(content, list) else ()
    event.addresses = tuple(fingerprint(end_of(address)) for address in found if isinstance(address, str))


def read_challenge(event: Observation, record: CallRecord) -> None:
    if record.challenge is not None:
        event.challenge = record.challenge[0], fingerprint(record.challenge[1])
        if record.challenge[0] == CallMark.PLAIN:
            event.marks |= {CallMark.PLAIN}


def read_initiation(event: Observation, record: CallRecord) -> None:
    if event.accepted or 0 < record.length <= BODY_MAX:
        content = record.body
        if event.operation == "bulk_initiation":
            event.body, event.payments = record.prints.get("referee") or file_prints(content)
        else:
            event.body = fingerprint(content)
        if event.accepted or event.lost or event.error in MENDED_BY_PSU:
            event.likeness = likeness_of(event, content)
    read_challenge(event, record)
    if "HTTP_AUTHORIZATION" in record.headers and "HTTP_CODE_CHALLENGE" in record.headers:
        event.marks |= {CallMark.BESIDE_TOKEN}
    proof = record.headers.get("HTTP_SIGNATURE")
    if proof is not None:
        event.signed = algorithm_of(proof)
        if record.headers.get("HTTP_DIGEST") is None or record.headers.get("HTTP_DATE") is None:
            event.marks |= {CallMark.UNDATED}
        if event.signed not in (None, RECOMMENDED):
            event.marks |= {CallMark.OTHER_ALGORITHM}
    elif event.accepted and record.client is not None and record.client.keys:
        event.marks |= {CallMark.UNSIGNED}


def likeness_of(event: Observation, content: bytes) -> Likeness | None:
    """Of a payment as the bank took it; of a call that failed, as its body has it."""
    found = event.bank.payments.get(event.subject or "")
    if found is not None:
        order = found.order
        payee, payer = order.creditor.iban or order.creditor.bban, order.debtor and order.debtor.iban
        amount = f"{order.amount.number:f}"
        about = digits(order.structured), order.unstructured
        return alike(order.endtoend_identification, order.product, payee, amount, order.amount.currency, payer, *about)
    return None if event.accepted else likeness_in(event.product or "", content)


def alike(reference: str, *parts: str | None) -> Likeness:
    return Likeness(tuple(str(part or "") for part in parts), reference)


def digits(text: str | None) -> str:
    """Of a structured communication, which may be written with or without its marks."""
    return "".join(filter(str.isdigit, text or ""))


def likeness_in(product: str, content: bytes) -> Likeness | None:
    """By the fields of a body of version 3 (service 2.1); None where they are not there."""
    try:
        body = orjson.loads(content[:BODY_MAX])
        creditor, amount, debtor = body["creditor_account"], body["instructed_amount"], body.get("debtor_account") or {}
        number, payee = Decimal(amount["amount"]), creditor.get("iban") or creditor.get("bban")
        reference, payer = str(body["endtoend_identification"]), debtor.get("iban")
        about = digits(body.get(f"{REMITTANCE}_structured")), body.get(f"{REMITTANCE}_unstructured")
        return alike(reference, product, payee, f"{number:f}", amount["currency"], payer, *about)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return None


def algorithm_of(proof: str) -> str | None:
    """The algorithm in the header of a JWS."""
    head = proof.partition(".")[0]
    try:
        content = orjson.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except ValueError:
        return None
    found = content.get("alg") if isinstance(content, dict) else None
    return found[:20] if isinstance(found, str) else None


def read_token(event: Observation, record: CallRecord) -> None:
    """Reads the form of a token call; secrets are kept as fingerprints."""
    if record.length > FORM_MAX:
        return
    form = dict(parse_qsl(record.body.decode("latin-1"), keep_blank_values=True))
    sent = (form.get("code"), form.get("refresh_token"))
    event.code, event.refresh = (fingerprint(text) if text else None for text in sent)
    if "client_secret" in form:
        event.marks |= {CallMark.SECRET_IN_FORM}
    if not event.accepted and form.get("code", "x") in PLACEHOLDERS:
        event.placeholder = form["code"]
    verifier = form.get("code_verifier")
    if not event.accepted:
        return
    if verifier and event.code is not None:
        hashed = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
        event.proves = (fingerprint(hashed), fingerprint(verifier))
        event.letters = len(set(verifier))
        if event.letters < LETTERS_LEAST:
            event.marks |= {CallMark.WEAK_VERIFIER}
    content = content_of(record.response)
    if isinstance(content, dict) and isinstance(content.get("refresh_token"), str):
        event.given_refresh = fingerprint(content["refresh_token"])


def read_accounts(event: Observation, record: CallRecord) -> None:
    event.grant, event.account = record.grant, record.named.get("logical_id", "")[:NAME_MAX] or None


def read_transactions(event: Observation, record: CallRecord) -> None:
    read_accounts(event, record)
    if asked := event.query.get("next"):
        event.asked_next = fingerprint(asked)
    proof = record.headers.get("HTTP_SCA_TOKEN")
    if event.error == "SCA_REQUIRED":
        event.addresses = (fingerprint(str(event.facts["address"])),)
    if not event.accepted or record.grant is None:
        return
    if record.response.is_sequence:
        _, has_next, rest = record.response.get_data().rpartition(NEXT_KEY)
        event.given_next = fingerprint(rest.partition(b'"')[0]) if has_next else None
    since = event.query.get("date_from")
    if since is None or event.asked_next is not None:
        return
    if date.fromisoformat(since) < statements.oldest_day(event.bank) and not is_fresh(event, record, proof):
        event.marks |= {CallMark.WITHOUT_SCA if proof is None else CallMark.OLD_SCA}


def is_fresh(event: Observation, record: CallRecord, proof: str | None) -> bool:
    assert record.grant is not None
    try:
        return statements.is_fresh(event.bank, record.grant, proof)
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


READERS: dict[str, Callable[[Observation, CallRecord], None]] = {
    "token": read_token,
    "transactions": read_transactions,
    "accounts": read_accounts,
    "account": read_accounts,
    "consent_addresses": read_consent,
    **dict.fromkeys(INITIATIONS, read_initiation),
}
