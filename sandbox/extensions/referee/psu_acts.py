"""Acts of PSUs at their addresses: on the bank's pages, through controls, or by a scenario."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from flask import Response

from sandbox.bank.records import CallbackNote
from sandbox.bank.state import Bank
from sandbox.banking.names import end_of
from sandbox.extensions.referee.call_reader import NAME_MAX, content_of
from sandbox.extensions.referee.fingerprints import fingerprint
from sandbox.extensions.referee.observations import PSU_OPENS, PSU_RETURNS, Observation
from sandbox.web.api.call_records import body_of
from sandbox.worlds.calls import Exchange

PAGE = re.compile(r"/psu/(?:sign|consent)/([^/]+)(/[^/]+)?\Z")
CONTROLS = ("/_sandbox/psu/approve", "/_sandbox/psu/refuse")
QUERY_MAX = 16_384  # characters; a state of 4,000 may be written with three times as many
BODY_READ_MAX = 10_000  # bytes of a control's body
GONE = 410


def acts_of(bank: Bank, environ: dict[str, Any], response: Response) -> Iterator[Observation]:
    """Yields the acts at an address that this request of a page or a control performed."""
    path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
    if path in CONTROLS:
        yield from _by_control(environ, response, bank)
    elif (page := PAGE.match(path)) is not None:
        if method == "GET" and page[2] is None:
            yield from act_at(bank, page[1], PSU_OPENS, environ.get("QUERY_STRING", ""), response.status_code)
        elif method == "POST" and "://" in response.headers.get("Location", "")[:20]:
            yield from act_at(bank, page[1], PSU_RETURNS, urlsplit(response.headers["Location"]).query)


def _by_control(environ: dict[str, Any], response: Response, bank: Bank) -> Iterator[Observation]:
    """A control opens the address and answers in one call."""
    body: bytes = body_of(environ["werkzeug.request"])
    try:
        content = orjson.loads(body[:BODY_READ_MAX])
    except orjson.JSONDecodeError:
        return
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str) or response.status_code not in (200, GONE):
        return
    token = end_of(address)
    yield from act_at(bank, token, PSU_OPENS, urlsplit(address).query, response.status_code)
    answer = content_of(response)
    if response.status_code == 200 and isinstance(answer, dict):
        yield from act_at(bank, token, PSU_RETURNS, urlsplit(str(answer.get("redirect", ""))).query)


def act_at(bank: Bank, token: str, operation: str, text: str, status: int = 200) -> Iterator[Observation]:
    """An act at an address, with the query of the address or of the callback; none at an unknown address."""
    if (sca := bank.sca_addresses.get(token)) is not None:
        found = bank.initiation(sca.subject_id)
        assert found is not None
        client, subject = found.origin.client_id, found.id
    elif (consent := bank.consent_addresses.get(token)) is not None:
        client, subject = consent.client_id, None
    else:
        return
    query = dict(parse_qsl(text[:QUERY_MAX], keep_blank_values=True))
    event = Observation(Exchange(0, "", bank.clock.now, None, "PSU", "/psu", 200, client), bank, operation, client)
    event.subject, event.status, event.addresses = subject, status, (fingerprint(token),)
    event.key = (operation, 0, 200, None, None, None, "", False, False, frozenset())
    event.query = {name[:NAME_MAX]: value[:NAME_MAX] for name, value in query.items()}
    if (state := query.get("state")) is not None:
        event.mark, event.mark_length = fingerprint(state), len(state)
    event.refused = "error" in query
    code = bank.codes.get(query.get("code", ""))
    if code is not None and code.grant.consent_id is not None:
        event.grant, event.code = code.grant, fingerprint(query["code"])
    yield event


def scenario_acts(bank: Bank, callback: CallbackNote) -> Iterator[Observation]:
    """A customer of the scenario acted; the callback names the initiation or the consent address."""
    found = bank.find_subject(callback.subject)
    token = getattr(found, "sca_token", None) or callback.subject
    yield from act_at(bank, token, PSU_RETURNS, urlsplit(callback.redirect).query)
