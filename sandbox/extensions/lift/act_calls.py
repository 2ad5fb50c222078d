"""The calls that an export's acts stand for: what each verb was given and made becomes the call that brings it."""

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

from sandbox.bank import bulks
from sandbox.bank.records import Origin
from sandbox.bank.state import Bank
from sandbox.banking.durations import write_duration
from sandbox.banking.money import Money
from sandbox.contract import kinds
from sandbox.contract.errors import Refusal
from sandbox.contract.moves import Status
from sandbox.extensions.lift.har import Recorded
from sandbox.storage.transfer.form import exact
from sandbox.web.api.body_schemas import order_fields

FAR_BACK = timedelta(days=120)  # further than an account is read without a fresh authentication
Given = Mapping[str, Any]
Fields = dict[str, Any]


@dataclass
class Done:
    """An act that was played again: its arguments by name, the bank after it, and what it made or refused."""

    own_bank: Bank  # of no world: the acts are played in it
    given: Given
    result: Any
    session: Any = None  # of the customer at the bank's pages, as it was before the act
    address: Any = None  # of a consent, as it was before the act

    @property
    def refusal(self) -> Refusal | None:
        return self.result if isinstance(self.result, Refusal) else None


Calls = list[Recorded]
Make = Callable[[Done], Calls]


def call(
    method: str,
    path: str,
    sent: Any = None,
    status: int = 200,
    reply: Any = None,
    headers: Mapping[str, str | None] | None = None,
    query: Mapping[str, str] | None = None,
) -> Recorded:
    body = sent if isinstance(sent, str) else "" if sent is None else json.dumps(sent)
    given = {name.lower(): value for name, value in (headers or {}).items() if value is not None}
    return Recorded(0, method, tuple(path.split("/")), query or {}, given, body, status, {}, reply)


def control(method: str, path: str, sent: Any = None, reply: Any = None) -> Calls:
    return [call(method, f"_sandbox/{path}", sent or {}, 200, reply)]


def plain(value: Any) -> Any:
    """A value of a record as the controls and a scenario take it."""
    match value:
        case Money():
            return value.text()
        case timedelta():
            return write_duration(value)
        case datetime():
            return exact(value)
        case date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case Status():
            return value.value
        case tuple() | list():
            return [plain(item) for item in value]
        case _:
            return value


def fields_of(record: Any, usual: Any = None, but: Container[str] = ()) -> Fields:
    """The fields that differ from those of the usual record, or from their defaults."""
    rows = [(row, getattr(record, row.name)) for row in fields(record) if row.name not in but]
    other = [(row, value, row.default if usual is None else getattr(usual, row.name)) for row, value in rows]
    return plain_fields((row.name, value) for row, value, default in other if value != default)


def filled(**words: Any) -> Fields:
    """The words that say something."""
    return {word: value for word, value in words.items() if value}


def plain_fields(rows: Iterable[tuple[str, Any]]) -> Fields:
    return {name: dict(value) if name == "variants" else plain(value) for name, value in rows}


def token_of(bank: Bank, client: str, customer: str | None) -> str | None:
    """The access token that a client has for payments of a customer."""
    pairs = (pair for pair in bank.pairs.values() if pair.grant.scope == "PIS")
    found = (pair.access_token for pair in pairs if (pair.grant.client_id, pair.grant.customer) == (client, customer))
    return next(found, None)


def bearer(token: str | None) -> dict[str, str | None]:
    return {"Authorization": None if token is None else f"Bearer {token}"}


def _from(done: Done, origin: Origin) -> dict[str, str | None]:
    method, challenge = origin.challenge or (None, None)
    token = token_of(done.own_bank, origin.client_id, origin.customer) if origin.customer else None
    ask = done.given["ask"]
    headers = {"Client-ID": origin.client_id, "Redirect-URI": origin.redirect_uri, "Request-ID": ask.request_id}
    return headers | {"Code-Challenge-Method": method, "Code-Challenge": challenge} | bearer(token)


def _links(address: str | None) -> dict[str, Any]:
    return {"_links": {"sca_redirect": {"href": address}}} if address else {}


def initiate(kind: kinds.InitiationKind, name: str) -> Make:
    def answer(done: Done) -> Calls:
        order = done.given[name]
        reply = {"payment_id": done.result.payment_id, "status": "RCVD"} | _links(done.result.sca_token)
        headers = _from(done, done.given["origin"])
        return [call("POST", f"{kind.path}/{order.product}", order_fields(order, order.debtor), 201, reply, headers)]

    return answer


