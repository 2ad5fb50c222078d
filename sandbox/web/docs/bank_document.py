"""The OpenAPI document of the bank's interface. apispec makes it from the operations, the fields and the schemas."""

import re
from datetime import date
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from sandbox.banking.pkce import EXAMPLE_CHALLENGE, METHODS
from sandbox.contract.field_rows import Use
from sandbox.contract.fields import STANDING_ORDER, VERSION_1
from sandbox.contract.operations import FORM, OPERATIONS, Authorization, Operation
from sandbox.contract.products import PRODUCTS, SCT
from sandbox.scenarios.well_known_values import list_default_values
from sandbox.web.api.body_schemas import ContractBody, EarlierBody, PaymentBody
from sandbox.web.api.initiations import ID_TYPES
from sandbox.web.api.replies import ConsentAddressesReply
from sandbox.web.docs.examples import CALLBACK, Example, list_steps, make_order, write_accept
from sandbox.web.docs.reply_schemas import TOKEN_VARIANTS, ErrorReply, TokenForm
from sandbox.web.docs.responses import describe_responses
from sandbox.web.docs.schemas import (
    JsonSchema,
    add_description,
    make_clause_marks,
    make_document,
    make_product_body,
    make_reference,
)

VERSION = "3.0.1"  # service 9.3
# The readers of these bodies look for required fields after the schema, so that they refuse in a fixed order.
REQUIRED_FIELDS = {
    body.request: {
        path.partition(".")[0] for path, row in body.stated.items() if body.find_use(row, column) is Use.REQUIRED
    }
    for body in (STANDING_ORDER, VERSION_1)
    for column in body.columns
}
ANY_VERSION = "SepaInitiation"  # a component, so that generated clients have a name for it
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
    "under the media types that Accept takes, newest first, and under this one."
)


def describe_bank(root: str, vendor: str, today: date) -> dict[str, Any]:
    """Returns the document of a bank without variants. `root` is the base address of the bank. `vendor` is a part of
    the bank's media types. The days in the examples are counted from `today`."""
    spec, _ = make_document("Sandbox bank", VERSION, root, ABOUT, dict(TAGS.values()))
    for schema in (PaymentBody, EarlierBody, ContractBody, TokenForm, ErrorReply, ConsentAddressesReply):
        spec.components.schema(schema.__name__, schema=schema)
    components = spec.components.schemas
    for name, required in REQUIRED_FIELDS.items():
        components[name]["required"] = [field for field in components[name]["properties"] if field in required]
    components[TokenForm.__name__] |= TOKEN_VARIANTS
    for product in PRODUCTS.values():
        spec.components.schema(name_body_component(product.name), make_product_body(product, components))
    for name in (PaymentBody.__name__, "CreditorBody", "AmountBody"):  # each product has its own
        del components[name]
    spec.components.schema(ANY_VERSION, {"oneOf": [make_reference("SepaPayment"), make_reference("EarlierBody")]})
    spec.components.schema("ConsentAddresses", {"type": "array", "items": make_reference("ConsentAddressesReply")})
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    spec.components.security_scheme("client", {"type": "http", "scheme": "basic"})
    examples = [step for step in list_steps(today) if isinstance(step, Example)]
    for operation in OPERATIONS:
        for path, products in list_paths(operation):
            row = describe(operation, path, products, vendor, examples)
            spec.path(path, operations={operation.method.lower(): row})
    content = spec.to_dict()
    add_well_known_values(content)
    return content


def list_paths(operation: Operation) -> list[tuple[str, tuple[str, ...]]]:
    """Returns the paths of an operation, each with the products that it serves.

    Most operations have one path for all products. An initiation with several products has a path for each product,
    because its body depends on the product. A cancellation leaves out products that cannot be cancelled.
    """
    products = operation.products
    if operation.method == "POST" and len(products) > 1:
        return [(operation.path.replace("<product>", product), (product,)) for product in products]
    if operation.method == "DELETE":  # service 3.4: one product cannot be cancelled
        products = tuple(name for name in products if name not in PRODUCTS or PRODUCTS[name].deletable)
    return [(spell_service_path(operation), products)]


def spell_service_path(operation: Operation) -> str:
    """Returns the path with the names that the service gives to its parameters: `{payment-id}` for `<payment_id>`."""
    return re.sub(r"<(\w+)>", lambda match: f"{{{name_path_parameter(operation, match[1])}}}", operation.path)


def name_path_parameter(operation: Operation, name: str) -> str:
    """Returns the service's name for a parameter of the path, such as `payment-id` for `payment_id`."""
    if name == "product":
        return "bulk-payment-product" if operation.name.startswith("bulk_") else "payment-product"
    return name.replace("_", "-")


