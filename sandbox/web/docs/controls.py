"""What each control does, in words, with an example of what it may be sent (choice 10)."""

from typing import Any, NamedTuple

from sandbox.web.controls.app import CONTROLS


class Told(NamedTuple):
    """A control in words."""

    text: str
    body: Any = None  # an example of what it takes
    success: int = 200


SINCE = "?since= gives those after that number."
IBAN = "BE16539100001774"
ADDRESS = "http://127.0.0.1:8080/psu/sign/..."
PSU = {"address": ADDRESS, "customer": "alice"}

TOLD: dict[str, Told] = {
    "GET /health": Told(
        "200 when the sandbox is ready: calls are answered, and what they do is kept. 503 with the reason while the "
        "state file cannot be written. ?live asks only whether anybody is there."
    ),
    "GET /metrics": Told(
        "Figures for Prometheus: calls by operation and status, how long they took, worlds in memory and away, "
        "initiations by status, the state file. Needs the extra `metrics`, else 501."
    ),
    "GET /clock": Told("What the bank's clock shows, how it goes, and when something falls due next."),
    "POST /clock": Told(
        "Moves the clock: advance by a span (s, m, h, d, w or ISO 8601), set a time, freeze it, or let it run at a "
        "rate. All that falls due on the way happens, each at its own time. It does not go back.",
        {"advance": "61m"},
    ),
    "POST /reset": Told("The world as it was first loaded.", {}),
    "GET /worlds": Told(
        "The worlds of this server: separate banks, each with its own clock. `away` ones lie in the state file until "
        "they are called; this list wakes none, and their due_next is as it stood (null if none was called since the "
        "server started)."
    ),
    "GET /worlds/<name>": Told("One world, without waking it when it is away."),
    "PUT /worlds/<name>": Told(
        "Makes a world. What is left out is as the server was started. `life` (`on` or `off`) says whether the "
        "customers' habits go on under its clock.",
        {"scenario": "default", "seed": 7, "clock": {"at": "2027-03-01T09:00", "frozen": True}},
        201,
    ),
    "DELETE /worlds/<name>": Told("Drops a world.", success=204),
    "POST /worlds/<name>/fork": Told("A second world that is this one as it is, or was at a time.", {"as": "b"}, 201),
    "GET /export": Told(
        "The whole world as one file: JSON lines that on any machine give the same bank, byte for byte. "
        "`secrets=strip` takes out what callers kept secret: it replays all the same."
    ),
    "POST /import": Told(
        "A world from such a file, as lines or packed with gzip. It is played again and must come to what the file "
        "says; then it takes the name that `as` gives, else that of the address, else its own.",
        success=201,
    ),
    "POST /await": Told(
        "Moves bank time from event to event until a status holds, and says how long that took. "
        "409 says what it waits for when it can never hold.",
        {"payment_id": "...", "status": "ACSC", "within": "5d"},
    ),
    "GET /timeline": Told("What will happen next in this world, soonest first."),
    "GET /explain/<request_id>": Told(
        "Why that call was answered so: the rule, its clause, and what it was judged on."
    ),
    "GET /referee": Told(
        "What the clients of this world did wrong; `format` is json, junit, sarif or html, `waive` is `rule: reason`, "
        "`level` says from where on JUnit fails."
    ),
    "GET /coverage": Told("What of the bank this world's clients have met, and what to try next."),
    "GET /scenarios": Told("The scenarios that can be loaded."),
    "GET /scenario": Told("The scenario that this world began with."),
    "PUT /scenario": Told(
        "Begins the world again with a scenario: by name, as YAML (application/yaml), or its content as JSON.",
        {"name": "default"},
    ),
    "GET /faults": Told("The fault rules of this world, and how often each was met."),
    "POST /faults": Told(
        "Adds a fault rule: when it applies, and an answer, a delay, a cut or a change.",
        {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 503, "retry_after": 30}},
        201,
    ),
    "DELETE /faults": Told("Drops all fault rules.", success=204),
    "GET /settings": Told("The settings of this world, as they stand."),
    "PATCH /settings": Told(
        "Changes settings from now on; what was promised before keeps its time.", {"unsigned_after": "5m"}
    ),
    "GET /callbacks": Told(f"Where customers were sent back to. {SINCE}"),
    "GET /customers": Told("The customers and their accounts."),
    "GET /clients": Told("The registered third parties, without their secrets."),
    "POST /clients": Told(
        "Registers a third party; its secret and keys never come out again.",
        {
            "client_id": "my-tpp",
            "secret": "my-secret",
            "name": "My TPP",
            "roles": ["PIS", "AIS"],
            "redirect_uris": ["http://127.0.0.1:*/*"],
        },
        201,
    ),
    "PUT /clients/<client_id>": Told("Changes what is named of a third party.", {"active": False}),
    "GET /accounts": Told("The accounts with their balances."),
    "POST /accounts/<iban>/transactions": Told(
        "Books a transaction by hand: a salary that comes in, or, below 0, money that goes.",
        {"amount": "2500.00", "counterparty": "An employer", "communication": "Salary"},
        201,
    ),
    "GET /payments": Told("The payments, each with its way through the statuses and its order."),
    "GET /payments/<payment_id>": Told("One payment."),
    "POST /payments/<payment_id>/move": Told(
        "Forces a legal move of a payment, standing order or file; an illegal one is refused with 409.",
        {"status": "RJCT", "reason": "AC04"},
    ),
    "GET /standing-orders": Told("The standing orders."),
    "GET /standing-orders/<payment_id>": Told("One standing order: what was executed, and what comes on which day."),
    "GET /bulk-payments": Told("The bulk files, each with its bulks."),
    "GET /bulk-payments/<payment_id>": Told("One bulk file."),
    "POST /psu/approve": Told(
        "Acts as the customer without a browser: signs, or consents. Replies the callback address.", PSU
    ),
    "POST /psu/refuse": Told("Acts as the customer, who refuses.", PSU),
    "POST /psu/sign": Told(
        "A further signature, in the bank's own channel.", {"payment_id": "...", "customer": "griet"}
    ),
    "POST /psu/withdraw": Told("Withdraws a consent.", {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"}),
    "GET /reference/countries": Told(
        "The countries, currencies and purpose codes that cross-border payments may have."
    ),
    "GET /.well-known/oauth-authorization-server": Told(
        "The OAuth endpoints (RFC 8414), to point a stock OAuth client at. The bank itself has no such page. Its "
        "/token wants Request-ID and Accept, which the client has to add."
    ),
    "GET /authorize": Told(
        "The authorization endpoint of stock OAuth clients: leads the browser on to a consent address. Takes "
        "`response_type=code`, `client_id`, `redirect_uri`, `scope` (AIS, or CAF with `iban`), `code_challenge`, "
        "`code_challenge_method` and `state`.",
        success=302,
    ),
    "GET /journal": Told(f"Every change of a status, numbered. {SINCE}"),
    "GET /requests": Told(f"Every call of the bank's interface and its answer, numbered. {SINCE}"),
    "GET /openapi.json": Told("The bank's interface as an OpenAPI 3.1 document."),
    "GET /controls.json": Told("These controls as an OpenAPI 3.1 document."),
    "GET /docs": Told("This page."),
    "GET /docs/try": Told("The document to read and to try out, by Swagger UI."),
}


def rows() -> list[tuple[str, str, Told]]:
    """Method, path and words of every control that is routed, in the order of the table."""
    routed = [f"{method} {path}" for method, path, _ in CONTROLS]
    known = [name for name in TOLD if name not in routed]  # the reference's own, which stand beside the table
    return [(*_split(name), TOLD.get(name, Told("A control."))) for name in [*routed, *known]]


def _split(name: str) -> tuple[str, str]:
    method, _, path = name.partition(" ")
    return method, path
