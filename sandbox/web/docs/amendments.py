"""What the axes change in the document: a row for each value that shows in the shape of a call or a reply."""

import json
from collections.abc import Callable
from typing import Any

from sandbox.bank.initiations import SEPA_SET
from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME
from sandbox.web.api.failures import other_codes
from sandbox.web.api.gate import REDIRECT_URI_LISTED
from sandbox.web.api.replies import INITIATION_CAMEL, ITEM_CAMEL, TEXTS
from sandbox.web.api.surprises import MAY_BE_ABSENT
from sandbox.web.docs.amending import (
    INITIATIONS,
    Amend,
    Document,
    amendment,
    both,
    each,
    field,
    operation,
    optional,
    parameter,
    refuses,
    required,
    respelled,
    schema,
)
from sandbox.web.docs.responses import reply_name

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
NUMBER = {"type": "number"}
NULLABLE = {"type": ["string", "null"]}
DECIMAL = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}


def newest_only(document: Document) -> None:
    for described in operation(document, *SILENT):
        gone = described["x-accept"][1:]
        described["x-versions"], described["x-accept"] = described["x-versions"][:1], described["x-accept"][:1]
        for response in described["responses"].values():
            for media in gone:
                response.get("content", {}).pop(media, None)


@amendment
def retry_after(document: Document, statuses: tuple[str, ...], text: str | None) -> None:
    """What the header says, or that it may be left out."""
    for described in operation(document):
        for status in statuses:
            found = described["responses"].get(status, {}).get("headers", {}).get("Retry-After")
            if found is not None:
                found |= {"required": False} if text is None else {"description": text}


@amendment
def of_bodies(document: Document, change: Callable[[dict[str, Any]], None]) -> None:
    """Each schema of an initiation's body, and of its amounts."""
    for name, found in document["components"]["schemas"].items():
        if name.endswith(("Payment", "Body")):
            change(found)


def takes_more(found: dict[str, Any]) -> None:
    found.pop("additionalProperties", None)
    for inner in found.get("properties", {}).values():
        takes_more(inner)


def sepa_names(found: dict[str, Any]) -> None:
    if "creditor_name" in found.get("properties", {}):
        found["properties"]["creditor_name"]["pattern"] = f"^{SEPA_SET.pattern}$"


def amounts_as_numbers(found: dict[str, Any]) -> None:
    inner = found.get("properties", {})
    inner = inner.get("instructed_amount", {}).get("properties", inner)
    for name in set(inner) & {"amount", "minimal_amount", "maximal_amount"}:
        inner[name] = {"anyOf": [inner[name], {"type": "number"}]}


def codes(document: Document) -> None:
    """Every code of the catalogue is another one."""
    text = json.dumps(document["paths"])
    for code, other in other_codes().items():
        text = text.replace(code, other)
    document["paths"] = json.loads(text)


def words(document: Document) -> None:
    schema(document, "ErrorReply")["properties"]["error"]["pattern"] = "^[a-z_]+$"


@amendment
def content_type(document: Document, text: str) -> None:
    document["info"]["x-content-type"] = text


def more_fields(document: Document) -> None:
    for found in document["components"]["schemas"].values():
        found.pop("additionalProperties", None)


def nulls(document: Document) -> None:
    for name, fields in MAY_BE_ABSENT.items():
        found = schema(document, reply_name(name))["properties"]
        for one in fields:
            found[one] = {"anyOf": [found[one], {"type": "null"}]}


@amendment
def pages_of_a_gateway(document: Document, status: str) -> None:
    for described in operation(document):
        described["responses"][status] = {
            "description": "A gateway in front of the bank.",
            "content": {"text/html": {"schema": {"type": "string"}}},
        }


def spelling(document: Document) -> None:
    """PNDG beside PDNG, which stays the name in this description."""
    for name in (*STATUSES, *DETAILS, "BulkStatusReply", "PartRow"):
        words = schema(document, name)["properties"]["status"]["enum"]
        words.append("PNDG")


def no_location(document: Document) -> None:
    for described in operation(document, *INITIATIONS):
        described["responses"]["201"]["headers"].pop("Location", None)


AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("silent_versions", "newest_only"): newest_only,
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
    ("unknown_field", "ignored"): of_bodies(takes_more),
    ("amount_as_number", "accepted"): of_bodies(amounts_as_numbers),
    ("names", "sepa"): of_bodies(sepa_names),
    ("content_type_reply", "vendor"): content_type("that of the Accept header"),
    ("content_type_reply", "plain"): content_type("application/json"),
    ("error_codes", "other"): codes,
    ("error_words", "lower"): words,
    ("insufficient_funds", "400"): refuses(400, Error.FUNDS_MISSING, "funds are missing", *INITIATIONS),
    ("consent_gone", "401"): refuses(401, Error.CONSENT_ENDED, "the consent was withdrawn or is over", *READS),
    ("foreign_id", "403"): refuses(403, Error.ACCESS_DENIED, "the initiation is another client's", *BY_REFERENCE),
    ("wrong_scope", "401"): refuses(401, Error.ACCESS_TOKEN_REFUSED, "the token is of another scope", *SCOPED),
    ("unknown_fields", "everywhere"): more_fields,
    ("absent_fields", "null"): nulls,
    ("gateway", "502"): pages_of_a_gateway("502"),
    ("gateway", "504"): pages_of_a_gateway("504"),
    ("status_spelling", "PNDG"): spelling,
    ("sca_address_in", "links"): no_location,
    ("initiation_fields", "few"): each(
        INITIATED, optional, "endtoend_identification", INITIATION_CAMEL["endtoend_identification"], "status"
    ),
    ("initiation_field_names", "camel"): each((*INITIATED, "InitiationLinks"), respelled, INITIATION_CAMEL),
    ("psu_name_before_login", "null"): each(DETAILS, field, "psu_name", **NULLABLE),
    ("reason", "always"): each(STATUSES, field, "reason", **NULLABLE),
    ("details_amount", "number"): both(
        field("MoneyRow", "amount", **NUMBER),
        field("ContractMoneyRow", "amount", "minimal_amount", "maximal_amount", **NUMBER),
    ),
    ("status_names_payment", "no"): each(STATUSES, optional, "payment_id"),
    ("order_currency", "required"): required("ContractAmountBody", "currency"),
    ("payment_information_id", "required"): parameter("PaymentInformationID", required=True),
    ("payment_information_id", "of_a_bulk"): parameter(
        "PaymentInformationID", description="The PmtInfId of a bulk; the file is looked up by its MsgId."
    ),
    ("bulks_while_rcvd", "absent"): optional("BulkStatusReply", "bulks"),
    ("file_numbers", "strings"): field("PartRow", "control_sum", "number_of_transactions", type="string"),
    ("xb_delete", "403"): refuses(
        403, Error.NOT_CANCELLABLE, "a cross-border payment cannot be cancelled", *CANCELLATIONS
    ),
    ("balances_as", "string"): field("AccountReply", "balance", **DECIMAL),
    ("multicurrency", "string"): field("AccountReply", "multicurrency", enum=["true", "false"]),
    ("multicurrency", "Y"): field("AccountReply", "multicurrency", enum=["Y", "N"]),
    ("account_type", "iso"): field("AccountReply", "type", enum=["CACC", "SVGS"]),
    ("unknown_logical_id", "404"): refuses(404, Error.NOT_FOUND, "the logical-id is none of the consent", *OF_ACCOUNT),
    ("lacking_compartment", "404"): refuses(404, Error.NOT_FOUND, "the account lacks the currency", "transactions"),
    ("item_amount", "string"): field(ROW, "amount", **DECIMAL),
    ("item_sign", "indicator"): both(
        field(ROW, "credit_debit_indicator", enum=["CRDT", "DBIT"]), required(ROW, "credit_debit_indicator")
    ),
    ("item_fields", "camel"): respelled(ROW, ITEM_CAMEL),
    ("pending_items", "shown"): field(ROW, "status", enum=["PDNG"]),
    ("item_dates", "date_time"): field(ROW, "execution_date", "value_date", type="string", format="date-time"),
    ("item_blanks", "empty"): field(ROW, *TEXTS, type="string"),
    ("item_blanks", "absent"): both(field(ROW, *TEXTS, type="string", minLength=1), optional(ROW, *TEXTS)),
    ("old_dates_without_sca", "403"): refuses(
        403, Error.ACCESS_DENIED, "dates of over 90 days ago need an SCA token", "transactions"
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
