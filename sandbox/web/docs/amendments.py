"""Changes the OpenAPI document of the bank's interface for a bank with variants.

The table AMENDMENTS has a function for each value of an axis that changes the shape of a call or a reply. The function
changes the document. `@amendment` is for functions with further parameters: called with these parameters, they return a
function for the table.
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
from sandbox.web.docs.responses import WIRE_TYPE, refusal_schema, title_of
from sandbox.web.docs.schemas import JsonSchema, name_of

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
    """Changes the document for these variants, lists them in its introduction, and returns it."""
    if not variants:
        return document
    document["info"]["x-variants"] = dict(variants)
    lines = [f"- `{axis}: {value}` ({AXES[axis].clause}): {AXES[axis].value(value).does}" for axis, value in variants]
    document["info"]["description"] += "\n\nThis bank differs from the usual one:\n" + "\n".join(lines)
    for pair in sorted(variants, key=LAST.__eq__):
        if pair in AMENDMENTS:
            AMENDMENTS[pair](document)
    return document


def amendment(change: Callable[Concatenate[OpenApi, Parameters], None]) -> Callable[Parameters, Amend]:
    """Decorates a function that changes a document. The decorated function is called without the document, and returns
    a function of the document."""

    @wraps(change)
    def with_parameters(*parameters: Parameters.args, **keywords: Parameters.kwargs) -> Amend:
        return lambda document: change(document, *parameters, **keywords)

    return with_parameters


def components(document: OpenApi, names: Names) -> list[JsonSchema]:
    return [document["components"]["schemas"][name] for name in ([names] if isinstance(names, str) else names)]


def operations(document: OpenApi, *names: str) -> Iterator[dict[str, Any]]:
    """Yields the operations of these names, or all operations if there are no names. An operation with several paths is
    yielded once for each path."""
    for methods in document["paths"].values():
        yield from (row for row in methods.values() if not names or row["x-operation"] in names)


# Changes with parameters


@amendment
def both(document: OpenApi, *amends: Amend) -> None:
    for amend in amends:
        amend(document)


@amendment
def field(document: OpenApi, /, names: Names, *fields: str, **shape: Any) -> None:
    """Gives fields of components another schema. The fields keep their descriptions and clauses."""
    for schema in components(document, names):
        for name in fields:
            old = schema["properties"].get(name, {})
            notes = {key: value for key, value in old.items() if key == "description" or key.startswith("x-")}
            schema["properties"][name] = notes | shape


@amendment
def respelled(document: OpenApi, names: Names, words: Mapping[str, str]) -> None:
    """Renames fields of components."""
    for schema in components(document, names):
        schema["properties"] = {words.get(name, name): shape for name, shape in schema["properties"].items()}
        if "required" in schema:
            schema["required"] = [words.get(name, name) for name in schema["required"]]


@amendment
def optional(document: OpenApi, names: Names, *fields: str) -> None:
    for schema in components(document, names):
        schema["required"] = [name for name in schema.get("required", []) if name not in fields]


@amendment
def required(document: OpenApi, names: Names, *fields: str) -> None:
    for schema in components(document, names):
        schema["required"] = [*schema.get("required", []), *fields]


@amendment
def parameter(document: OpenApi, name: str, /, *names: str, **changes: Any) -> None:
    """Changes a header or a query parameter of these operations. Without names, changes it in all operations that have
    it."""
    for operation in operations(document, *names):
        for row in operation.get("parameters", ()):
            if row["name"] == name:
                row.update(changes)


@amendment
def refuses(document: OpenApi, status: int, error: Error, when: str, *names: str) -> None:
    """Adds an error to the refusals that operations document for this status. `when` is the condition of the error."""
    row = error.value
    for operation in operations(document, *names):
        new = {"description": title_of(row.error), "content": {WIRE_TYPE: {"schema": refusal_schema([])}}}
        response = operation["responses"].setdefault(str(status), new)
        codes = response["content"][WIRE_TYPE]["schema"]["allOf"][1]["properties"]["error_code"]["enum"]
        if row.code not in codes:
            codes.append(row.code)
            response["description"] += f"\n\n{row.error} {row.code}: {when}"


@amendment
def retry_after(document: OpenApi, statuses: tuple[str, ...], text: str | None) -> None:
    """Changes the description of Retry-After in the responses with these statuses. Without a description, makes the
    header optional instead."""
    for operation in operations(document):
        for status in statuses:
            header = operation["responses"].get(status, {}).get("headers", {}).get("Retry-After")
            if header is not None:
                header |= {"required": False} if text is None else {"description": text}


@amendment
def bodies(document: OpenApi, change: Callable[[JsonSchema], None]) -> None:
    """Applies a change to the schema of each body of an initiation, and of each amount in such a body."""
    for name, schema in document["components"]["schemas"].items():
        if name.endswith(("Payment", "Body")):
            change(schema)


@amendment
def content_type(document: OpenApi, text: str) -> None:
    document["info"]["x-content-type"] = text


@amendment
def gateway_pages(document: OpenApi, status: str) -> None:
    for operation in operations(document):
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


def newest_version_only(document: OpenApi) -> None:
    for operation in operations(document, *SILENT):
        dropped = operation["x-accept"][1:]
        operation["x-versions"], operation["x-accept"] = operation["x-versions"][:1], operation["x-accept"][:1]
        for response in operation["responses"].values():
            for media in dropped:
                response.get("content", {}).pop(media, None)


def other_error_codes(document: OpenApi) -> None:
    text = json.dumps(document["paths"])
    for code, other in list_other_codes().items():
        text = text.replace(code, other)
    document["paths"] = json.loads(text)


def lower_error_words(document: OpenApi) -> None:
    for schema in components(document, "ErrorReply"):
        schema["properties"]["error"]["pattern"] = "^[a-z_]+$"


def unknown_fields(document: OpenApi) -> None:
    for schema in document["components"]["schemas"].values():
        schema.pop("additionalProperties", None)


def null_fields(document: OpenApi) -> None:
    for operation, fields in MAY_BE_ABSENT.items():
        for schema in components(document, name_of(REPLIES[operation])):
            for name in fields:
                schema["properties"][name] = {"anyOf": [schema["properties"][name], {"type": "null"}]}


def other_spelling_of_status(document: OpenApi) -> None:
    """Adds PNDG to the documented statuses. PDNG stays, because the descriptions use that name."""
    for schema in components(document, (*STATUSES, *DETAILS, "BulkStatusReply", "PartRow")):
        schema["properties"]["status"]["enum"].append("PNDG")


def no_location(document: OpenApi) -> None:
    for operation in operations(document, *INITIATIONS):
        operation["responses"]["201"]["headers"].pop("Location", None)


LAST = ("error_codes", "other")  # it replaces the codes that other amendments add, too

UNDELETABLE = " or ".join(product.short for product in PRODUCTS.values() if not product.deletable)
AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("silent_versions", "newest_only"): newest_version_only,
    ("redirect_uri_elsewhere", "required"): parameter("Redirect-URI", *REDIRECT_URI_LISTED, required=True),
    ("client_id_elsewhere", "optional"): parameter("Client-ID", *SCOPED, required=False),
    ("language_region", "406"): parameter(
        "Accept-Language",
        description="A list of languages of ISO 639-1 with weights; fr-BE is none of them.",
    ),
    ("pkce_plain", "refused"): parameter("Code-Challenge-Method", schema={"type": "string", "enum": ["S256"]}),
    ("signatures", "strict"): both(*(parameter(name, required=True) for name in ("Signature", "Digest", "Date"))),
    ("signature_over", "attached"): parameter("Signature", description="A compact JWS with the body in it."),
    ("signature_over", "detached"): parameter("Signature", description="A compact JWS over the body, detached."),
    ("signature_over", "headers"): parameter(
        "Signature", description="A compact JWS over the lines request-id, digest and date."
    ),
    ("retry_after", "date"): retry_after(("429", "503"), "A date of HTTP."),
    ("retry_after", "absent"): retry_after(("429", "503"), None),
    ("unavailable", "first_call"): retry_after(("503",), None),
    ("unknown_field", "ignored"): bodies(take_unknown_fields),
    ("amount_as_number", "accepted"): bodies(take_numbers),
    ("names", "sepa"): bodies(take_sepa_names),
    ("content_type_reply", "vendor"): content_type("that of the Accept header"),
    ("content_type_reply", "plain"): content_type("application/json"),
    ("error_codes", "other"): other_error_codes,
    ("error_words", "lower"): lower_error_words,
    ("insufficient_funds", "400"): refuses(400, Error.FUNDS_MISSING, "funds are missing", *INITIATIONS),
    ("consent_gone", "401"): refuses(401, Error.CONSENT_ENDED, "the consent was withdrawn or is over", *READS),
    ("foreign_id", "403"): refuses(403, Error.ACCESS_DENIED, "the initiation is another client's", *BY_REFERENCE),
    ("wrong_scope", "401"): refuses(401, Error.ACCESS_TOKEN_REFUSED, "the token is of another scope", *SCOPED),
    ("unknown_fields", "everywhere"): unknown_fields,
    ("absent_fields", "null"): null_fields,
    ("gateway", "502"): gateway_pages("502"),
    ("gateway", "504"): gateway_pages("504"),
    ("status_spelling", "PNDG"): other_spelling_of_status,
    ("sca_address_in", "links"): no_location,
    ("initiation_fields", "few"): optional(
        INITIATED, "endtoend_identification", INITIATION_CAMEL["endtoend_identification"], "status"
    ),
    ("initiation_field_names", "camel"): respelled((*INITIATED, "InitiationLinks"), INITIATION_CAMEL),
    ("psu_name_before_login", "null"): field(DETAILS, "psu_name", **NULLABLE),
    ("reason", "always"): field(STATUSES, "reason", **NULLABLE),
    ("details_amount", "number"): both(
        field("MoneyRow", "amount", **NUMBER),
        field("ContractMoneyRow", "amount", "minimal_amount", "maximal_amount", **NUMBER),
    ),
    ("exchange_details", "present"): field("PaymentDetailsReply", "exchange_details", **EXCHANGE_DETAILS),
    ("status_names_payment", "no"): optional(STATUSES, "payment_id"),
    ("order_currency", "required"): required("ContractAmountBody", "currency"),
    ("payment_information_id", "required"): parameter("PaymentInformationID", required=True),
    ("payment_information_id", "of_a_bulk"): parameter(
        "PaymentInformationID", description="The PmtInfId of a bulk; the file is looked up by its MsgId."
    ),
    ("bulks_while_rcvd", "absent"): optional("BulkStatusReply", "bulks"),
    ("file_numbers", "strings"): field("PartRow", "control_sum", "number_of_transactions", type="string"),
    ("xb_delete", "403"): refuses(
        403, Error.NOT_CANCELLABLE, f"a {UNDELETABLE} payment cannot be cancelled", *CANCELLATIONS
    ),
    ("balances_as", "string"): field("AccountReply", "balance", **DECIMAL),
    ("multicurrency", "string"): field("AccountReply", "multicurrency", enum=["true", "false"]),
    ("multicurrency", "Y"): field("AccountReply", "multicurrency", enum=["Y", "N"]),
    ("multicurrency", "True"): field("AccountReply", "multicurrency", enum=["True", "False"]),
    ("account_holder", "present"): both(
        field("AccountReply", "account_holder", type="string"), required("AccountReply", "account_holder")
    ),
    ("account_type", "iso"): field("AccountReply", "type", enum=["CACC", "SVGS"]),
    ("unknown_logical_id", "404"): refuses(404, Error.NOT_FOUND, "the logical-id is none of the consent", *OF_ACCOUNT),
    ("lacking_compartment", "404"): refuses(404, Error.NOT_FOUND, "the account lacks the currency", "transactions"),
    ("item_amount", "string"): field(ROW, "amount", **DECIMAL),
    ("item_sign", "indicator"): both(
        field(ROW, "credit_debit_indicator", enum=["CRDT", "DBIT"]), required(ROW, "credit_debit_indicator")
    ),
    ("item_fields", "camel"): respelled(ROW, ITEM_CAMEL),
    ("pending_items", "shown"): field(ROW, "status", enum=["PDNG"]),
    ("reference_when_booked", "changes"): field(ROW, "status", enum=["PDNG"]),
    ("text_when_booked", "changes"): field(ROW, "status", enum=["PDNG"]),
    ("pending_lines", "nearly_empty"): both(field(ROW, "status", enum=["PDNG"]), optional(ROW, *VALUE_DATE)),
    ("counterparty_bic", "present"): field(ROW, BIC, **NULLABLE),
    ("value_date_field", "sometimes"): optional(ROW, *VALUE_DATE),
    ("item_dates", "date_time"): field(ROW, "execution_date", "value_date", type="string", format="date-time"),
    ("item_blanks", "empty"): field(ROW, *TEXTS, type="string"),
    ("item_blanks", "absent"): both(field(ROW, *TEXTS, type="string", minLength=1), optional(ROW, *TEXTS)),
    ("old_dates_without_sca", "403"): refuses(
        403, Error.ACCESS_DENIED, "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("old_dates_without_sca", "400_address"): refuses(
        400, Error.SCA_REQUIRED, "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("balance_after_90_days", "401"): refuses(
        401, Error.SCA_REQUIRED, "the last authentication is over 90 days old", "account"
    ),
    ("sca_token_request", "query"): parameter("SCA-Token", "transactions", **{"name": "sca_token", "in": "query"}),
    ("sca_token_reply", "scaToken"): respelled("TokenReply", {"sca_token": "scaToken"}),
    ("scope_in", "header"): parameter("scope", "consent_addresses", **{"name": "Scope", "in": "header"}),
    ("caf_account", "account"): parameter("iban", "consent_addresses", name="account"),
    ("token_type_case", "bearer"): field("TokenReply", "token_type", enum=["bearer"]),
}
