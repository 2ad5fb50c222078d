"""The floors: a bare Flask app and a bare WSGI callable, on waitress as it comes, with the options of the bank.

The bank's server is the same waitress with bounds (sandbox/server/bounded_waitress.py): those count as the bank's. The
bare Flask app on the bank's own server, `own`, says what they cost."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

ID = "00000000-0000-4000-8000-000000000000"
MEDIA = "application/json;charset=utf-8"
STATUS = {"payment_id": ID, "status": "PATC"}
LINK = {"href": f"http://127.0.0.1:12345/psu/sign/{'x' * 43}", "templated": False}
PATH = {"href": f"/payments/sepa-credit-transfers/{ID}/status", "templated": False}
INITIATION = {
    "payment_id": ID,
    "endtoend_identification": "INVOICE-0000000001",
    "status": "RCVD",
    "_links": {"sca_redirect": LINK, "self": PATH, "status": PATH},
}

ACCOUNT_PATH = {"href": f"/accounts/{'x' * 43}", "templated": False}
ACCOUNT = {
    "type": "current-account",
    "iban": "BE68539007547034",
    "currency": "EUR",
    "balance": 1234.5,
    "multicurrency": False,
    "other_compartments": [],
    "_links": {"self": ACCOUNT_PATH, "transactions": ACCOUNT_PATH},
}
TOKENS = {
    "access_token": "x" * 43,
    "token_type": "Bearer",
    "expires_in": 3600,
    "refresh_token": "x" * 43,
    "scope": "PIS",
    "sca_token": "x" * 43,
}
TRANSACTION = {
    "transaction_ref": "2027-02-26-000001",
    "amount": -12.5,
    "currency": "EUR",
    "execution_date": "2027-02-26",
    "value_date": "2027-02-26",
    "counterparty_account": "BE68539007547034",
    "counterparty_info": "Jan Peeters",
    "communication": "Invoice 1",
    "communication_type": "FREETEXT",
    "remittance_info": "SEPA CREDIT TRANSFER INVOICE-1",
}
PAGE = {
    "_embedded": {"transactions": [TRANSACTION] * 50, "next_page_key": "x" * 100},
    "_links": {"self": ACCOUNT_PATH, "next": ACCOUNT_PATH, "account": ACCOUNT_PATH},
}


def bare_flask() -> Any:
    """One view for each kind of call, with replies as long as the bank's."""
    import orjson
    from flask import Flask, Response, request

    app = Flask("floor", static_folder=None)

    @app.get("/payments/<product>/<payment_id>/status")
    def status(product: str, payment_id: str) -> Response:
        return Response(orjson.dumps(STATUS), 200, content_type=MEDIA)

    @app.get("/accounts/<logical_id>")
    def account(logical_id: str) -> Response:
        return Response(orjson.dumps(ACCOUNT), 200, content_type=MEDIA)

    @app.get("/accounts/<logical_id>/transactions")
    def transactions(logical_id: str) -> Response:
        return Response(orjson.dumps(PAGE), 200, content_type=MEDIA)

    @app.post("/token")
    def token() -> Response:
        assert request.form["grant_type"]
        return Response(orjson.dumps(TOKENS), 200, content_type=MEDIA)

    @app.post("/_sandbox/psu/approve")
    def approve() -> Response:
        orjson.loads(request.get_data())
        return Response(orjson.dumps({"redirect": LINK["href"]}), 200, content_type=MEDIA)

    @app.post("/payments/<product>")
    def initiation(product: str) -> Response:
        orjson.loads(request.get_data())
        return Response(orjson.dumps(INITIATION), 201, content_type=MEDIA)

    @app.get("/_sandbox/health")
    def health() -> Response:
        return Response(b'{"status":"ready"}', 200, content_type=MEDIA)

    return app


def bare_wsgi() -> Callable[..., Iterable[bytes]]:
    """The same bytes for every call."""
    import orjson

    body = orjson.dumps(STATUS)
    headers = [("Content-Type", MEDIA), ("Content-Length", str(len(body)))]

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", headers)
        return [body]

    return answer


FLOORS = {"flask": bare_flask, "wsgi": bare_wsgi}


def serve(kind: str, threads: int) -> None:
    server = own_server(threads) if kind == "own" else usual_server(FLOORS[kind](), threads)
    print(f"listening on http://127.0.0.1:{server.effective_port}", flush=True)
    server.run()


def usual_server(app: Callable[..., Iterable[bytes]], threads: int) -> Any:
    from waitress import create_server

    return create_server(app, host="127.0.0.1", port=0, threads=threads, ident=None, asyncore_use_poll=True)


def own_server(threads: int) -> Any:
    from sandbox.server.server import make_server

    return make_server(bare_flask(), "127.0.0.1", 0, threads)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
