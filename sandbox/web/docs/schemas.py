"""JSON schemas out of the readers and writers: what each kind of value takes, and whose word a field is."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields
from marshmallow.schema import SchemaMeta
from marshmallow.validate import Regexp

from sandbox.contract.field_rows import ObjectKind, Use
from sandbox.contract.fields import FIELDS, IBAN_NOTE, PAYMENT, use_of
from sandbox.contract.products import Product
from sandbox.web.api.body_schemas import NumberOrText, PaymentBody
from sandbox.web.docs.generated import ours

JsonSchema = dict[str, Any]
OPENAPI = "3.1.0"


def reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def kind_of(field: fields.Field[Any]) -> JsonSchema:
    """What the library does not tell by itself: patterns as JSON Schema writes them, and fields of two types."""
    found: JsonSchema = {"type": ["number", "string"]} if isinstance(field, NumberOrText) else {}
    for check in field.validators:
        if isinstance(check, Regexp):
            found["pattern"] = "^" + str(check.regex.pattern).removesuffix(r"\Z") + "$"
    return found


def note_of(field: fields.Field[Any]) -> JsonSchema:
    """What the reference says about a field: the note of its row in the table, or of its schema here."""
    if "description" in field.metadata:
        return {}
    schema = field.parent
    name = name_of(schema) if isinstance(schema, Schema) else ""
    if "note" in field.metadata:
        return {"description": field.metadata["note"], **clause_marks(field.metadata["clause"])}
    note = NOTES.get(f"{name}.{field.name}") or NOTES.get(str(field.name))
    if note is None:
        return {}
    text, clause = note
    return {"description": text, **clause_marks(clause)}


def clause_marks(clause: str) -> JsonSchema:
    """Where it comes from; what is our choice is marked with its number."""
    marks: JsonSchema = {"x-clause": clause}
    if ours(clause):
        marks["x-choice"] = int(clause.split()[1])
    return marks


def described(text: str, clause: str, schema: JsonSchema | None = None, **more: Any) -> JsonSchema:
    """A header or a parameter; a text where its schema is left out."""
    return {"description": text, "schema": schema or {"type": "string"}} | more | clause_marks(clause)


def new_document(
    title: str, version: str, root: str, about: str, tags: dict[str, str]
) -> tuple[APISpec, OpenAPIConverter]:
    """An empty document, and the converter of schemas, which learns our kinds here."""
    made = MarshmallowPlugin(schema_name_resolver=name_of)
    spec = APISpec(
        title, version, OPENAPI, [made],
        info={
            "description": about,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "The reference of this sandbox", "url": f"{root}/_sandbox/docs"},
        },
        servers=[{"url": root}],
        tags=[{"name": name, "description": description} for name, description in tags.items()],
    )  # fmt: skip
    assert made.converter is not None
    for describe in (kind_of, note_of):
        made.converter.add_attribute_function(lambda _, field, of=describe, **more: of(field))  # type: ignore[no-untyped-call]
    return spec, made.converter


def name_of(schema: Schema | SchemaMeta | str) -> str:
    """The name in the document: the class `PaymentSchema` is the schema `Payment`."""
    if isinstance(schema, str):
        return schema
    kind = schema if isinstance(schema, type) else type(schema)
    return kind.__name__.removesuffix("Schema")


def of_product(product: Product, whole: dict[str, JsonSchema]) -> JsonSchema:
    """The body of version 3 with the product's column of the field table laid over it (service 2.1)."""
    body: JsonSchema = {**whole[PaymentBody.__name__], "properties": dict(whole[PaymentBody.__name__]["properties"])}
    required = {row.path for row in PAYMENT.outers() if isinstance(row.kind, ObjectKind) and row.kind.always}
    inner: dict[str, dict[str, Use]] = {}
    for path in FIELDS:
        outer, _, field = path.partition(".")
        use = use_of(path, product)
        if field:
            inner.setdefault(outer, {})[field] = use
        if use is Use.REQUIRED:
            required.add(outer)
        if use is Use.ABSENT and not field:
            del body["properties"][outer]
    for outer, uses in inner.items():
        body["properties"][outer] = _part(whole, body["properties"][outer], uses)
    body["required"] = [name for name in body["properties"] if name in required]
    body["description"] = f"The body of version 3 for {product.name} ({product.clause}). Other fields are refused."
    return body


def _part(whole: dict[str, JsonSchema], reference: JsonSchema, uses: dict[str, Use]) -> JsonSchema:
    """An object inside the body, with the fields that the product has."""
    target = reference.get("$ref") or reference["allOf"][0]["$ref"]  # it may stand beside a description
    part = whole[str(target).rpartition("/")[2]]
    kept = {name: kind for name, kind in part["properties"].items() if uses.get(name) is not Use.ABSENT}
    needed = {*part.get("required", ()), *(name for name, use in uses.items() if use is Use.REQUIRED)}
    shape: JsonSchema = {"type": "object", "properties": kept, "additionalProperties": False}
    if needed:
        shape["required"] = [name for name in kept if name in needed]
    return shape


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
