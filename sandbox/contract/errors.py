"""The catalogue of errors. Only this file has the status, token, code and sentence of an error."""

from collections.abc import Mapping
from enum import Enum
from functools import partial
from itertools import dropwhile
from typing import Any, NamedTuple


class ErrorRow(NamedTuple):
    """An error: its HTTP status, its texts in replies, and its clause."""

    status: int
    error: str
    code: str
    text: str
    clause: str = "choice 4"
    remedy: str = ""  # a call that would have succeeded, which *explain* shows; every error of the bank has a remedy


# Rows that share their status and their token.
_missing = partial(ErrorRow, 400, "MISSING_INPUT")
_invalid = partial(ErrorRow, 400, "INVALID_INPUT")
_insecure = partial(ErrorRow, 401, "FAILED_SECURITY_VALIDATION")
_denied = partial(ErrorRow, 403, "ACCESS_DENIED")
_no_account = partial(ErrorRow, 403, "INVALID_ACCOUNT", "B14800ZZ-3002-000000")
_not_acceptable = partial(ErrorRow, 406, "NOT_ACCEPTABLE")
_conflict = partial(ErrorRow, 409, "CONFLICT")
_too_many = partial(ErrorRow, 429, "TOO_MANY_REQUESTS", "SBX-0429-000001")
_unavailable = partial(ErrorRow, 503, "SERVICE_UNAVAILABLE")