def describe(
    operation: Operation, path: str, products: tuple[str, ...], vendor: str, examples: list[Example]
) -> dict[str, Any]:
    product = products[0] if products else None
    versions = operation.list_versions(product)
    accepts = [write_accept(vendor, version) for version in versions]
    is_shared = path == spell_service_path(operation)
    row: dict[str, Any] = {
        "operationId": operation.name if is_shared else re.sub("[-.]", "_", f"{operation.name}_{product}"),
        "summary": operation.name.replace("_", " ").capitalize(),
        "description": write_description(operation, accepts),
        "tags": [TAGS[operation.name.partition("_")[0]][0]],
        "parameters": list_parameters(operation, products, path),
        "security": SECURITY[operation.authorization],
        "responses": describe_responses(operation, product, vendor, versions),
        "x-operation": operation.name,
        "x-versions": list(versions),
        "x-accept": accepts,
    } | make_clause_marks(operation.clause)
    if operation.media:
        of_operation = [example for example in examples if example.operation == operation.name]
        row["requestBody"] = make_request_body(
            operation, product, [example for example in of_operation if not products or example.product in products]
        )
    return row


def write_description(operation: Operation, accepts: list[str]) -> str:
    offered = "\n".join(f"- `Accept: {accept}`" for accept in accepts)
    role = f" The client needs the role {operation.role}." if operation.role else ""
    scopes = f" Scopes: {', '.join(operation.scopes)}." if operation.scopes else ""
    needed = f"Authorization: {operation.authorization.value}."
    return f"{operation.clause}. {needed}{scopes}{role}\n\nVersions (choice 3):\n{offered}"


# Parameters (service 4.0, choice 2)

HEADERS = {
    "Request-ID": add_description(
        "A version 4 UUID, new for each call; Response-ID repeats it. The identical initiation sent again under the "
        "same one gets the first reply again.",
        "choice 2",
        {"type": "string", "format": "uuid"},
        example="f47ac10b-58cc-4372-a567-0e02b2c3d479",
    ),
    "Accept-Language": add_description(
        "A list of languages with weights. Screens exist in fr and nl; no known language at all is refused with 406.",
        "service 4.0",
        example="fr",
    ),
    "Client-ID": add_description(
        "The registered client. Unknown: 401; not active, or without the role: 403.", "choice 2", example="demo-tpp"
    ),
    "Redirect-URI": add_description("The callback, one that the client registered.", "choice 2", example=CALLBACK),
    "Code-Challenge-Method": add_description(
        "PKCE; required when no Authorization is sent.",
        "service 4.1",
        {"type": "string", "enum": list(METHODS)},
        example="S256",
    ),
    "Code-Challenge": add_description(
        "43 to 128 unreserved characters, exactly 43 for S256; plain ones of 32 or more are taken too.",
        "choice 2",
        example=EXAMPLE_CHALLENGE,
    ),
    "SCA-Token": add_description(
        "Opens the full history. Older than an hour of bank time, it counts as absent.", "choice 2"
    ),
    "PaymentInformationID": add_description(
        "Your own reference for the file; without it the MsgId of a pain.001 is.",
        "choice 7",
        {"type": "string", "pattern": "^[A-Za-z0-9-]{1,35}$"},
    ),
    "Signature": add_description("A compact JWS over the body, attached or detached.", "choice 9"),
    "Digest": add_description("SHA-256= and the Base64 of the body's SHA-256.", "choice 9"),
    "Date": add_description(
        "When the call was made, within 3 minutes of the bank's clock or of real time.", "choice 9"
    ),
}
ID_TYPE = add_description(
    "Whether the path holds the bank's reference (INTERNAL, the default) or yours (EXTERNAL).",
    "choice 5",
    {"type": "string", "enum": list(ID_TYPES), "default": "INTERNAL"},
)
DATE = {"type": "string", "format": "date"}
QUERIES = {
    "paymentIdType": ID_TYPE,
    "paymentFileIdType": ID_TYPE,
    "scope": add_description(
        "AIS with version 4, CAF with version 3.", "choice 8", {"type": "string", "enum": ["AIS", "CAF"]}
    ),
    "iban": add_description("The account, for CAF only and required there.", "choice 8"),
    "date_from": add_description("First imputation date, inclusive.", "service 4.10", DATE),
    "date_to": add_description("Last imputation date, exclusive.", "service 4.10", DATE),
    "psu_involved": add_description(
        "true: the customer asked for it now and may have to authenticate again.", "service 4.10", {"type": "boolean"}
    ),
    "pagesize": add_description(
        "Transactions per call.", "service 4.10", {"type": "integer", "minimum": 1, "maximum": 50, "default": 50}
    ),
    "next": add_description("The next_page_key of the reply before; it carries the whole query.", "service 4.10"),
    "currency": add_description(
        "The compartment; EUR where left out. A compartment that the account lacks gives an empty list.",
        "choice 8",
        {"type": "string", "pattern": "^[A-Z]{3}$", "default": "EUR"},
    ),
}
REFERENCE = "The reference that the initiation replied, or yours with {}. `/` in it is `%2F`."
PATHS = {
    "product": add_description("The product.", "service 4.1"),
    "payment_id": add_description(REFERENCE.format("paymentIdType"), "service 4.2"),
    "payment_file_id": add_description(REFERENCE.format("paymentFileIdType"), "service 4.6"),
    "logical_id": add_description("As GET /accounts lists it.", "service 4.9"),
}


