"""The replies of an operation in the document: success by version, then each refusal with its errors."""

from functools import partial
from typing import Any

from sandbox.contract.operations import Operation
from sandbox.web.docs.error_causes import Cause, causes_of, sentence
from sandbox.web.docs.examples import accept_of
from sandbox.web.docs.schemas import clause_marks, described, reference

ERROR = "ErrorReply"
ON_THE_WIRE = "application/json"  # what replies are sent as; its charset is no part of the key (choice 2)
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


def responses_of(operation: Operation, product: str | None, vendor: str, versions: tuple[int, ...]) -> dict[str, Any]:
    """Success by version, then each refusal with its errors."""
    accepts = [accept_of(vendor, version) for version in versions]
    success: dict[str, Any] = {"description": "Done.", "headers": {"Response-ID": RESPONSE_ID}}
    if operation.success == 204:
        success["description"] = "Done; there is no body."
    else:
        names = [reply_name(operation, version) for version in versions]
        shapes = [reference(name) for name in dict.fromkeys(names)]
        success["content"] = {
            accept: {"schema": reference(name)} for accept, name in zip(accepts, names, strict=True)
        } | {ON_THE_WIRE: {"schema": shapes[0] if len(shapes) == 1 else {"anyOf": shapes}}}
    success["headers"] = success["headers"] | HEADERS_OF.get(operation.name, {})
    found = {str(operation.success): success}
    by_status: dict[int, list[Cause]] = {}
    for cause in causes_of(operation):
        by_status.setdefault(cause.error.value.status, []).append(cause)
    # A client takes its Accept from the media types of the replies: where success has no body, refusals name them.
    named = accepts if operation.success == 204 else []
    return found | {str(status): refusal(status, causes, named) for status, causes in sorted(by_status.items())}


def refusal(status: int, causes: list[Cause], accepts: list[str]) -> dict[str, Any]:
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
        "content": {accept: {"schema": schema} for accept in accepts}
        | {ON_THE_WIRE: {"schema": schema, "examples": shown}},
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


header = partial(described, required=True)
RESPONSE_ID = header("The Request-ID; a fresh one where that was missing or malformed.", "service 4.0", required=True)
SIGN_AT = {"Location": header("Where the customer signs.", "choice 5")}
HEADERS_OF: dict[str, dict[str, Any]] = {
    "payment_initiation": SIGN_AT,
    "standing_order_initiation": SIGN_AT,
    "token": {
        "Cache-Control": header("no-store", "choice 8"),
        "Pragma": header("no-cache", "choice 8"),
    },
}
HEADER = {
    "WWW-Authenticate": header("Bearer, or Basic at /token.", "choice 2", required=False),
    "Allow": header("The methods of this path.", "choice 4"),
    "Retry-After": header("Seconds.", "choice 4"),
}
STATUS_HEADERS = {"WWW-Authenticate": (401,), "Allow": (405,), "Retry-After": (429, 503)}