# fmt: off
class Error(Enum):
    """The errors of the bank and of the controls. The service leaves their codes and tokens open, so choice 4 decides
    them. A word in braces in a sentence is replaced by the fact of that name: `{input}` by the input's name."""

    HEADER_MISSING = _missing(
        "GEN-1201-100001", "The header '{input}' is missing.", "choice 2",
        remedy="The same call with the header that is named.",
    )
    INPUT_MISSING = _missing(
        "GEN-1201-100002", "The input '{input}' is missing.",
        remedy="The same call with the input that is named.",
    )
    HEADER_INVALID = _invalid(
        "GEN-1202-100001", "The header '{input}' has a bad value: {why}.", "choice 2",
        remedy="The same call with another value in that header.",
    )
    INPUT_INVALID = _invalid(
        "GEN-1202-100002", "The input '{input}' is not accepted: {why}.",
        remedy="The same call with another value in that input.",
    )
    ENDTOEND_MISSING = _missing(
        "B14821ZZ-1200-000000", "The input '{input}' is missing: a payment needs one.", "service 2.1",
        remedy="The same body with an endtoend_identification of its own.",
    )
    COUNTRY_NOT_ACCEPTED = _invalid(
        "B14821ZZ-1227-000000", "The country {country} of '{input}' is not accepted.", "choice 5",
        remedy="A beneficiary in a country that the product reaches: SEPA for SEPA products.",
    )
    AMOUNT_NOT_POSITIVE = _invalid(
        "B14821ZZ-1231-000000", "The amount '{input}' is not above 0.", "choice 5",
        remedy="An amount above 0.",
    )
    CURRENCY_NOT_ACCEPTED = _invalid(
        "B14821ZZ-1232-000000", "The currency {currency} of '{input}' is not accepted.", "service 2.1",
        remedy="A currency that the product takes: EUR for SEPA products.",
    )
    BBAN_WITH_BIC = _invalid(
        "B14821ZZ-1236-000000", "The input '{input}' cannot go with a bic.", "choice 5",
        remedy="Either the bban with its bank's national id, or an IBAN with a bic.",
    )
    BEGIN_NOT_FUTURE = _invalid(
        "B14821ZZ-1259-000000", "The begin date '{input}' does not lie in the future.", "choice 6",
        remedy="A start date from tomorrow on.",
    )
    END_MONTH_OFF_PERIOD = _invalid(
        "B14821ZZ-1322-000000", "The month of '{input}' does not follow the periodicity.", "choice 6",
        remedy="An end date in a month in which the order is executed.",
    )
    END_BEFORE_START = _invalid(
        "B14821ZZ-1345-000000", "The end date '{input}' lies before the start date.", "choice 6",
        remedy="An end date after the start date, or none.",
    )
    BIC_WRONG = _invalid(
        "B14821ZZ-2102-000000", "The BIC '{input}' {why}.", "choice 5",
        remedy="The BIC of the bank that holds the account.",
    )
    ACCESS_TOKEN_REFUSED = _insecure(
        "GEN-1203-100003", "The access token in '{input}' is {why}.", "service 5.6",
        remedy="The access token of the newest pair; after its hour, that of a refresh.",
    )
    REFRESH_TOKEN_REFUSED = _insecure(
        "GEN-1203-100004", "The refresh token in '{input}' is {why}.", "service 3.5",
        remedy="The refresh token of the newest pair; without one, a new consent or signature.",
    )
    SECURITY_INPUT_REFUSED = _insecure(
        "GEN-1203-100008", "The security input '{input}' is refused: {why}.", "service 4.8",
        remedy="The newest code, once, with the redirect_uri and verifier of its own flow.",
    )
    CLIENT_UNKNOWN = _insecure(
        "GEN-1203-100009", "The client named by '{input}' is not known.", "choice 2",
        remedy="The Client-ID of a registered client; GET /_sandbox/clients lists them.",
    )
    CREDENTIALS_REFUSED = _insecure(
        "GEN-1203-100009", "The client's credentials in '{input}' are refused.", "service 5.4",
        remedy="The client_id and secret of a registered client as Basic credentials.",
    )
    SECURITY_PROOF_REFUSED = _insecure(
        "GEN-1203-100010", "The security input '{input}' is refused: {why}.", "choice 2",
        remedy="A logical-id, an SCA token or a signature that belongs to this token and client.",
    )
    SCA_REQUIRED = ErrorRow(
        401, "SCA_REQUIRED", "B14800ZZ-0PLC-REDRCT", "The customer must authenticate again: {why}.", "service 4.10",
        remedy="The same call after the customer authenticated at the address of the reply.",
    )
    TPP_INVALID = ErrorRow(
        403, "INVALID_TPP", "B14663ZZ-2100-000000", "The client {client} {why}.", "choice 2",
        remedy="A client that is active and has the role that the operation needs.",
    )
    ACCOUNT_FOREIGN = _no_account(
        "'{input}' is no account of this bank.", "choice 5",
        remedy="An account of this bank; GET /_sandbox/accounts lists them.",
    )
    ACCOUNT_SAVINGS = _no_account(
        "'{input}' is a savings account, from which no payment leaves.", "choice 5",
        remedy="A current account.",
    )
    ACCOUNT_CLOSED = _no_account(
        "'{input}' is closed.", "choice 10",
        remedy="An account that is open; PATCH /_sandbox/accounts/{iban} opens it again.",
    )
    ACCESS_DENIED = _denied(
        "B14800ZZ-3004-000000", "Access to '{input}' is refused: {why}.", "choice 2",
        remedy="A token of the scope and customer that the call is about.",
    )
    CHANNEL_CLOSED = ErrorRow(
        403, "CHANNEL_NOT_PERMITTED", "B14800ZZ-3007-000000", "'{input}' is in no electronic channel: {why}.",
        "service 1",
        remedy="An account that is managed in the bank's channels, of a customer who did not block them.",
    )
    CONSENT_ENDED = ErrorRow(
        403, "NO_ACTIVE_CONSENT", "B14800ZZ-3013-000000", "There is no active consent: {why}.", "choice 8",
        remedy="The same call with the token of a new consent.",
    )
    NON_SEPA_BARRED = ErrorRow(
        403, "INVALID_PAYMENT", "B14821ZZ-2121-000000", "'{input}' may not make payments outside SEPA.", "choice 5",
        remedy="A SEPA payment, or an account that may pay outside SEPA.",
    )
    PROFILE_FORBIDS = ErrorRow(
        403, "FORBIDDEN", "B14821ZZ-2101-000000", "The customer's profile forbids this: {why}.", "service 7.4",
        remedy="An order within the limits and countries of the customer's profile.",
    )
    FUNDS_MISSING = ErrorRow(
        403, "INSUFFICIENT_FUNDS", "SBX-0403-000001", "The account '{input}' lacks funds.", "service 7.5",
        remedy="An amount up to the funds that are available, or a later execution date.",
    )
    NOT_CANCELLABLE = ErrorRow(
        403, "NOT_CANCELLABLE", "SBX-0403-000002", "The status {status} does not permit this cancellation.",
        "service 3.4",
        remedy="A cancellation while the status still permits it (service 3.4).",
    )
    NOT_FOUND = ErrorRow(
        404, "NOT_FOUND", "SBX-0404-000001", "'{input}' was not found{hint}.", "service 7.2",
        remedy="A path and an id that exist: an id of this client, product and world.",
    )
    METHOD_NOT_ALLOWED = ErrorRow(
        405, "METHOD_NOT_ALLOWED", "SBX-0405-000001", "The method {method} is not offered here.", "service 7.2",
        remedy="One of the methods in the header Allow, if there is one.",
    )
    NOT_ACCEPTABLE = _not_acceptable(
        "SBX-0406-000001", "The header 'Accept' names no version that this operation has: {why}.", "service 9.1",
        remedy="Accept: application/vnd.VENDOR+json; version=N with a version that is offered.",
    )
    LANGUAGE_NOT_ACCEPTABLE = _not_acceptable(
        "SBX-0406-000002", "The header 'Accept-Language' names no known language.", "service 7.3",
        remedy="Accept-Language with an ISO 639-1 code, such as fr or nl.",
    )
    REQUEST_TIMEOUT = ErrorRow(
        408, "REQUEST_TIMEOUT", "SBX-0408-000001", "The request took too long.",
        remedy="The same call again, with the same Request-ID.",
    )
    CONFLICT = _conflict(
        "SBX-0409-000001", "The external reference '{input}' fits several initiations.", "choice 5",
        remedy="The payment_id of the bank instead of the reference.",
    )
    UNSUPPORTED_MEDIA_TYPE = ErrorRow(
        415, "UNSUPPORTED_MEDIA_TYPE", "SBX-0415-000001", "The header 'Content-Type' must be {expected}.",
        "service 4.0",
        remedy="The same body with the Content-Type that is named.",
    )
    TOO_MANY_REQUESTS = _too_many(
        "Too many requests; try again after {seconds} seconds.",
        remedy="The same call after as many seconds as Retry-After says.",
    )
    FILES_WAITING = _too_many(
        "{count} files wait for their validation, and more than {most} bytes of them do not fit; "
        "try again after {seconds} seconds.",
        "choice 7", remedy="The same file after as many seconds as Retry-After says.",
    )
    FILES_FULL = _unavailable(
        "SBX-0503-000001",
        "The files of all worlds that wait for their validation fill this server (serve --history-mb).", "choice 7",
        remedy="The same file once others are validated.",
    )
    CERTIFICATE_REFUSED = ErrorRow(
        495, "CERTIFICATE_ERROR", "SBX-0495-000001", "The client certificate is refused: {why}.", "service 5.1",
        remedy="A certificate that is trusted, valid now and issued to this client.",
    )
    INTERNAL = ErrorRow(
        500, "INTERNAL_SERVER_ERROR", "SBX-0500-000001", "The bank could not complete the call.",
        remedy="Nothing: the fault is the bank's. The same call with its Request-ID is safe.",
    )
    UNAVAILABLE = _unavailable(
        "SBX-0503-000001", "The service is unavailable for the moment.",
        remedy="The same call later, with the same Request-ID.",
    )

    # fmt: on
    # From here on: the errors of the sandbox's own controls, which are not part of the bank (choice 10).
    CONTROL_INVALID = _invalid("SBX-0400-000001", "The input '{input}' is not accepted: {why}.", "choice 10")
    WORLDS_FULL = _unavailable(
        "SBX-0503-000002",
        "This server holds {most} worlds and no more (serve --worlds-max). Drop those that are done with, "
        "DELETE /_sandbox/worlds/NAME, or let it keep them in a file (serve --state).",
        "choice 10",
    )
    NOT_READY = _unavailable("SBX-0503-000003", "The sandbox is not ready: {why}.", "choice 10")
    EXPECTATION_FAILED = ErrorRow(
        417,
        "EXPECTATION_FAILED",
        "SBX-0417-000001",
        "The header 'Expect' has a bad value: only 100-continue is known.",
        "choice 4",
    )
    METRICS_MISSING = ErrorRow(
        501,
        "NOT_IMPLEMENTED",
        "SBX-0501-000001",
        "Metrics need an extra: pip install 'bank-sandbox[metrics]'.",
        "choice 10",
    )
    KEY_REFUSED = ErrorRow(
        401,
        "KEY_REQUIRED",
        "SBX-0401-000001",
        "The header 'X-Sandbox-Key' is missing or wrong; commands take the key from --key or SANDBOX_KEY.",
        "choice 10",
    )
    ORIGIN_FOREIGN = _denied("SBX-0403-000004", "The call comes from a page of another origin.", "choice 10")
    HOST_FOREIGN = _denied(
        "SBX-0403-000005",
        "The controls do not answer under the name '{host}'; serve --allowed-hosts lists further names.",
        "choice 10",
    )
    MOVE_ILLEGAL = _conflict("SBX-0409-000002", "{subject} cannot go from {status} to {target}.", "choice 10")
    NEVER = _conflict("SBX-0409-000004", "The status can never be reached: {why}.", "choice 10")
    CLIENT_TAKEN = _conflict("SBX-0409-000005", "A client '{input}' is registered already.", "choice 10")
    NAME_TAKEN = _conflict("SBX-0409-000008", "There is a {kind} '{input}' already.", "choice 10")
    WORLD_TAKEN = _conflict(
        "SBX-0409-000006",
        "A world '{input}' exists already. Choose another name, or replace that world: \"replace\": true in the body, "
        "?replace=true at an import, --replace in a command.",
        "choice 10",
    )
    NOT_VALIDATED = _conflict(
        "SBX-0409-000009", "The file is {status} and was not validated; only a validated one has a report.", "choice 14"
    )
    NOT_VERIFIED = _conflict("SBX-0409-000007", "Expected {expected}; {found}.", "choice 10")
    ALREADY_OVER = _conflict("SBX-0409-000003", "This is {status} and can no longer be signed.", "choice 10")
    CODE_WRONG = _denied("SBX-0403-000003", "The code is wrong; {left} tries are left.", "choice 5")
    METHOD_REFUSED = _denied("SBX-0403-000006", "The method {method} is refused: {why}.", "service 5.7")
    PAYEE_DIFFERS = _denied(
        "SBX-0403-000007",
        "The beneficiary's bank knows the holder of the account as {name}, and this bank goes on with no other name.",
        "choice 14",
    )
    PAYEE_BANK_UNREACHABLE = _denied(
        "SBX-0403-000008", "The beneficiary's bank cannot be reached for an instant payment now.", "choice 14"
    )
    ADDRESS_OUTDATED = ErrorRow(
        410, "OUTDATED", "SBX-0410-000001", "The address is outdated; ask for a new one.", "choice 5"
    )