def list_parameters(operation: Operation, products: tuple[str, ...], path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for part, row in PATHS.items():
        name = name_path_parameter(operation, part)
        if f"{{{name}}}" in path:
            choice = {"schema": {"type": "string", "enum": list(products)}} if part == "product" else {}
            rows.append({"name": name, "in": "path", "required": True} | row | choice)
    for name, is_required in list_headers(operation).items():
        rows.append({"name": name, "in": "header", "required": is_required} | HEADERS[name])
    for name in operation.query:
        rows.append({"name": name, "in": "query", "required": name == "scope"} | QUERIES[name])
    return rows


def list_headers(operation: Operation) -> dict[str, bool]:
    """Returns the headers of an operation, and whether each is required. Accept and Authorization are left out, because
    OpenAPI describes them by media types and security schemes."""
    headers = {"Request-ID": True}
    if operation.bank_headers:
        headers |= {"Accept-Language": True, "Client-ID": True, "Redirect-URI": operation.redirect_uri}
    if operation.pkce:
        is_required = operation.authorization is not Authorization.OPTIONAL
        headers |= {"Code-Challenge-Method": is_required, "Code-Challenge": is_required}
    if operation.name == "transactions":
        headers["SCA-Token"] = False
    if operation.name == "bulk_initiation":
        headers["PaymentInformationID"] = False
    if operation.method == "POST" and operation.bank_headers:
        headers |= {"Signature": False, "Digest": False, "Date": False}
    return headers


# Bodies of requests


def name_body_component(product: str) -> str:
    """Returns the name of the component for a product's body: `SepaPayment` for `sepa-credit-transfers`."""
    return "".join(word.capitalize() for word in product.split("-")[:-2]) + "Payment"


def make_request_body(operation: Operation, product: str | None, examples: list[Example]) -> dict[str, Any]:
    """Returns the OpenAPI description of an operation's request body. `product` is the first product that the path
    serves, or None for an operation without products. All versions share one schema. The title of each example names
    the version that accepts the example."""
    titles = {
        f"version {example.version}: {example.title}": example for example in examples if example.body is not None
    }
    shown_examples = {title: {"summary": title, "value": example.shown} for title, example in titles.items()}
    if operation.name == "payment_initiation" and product == SCT.name:
        shown_examples |= list_well_known_examples(product)
    if operation.name == "bulk_initiation":
        schema: JsonSchema = {"type": "string", "description": "The file."}
    elif operation.media == FORM:
        schema = make_reference(TokenForm.__name__)
    elif operation.name == "payment_initiation":
        assert product is not None
        schema = make_reference(ANY_VERSION if 1 in operation.list_versions(product) else name_body_component(product))
    else:
        schema = make_reference("ContractBody")
    media = operation.list_media(product)
    return {"required": True, "content": {name: {"schema": schema, "examples": shown_examples} for name in media}}


def list_well_known_examples(product: str) -> dict[str, Any]:
    """Returns an example body of a payment for each well-known value. A well-known value is a `creditor_name` that
    makes the bank behave in a special way. A reader can choose an example on the page where calls are tried."""
    return {
        row.value: {
            "summary": f"{row.value}: {row.effect}",
            "value": make_order(uuid5(NAMESPACE_URL, row.value).hex) | {"creditor_name": row.value},
        }
        for row in list_default_values()
        if "payment" in row.kinds and row.product in (None, product)
    }


def add_well_known_values(content: dict[str, Any]) -> None:
    """Adds the well-known values to the examples of the field `creditor_name` and of the header `PaymentInformationID`.
    A well-known value is a name or a reference that makes the bank behave in a special way."""
    values = list_default_values()
    names = list(dict.fromkeys(row.value for row in values if row.field == "creditor_name"))
    references = [row.value for row in values if row.field == "reference"]
    for schema in content["components"]["schemas"].values():
        field = schema.get("properties", {}).get("creditor_name")
        if field is not None and field.get("type") == "string":
            field["examples"] = ["Jan Peeters", *names]
    for path in content["paths"].values():
        for row in path.get("post", {}).get("parameters", ()):
            if row["name"] == "PaymentInformationID":
                row["examples"] = {name: {"value": name} for name in ["WAGES-MARCH", *references]}
