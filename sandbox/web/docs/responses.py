"""The responses of an operation in the OpenAPI document: success for each version, then each refusal with its
errors."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from sandbox.contract.errors import Error, ErrorRow
from sandbox.contract.operations import BY_NAME, Authorization, Operation
from sandbox.server_address import URL
from sandbox.web.api.faults import BY_STATUS
from sandbox.web.api.replies import MEDIA, EarlierInitiationReply
from sandbox.web.docs.examples import write_accept
from sandbox.web.docs.reply_schemas import REPLIES, ErrorReply, ReplySchema
from sandbox.web.docs.schemas import JsonSchema, add_description, make_clause_marks, make_reference

ONLY_BY_FAULT = "only when a fault rule of the scenario orders it; the bank by itself never answers so here"


class Cause(NamedTuple):
    """An error of an operation, and the condition under which the bank replies with this error."""

    error: Error
    when: str

    @property
    def row(self) -> ErrorRow:
        return self.error.value


def list_names(is_wanted: Callable[[Operation], bool]) -> set[str]:
    return {name for name, operation in BY_NAME.items() if is_wanted(operation)}


ALL = {*BY_NAME}
CLIENT = list_names(lambda row: row.bank_headers)
TOKEN = list_names(lambda row: row.authorization in (Authorization.OPTIONAL, Authorization.REQUIRED))
SIGNED = list_names(lambda row: row.method == "POST" and row.bank_headers)
# Where an initiation is named in the path; a cancellation has no 409 (service 4.4).
REFERENCE = list_names(lambda row: bool(row.products) and row.method == "GET")
READS = {"accounts", "account", "transactions"}
PAYMENT, CONTRACT, FILE = {"payment_initiation"}, {"standing_order_initiation"}, {"bulk_initiation"}
ORDERS = PAYMENT | CONTRACT
ACCOUNT = ORDERS | {"consent_addresses"}  # where the caller may name an account of the customer
# A file at once only where a scenario says so: its accounts are known when it is validated.
CHANNEL = ACCOUNT | FILE | READS

# One row per error of the bank's interface; a test holds that none is left out.
CAUSES: tuple[tuple[Error, str, set[str]], ...] = (
    (Error.HEADER_MISSING, "a required header is missing", ALL),
    (Error.INPUT_MISSING, "a required body, form or query input is missing", ACCOUNT | {"token"}),
    (Error.HEADER_INVALID, "a header has a bad value, or its Request-ID was used before for another call", ALL),
    (
        Error.INPUT_INVALID,
        "a body, path or query input has a bad value, is unknown, is given twice or does not belong to the product",
        ALL,
    ),
    (Error.ENDTOEND_MISSING, "endtoend_identification is missing", ORDERS),
    (Error.COUNTRY_NOT_ACCEPTED, "the beneficiary's country is not accepted", ORDERS),
    (Error.AMOUNT_NOT_POSITIVE, "the amount is not above 0", ORDERS),
    (Error.CURRENCY_NOT_ACCEPTED, "the currency is not accepted", ORDERS),
    (Error.BBAN_WITH_BIC, "cross-border: a bban together with a bic", PAYMENT),
    (Error.BEGIN_NOT_FUTURE, "start_date does not lie in the future", CONTRACT),
    (Error.END_MONTH_OFF_PERIOD, "the month of end_date does not follow the periodicity", CONTRACT),
    (Error.END_BEFORE_START, "end_date lies before start_date", CONTRACT),
    (Error.BIC_WRONG, "the BIC is missing where the country needs one, or is not the IBAN's", ORDERS),
    (Error.ACCESS_TOKEN_REFUSED, "the access token is missing, unknown, expired, replaced or another's", TOKEN),
    (Error.REFRESH_TOKEN_REFUSED, "the refresh token is unknown, replaced or another client's", {"token"}),
    (
        Error.SECURITY_INPUT_REFUSED,
        "the code, redirect_uri or code_verifier is refused; at an initiation, Digest or Date",
        SIGNED | {"token"},
    ),
    (Error.CLIENT_UNKNOWN, "no client is registered under that Client-ID", CLIENT),
    (Error.CREDENTIALS_REFUSED, "the client's Basic credentials are missing or wrong", {"token"}),
    (
        Error.SECURITY_PROOF_REFUSED,
        "the logical-id or the SCA token is refused; at an initiation, Signature",
        SIGNED | {"account", "transactions"},
    ),
    (
        Error.SCA_REQUIRED,
        "the last authentication is too old, or old history is asked with the customer involved",
        {"transactions"},
    ),
    (Error.TPP_INVALID, "the client is not active, or lacks the role", ALL),
    (Error.ACCOUNT_FOREIGN, "the account that is named is not one of this bank", ACCOUNT),
    (Error.ACCOUNT_CLOSED, "the account that is named is closed", ACCOUNT),
    (Error.ACCOUNT_SAVINGS, "the account that is named is a savings account", ACCOUNT),
    (
        Error.ACCESS_DENIED,
        "the token has another scope or another customer, or the account or resource is refused",
        TOKEN,
    ),
    (Error.CHANNEL_CLOSED, "the account is in no electronic channel, or the customer blocked it", CHANNEL),
    (Error.CONSENT_ENDED, "the customer withdrew the consent, or it ended", READS | {"token"}),
    (Error.NON_SEPA_BARRED, "the account may not make payments outside SEPA", PAYMENT),
    (
        Error.PROFILE_FORBIDS,
        "the customer's profile forbids it: a limit, a country, urgent from a private account, "
        "a standing order on an account of two signatures; of a file, where a scenario says so",
        ORDERS | FILE,
    ),
    (Error.FUNDS_MISSING, "funds are missing for a directly executed payment", PAYMENT),
    (
        Error.NOT_CANCELLABLE,
        "the status does not permit the cancellation",
        list_names(lambda row: row.method == "DELETE"),
    ),
    (Error.NOT_FOUND, "no such path or product, or no such resource of this client", ALL),
    (Error.METHOD_NOT_ALLOWED, "the path knows other methods only; Allow names them", ALL),
    (Error.NOT_ACCEPTABLE, "Accept names no version that the operation has, or the token's scope is not served", ALL),
    (Error.LANGUAGE_NOT_ACCEPTABLE, "Accept-Language is missing, or names no known language", CLIENT),
    (Error.REQUEST_TIMEOUT, ONLY_BY_FAULT, ALL),
    (Error.CONFLICT, "an external reference fits several initiations", REFERENCE),
    (Error.UNSUPPORTED_MEDIA_TYPE, "Content-Type is missing or another", list_names(lambda row: bool(row.media))),
    (Error.TOO_MANY_REQUESTS, "too many calls; Retry-After says when to come back", ALL),
    (
        Error.FILES_WAITING,
        "too many bytes of files wait for their validation; Retry-After says when the first is done",
        FILE,
    ),
    (Error.CERTIFICATE_REFUSED, "the client certificate fails; the sandbox asks for one only when it is told to", ALL),
    (Error.INTERNAL, "the bank itself failed", ALL),
    (Error.FILES_FULL, "the files of all worlds that wait for their validation fill this server", FILE),
    (Error.UNAVAILABLE, "the bank is away for the moment; Retry-After says for how long", ALL),
)


def list_causes(operation: Operation) -> list[Cause]:
    """Returns the errors of an operation in the order of CAUSES. The errors that only a fault rule of a scenario gives
    come last."""
    causes = [
        Cause(error, when)
        for error, when, names in CAUSES
        if operation.name in names and error.value.status in operation.errors
    ]
    statuses = {cause.row.status for cause in causes}
    return causes + [Cause(BY_STATUS[status], ONLY_BY_FAULT) for status in operation.errors if status not in statuses]


# Values for the text of an error in an example. INPUT takes the place of the name of the wrong input.
FACTS = {
    "input": "INPUT",
    "hint": "",
    "why": "why",
    "country": "XX",
    "currency": "XXX",
    "client": "demo-tpp",
    "status": "ACSC",
    "method": "PATCH",
    "seconds": 5,
    "count": 3,
    "most": "100000000",
    "expected": "application/json",
}


# Of all replies (choice 2). The charset stays in the key: a client that openapi-generator writes in Go sends
# `application/json` as its whole Accept if a reply names that type, and so asks for no version.
WIRE_TYPE = MEDIA


def describe_responses(
    operation: Operation, product: str | None, vendor: str, versions: tuple[int, ...]
) -> dict[str, Any]:
    accepts = [write_accept(vendor, version) for version in versions]
    success: dict[str, Any] = {
        "description": "Done.",
        "headers": {"Response-ID": RESPONSE_ID} | HEADERS_OF.get(operation.name, {}),
    }
    if operation.success == 204:
        success["description"] = "Done; there is no body."
    else:
        schemas = [find_reply(operation, version) for version in versions]
        distinct = list(dict.fromkeys(schemas))
        success["content"] = {accept: {"schema": schema} for accept, schema in zip(accepts, schemas, strict=True)} | {
            WIRE_TYPE: {"schema": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}
        }
    by_status: dict[int, list[Cause]] = {}
    for cause in list_causes(operation):
        by_status.setdefault(cause.row.status, []).append(cause)
    # A generated client takes its Accept from the media types of the replies. Where success has no body, the refusals
    # name these media types.
    media = accepts if operation.success == 204 else []
    return {str(operation.success): success} | {
        str(status): make_refusal_response(status, causes, media) for status, causes in sorted(by_status.items())
    }


def find_reply(operation: Operation, version: int) -> ReplySchema:
    is_earlier = operation.name == "payment_initiation" and version == 1
    return EarlierInitiationReply if is_earlier else REPLIES[operation.name]


def make_refusal_response(status: int, causes: list[Cause], media: list[str]) -> dict[str, Any]:
    rows = [f"| {cause.row.error} | {cause.row.code} | {cause.when} | {cause.row.clause} |" for cause in causes]
    table = "\n".join(["| error | error_code | when | clause |", "|---|---|---|---|", *rows])
    examples = {
        f"{cause.row.code} {cause.error.name}": {"summary": cause.when, "value": make_body(cause.row)}
        | make_clause_marks(cause.row.clause)
        for cause in causes
    }
    codes = list(dict.fromkeys(cause.row.code for cause in causes))
    schema = make_refusal_schema(codes)
    headers = {name: header for name, (statuses, header) in STATUS_HEADERS.items() if status in statuses}
    return {
        "description": f"{make_title(causes[0].row.error)}\n\n{table}",
        "headers": {"Response-ID": RESPONSE_ID} | headers,
        "content": {name: {"schema": schema} for name in media} | {WIRE_TYPE: {"schema": schema, "examples": examples}},
        "x-errors": [
            {"error": cause.row.error, "error_code": cause.row.code, "when": cause.when}
            | make_clause_marks(cause.row.clause)
            for cause in causes
        ],
    }


def make_refusal_schema(codes: list[str]) -> JsonSchema:
    """Returns the schema for the body of a refusal that has one of these codes."""
    return {
        "allOf": [
            make_reference(ErrorReply.__name__),
            {"type": "object", "properties": {"error_code": {"enum": codes}}},
        ]
    }


def make_title(error: str) -> str:
    return f"{error.replace('_', ' ').capitalize()}."


def make_body(row: ErrorRow) -> dict[str, Any]:
    text = row.text.format_map(FACTS)
    body: dict[str, Any] = {"error": row.error, "error_code": row.code, "error_description": text}
    if row.error == "SCA_REQUIRED":
        body["_links"] = {"sca_redirect": {"href": f"{URL}/psu/consent/..."}}
    return body


header = partial(add_description, required=True)
RESPONSE_ID = header("The Request-ID; a fresh one where that was missing or malformed.", "service 4.0")
SIGN_AT = {"Location": header("Where the customer signs.", "choice 5")}
HEADERS_OF: dict[str, dict[str, Any]] = {
    "payment_initiation": SIGN_AT,
    "standing_order_initiation": SIGN_AT,
    "token": {"Cache-Control": header("no-store", "choice 8"), "Pragma": header("no-cache", "choice 8")},
}
# The headers of refusals, each with its statuses.
STATUS_HEADERS = {
    "WWW-Authenticate": ((401,), header("Bearer, or Basic at /token.", "choice 2", required=False)),
    "Allow": ((405,), header("The methods of this path.", "choice 4")),
    "Retry-After": ((429, 503), header("Seconds.", "choice 4")),
}
