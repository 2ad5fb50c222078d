"""The OpenAPI document of the bank's interface, made by apispec from the operations, the catalogue and the schemas."""

import re
from datetime import date
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from marshmallow import Schema

from sandbox.contract.decisions import AXES, Pairs
from sandbox.contract.field_rows import Use
from sandbox.contract.fields import STANDING_ORDER, VERSION_1
from sandbox.contract.operations import FORM, OPERATIONS, Authorization, Operation
from sandbox.contract.products import PRODUCTS, SCT
from sandbox.scenarios.values import default_values
from sandbox.web.api import account_replies, replies
from sandbox.web.api.body_schemas import ContractBody, EarlierBody, PaymentBody
from sandbox.web.docs import reply_schemas
from sandbox.web.docs.amending import Document
from sandbox.web.docs.amendments import AMENDMENTS
from sandbox.web.docs.examples import Example, accept_of, order, steps
from sandbox.web.docs.parameters import address_of, parameters_of
from sandbox.web.docs.responses import responses_of
from sandbox.web.docs.schemas import JsonSchema, clause_marks, new_document, of_product, reference

VERSION = "3.0.1"  # service 9.3
SCHEMAS: tuple[type[Schema], ...] = (
    PaymentBody, EarlierBody, ContractBody, reply_schemas.TokenForm, reply_schemas.PaymentInitiationReply,
    replies.EarlierInitiationReply, reply_schemas.ContractInitiationReply, replies.BulkInitiationReply,
    reply_schemas.PaymentStatusReply, reply_schemas.ContractStatusReply, reply_schemas.BulkStatusReply,
    reply_schemas.PaymentDetailsReply, reply_schemas.ContractDetailsReply, replies.TokenReply,
    replies.ConsentAddressesReply, reply_schemas.AccountsReply, account_replies.AccountReply,
    reply_schemas.TransactionsReply, reply_schemas.ErrorReply,
)  # fmt: skip
NEEDED = {  # the readers look for these themselves, after the schema, so that they are refused in an order
    body.request: {
        path.partition(".")[0] for path, row in body.stated.items() if body.use_of(row, column) is Use.REQUIRED
    }
    for body in (STANDING_ORDER, VERSION_1)
    for column in body.columns
}
ANY_VERSION = "SepaInitiation"  # a component, so that generated clients have a name for it
TOKEN_FORM = reply_schemas.TokenForm.__name__
COMPOSED: dict[str, JsonSchema] = {
    ANY_VERSION: {"oneOf": [reference("SepaPayment"), reference("EarlierBody")]},
    "ConsentAddresses": {"type": "array", "items": reference("ConsentAddressesReply")},
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
SECURITY: dict[Authorization, list[dict[str, list[str]]]] = {
    Authorization.REQUIRED: [{"token": []}],
    Authorization.OPTIONAL: [{"token": []}, {}],
    Authorization.BASIC: [{"client": []}],
    Authorization.NONE: [],
}
ABOUT = (
    "A sandbox of one Belgian bank's interface for registered third parties. No money moves here.\n\n"
    "Every operation, field and error says by which clause it is so. What carries `x-choice` is the sandbox's own "
    "choice, where the service is silent: the reference page beside this document explains each choice under its "
    "number. Error codes that begin with `SBX-` are the sandbox's own.\n\n"
    "The version is chosen by Accept. The replies themselves are `application/json;charset=utf-8`: each reply stands "
    "under the media types that Accept takes, newest first, and under `application/json`."
)


def document(root: str, vendor: str, today: date, variants: Pairs = ()) -> dict[str, Any]:
    """The document of a bank with these variants; `today` is what the examples' days are counted from."""
    return amended(usual_document(root, vendor, today), variants)


def usual_document(root: str, vendor: str, today: date) -> dict[str, Any]:
    """The document of a bank as it is by default."""
    spec, _ = new_document("Sandbox bank", VERSION, root, ABOUT, dict(TAGS.values()))
    for schema in SCHEMAS:
        if schema.__name__ not in spec.components.schemas:
            spec.components.schema(schema.__name__, schema=schema)
    shapes = spec.components.schemas
    for name, needed in NEEDED.items():
        shapes[name]["required"] = [field for field in shapes[name]["properties"] if field in needed]
    for product in PRODUCTS.values():
        spec.components.schema(body_name(product.name), of_product(product, shapes))
    shapes[TOKEN_FORM] |= reply_schemas.TOKEN_VARIANTS
    for name, shape in COMPOSED.items():
        spec.components.schema(name, shape)
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    spec.components.security_scheme("client", {"type": "http", "scheme": "basic"})
    examples = [step for step in steps(today) if isinstance(step, Example)]
    for operation in OPERATIONS:
        for address, products in addresses_of(operation):
            described = describe(operation, address, products, vendor, examples)
            spec.path(address, operations={operation.method.lower(): described})
    found = spec.to_dict()
    for name in (PaymentBody.__name__, "CreditorBody", "AmountBody"):  # each product has its own
        del found["components"]["schemas"][name]
    add_values(found)
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


def describe(
    operation: Operation, address: str, products: tuple[str, ...], vendor: str, examples: list[Example]
) -> dict[str, Any]:
    product = products[0] if products else None
    versions = operation.versions_for(product)
    ours = [row for row in examples if row.operation == operation.name and (not products or row.product in products)]
    accepts = [accept_of(vendor, version) for version in versions]
    name = operation.name if address == address_of(operation) else re.sub("[-.]", "_", f"{operation.name}_{product}")
    described: dict[str, Any] = {
        "operationId": name,
        "summary": operation.name.replace("_", " ").capitalize(),
        "description": description_of(operation, accepts),
        "tags": [TAGS[operation.name.partition("_")[0]][0]],
        "parameters": parameters_of(operation, products, address),
        "security": SECURITY[operation.authorization],
        "responses": responses_of(operation, product, vendor, versions),
        "x-operation": operation.name,
        "x-versions": list(versions),
        "x-accept": accepts,
    } | clause_marks(operation.clause)
    if operation.media:
        described["requestBody"] = request_body(operation, product, ours)
    return described


def description_of(operation: Operation, accepts: list[str]) -> str:
    offered = "\n".join(f"- `Accept: {accept}`" for accept in accepts)
    role = f" The client needs the role {operation.role}." if operation.role else ""
    scopes = f" Scopes: {', '.join(operation.scopes)}." if operation.scopes else ""
    needed = f"Authorization: {operation.authorization.value}."
    return f"{operation.clause}. {needed}{scopes}{role}\n\nVersions (choice 3):\n{offered}"


def request_body(operation: Operation, product: str | None, examples: list[Example]) -> dict[str, Any]:
    """The schema of each version; what one version takes no other does."""
    named = {f"version {row.version}: {row.title}": row for row in examples if row.body is not None}
    shown = {name: {"summary": name, "value": row.shown} for name, row in named.items()}
    if operation.name == "payment_initiation" and product is not None:
        shown |= examples_of_values(product)
    if operation.name == "bulk_initiation":
        shape: JsonSchema = {"type": "string", "description": "The file."}
    elif operation.media == FORM:
        shape = reference(TOKEN_FORM)
    elif operation.name == "payment_initiation":
        assert product is not None
        shape = reference(ANY_VERSION if 1 in operation.versions_for(product) else body_name(product))
    else:
        shape = reference("ContractBody")
    media = operation.media_for(product)
    return {"required": True, "content": {name: {"schema": shape, "examples": shown} for name in media}}


def examples_of_values(product: str) -> dict[str, Any]:
    """A body for each well-known value of a product, to choose from on the page where calls are tried."""
    if product != SCT.name:
        return {}
    found = {}
    for one in default_values():
        if "payment" in one.kinds and one.product in (None, product):
            body = order(uuid5(NAMESPACE_URL, one.value).hex) | {"creditor_name": one.value}
            found[one.value] = {"summary": f"{one.value}: {one.effect}", "value": body}
    return found


def add_values(found: dict[str, Any]) -> None:
    """The well-known values, as examples of the fields that they stand in."""
    values = default_values()
    names = list(dict.fromkeys(one.value for one in values if one.field == "creditor_name"))
    files = [one.value for one in values if one.field == "reference"]
    for shape in found["components"]["schemas"].values():
        field = shape.get("properties", {}).get("creditor_name")
        if field is not None and field.get("type") == "string":
            field["examples"] = ["Jan Peeters", *names]
    for path in found["paths"].values():
        for row in path.get("post", {}).get("parameters", ()):
            if row["name"] == "PaymentInformationID":
                row["examples"] = {name: {"value": name} for name in ["WAGES-MARCH", *files]}


def body_name(product: str) -> str:
    return "".join(word.capitalize() for word in product.split("-")[:-2]) + "Payment"


LAST = ("error_codes", "other")  # it replaces also the codes that others bring


def amended(document: Document, variants: Pairs) -> Document:
    """The document with what these variants change, and a list of them."""
    if not variants:
        return document
    document["info"]["x-variants"] = dict(variants)
    lines = [f"- `{axis}: {value}` ({AXES[axis].clause}): {AXES[axis].value(value).does}" for axis, value in variants]
    document["info"]["description"] += "\n\nThis bank differs from the usual one:\n" + "\n".join(lines)
    for pair in sorted(variants, key=LAST.__eq__):
        if pair in AMENDMENTS:
            AMENDMENTS[pair](document)
    return document
