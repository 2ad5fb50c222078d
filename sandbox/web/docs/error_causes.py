"""When each error is given, and by which operations: the catalogue's rows, laid over the table of operations."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME, Authorization, Operation
from sandbox.web.api.fault_replies import BY_STATUS

ONLY_BY_FAULT = "only when a fault rule of the scenario orders it; the bank by itself never answers so here"

Where = Callable[[Operation], bool]


class Cause(NamedTuple):
    """An error that an operation can give."""

    error: Error
    when: str
    clause: str


def everywhere(operation: Operation) -> bool:
    return True


def named(*names: str) -> Where:
    assert set(names) <= set(BY_NAME)
    return lambda operation: operation.name in names


def with_client(operation: Operation) -> bool:
    return operation.bank_headers


def with_body(operation: Operation) -> bool:
    return bool(operation.media)


def with_token(operation: Operation) -> bool:
    return operation.authorization in (Authorization.OPTIONAL, Authorization.REQUIRED)


def by_reference(operation: Operation) -> bool:
    """Where an initiation is named in the path; a cancellation has no 409 (service 4.4)."""
    return bool(operation.products) and operation.method == "GET"


def with_signature(operation: Operation) -> bool:
    return operation.method == "POST" and operation.bank_headers


def with_account(operation: Operation) -> bool:
    """Where the caller may name an account of the customer."""
    return with_order(operation) or operation.name == "consent_addresses"


def with_channel(operation: Operation) -> bool:
    """A file at once only where a scenario says so: its accounts are known when it is validated."""
    return with_account(operation) or operation.name in ("bulk_initiation", *READS)


def with_order(operation: Operation) -> bool:
    return operation.name in ORDERS


READS = ("accounts", "account", "transactions")
ORDERS = ("payment_initiation", "standing_order_initiation")
CROSS_BORDER = named("payment_initiation")
CONTRACT = named("standing_order_initiation")
TOKEN = named("token")

# One row per error of the bank's interface; a test holds that none is left out.
CAUSES: tuple[tuple[Error, str, Where], ...] = (
    (Error.HEADER_MISSING, "a required header is missing", everywhere),
    (
        Error.INPUT_MISSING,
        "a required body, form or query input is missing",
        lambda operation: with_order(operation) or operation.name in ("consent_addresses", "token"),
    ),
    (Error.HEADER_INVALID, "a header has a bad value, or its Request-ID was used before for another call", everywhere),
    (
        Error.INPUT_INVALID,
        "a body, path or query input has a bad value, is unknown, is given twice or does not belong to the product",
        everywhere,
    ),
    (Error.ENDTOEND_MISSING, "endtoend_identification is missing", with_order),
    (Error.COUNTRY_NOT_ACCEPTED, "the beneficiary's country is not accepted", with_order),
    (Error.AMOUNT_NOT_POSITIVE, "the amount is not above 0", with_order),
    (Error.CURRENCY_NOT_ACCEPTED, "the currency is not accepted", with_order),
    (Error.BBAN_WITH_BIC, "cross-border: a bban together with a bic", CROSS_BORDER),
    (Error.BEGIN_NOT_FUTURE, "start_date does not lie in the future", CONTRACT),
    (Error.END_MONTH_OFF_PERIOD, "the month of end_date does not follow the periodicity", CONTRACT),
    (Error.END_BEFORE_START, "end_date lies before start_date", CONTRACT),
    (Error.BIC_WRONG, "the BIC is missing where the country needs one, or is not the IBAN's", with_order),
    (Error.ACCESS_TOKEN_REFUSED, "the access token is missing, unknown, expired, replaced or another's", with_token),
    (Error.REFRESH_TOKEN_REFUSED, "the refresh token is unknown, replaced or another client's", TOKEN),
    (
        Error.SECURITY_INPUT_REFUSED,
        "the code, redirect_uri or code_verifier is refused; at an initiation, Digest or Date",
        lambda operation: TOKEN(operation) or with_signature(operation),
    ),
    (Error.CLIENT_UNKNOWN, "no client is registered under that Client-ID", with_client),
    (Error.CREDENTIALS_REFUSED, "the client's Basic credentials are missing or wrong", TOKEN),
    (
        Error.SECURITY_PROOF_REFUSED,
        "the logical-id or the SCA token is refused; at an initiation, Signature",
        lambda operation: operation.name in ("account", "transactions") or with_signature(operation),
    ),
    (
        Error.SCA_REQUIRED,
        "the last authentication is too old, or old history is asked with the customer involved",
        named("transactions"),
    ),
    (Error.TPP_INVALID, "the client is not active, or lacks the role", everywhere),
    (Error.ACCOUNT_FOREIGN, "the account that is named is not one of this bank", with_account),
    (Error.ACCOUNT_CLOSED, "the account that is named is closed", with_account),
    (Error.ACCOUNT_SAVINGS, "the account that is named is a savings account", with_account),
    (
        Error.ACCESS_DENIED,
        "the token has another scope or another customer, or the account or resource is refused",
        with_token,
    ),
    (Error.CHANNEL_CLOSED, "the account is in no electronic channel, or the customer blocked it", with_channel),
    (
        Error.CONSENT_ENDED,
        "the customer withdrew the consent, or it ended",
        named(*("token", "accounts", "account", "transactions")),
    ),
    (Error.NON_SEPA_BARRED, "the account may not make payments outside SEPA", CROSS_BORDER),
    (
        Error.PROFILE_FORBIDS,
        "the customer's profile forbids it: a limit, a country, urgent from a private account, "
        "a standing order on an account of two signatures; of a file, where a scenario says so",
        lambda operation: with_order(operation) or operation.name == "bulk_initiation",
    ),
    (Error.FUNDS_MISSING, "funds are missing for a directly executed payment", CROSS_BORDER),
    (
        Error.NOT_CANCELLABLE,
        "the status does not permit the cancellation",
        lambda operation: operation.method == "DELETE",
    ),
    (Error.NOT_FOUND, "no such path or product, or no such resource of this client", everywhere),
    (Error.METHOD_NOT_ALLOWED, "the path knows other methods only; Allow names them", everywhere),
    (
        Error.NOT_ACCEPTABLE,
        "Accept names no version that the operation has, or the token's scope is not served",
        everywhere,
    ),
    (Error.LANGUAGE_NOT_ACCEPTABLE, "Accept-Language is missing, or names no known language", with_client),
    (Error.REQUEST_TIMEOUT, ONLY_BY_FAULT, everywhere),
    (Error.CONFLICT, "an external reference fits several initiations", by_reference),
    (Error.UNSUPPORTED_MEDIA_TYPE, "Content-Type is missing or another", with_body),
    (Error.TOO_MANY_REQUESTS, "too many calls; Retry-After says when to come back", everywhere),
    (
        Error.FILES_WAITING,
        "too many bytes of files wait for their validation; Retry-After says when the first is done",
        lambda operation: operation.name == "bulk_initiation",
    ),
    (
        Error.CERTIFICATE_REFUSED,
        "the client certificate fails; the sandbox asks for one only when it is told to",
        everywhere,
    ),
    (Error.INTERNAL, "the bank itself failed", everywhere),
    (
        Error.FILES_FULL,
        "the files of all worlds that wait for their validation fill this server",
        lambda operation: operation.name == "bulk_initiation",
    ),
    (Error.UNAVAILABLE, "the bank is away for the moment; Retry-After says for how long", everywhere),
)


def causes_of(operation: Operation) -> Iterator[Cause]:
    """Every error that the operation can give, in the order of the catalogue; then those that only a fault orders."""
    statuses = set()
    for error, when, where in CAUSES:
        if where(operation) and error.value.status in operation.errors:
            statuses.add(error.value.status)
            yield Cause(error, when, error.value.clause)
    for status in operation.errors:
        if status not in statuses:
            error = BY_STATUS[status]
            yield Cause(error, ONLY_BY_FAULT, error.value.clause)


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


def sentence(error: Error) -> str:
    """The text as it might read; INPUT stands where the name of the input at fault will."""
    return error.value.text.format_map(FACTS)
