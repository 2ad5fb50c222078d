"""Headers, path and query parameters of an operation, each with its clause (service 4.0, choice 2)."""

import re
from typing import Any

from sandbox.banking.pkce import EXAMPLE_CHALLENGE as CHALLENGE
from sandbox.banking.pkce import METHODS
from sandbox.contract.operations import Authorization, Operation
from sandbox.web.api.initiations import ID_TYPES
from sandbox.web.docs.schemas import described

REQUEST_ID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
CALLBACK = "http://127.0.0.1:9000/callback"

HEADERS = {
    "Request-ID": described(
        "A version 4 UUID, new for each call; Response-ID repeats it. The identical initiation sent again under the "
        "same one gets the first reply again.",
        "choice 2",
        {"type": "string", "format": "uuid"},
        example=REQUEST_ID,
    ),
    "Accept-Language": described(
        "A list of languages with weights. Screens exist in fr and nl; no known language at all is refused with 406.",
        "service 4.0",
        example="fr",
    ),
    "Client-ID": described(
        "The registered client. Unknown: 401; not active, or without the role: 403.", "choice 2", example="demo-tpp"
    ),
    "Redirect-URI": described("The callback, one that the client registered.", "choice 2", example=CALLBACK),
    "Code-Challenge-Method": described(
        "PKCE; required when no Authorization is sent.",
        "service 4.1",
        {"type": "string", "enum": list(METHODS)},
        example="S256",
    ),
    "Code-Challenge": described(
        "43 to 128 unreserved characters, exactly 43 for S256; plain ones of 32 or more are taken too.",
        "choice 2",
        example=CHALLENGE,
    ),
    "SCA-Token": described("Opens the full history. Older than an hour of bank time, it counts as absent.", "choice 2"),
    "PaymentInformationID": described(
        "Your own reference for the file; without it the MsgId of a pain.001 is.",
        "choice 7",
        {"type": "string", "pattern": "^[A-Za-z0-9-]{1,35}$"},
    ),
    "Signature": described("A compact JWS over the body, attached or detached.", "choice 9"),
    "Digest": described("SHA-256= and the Base64 of the body's SHA-256.", "choice 9"),
    "Date": described("When the call was made, within 3 minutes of the bank's clock or of real time.", "choice 9"),
}
ID_TYPE = described(
    "Whether the path holds the bank's reference (INTERNAL, the default) or yours (EXTERNAL).",
    "choice 5",
    {"type": "string", "enum": list(ID_TYPES), "default": "INTERNAL"},
)
DATE = {"type": "string", "format": "date"}
QUERIES = {
    "paymentIdType": ID_TYPE,
    "paymentFileIdType": ID_TYPE,
    "scope": described(
        "AIS with version 4, CAF with version 3.", "choice 8", {"type": "string", "enum": ["AIS", "CAF"]}
    ),
    "iban": described("The account, for CAF only and required there.", "choice 8"),
    "date_from": described("First imputation date, inclusive.", "service 4.10", DATE),
    "date_to": described("Last imputation date, exclusive.", "service 4.10", DATE),
    "psu_involved": described(
        "true: the customer asked for it now and may have to authenticate again.", "service 4.10", {"type": "boolean"}
    ),
    "pagesize": described(
        "Transactions per call.", "service 4.10", {"type": "integer", "minimum": 1, "maximum": 50, "default": 50}
    ),
    "next": described("The next_page_key of the reply before; it carries the whole query.", "service 4.10"),
    "currency": described(
        "The compartment; EUR where left out. A compartment that the account lacks gives an empty list.",
        "choice 8",
        {"type": "string", "pattern": "^[A-Z]{3}$", "default": "EUR"},
    ),
}
OWN = "The reference that the initiation replied, or yours with {}. `/` in it is `%2F`."
PATHS = {
    "product": described("The product.", "service 4.1"),
    "payment_id": described(OWN.format("paymentIdType"), "service 4.2"),
    "payment_file_id": described(OWN.format("paymentFileIdType"), "service 4.6"),
    "logical_id": described("As GET /accounts lists it.", "service 4.9"),
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


def parameters_of(operation: Operation, products: tuple[str, ...], path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for inner, row in PATHS.items():
        name = path_name(operation, inner)
        if f"{{{name}}}" in path:
            words = {"schema": {"type": "string", "enum": list(products)}} if inner == "product" else {}
            found.append({"name": name, "in": "path", "required": True} | row | words)
    for name, required in headers_of(operation).items():
        found.append({"name": name, "in": "header", "required": required} | HEADERS[name])
    for name in operation.query:
        found.append({"name": name, "in": "query", "required": name == "scope"} | QUERIES[name])
    return found


def address_of(operation: Operation) -> str:
    """The path as the service writes it."""
    return re.sub(r"<(\w+)>", lambda part: f"{{{path_name(operation, part[1])}}}", operation.path)


def path_name(operation: Operation, inner: str) -> str:
    """What the service calls a part of the path."""
    if inner == "product":
        return "bulk-payment-product" if operation.name.startswith("bulk_") else "payment-product"
    return inner.replace("_", "-")
