"""One recording in each format: a payment, a question about it that was repeated, and its reply."""

import json
from base64 import b64encode
from datetime import datetime, timedelta
from typing import Any

BASE = "https://bank.example/psd2"
PAYMENTS = f"{BASE}/payments/sepa-credit-transfers"
HEADERS = {"Client-ID": "tpp", "Request-ID": "5f0f62d4-3c3c-4a7e-8a9b-0c2f1d6b7e11"}
JSON = {"Content-Type": "application/json"}
BEGAN = datetime.fromisoformat("2027-03-01T09:00:00+05:30")
Row = tuple[str, str, str, int, str]  # method, URL, body, status, body of the reply
CALLS: tuple[Row, ...] = (
    ("POST", PAYMENTS, '{"creditor_name": "Zoë"}', 201, '{"payment_id": "p1", "status": "RCVD"}'),
    ("GET", f"{PAYMENTS}/p1/status?origin=EXTERNAL", "", 200, '{"status": "PDNG"}'),
)


def har(calls: tuple[Row, ...] = CALLS) -> Any:
    return {"log": {"version": "1.2", "entries": [_har_entry(at, *call) for at, call in enumerate(calls)]}}


def _har_entry(at: int, method: str, url: str, body: str, status: int, reply: str) -> dict[str, Any]:
    return {
        "startedDateTime": (BEGAN + timedelta(seconds=at)).isoformat(),
        "time": 250,
        "request": {"method": method, "url": url, "headers": _pairs(HEADERS), "postData": {"text": body}},
        "response": {
            "status": status,
            "headers": _pairs(JSON),
            "content": {"encoding": "base64", "text": b64encode(reply.encode()).decode()},
        },
    }


def _pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def wiremock_mappings() -> Any:
    """As WireMock lists them: the latest first."""
    rows: list[dict[str, Any]] = []
    for at, (method, url, body, status, reply) in enumerate(CALLS):
        request: dict[str, Any] = {"method": method, "url": url.removeprefix("https://bank.example")}
        request |= {"host": {"equalTo": "bank.example"}, "scheme": "https"}
        request["headers"] = {name: {"equalTo": value} for name, value in HEADERS.items()}
        request |= {"bodyPatterns": [{"equalToJson": body, "ignoreArrayOrder": True}]} if body else {}
        response = {"status": status, "headers": JSON} | ({"jsonBody": json.loads(reply)} if at else {"body": reply})
        rows.insert(0, {"id": str(at), "request": request, "response": response, "insertionIndex": at})
    return {"mappings": rows, "meta": {"total": len(rows)}}


def wiremock_journal() -> Any:
    rows: list[dict[str, Any]] = []
    for at, (method, url, body, status, reply) in enumerate(CALLS):
        request: dict[str, Any] = {
            "method": method,
            "url": "/elsewhere",
            "absoluteUrl": url,
            "headers": HEADERS,
            "body": body,
        }
        request |= {"loggedDate": 1_803_873_600_000 + 1_000 * at}
        response = {"status": status, "headers": JSON, "bodyAsBase64": b64encode(reply.encode()).decode()}
        rows.insert(0, {"id": str(at), "request": request, "responseDefinition": {"status": 404}, "response": response})
    return {"requests": rows, "meta": {"total": len(rows)}}


def hoverfly() -> Any:
    rows: list[dict[str, Any]] = []
    for method, url, body, status, reply in CALLS:
        path, _, query = url.removeprefix("https://bank.example").partition("?")
        parts = {"scheme": "https", "method": method, "destination": "bank.example", "path": path, "body": body}
        request: dict[str, Any] = {name: [{"matcher": "exact", "value": value}] for name, value in parts.items()}
        name, _, value = query.partition("=")
        request["query"] = {name: [{"matcher": "exact", "value": value}]} if query else {}
        request["headers"] = {name: [{"matcher": "exact", "value": value}] for name, value in HEADERS.items()}
        response = {
            "status": status,
            "body": reply,
            "encodedBody": False,
            "headers": {"Content-Type": list(JSON.values())},
        }
        rows.append({"request": request, "response": response})
    return {"data": {"pairs": rows}, "meta": {"schemaVersion": "v5.2"}}


FORMATS = {
    "HAR": har(),
    "WireMock mappings": wiremock_mappings(),
    "WireMock journal": wiremock_journal(),
    "Hoverfly simulation": hoverfly(),
}
