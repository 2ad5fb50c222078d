"""Headers, path and query parameters of an operation, each with its clause (service 4.0, choice 2)."""

from typing import Any

from sandbox.banking.pkce import EXAMPLE_CHALLENGE as CHALLENGE
from sandbox.banking.pkce import METHODS
from sandbox.contract.operations import Authorization, Operation
from sandbox.web.api.initiations import ID_TYPES
from sandbox.web.docs.schemas import clause_marks

TEXT = {"type": "string"}
REQUEST_ID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
CALLBACK = "http://127.0.0.1:9000/callback"

# Name, what it is, its clause, its schema, an example.
HEADERS: dict[str, tuple[str, str, dict[str, Any], Any]] = {
    "Request-ID": (
        "A version 4 UUID, new for each call; Response-ID repeats it. The identical initiation sent again under the "
        "same one gets the first reply again.",
        "choice 2",
        {"type": "string", "format": "uuid"},
        REQUEST_ID,
    ),
    "Accept-Language": (
        "A list of languages with weights. Screens exist in fr and nl; no known language at all is refused with 406.",
        "service 4.0",
        TEXT,
        "fr",
    ),
    "Client-ID": (
        "The registered client. Unknown: 401; not active, or without the role: 403.",
        "choice 2",
        TEXT,
        "demo-tpp",
    ),
    "Redirect-URI": ("The callback, one that the client registered.", "choice 2", TEXT, CALLBACK),
    "Code-Challenge-Method": (
        "PKCE; required when no Authorization is sent.",
        "service 4.1",
        {"type": "string", "enum": list(METHODS)},
        "S256",
    ),
    "Code-Challenge": (
        "43 to 128 unreserved characters, exactly 43 for S256; plain ones of 32 or more are taken too.",
        "choice 2",
        TEXT,
        CHALLENGE,
    ),
    "SCA-Token": (
        "Opens the full history. Older than an hour of bank time, it counts as absent.",
        "choice 2",
        TEXT,
        None,
    ),
    "PaymentInformationID": (
        "Your own reference for the file; without it the MsgId of a pain.001 is.",
        "choice 7",
        {"type": "string", "pattern": "^[A-Za-z0-9-]{1,35}$"},
        None,
    ),
    "Signature": ("A compact JWS over the body, attached or detached.", "choice 9", TEXT, None),
    "Digest": ("SHA-256= and the Base64 of the body's SHA-256.", "choice 9", TEXT, None),
    "Date": ("When the call was made, within 3 minutes of the bank's clock or of real time.", "choice 9", TEXT, None),
}

QUERIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "paymentIdType": (
        "Whether the path holds the bank's reference (INTERNAL, the default) or yours (EXTERNAL).",
        "choice 5",
        {"type": "string", "enum": list(ID_TYPES), "default": "INTERNAL"},
    ),
    "paymentFileIdType": (
        "Whether the path holds the bank's reference (INTERNAL, the default) or yours (EXTERNAL).",
        "choice 5",
        {"type": "string", "enum": list(ID_TYPES), "default": "INTERNAL"},
    ),
    "scope": ("AIS with version 4, CAF with version 3.", "choice 8", {"type": "string", "enum": ["AIS", "CAF"]}),
    "iban": ("The account, for CAF only and required there.", "choice 8", TEXT),
    "date_from": ("First imputation date, inclusive.", "service 4.10", {"type": "string", "format": "date"}),
    "date_to": ("Last imputation date, exclusive.", "service 4.10", {"type": "string", "format": "date"}),
    "psu_involved": (
        "true: the customer asked for it now and may have to authenticate again.",
        "service 4.10",
        {"type": "boolean"},
    ),
    "pagesize": (
        "Transactions per call.",
        "service 4.10",
        {"type": "integer", "minimum": 1, "maximum": 50, "default": 50},
    ),
    "next": ("The next_page_key of the reply before; it carries the whole query.", "service 4.10", TEXT),
    "currency": (
        "The compartment; EUR where left out. A compartment that the account lacks gives an empty list.",
        "choice 8",
        {"type": "string", "pattern": "^[A-Z]{3}$", "default": "EUR"},
    ),
}

PATHS = {
    "product": ("payment-product", "The product.", "service 4.1"),
    "payment_id": (
        "payment-id",
        "The reference that the initiation replied, or yours with paymentIdType. `/` in it is `%2F`.",
        "service 4.2",
    ),
    "payment_file_id": (
        "payment-file-id",
        "The reference that the initiation replied, or yours with paymentFileIdType. `/` in it is `%2F`.",
        "service 4.6",
    ),
    "logical_id": ("logical-id", "As GET /accounts lists it.", "service 4.9"),
}


def headers_of(operation: Operation) -> dict[str, bool]:
    """The headers of an operation that the library does not describe by itself, and whether each is required."""
    found = {"Request-ID": True}
    if operation.bank_headers:
        found |= {"Accept-Language": True, "Client-ID": True, "Redirect-URI": operation.redirect_uri}
    if operation.pkce:
        always = operation.authorization is not Authorization.OPTIONAL
        found |= {"Code-Challenge-Method": always, "Code-Challenge": always}
    if operation.name == "transactions":
        found["SCA-Token"] = False
    if operation.name == "bulk_initiation":
        found["PaymentInformationID"] = False
    if operation.method == "POST" and operation.bank_headers:
        found |= {"Signature": False, "Digest": False, "Date": False}
    return found


def header(name: str) -> dict[str, Any]:
    """A header as a component; whether it is required differs, so an operation says that beside it."""
    text, clause, schema, example = HEADERS[name]
    return {"description": text, "schema": schema, **({} if example is None else {"example": example})} | clause_marks(
        clause
    )


def parameters_of(operation: Operation, products: tuple[str, ...], path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for inner, (_, text, clause) in PATHS.items():
        name = path_name(operation, inner)
        if f"{{{name}}}" in path:
            schema: dict[str, Any] = {"type": "string"}
            if inner == "product":
                schema["enum"] = list(products)
            found.append(
                {"name": name, "in": "path", "required": True, "description": text, "schema": schema}
                | clause_marks(clause)
            )
    for name, required in headers_of(operation).items():
        found.append({"name": name, "in": "header", "required": required} | header(name))
    for name in operation.query:
        text, clause, schema = QUERIES[name]
        required = name == "scope"
        found.append(
            {"name": name, "in": "query", "required": required, "description": text, "schema": schema}
            | clause_marks(clause)
        )
    return found


def address_of(operation: Operation) -> str:
    """The path as the service writes it."""
    address = operation.path
    for inner in PATHS:
        address = address.replace(f"<{inner}>", f"{{{path_name(operation, inner)}}}")
    return address


def path_name(operation: Operation, inner: str) -> str:
    """What the service calls a part of the path."""
    return "bulk-payment-product" if (operation.name[:5], inner) == ("bulk_", "product") else PATHS[inner][0]
