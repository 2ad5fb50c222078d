"""Changes the OpenAPI document of the bank's interface for a bank with variants.

The table AMENDMENTS has a function for each value of an axis that changes the shape of a call or a reply. The function
takes the document and changes it in place. Some of these functions need further parameters. They are decorated by
`@amendment`: called with the further parameters, they return the function for the table.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from sandbox.bank.initiations import SEPA_SET
from sandbox.contract.decisions import AXES, Pairs
from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.web.api.failures import list_other_codes
from sandbox.web.api.faults import MAY_BE_ABSENT
from sandbox.web.api.gate import REDIRECT_URI_LISTED
from sandbox.web.api.replies import BIC, INITIATION_CAMEL, ITEM_CAMEL, TEXTS
from sandbox.web.docs.reply_schemas import REPLIES
from sandbox.web.docs.responses import WIRE_TYPE, make_refusal_schema, make_title
from sandbox.web.docs.schemas import JsonSchema, name_component

OpenApi = dict[str, Any]
Amend = Callable[[OpenApi], None]
Parameters = ParamSpec("Parameters")
Names = str | tuple[str, ...]  # of components

INITIATIONS = ("payment_initiation", "standing_order_initiation")
BY_REFERENCE = tuple(name for name, row in BY_NAME.items() if row.kind is not None and row.method != "POST")
SILENT = tuple(name for name, row in BY_NAME.items() if row.silent)
SCOPED = tuple(name for name, row in BY_NAME.items() if row.scopes)
READS = ("accounts", "account", "transactions", "token")
INITIATED = ("PaymentInitiationReply", "ContractInitiationReply")
STATUSES = ("PaymentStatusReply", "ContractStatusReply")
DETAILS = ("PaymentDetailsReply", "ContractDetailsReply")
CANCELLATIONS = tuple(name for name in BY_NAME if name.endswith("_cancellation"))
OF_ACCOUNT = ("account", "transactions")
ROW = "TransactionRow"
VALUE_DATE = ("value_date", ITEM_CAMEL["value_date"])
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
NULLABLE = {"type": ["string", "null"]}
DECIMAL = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}

MONEY = {"type": "object", "required": ["currency", "amount"], "properties": {"currency": TEXT, "amount": DECIMAL}}
EXCHANGE_DETAILS = {
    "type": "object",
    "required": ["debited_amount", "charges"],
    "properties": {"exchange_rate": DECIMAL, "debited_amount": MONEY, "charges": MONEY},
}


def amend_document(document: OpenApi, variants: Pairs) -> OpenApi:
    """Changes the document in place for these variants, lists them in its introduction, and returns the document.
    Without variants, changes nothing."""
    if not variants:
        return document
    document["info"]["x-variants"] = dict(variants)
    lines = [
        f"- `{axis}: {value}` ({AXES[axis].clause}): {AXES[axis].find_value(value).does}" for axis, value in variants
    ]
    document["info"]["description"] += "\n\nThis bank differs from the usual one:\n" + "\n".join(lines)
    for pair in sorted(variants, key=LAST.__eq__):
        if pair in AMENDMENTS:
            AMENDMENTS[pair](document)
    return document


def amendment(change: Callable[Concatenate[OpenApi, Parameters], None]) -> Callable[Parameters, Amend]:
    """Decorates a function whose first parameter is a document. The decorated function is called with the other
    parameters only. It returns a function that takes the document and changes it."""

    @wraps(change)
    def with_parameters(*parameters: Parameters.args, **keywords: Parameters.kwargs) -> Amend:
        return lambda document: change(document, *parameters, **keywords)

    return with_parameters


def find_components(document: OpenApi, names: Names) -> list[JsonSchema]:
    return [document["components"]["schemas"][name] for name in ([names] if isinstance(names, str) else names)]


def find_operations(document: OpenApi, *names: str) -> Iterator[dict[str, Any]]:
    """Yields the operations of these names, or all operations if there are no names. An operation with several paths is
    yielded once for each path."""
    for methods in document["paths"].values():
        yield from (row for row in methods.values() if not names or row["x-operation"] in names)


# Changes with parameters


@amendment
def apply_both(document: OpenApi, *amends: Amend) -> None:
    for amend in amends:
        amend(document)


@amendment
def replace_fields(document: OpenApi, /, names: Names, *fields: str, **shape: Any) -> None:
    """Replaces the schema of `fields` in the components `names` by `shape`. The fields keep their descriptions and
    clauses. Adds a field that a component does not have."""
    for schema in find_components(document, names):
        for name in fields:
            old = schema["properties"].get(name, {})
            notes = {key: value for key, value in old.items() if key == "description" or key.startswith("x-")}
            schema["properties"][name] = notes | shape


@amendment
def rename_fields(document: OpenApi, names: Names, words: Mapping[str, str]) -> None:
    """Renames fields of the components `names`. `words` maps the old name of a field to its new name."""
    for schema in find_components(document, names):
        schema["properties"] = {words.get(name, name): shape for name, shape in schema["properties"].items()}
        if "required" in schema:
            schema["required"] = [words.get(name, name) for name in schema["required"]]


@amendment
def make_optional(document: OpenApi, names: Names, *fields: str) -> None:
    for schema in find_components(document, names):
        schema["required"] = [name for name in schema.get("required", []) if name not in fields]


@amendment
def make_required(document: OpenApi, names: Names, *fields: str) -> None:
    for schema in find_components(document, names):
        schema["required"] = [*schema.get("required", []), *fields]


@amendment
def change_parameter(document: OpenApi, name: str, /, *names: str, **changes: Any) -> None:
    """Changes the header or query parameter `name` of the operations `names`. Without `names`, changes it in all
    operations that have it."""
    for operation in find_operations(document, *names):
        for row in operation.get("parameters", ()):
            if row["name"] == name:
                row.update(changes)


@amendment
def add_refusal(document: OpenApi, status: int, error: Error, when: str, *names: str) -> None:
    """Adds an error to the documented refusals with this status. `names` are the operations that get the error; without
    `names`, all operations get it. `when` is the condition under which the bank gives the error."""
    row = error.value
    for operation in find_operations(document, *names):
        new = {"description": make_title(row.error), "content": {WIRE_TYPE: {"schema": make_refusal_schema([])}}}
        response = operation["responses"].setdefault(str(status), new)
        codes = response["content"][WIRE_TYPE]["schema"]["allOf"][1]["properties"]["error_code"]["enum"]
        if row.code not in codes:
            codes.append(row.code)
            response["description"] += f"\n\n{row.error} {row.code}: {when}"


@amendment
def retry_after(document: OpenApi, statuses: tuple[str, ...], text: str | None) -> None:
    """Changes the description of the header Retry-After in the responses with these statuses to `text`. If `text` is
    None, makes the header optional instead."""
    for operation in find_operations(document):
        for status in statuses:
            header = operation["responses"].get(status, {}).get("headers", {}).get("Retry-After")
            if header is not None:
                header |= {"required": False} if text is None else {"description": text}


@amendment
def change_bodies(document: OpenApi, change: Callable[[JsonSchema], None]) -> None:
    """Applies `change` to the schema of each body of an initiation, and of each object within these bodies."""
    for name, schema in document["components"]["schemas"].items():
        if name.endswith(("Payment", "Body")):
            change(schema)


@amendment
def set_content_type(document: OpenApi, text: str) -> None:
    document["info"]["x-content-type"] = text


@amendment
def add_gateway_pages(document: OpenApi, status: str) -> None:
    for operation in find_operations(document):
        operation["responses"][status] = {
            "description": "A gateway in front of the bank.",
            "content": {"text/html": {"schema": {"type": "string"}}},
        }


# Changes of one value


def take_unknown_fields(schema: JsonSchema) -> None:
    schema.pop("additionalProperties", None)
    for property_schema in schema.get("properties", {}).values():
        take_unknown_fields(property_schema)


def take_sepa_names(schema: JsonSchema) -> None:
    if "creditor_name" in schema.get("properties", {}):
        schema["properties"]["creditor_name"]["pattern"] = f"^{SEPA_SET.pattern}$"


def take_numbers(schema: JsonSchema) -> None:
    properties = schema.get("properties", {})
    properties = properties.get("instructed_amount", {}).get("properties", properties)
    for name in set(properties) & {"amount", "minimal_amount", "maximal_amount"}:
        properties[name] = {"anyOf": [properties[name], {"type": "number"}]}


def keep_newest_version(document: OpenApi) -> None:
    for operation in find_operations(document, *SILENT):
        dropped = operation["x-accept"][1:]
        operation["x-versions"], operation["x-accept"] = operation["x-versions"][:1], operation["x-accept"][:1]
        for response in operation["responses"].values():
            for media in dropped:
                response.get("content", {}).pop(media, None)


def change_error_codes(document: OpenApi) -> None:
    text = json.dumps(document["paths"])
    for code, other in list_other_codes().items():
        text = text.replace(code, other)
    document["paths"] = json.loads(text)


def lower_error_words(document: OpenApi) -> None:
    for schema in find_components(document, "ErrorReply"):
        schema["properties"]["error"]["pattern"] = "^[a-z_]+$"


def allow_unknown_fields(document: OpenApi) -> None:
    for schema in document["components"]["schemas"].values():
        schema.pop("additionalProperties", None)


def allow_null_fields(document: OpenApi) -> None:
    for operation, fields in MAY_BE_ABSENT.items():
        for schema in find_components(document, name_component(REPLIES[operation])):
            for name in fields:
                schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}


def add_other_status_spelling(document: OpenApi) -> None:
    """Adds PNDG, another spelling of PDNG, to the documented statuses. PDNG stays, because the descriptions use that
    name."""
    for schema in find_components(document, (*STATUSES, *DETAILS, "BulkStatusReply", "PartRow")):
        schema["properties"]["status"]["enum"].append("PNDG")


def remove_location(document: OpenApi) -> None:
    for operation in find_operations(document, *INITIATIONS):
        operation["responses"]["201"]["headers"].pop("Location", None)


LAST = ("error_codes", "other")  # it replaces the codes that other amendments add, too

UNDELETABLE = " or ".join(product.short for product in PRODUCTS.values() if not product.deletable)
AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("silent_versions", "newest_only"): keep_newest_version,
    ("redirect_uri_elsewhere", "required"): change_parameter("Redirect-URI", *REDIRECT_URI_LISTED, required=True),
    ("client_id_elsewhere", "optional"): change_parameter("Client-ID", *SCOPED, required=False),
    ("language_region", "406"): change_parameter(
        "Accept-Language",
        description="A list of languages of ISO 639-1 with weights; fr-BE is none of them.",
    ),
    ("pkce_plain", "refused"): change_parameter("Code-Challenge-Method", schema={"type": "string", "enum": ["S256"]}),
    ("signatures", "strict"): apply_both(
        *(change_parameter(name, required=True) for name in ("Signature", "Digest", "Date"))
    ),
    ("signature_over", "attached"): change_parameter("Signature", description="A compact JWS with the body in it."),
    ("signature_over", "detached"): change_parameter("Signature", description="A compact JWS over the body, detached."),
    ("signature_over", "headers"): change_parameter(
        "Signature", description="A compact JWS over the lines request-id, digest and date."
    ),
    ("retry_after", "date"): retry_after(("429", "503"), "A date of HTTP."),
    ("retry_after", "absent"): retry_after(("429", "503"), None),
    ("unavailable", "first_call"): retry_after(("503",), None),
    ("unknown_field", "ignored"): change_bodies(take_unknown_fields),
    ("amount_as_number", "accepted"): change_bodies(take_numbers),
    ("names", "sepa"): change_bodies(take_sepa_names),
    ("content_type_reply", "vendor"): set_content_type("that of the Accept header"),
    ("content_type_reply", "plain"): set_content_type("application/json"),
    ("error_codes", "other"): change_error_codes,
    ("error_words", "lower"): lower_error_words,
    ("insufficient_funds", "400"): add_refusal(400, Error.FUNDS_MISSING, "funds are missing", *INITIATIONS),
    ("consent_gone", "401"): add_refusal(401, Error.CONSENT_ENDED, "the consent was withdrawn or is over", *READS),
    ("foreign_id", "403"): add_refusal(403, Error.ACCESS_DENIED, "the initiation is another client's", *BY_REFERENCE),
    ("wrong_scope", "401"): add_refusal(401, Error.ACCESS_TOKEN_REFUSED, "the token is of another scope", *SCOPED),
    ("unknown_fields", "everywhere"): allow_unknown_fields,
    ("absent_fields", "null"): allow_null_fields,
    ("gateway", "502"): add_gateway_pages("502"),
    ("gateway", "504"): add_gateway_pages("504"),
    ("status_spelling", "PNDG"): add_other_status_spelling,
    ("sca_address_in", "links"): remove_location,
    ("initiation_fields", "few"): make_optional(
        INITIATED, "endtoend_identification", INITIATION_CAMEL["endtoend_identification"], "status"
    ),
    ("initiation_field_names", "camel"): rename_fields((*INITIATED, "InitiationLinks"), INITIATION_CAMEL),
    ("psu_name_before_login", "null"): replace_fields(DETAILS, "psu_name", **NULLABLE),
    ("reason", "always"): replace_fields(STATUSES, "reason", **NULLABLE),
    ("details_amount", "number"): apply_both(
        replace_fields("MoneyRow", "amount", **NUMBER),
        replace_fields("ContractMoneyRow", "amount", "minimal_amount", "maximal_amount", **NUMBER),
    ),
    ("exchange_details", "present"): replace_fields("PaymentDetailsReply", "exchange_details", **EXCHANGE_DETAILS),
    ("status_names_payment", "no"): make_optional(STATUSES, "payment_id"),
    ("order_currency", "required"): make_required("ContractAmountBody", "currency"),
    ("payment_information_id", "required"): change_parameter("PaymentInformationID", required=True),
    ("payment_information_id", "of_a_bulk"): change_parameter(
        "PaymentInformationID", description="The PmtInfId of a bulk; the file is looked up by its MsgId."
    ),
    ("bulks_while_rcvd", "absent"): make_optional("BulkStatusReply", "bulks"),
    ("file_numbers", "strings"): replace_fields("PartRow", "control_sum", "number_of_transactions", type="string"),
    ("xb_delete", "403"): add_refusal(
        403, Error.NOT_CANCELLABLE, f"a {UNDELETABLE} payment cannot be cancelled", *CANCELLATIONS
    ),
    ("balances_as", "string"): replace_fields("AccountReply", "balance", **DECIMAL),
    ("multicurrency", "string"): replace_fields("AccountReply", "multicurrency", enum=["true", "false"]),
    ("multicurrency", "Y"): replace_fields("AccountReply", "multicurrency", enum=["Y", "N"]),
    ("multicurrency", "True"): replace_fields("AccountReply", "multicurrency", enum=["True", "False"]),
    ("account_holder", "present"): apply_both(
        replace_fields("AccountReply", "account_holder", type="string"), make_required("AccountReply", "account_holder")
    ),
    ("account_type", "iso"): replace_fields("AccountReply", "type", enum=["CACC", "SVGS"]),
    ("unknown_logical_id", "404"): add_refusal(
        404, Error.NOT_FOUND, "the logical-id is none of the consent", *OF_ACCOUNT
    ),
    ("lacking_compartment", "404"): add_refusal(404, Error.NOT_FOUND, "the account lacks the currency", "transactions"),
    ("item_amount", "string"): replace_fields(ROW, "amount", **DECIMAL),
    ("item_sign", "indicator"): apply_both(
        replace_fields(ROW, "credit_debit_indicator", enum=["CRDT", "DBIT"]),
        make_required(ROW, "credit_debit_indicator"),
    ),
    ("item_fields", "camel"): rename_fields(ROW, ITEM_CAMEL),
    ("pending_items", "shown"): replace_fields(ROW, "status", enum=["PDNG"]),
    ("reference_when_booked", "changes"): replace_fields(ROW, "status", enum=["PDNG"]),
    ("text_when_booked", "changes"): replace_fields(ROW, "status", enum=["PDNG"]),
    ("pending_lines", "nearly_empty"): apply_both(
        replace_fields(ROW, "status", enum=["PDNG"]), make_optional(ROW, *VALUE_DATE)
    ),
    ("counterparty_bic", "present"): replace_fields(ROW, BIC, **NULLABLE),
    ("value_date_field", "sometimes"): make_optional(ROW, *VALUE_DATE),
    ("item_dates", "date_time"): replace_fields(ROW, "execution_date", "value_date", type="string", format="date-time"),
    ("item_blanks", "empty"): replace_fields(ROW, *TEXTS, type="string"),
    ("item_blanks", "absent"): apply_both(
        replace_fields(ROW, *TEXTS, type="string", minLength=1), make_optional(ROW, *TEXTS)
    ),
    ("old_dates_without_sca", "403"): add_refusal(
        403, Error.ACCESS_DENIED, "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("old_dates_without_sca", "400_address"): add_refusal(
        400, Error.SCA_REQUIRED, "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("balance_after_90_days", "401"): add_refusal(
        401, Error.SCA_REQUIRED, "the last authentication is over 90 days old", "account"
    ),
    ("sca_token_request", "query"): change_parameter(
        "SCA-Token", "transactions", **{"name": "sca_token", "in": "query"}
    ),
    ("sca_token_reply", "scaToken"): rename_fields("TokenReply", {"sca_token": "scaToken"}),
    ("scope_in", "header"): change_parameter("scope", "consent_addresses", **{"name": "Scope", "in": "header"}),
    ("caf_account", "account"): change_parameter("iban", "consent_addresses", name="account"),
    ("token_type_case", "bearer"): replace_fields("TokenReply", "token_type", enum=["bearer"]),
}
