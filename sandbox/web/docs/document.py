"""The OpenAPI document of the bank's interface, made by apispec from the operations, the catalogue and the schemas."""

import re
from datetime import date
from typing import Any

from apispec import APISpec
from marshmallow import Schema

from sandbox.contract.operations import FORM, OPERATIONS, Authorization, Operation
from sandbox.contract.products import PRODUCTS
from sandbox.web.api import account_replies, replies
from sandbox.web.api.bodies import PaymentBody
from sandbox.web.api.standing_order_bodies import REQUIRED, ContractBody
from sandbox.web.api.version_1 import EarlierBody
from sandbox.web.docs import reply_schemas
from sandbox.web.docs.error_causes import Cause, causes_of, sentence
from sandbox.web.docs.examples import Example, accept_of, steps
from sandbox.web.docs.parameters import address_of, parameters_of
from sandbox.web.docs.schemas import JsonSchema, clause_marks, of_product, plugin, teach

OPENAPI = "3.1.0"
VERSION = "3.0.1"  # service 9.3
ERROR = "ErrorReply"
SCHEMAS: tuple[type[Schema], ...] = (
    PaymentBody,
    EarlierBody,
    ContractBody,
    reply_schemas.CodeForm,
    reply_schemas.RefreshForm,
    reply_schemas.PaymentInitiationReply,
    replies.EarlierInitiationReply,
    reply_schemas.ContractInitiationReply,
    replies.BulkInitiationReply,
    reply_schemas.PaymentStatusReply,
    reply_schemas.ContractStatusReply,
    reply_schemas.BulkStatusReply,
    reply_schemas.PaymentDetailsReply,
    reply_schemas.ContractDetailsReply,
    replies.TokenReply,
    reply_schemas.ConsentAddressesReply,
    reply_schemas.AccountsReply,
    account_replies.AccountReply,
    reply_schemas.TransactionsReply,
    reply_schemas.ErrorReply,
)
REPLIES: dict[str, str] = {
    "payment_initiation": "PaymentInitiationReply",
    "payment_status": "PaymentStatusReply",
    "payment_details": "PaymentDetailsReply",
    "standing_order_initiation": "ContractInitiationReply",
    "standing_order_status": "ContractStatusReply",
    "standing_order_details": "ContractDetailsReply",
    "bulk_initiation": "BulkInitiationReply",
    "bulk_status": "BulkStatusReply",
    "token": "TokenReply",
    "accounts": "AccountsReply",
    "account": "AccountReply",
    "transactions": "TransactionsReply",
}
NEEDED = {  # the readers look for these by themselves, to refuse them in an order
    "EarlierBody": {"remote_account", "amount", "payment_id"},
    "ContractBody": set(REQUIRED),
}
TAGS = {
    "payment": ("Single payments", "service 4.1 to 4.4"),
    "standing": ("Standing orders", "service 4.5"),
    "bulk": ("Bulk files", "service 4.6"),
    "consent": ("Consent and tokens", "service 4.7, 4.8"),
    "token": ("Consent and tokens", "service 4.7, 4.8"),
    "account": ("Account information", "service 4.9, 4.10"),
    "accounts": ("Account information", "service 4.9, 4.10"),
    "transactions": ("Account information", "service 4.9, 4.10"),
}
ABOUT = (
    "A sandbox of one Belgian bank's interface for registered third parties. No money moves here.\n\n"
    "Every operation, field and error says by which clause it is so. What carries `x-choice` is the sandbox's own "
    "choice, where the service is silent: the reference page beside this document explains each choice under its "
    "number. Error codes that begin with `SBX-` are the sandbox's own.\n\n"
    "The version is chosen by Accept; the replies themselves are `application/json;charset=utf-8`."
)