class Refusal(Exception):
    """Raised to refuse a call, with the error and the facts that its sentence names.

    If `lasting` is true, the changes made before the refusal are kept. `decided_by` has the values that led to the
    refusal. Only `explain` shows them. `clause` replaces the clause of the error's row.
    """

    def __init__(
        self,
        error: Error,
        /,
        *,
        lasting: bool = False,
        decided_by: Mapping[str, object] | None = None,
        clause: str | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(error, facts)
        self.error = error
        self.facts: Mapping[str, object] = facts
        self.lasting = lasting
        self.decided_by: Mapping[str, object] = decided_by or {}
        self.clause = clause or error.value.clause

    @property
    def text(self) -> str:
        """The sentence for the caller, with the facts filled in. The fact `sentence` replaces the error's sentence."""
        sentence = str(self.facts.get("sentence", self.error.value.text))
        text = sentence.format_map({"hint": "", **self.facts})
        return text[:-1] if text.endswith("?.") else text  # a reason may end with a question


# The errors of the controls (choice 10). WORLDS_FULL can also refuse a call of the bank's interface.
OF_CONTROLS = frozenset(dropwhile(lambda error: error is not Error.CONTROL_INVALID, Error))


def make_invalid(name: str, reason: str, clause: str | None = None, **decided_by: object) -> Refusal:
    """Returns the refusal of the input `name`. `clause` is the violated clause, by default the one of the error.
    `decided_by` has the values that led to the refusal."""
    return Refusal(Error.INPUT_INVALID, input=name, why=reason, clause=clause, decided_by=decided_by)


def make_invalid_header(name: str, reason: str, clause: str | None = None, **decided_by: object) -> Refusal:
    return Refusal(Error.HEADER_INVALID, input=name, why=reason, clause=clause, decided_by=decided_by)