def initiate_bulk(done: Done) -> Calls:
    headers = _from(done, done.given["origin"]) | {"PaymentInformationID": done.given["reference"]}
    text = zlib.decompress(done.given["packed"]).decode("utf-8", "replace")
    bulk_id = done.result[0]
    return [call("POST", f"bulk-payments/{done.given['kind']}", text, 201, {"payment_file_id": bulk_id}, headers)]


def _named(given: Given) -> dict[str, str]:
    return {"paymentIdType": "EXTERNAL"} if given["external"] else {}


def cancel(path: str) -> Make:
    def answer(done: Done) -> Calls:
        given = done.given
        headers = {"Client-ID": given["client_id"]}
        if path != kinds.BULK.path:
            headers |= bearer(token_of(done.own_bank, given["client_id"], given["customer"]))
        return [call("DELETE", _place(path, given), None, 204, None, headers, _named(given))]

    return answer


def _place(path: str, given: Given) -> str:
    return f"{path}/{given.get('product') or given['kind']}/{quote(given['reference'], safe='')}"


def renew_address(done: Done) -> Calls:
    given = done.given
    bulk = bulks.find(done.own_bank, given["client_id"], given["kind"], given["reference"], external=given["external"])
    reply = filled(status=bulk.status.value, reason=bulk.reason) | _links(done.result)
    place = f"{_place(kinds.BULK.path, given)}/status"
    return [call("GET", place, None, 200, reply, {"Client-ID": given["client_id"]}, _named(given))]


def ask_consent(done: Done) -> Calls:
    given = done.given
    query = filled(scope=given["scope"], iban=given["iban"])
    headers = {"Client-ID": given["client_id"], "Code-Challenge": given["challenge"][1]}
    rows = [{"language": language, "consent_uri": token} for language, token in done.result]
    return [call("GET", "consent-uris", None, 200, rows, headers, query)]


def _read(done: Done, consent_id: str, status: int, reply: Any, query: Mapping[str, str], sca: str | None) -> Calls:
    """The accounts of a consent, which names them, and the transactions of its first one."""
    pair = next((one for one in done.own_bank.pairs.values() if one.grant.consent_id == consent_id), None)
    consent = done.own_bank.consents[consent_id]
    if pair is None:
        return []
    rows = [{"logical_id": logical_id, "iban": iban} for logical_id, iban in consent.logical_ids.items()]
    headers = {"Client-ID": consent.client_id} | bearer(pair.access_token)
    first = [call("GET", "accounts", None, 200, {"_embedded": {"accounts": rows}}, headers)]
    place = f"accounts/{rows[0]['logical_id']}/transactions"
    read = call("GET", place, None, status, reply, headers | {"SCA-Token": sca}, query)
    return ([] if consent.scope == "CAF" else first) + [read]


def demand_sca(done: Done) -> Calls:
    assert done.refusal is not None
    row = done.refusal.error.value
    reply = {"error": row.error, "error_code": row.code} | _links(str(done.refusal.facts["address"]))
    query = {"psu_involved": "true", "date_from": (done.own_bank.clock.now - FAR_BACK).date().isoformat()}
    return _read(done, done.given["consent_id"], 401, reply, query, None)


def use_sca_token(done: Done) -> Calls:
    sca_token = done.own_bank.sca_tokens.get(done.given["token"])
    consent_id = None if sca_token is None else sca_token.consent_id
    return _read(done, consent_id, 200, {}, {}, done.given["token"]) if consent_id else []


def ask_token(done: Done) -> Calls:
    given = done.given
    if "refresh_token" in given:
        form = {"grant_type": "refresh_token", "refresh_token": given["refresh_token"]}
    else:
        form = {"grant_type": "authorization_code", "code": given["code"], "code_verifier": given["verifier"]}
    form |= filled(scope=given.get("scope"))
    headers = {"Authorization": "Basic " + b64encode(f"{given['client_id']}:".encode()).decode()}
    if done.refusal is not None:
        row = done.refusal.error.value
        reply: dict[str, Any] = {"error": row.error, "error_code": row.code}
        return [call("POST", "token", urlencode(form), row.status, reply, headers)]
    reply = {name: getattr(done.result, name) for name in ("access_token", "refresh_token", "sca_token", "logical_id")}
    return [call("POST", "token", urlencode(form), 200, reply, headers)]
