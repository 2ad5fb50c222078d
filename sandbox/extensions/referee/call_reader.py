"""Makes the observations that the rules of the referee read: one of each call of a client, and one of each act of a
PSU, such as the return to the TPP. A PSU acts on the bank's pages. A control or a rule of the scenario may act in place
of the PSU."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from flask import Response

from sandbox.bank import statements
from sandbox.bank.records import CallbackNote
from sandbox.bank.state import Bank
from sandbox.banking.names import find_last_segment
from sandbox.banking.pkce import compute_challenge
from sandbox.contract.errors import Error, Refusal
from sandbox.extensions.referee.fingerprints import compute_file_prints, compute_fingerprint
from sandbox.extensions.referee.observations import (
    MENDED_BY_PSU,
    PSU_OPENS,
    PSU_RETURNS,
    Likeness,
    Observation,
)
from sandbox.extensions.referee.rule import INITIATIONS
from sandbox.web.api.call_records import CallRecord, read_body
from sandbox.worlds.calls import Exchange
from sandbox.worlds.faults import MALFORMED

NEXT_KEY = b'"next_page_key":"'
FORM_MAX = 16_384
BODY_MAX = 1_000_000  # of a refused call; the bank bounds accepted bodies
QUERY_MAX = 4_000  # characters
NAME_MAX = 100
FACT_MAX = 300
REMITTANCE = "remittance_information"
UNCERTAIN = (408, 500, 502, 504)  # statuses that do not say whether the call was executed
PATIENCE = 10.0  # seconds of an ordered delay after which a client is taken to have hung up
PLACEHOLDERS = ("", "None", "null", "undefined", "nil", "NaN", "[object Object]")  # what programs write for no value

PAGE = re.compile(r"/psu/(?:sign|consent)/([^/]+)(/[^/]+)?\Z")
CONTROLS = ("/_sandbox/psu/approve", "/_sandbox/psu/refuse")
ADDRESS_QUERY_MAX = 16_384  # characters; a state of 4,000 may be percent-encoded
CONTROL_BODY_MAX = 10_000  # bytes
GONE = 410


def observe_call(bank: Bank, record: CallRecord, exchange: Exchange) -> Observation:
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
        state=exchange.state,
        language=record.headers.get("HTTP_ACCEPT_LANGUAGE", "")[:NAME_MAX],
    )
    if status >= 300:
        read_refusal(event, record)
    fault = record.fault
    event.is_lost = status in UNCERTAIN or (fault is not None and (bool(fault.cut) or fault.delay >= PATIENCE))
    event.is_unreadable = fault is not None and (bool(fault.cut) or fault.change == MALFORMED)
    if record.query:
        event.query = dict(parse_qsl(record.query[:QUERY_MAX], keep_blank_values=True))
    authorization = record.headers.get("HTTP_AUTHORIZATION")
    if authorization is not None and authorization[:7].lower() == "bearer ":
        event.access_token = compute_fingerprint(authorization[7:].strip())
    if operation is not None:
        event.version, event.product = record.version, record.named.get("product", "")[:NAME_MAX] or None
        if operation in READERS:
            READERS[operation](event, record)
    return event


def read_refusal(event: Observation, record: CallRecord) -> None:
    if record.refusal is not None:
        event.error, event.facts = event.exchange.error, list_facts(record.refusal)
    if event.status in (429, 503):
        seconds = record.response.headers.get("Retry-After", "")
        event.retry_after = int(seconds) if seconds.isascii() and seconds.isdigit() else None


def list_facts(refusal: Refusal) -> Mapping[str, Any]:
    """Returns the facts of a refusal, with long texts cut."""
    return {name: fact[:FACT_MAX] if isinstance(fact, str) else fact for name, fact in refusal.facts.items()}


def read_consent(event: Observation, record: CallRecord) -> None:
    read_challenge(event, record)
    content = read_content(record.response) if event.accepted else None
    rows = content if isinstance(content, list) else ()
    addresses = (row.get("consent_uri") for row in rows if isinstance(row, dict))
    event.addresses = tuple(
        compute_fingerprint(find_last_segment(address)) for address in addresses if isinstance(address, str)
    )


def read_challenge(event: Observation, record: CallRecord) -> None:
    if record.challenge is not None:
        event.challenge = record.challenge[0], compute_fingerprint(record.challenge[1])


def read_initiation(event: Observation, record: CallRecord) -> None:
    if event.accepted or 0 < record.length <= BODY_MAX:
        content = record.body
        if event.operation == "bulk_initiation":
            event.body, event.file_payments = record.prints.get("referee") or compute_file_prints(content)
        else:
            event.body = compute_fingerprint(content)
        if event.accepted or event.is_lost or event.error in MENDED_BY_PSU:
            event.likeness = find_likeness(event, content)
    read_challenge(event, record)
    headers = record.headers
    event.has_needless_challenge = "HTTP_AUTHORIZATION" in headers and "HTTP_CODE_CHALLENGE" in headers
    if "HTTP_SIGNATURE" in headers:
        event.signature_algorithm = read_algorithm(headers["HTTP_SIGNATURE"])
        event.lacks_digest_or_date = "HTTP_DIGEST" not in headers or "HTTP_DATE" not in headers
    else:
        event.lacks_signature = record.client is not None and bool(record.client.keys)


def find_likeness(event: Observation, content: bytes) -> Likeness | None:
    """Returns the likeness of a payment: the facts by which a person recognizes it. Reads them from the bank's payment
    if the call belongs to one. Otherwise reads them from the body if the call was refused or failed. Returns None if
    there is neither a payment nor such a body, as for a standing order.

    The field `order` of the likeness of a failed call is compared with that of a later payment, which may have another
    Request-ID and another reference. So both sources must give the same `order` for the same payment.
    """
    payment = event.bank.payments.get(event.subject or "")
    if payment is None:
        return None if event.accepted else read_likeness(event.product or "", content)
    order = payment.order
    payee, payer = order.creditor.iban or order.creditor.bban, order.debtor and order.debtor.iban
    amount = f"{order.amount.number:f}", order.amount.currency
    remittance = keep_digits(order.structured), order.unstructured
    return make_likeness(order.endtoend_identification, order.product, payee, *amount, payer, *remittance)


def read_likeness(product: str, content: bytes) -> Likeness | None:
    """Returns the likeness of the payment in a body of version 3 (service 2.1), or None if the body cannot be read or
    lacks a field."""
    try:
        body = orjson.loads(content[:BODY_MAX])
        creditor, amount, debtor = body["creditor_account"], body["instructed_amount"], body.get("debtor_account") or {}
        number, payee = Decimal(amount["amount"]), creditor.get("iban") or creditor.get("bban")
        reference, payer = str(body["endtoend_identification"]), debtor.get("iban")
        remittance = keep_digits(body.get(f"{REMITTANCE}_structured")), body.get(f"{REMITTANCE}_unstructured")
        return make_likeness(reference, product, payee, f"{number:f}", amount["currency"], payer, *remittance)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return None


def make_likeness(reference: str, *order: str | None) -> Likeness:
    return Likeness(tuple(str(part or "") for part in order), reference)


def keep_digits(structured: str | None) -> str:
    """Returns the digits of a structured communication: `090933755493` for `+++090/9337/55493+++`."""
    return "".join(filter(str.isdigit, structured or ""))


def read_algorithm(signature: str) -> str | None:
    """Returns the algorithm in the header of a JWS, or None if it cannot be read."""
    head = signature.partition(".")[0]
    try:
        content = orjson.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except ValueError:
        return None
    algorithm = content.get("alg") if isinstance(content, dict) else None
    return algorithm[:20] if isinstance(algorithm, str) else None


def read_token(event: Observation, record: CallRecord) -> None:
    if record.length > FORM_MAX:
        return
    form = dict(parse_qsl(record.body.decode("latin-1"), keep_blank_values=True))
    event.code, event.refresh_token = (
        compute_fingerprint(form[name]) if form.get(name) else None for name in ("code", "refresh_token")
    )
    event.has_secret_in_form = "client_secret" in form
    if not event.accepted:
        event.placeholder = form["code"] if form.get("code", "x") in PLACEHOLDERS else None
        return
    verifier = form.get("code_verifier", "")
    if verifier and verifier.isascii() and event.code is not None:
        event.verifier_challenges = (
            compute_fingerprint(compute_challenge("S256", verifier)),
            compute_fingerprint(verifier),
        )
        event.verifier_letters = len(set(verifier))
    content = read_content(record.response)
    if isinstance(content, dict) and isinstance(content.get("refresh_token"), str):
        event.new_refresh_token = compute_fingerprint(content["refresh_token"])


def read_accounts(event: Observation, record: CallRecord) -> None:
    event.grant, event.account = record.grant, record.named.get("logical_id", "")[:NAME_MAX] or None


def read_transactions(event: Observation, record: CallRecord) -> None:
    read_accounts(event, record)
    if key := event.query.get("next"):
        event.page_key = compute_fingerprint(key)
    sca_token = record.headers.get("HTTP_SCA_TOKEN")
    if event.error == "SCA_REQUIRED":
        event.addresses = (compute_fingerprint(str(event.facts["address"])),)
    if not event.accepted or record.grant is None:
        return
    if record.response.is_sequence:
        _, has_next, after_key = record.response.get_data().rpartition(NEXT_KEY)
        event.next_page_key = compute_fingerprint(after_key.partition(b'"')[0]) if has_next else None
    since = event.query.get("date_from")
    if since is None or event.page_key is not None:
        return
    if date.fromisoformat(since) < statements.find_oldest_day(event.bank) and not is_fresh(event, record, sca_token):
        event.lacks_sca, event.has_old_sca = sca_token is None, sca_token is not None


def is_fresh(event: Observation, record: CallRecord, sca_token: str | None) -> bool:
    assert record.grant is not None
    try:
        return statements.is_fresh(event.bank, record.grant, sca_token)
    except Refusal as refusal:  # the consent ended since the call was answered
        assert refusal.error is Error.CONSENT_ENDED
        return True


def read_content(response: Response) -> Any:
    """Returns the parsed JSON body of a reply. Returns None if the reply is streamed, or if its body is not JSON, as
    when a fault rule has spoilt it."""
    if not response.is_sequence:
        return None
    try:
        return orjson.loads(response.get_data())
    except orjson.JSONDecodeError:
        return None


READERS: dict[str, Callable[[Observation, CallRecord], None]] = {
    **dict.fromkeys(INITIATIONS, read_initiation),
    "consent_addresses": read_consent,
    "token": read_token,
    "accounts": read_accounts,
    "account": read_accounts,
    "transactions": read_transactions,
}


def list_acts(bank: Bank, environ: dict[str, Any], response: Response) -> Iterator[Observation]:
    """Yields the acts of a customer that this request performed on a page of the bank or through a control. Yields
    nothing for other requests."""
    path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
    if path in CONTROLS:
        yield from find_acts_of_control(environ, response, bank)
    elif (page := PAGE.match(path)) is not None:
        if method == "GET" and page[2] is None:
            yield from list_acts_at(bank, page[1], PSU_OPENS, environ.get("QUERY_STRING", ""), response.status_code)
        elif method == "POST" and "://" in response.headers.get("Location", "")[:20]:
            yield from list_acts_at(bank, page[1], PSU_RETURNS, urlsplit(response.headers["Location"]).query)


def find_acts_of_control(environ: dict[str, Any], response: Response, bank: Bank) -> Iterator[Observation]:
    """Yields the acts of a customer that one call of a control performed: the opening of the address, and then the
    return to the TPP. Yields only the opening if the address had expired (410). Yields nothing if the call names no
    address or was refused for another reason."""
    body: bytes = read_body(environ["werkzeug.request"])
    try:
        content = orjson.loads(body[:CONTROL_BODY_MAX])
    except orjson.JSONDecodeError:
        return
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str) or response.status_code not in (200, GONE):
        return
    token = find_last_segment(address)
    yield from list_acts_at(bank, token, PSU_OPENS, urlsplit(address).query, response.status_code)
    reply = read_content(response)
    if response.status_code == 200 and isinstance(reply, dict):
        yield from list_acts_at(bank, token, PSU_RETURNS, urlsplit(str(reply.get("redirect", ""))).query)


def find_acts_of_scenario(bank: Bank, callback: CallbackNote) -> Iterator[Observation]:
    """Yields the act that a rule of the scenario performed in place of a customer: the return to the TPP.
    `callback.subject` is the id of the initiation that was signed or refused, or the token of the consent address."""
    subject = bank.find_subject(callback.subject)
    token = getattr(subject, "sca_token", None) or callback.subject
    yield from list_acts_at(bank, token, PSU_RETURNS, urlsplit(callback.redirect).query)


def list_acts_at(bank: Bank, token: str, operation: str, text: str, status: int = 200) -> Iterator[Observation]:
    """Yields one observation: the act `operation` of a PSU at the address with this token. Yields nothing if the bank
    does not know the token. `text` is the query of the address that the PSU opens, or of the callback by which the PSU
    returns."""
    if (sca := bank.sca_addresses.get(token)) is not None:
        initiation = bank.find_initiation(sca.subject_id)
        assert initiation is not None
        client, subject = initiation.origin.client_id, initiation.id
    elif (consent := bank.consent_addresses.get(token)) is not None:
        client, subject = consent.client_id, None
    else:
        return
    query = dict(parse_qsl(text[:ADDRESS_QUERY_MAX], keep_blank_values=True))
    exchange = Exchange(0, "", bank.clock.now, None, "PSU", "/psu", 200, client)
    event = Observation(exchange, bank, operation, client, subject, status)
    event.addresses = (compute_fingerprint(token),)
    event.query = {name[:NAME_MAX]: value[:NAME_MAX] for name, value in query.items()}
    if (state := query.get("state")) is not None:
        event.psu_state, event.psu_state_length = compute_fingerprint(state), len(state)
    event.is_psu_refusal = "error" in query
    code = bank.codes.get(query.get("code", ""))
    if code is not None and code.grant.consent_id is not None:
        event.grant, event.code = code.grant, compute_fingerprint(query["code"])
    yield event
