"""Turns marshmallow schemas into the JSON schemas of an OpenAPI document. Each field has a description and its
clause."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields
from marshmallow.schema import SchemaMeta
from marshmallow.validate import Regexp

from sandbox.contract.field_rows import ObjectKind, Use
from sandbox.contract.fields import FIELDS, IBAN_NOTE, PAYMENT, find_use
from sandbox.contract.products import Product
from sandbox.web.api.body_schemas import NumberOrText, PaymentBody
from sandbox.web.docs.reference_tables import is_choice

JsonSchema = dict[str, Any]
OPENAPI = "3.1.0"


def make_reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def make_shape(field: fields.Field[Any]) -> JsonSchema:
    """Returns the parts of a field's JSON schema that apispec does not write: the pattern, and the types of a field
    that accepts both numbers and texts."""
    shape: JsonSchema = {"type": ["number", "string"]} if isinstance(field, NumberOrText) else {}
    for check in field.validators:
        if isinstance(check, Regexp):
            shape["pattern"] = "^" + str(check.regex.pattern).removesuffix(r"\Z") + "$"
    return shape


def describe_field(field: fields.Field[Any]) -> JsonSchema:
    """Returns description and clause of a field, from its row in the field table or from NOTES. Returns an empty
    dictionary if the field has its own description, because apispec writes that one, or if there is no description."""
    if "description" in field.metadata:
        return {}
    if "note" in field.metadata:
        return {"description": field.metadata["note"], **make_clause_marks(field.metadata["clause"])}
    schema = field.parent
    name = name_component(schema) if isinstance(schema, Schema) else ""
    text, clause = NOTES.get(f"{name}.{field.name}") or NOTES.get(str(field.name)) or ("", "")
    return {"description": text, **make_clause_marks(clause)} if text else {}


def make_clause_marks(clause: str) -> JsonSchema:
    marks: JsonSchema = {"x-clause": clause}
    if is_choice(clause):
        marks["x-choice"] = int(clause.split()[1])
    return marks


def add_description(text: str, clause: str, schema: JsonSchema | None = None, **more: Any) -> JsonSchema:
    """Returns the description of a header or a parameter, with its schema and its clause. The default schema is that of
    a string."""
    return {"description": text, "schema": schema or {"type": "string"}} | more | make_clause_marks(clause)


def make_document(
    title: str, version: str, root: str, about: str, tags: dict[str, str]
) -> tuple[APISpec, OpenAPIConverter]:
    """Returns an empty document, and the converter that turns marshmallow schemas into its JSON schemas."""
    plugin = MarshmallowPlugin(schema_name_resolver=name_component)
    spec = APISpec(
        title, version, OPENAPI, [plugin],
        info={
            "description": about,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "The reference of this sandbox", "url": f"{root}/_sandbox/docs/reference"},
        },
        servers=[{"url": root}],
        tags=[{"name": name, "description": description} for name, description in tags.items()],
    )  # fmt: skip
    assert plugin.converter is not None
    for describe in (make_shape, describe_field):
        plugin.converter.add_attribute_function(lambda _, field, of=describe, **more: of(field))  # type: ignore[no-untyped-call]
    return spec, plugin.converter


def name_component(schema: Schema | SchemaMeta | str) -> str:
    """Returns the name of a schema's component: `Payment` for the class `PaymentSchema`."""
    if isinstance(schema, str):
        return schema
    return (schema if isinstance(schema, type) else type(schema)).__name__.removesuffix("Schema")


def make_product_body(product: Product, components: dict[str, JsonSchema]) -> JsonSchema:
    """Returns the schema of a product's body in version 3. It has only the fields that the field table allows for this
    product (service 2.1)."""
    whole = components[PaymentBody.__name__]
    properties = dict(whole["properties"])
    required = {row.path for row in PAYMENT.list_outers() if isinstance(row.kind, ObjectKind) and row.kind.always}
    uses_of_parts: dict[str, dict[str, Use]] = {}
    for path in FIELDS:
        outer, _, part = path.partition(".")
        use = find_use(path, product)
        if part:
            uses_of_parts.setdefault(outer, {})[part] = use
        elif use is Use.ABSENT:
            del properties[outer]
        if use is Use.REQUIRED:
            required.add(outer)
    for outer, uses in uses_of_parts.items():
        target = properties[outer].get("$ref") or properties[outer]["allOf"][0]["$ref"]
        properties[outer] = _make_product_object(components[str(target).rpartition("/")[2]], uses)
    return {
        **whole,
        "properties": properties,
        "required": [name for name in properties if name in required],
        "description": f"The body of version 3 for {product.name} ({product.clause}). Other fields are refused.",
    }


def _make_product_object(component: JsonSchema, uses: dict[str, Use]) -> JsonSchema:
    properties = {name: shape for name, shape in component["properties"].items() if uses.get(name) is not Use.ABSENT}
    required = {*component.get("required", ()), *(name for name, use in uses.items() if use is Use.REQUIRED)}
    schema: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = [name for name in properties if name in required]
    return schema


_REFERENCE = PAYMENT.by_path["endtoend_identification"]

NOTES: dict[str, tuple[str, str]] = {
    "iban": (IBAN_NOTE, "service 2.1"),
    "endtoend_identification": (_REFERENCE.note, _REFERENCE.clause),
    "payment_id": ("The bank's reference, for the paths.", "choice 5"),
    "transaction_ref": ("The reference of the debit, as the account will show it.", "service 2.4"),
    "payment_file_id": ("The bank's reference of the file, for the paths.", "choice 7"),
    "reason": ("Why it was rejected or cancelled, where there is a reason to tell.", "choice 5"),
    "sca_redirect": ("Where the customer signs; append your state to it.", "choice 5"),
    "psu_name": ("Once the customer is known.", "choice 5"),
    "expires_in": ("Seconds.", "service 2.6"),
    "logical_id": ("The account's name in these addresses; it differs per consent and client.", "choice 8"),
    "sca_token": ("With grant_type authorization_code: opens the full history for an hour.", "choice 8"),
    "language": ("ISO 639-1: fr or nl.", "service 2.5"),
    "consent_uri": ("Where the customer consents; append your state to it.", "service 2.5"),
    "AccountReply.balance": (
        "With several currencies, that of the euro compartment, or of all at the bank's rates: a parameter of the "
        "account.",
        "service 2.7",
    ),
    "AccountReply.type": ("current-account or savings-account.", "choice 8"),
    "multicurrency": ("A boolean.", "choice 8"),
    "next_page_key": ("Present while there is more; pass it as next.", "service 2.8"),
    "TransactionRow.amount": ("Signed: below 0 is a debit.", "choice 8"),
    "TransactionRow.execution_date": ("The imputation date, by which date_from and date_to select.", "choice 8"),
    "number_of_errors": ("How many there are; the list holds the first 20.", "choice 7"),
    "control_sum": ("The sum of the bulk's amounts.", "choice 7"),
    "href": ("Signing and consent addresses are absolute, all others start below the base address.", "choice 1"),
    "error": ("A word of a fixed form.", "service 2.9"),
    "error_code": ("For software. Codes that begin with SBX- are the sandbox's own.", "choice 4"),
    "error_description": ("For people; it names the input at fault.", "service 2.9"),
}