def document(root: str, vendor: str, today: date) -> dict[str, Any]:
    """The whole document for one base address; `today` is what the examples' days are counted from."""
    made = plugin()
    spec = APISpec(
        "Sandbox bank", VERSION, OPENAPI, [made],
        info={"description": ABOUT, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        servers=[{"url": root}],
        tags=[{"name": name, "description": clause} for name, clause in dict.fromkeys(TAGS.values())],
    )  # fmt: skip
    teach(made)
    for schema in SCHEMAS:
        if schema.__name__ not in spec.components.schemas:
            spec.components.schema(schema.__name__, schema=schema)
    shapes = spec.components.schemas
    for name, needed in NEEDED.items():
        shapes[name]["required"] = [field for field in shapes[name]["properties"] if field in needed]
    for product in PRODUCTS.values():
        spec.components.schema(body_name(product.name), of_product(product, shapes))
    spec.components.schema("ConsentAddresses", {"type": "array", "items": reference("ConsentAddressesReply")})
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    spec.components.security_scheme("client", {"type": "http", "scheme": "basic"})
    examples = [step for step in steps(today) if isinstance(step, Example)]
    for operation in OPERATIONS:
        for address, products in addresses_of(operation):
            told = told_of(operation, address, products, vendor, examples)
            spec.path(address, operations={operation.method.lower(): told})
    found = spec.to_dict()
    del found["components"]["schemas"][PaymentBody.__name__]  # each product has its own
    return found


def addresses_of(operation: Operation) -> list[tuple[str, tuple[str, ...]]]:
    """One path for all products, but for initiations, whose body follows the product."""
    address = address_of(operation)
    products = operation.products
    if operation.method == "POST" and len(products) > 1:
        return [(operation.path.replace("<product>", product), (product,)) for product in products]
    if operation.method == "DELETE":  # service 3.4: one product cannot be cancelled
        products = tuple(name for name in products if name not in PRODUCTS or PRODUCTS[name].deletable)
    return [(address, products)]


def told_of(
    operation: Operation, address: str, products: tuple[str, ...], vendor: str, examples: list[Example]
) -> dict[str, Any]:
    product = products[0] if products else None
    versions = operation.versions_for(product)
    ours = [row for row in examples if row.operation == operation.name and (not products or row.product in products)]
    accepts = [accept_of(vendor, version) for version in versions]
    name = operation.name if address == address_of(operation) else re.sub("[-.]", "_", f"{operation.name}_{product}")
    told: dict[str, Any] = {
        "operationId": name,
        "summary": operation.name.replace("_", " ").capitalize(),
        "description": description_of(operation, accepts),
        "tags": [TAGS[operation.name.partition("_")[0]][0]],
        "parameters": parameters_of(operation, products, address),
        "security": security_of(operation),
        "responses": responses_of(operation, product, vendor, versions),
        "x-operation": operation.name,
        "x-versions": list(versions),
        "x-accept": accepts,
    } | clause_marks(operation.clause)
    if operation.media:
        told["requestBody"] = request_body(operation, product, ours)
    return told


def description_of(operation: Operation, accepts: list[str]) -> str:
    offered = "\n".join(f"- `Accept: {accept}`" for accept in accepts)
    role = f" The client needs the role {operation.role}." if operation.role else ""
    scopes = f" Scopes: {', '.join(operation.scopes)}." if operation.scopes else ""
    needed = f"Authorization: {operation.authorization.value}."
    return f"{operation.clause}. {needed}{scopes}{role}\n\nVersions (choice 3):\n{offered}"


def security_of(operation: Operation) -> list[dict[str, list[str]]]:
    match operation.authorization:
        case Authorization.REQUIRED:
            return [{"token": []}]
        case Authorization.OPTIONAL:
            return [{"token": []}, {}]
        case Authorization.BASIC:
            return [{"client": []}]
        case Authorization.NONE:
            return []


def request_body(operation: Operation, product: str | None, examples: list[Example]) -> dict[str, Any]:
    """The schema of each version; what one version takes no other does."""
    named = {f"version {row.version}: {row.title}": row for row in examples if row.body is not None}
    shown = {name: {"summary": name, "value": row.body} for name, row in named.items()}
    if operation.name == "bulk_initiation":
        shape: JsonSchema = {"type": "string", "description": "The file."}
    elif operation.media == FORM:
        shape = {"oneOf": [reference("CodeForm"), reference("RefreshForm")]}
    elif operation.name == "payment_initiation":
        assert product is not None
        earlier = [reference("EarlierBody")] if 1 in operation.versions_for(product) else []
        shape = {"oneOf": [reference(body_name(product)), *earlier]} if earlier else reference(body_name(product))
    else:
        shape = reference("ContractBody")
    media = operation.media_for(product)
    return {"required": True, "content": {name: {"schema": shape, "examples": shown} for name in media}}


def responses_of(operation: Operation, product: str | None, vendor: str, versions: tuple[int, ...]) -> dict[str, Any]:
    """Success by version, then each refusal with its errors."""
    success: dict[str, Any] = {"description": "Done.", "headers": {"Response-ID": RESPONSE_ID}}
    if operation.success == 204:
        success["description"] = "Done; there is no body."
    else:
        success["content"] = {
            accept_of(vendor, version): {"schema": reference(reply_name(operation, version))} for version in versions
        }
    success["headers"] = success["headers"] | HEADERS_OF.get(operation.name, {})
    found = {str(operation.success): success}
    by_status: dict[int, list[Cause]] = {}
    for cause in causes_of(operation):
        by_status.setdefault(cause.error.value.status, []).append(cause)
    return found | {str(status): refusal(status, causes) for status, causes in sorted(by_status.items())}


def refusal(status: int, causes: list[Cause]) -> dict[str, Any]:
    rows = [
        f"| {cause.error.value.error} | {cause.error.value.code} | {cause.when} | {cause.clause} |" for cause in causes
    ]
    table = "\n".join(["| error | error_code | when | clause |", "|---|---|---|---|", *rows])
    shown = {
        f"{cause.error.value.code} {cause.error.name}": {"summary": cause.when, "value": body_of(cause)}
        | clause_marks(cause.clause)
        for cause in causes
    }
    codes = list(dict.fromkeys(cause.error.value.code for cause in causes))
    schema = {"allOf": [reference(ERROR), {"type": "object", "properties": {"error_code": {"enum": codes}}}]}
    extra = {name: HEADER[name] for name, given in STATUS_HEADERS.items() if status in given}
    return {
        "description": f"{causes[0].error.value.error.replace('_', ' ').capitalize()}.\n\n{table}",
        "headers": {"Response-ID": RESPONSE_ID} | extra,
        "content": {"application/json": {"schema": schema, "examples": shown}},
        "x-errors": [
            {"error": row.error, "error_code": row.code, "when": cause.when} | clause_marks(cause.clause)
            for cause in causes
            for row in (cause.error.value,)
        ],
    }


def body_of(cause: Cause) -> dict[str, Any]:
    row = cause.error.value
    body: dict[str, Any] = {"error": row.error, "error_code": row.code, "error_description": sentence(cause.error)}
    if row.error == "SCA_REQUIRED":
        body["_links"] = {"sca_redirect": {"href": "http://127.0.0.1:8080/psu/consent/..."}}
    return body


def reply_name(operation: Operation, version: int) -> str:
    if (operation.name, version) == ("payment_initiation", 1):
        return "EarlierInitiationReply"
    return REPLIES.get(operation.name, "ConsentAddresses")


def body_name(product: str) -> str:
    return "".join(word.capitalize() for word in product.split("-")[:-2]) + "Payment"


def reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def told_header(text: str, clause: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string"}} | clause_marks(clause)


RESPONSE_ID = told_header("The Request-ID; a fresh one where that was missing or malformed.", "service 4.0")
SIGN_AT = {"Location": told_header("Where the customer signs.", "choice 5")}
HEADERS_OF: dict[str, dict[str, Any]] = {
    "payment_initiation": SIGN_AT,
    "standing_order_initiation": SIGN_AT,
    "token": {"Cache-Control": told_header("no-store", "choice 8"), "Pragma": told_header("no-cache", "choice 8")},
}
HEADER = {
    "WWW-Authenticate": told_header("Bearer, or Basic at /token.", "choice 2"),
    "Allow": told_header("The methods of this path.", "choice 4"),
    "Retry-After": told_header("Seconds.", "choice 4"),
}
STATUS_HEADERS = {"WWW-Authenticate": (401,), "Allow": (405,), "Retry-After": (429, 503)}
