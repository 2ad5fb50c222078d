"""Makes the replies of refused calls, with the error body of service 2.9. Axes of the world may change the status, the
code and the text. The server also makes its replies here if it refuses a request before the application gets it."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import uuid4

import orjson
from flask import Response, current_app, has_request_context, request
from werkzeug.exceptions import HTTPException, InternalServerError, MethodNotAllowed, NotFound
from werkzeug.http import http_date

from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, ErrorRow, Refusal
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.web.api.addresses import make_consent_address
from sandbox.web.api.call import Call
from sandbox.web.api.gate import UUID_4
from sandbox.web.api.headers import choose_screen_language, read_languages
from sandbox.web.api.replies import MEDIA
from sandbox.worlds.world import World

RETRY_AFTER = 5  # seconds, if neither the refusal nor a fault rule says how many
REASONS = {495: "495 SSL Certificate Error"}  # HTTP does not name this status
# The axes whose value is the status of an error.
STATUSES: dict[Error, Callable[[Decisions], str]] = {
    Error.FUNDS_MISSING: lambda decisions: decisions.insufficient_funds,
    Error.CONSENT_ENDED: lambda decisions: decisions.consent_gone,
}
ADDRESS_IN_TEXT = "address_in_text"  # a fact of SCA_REQUIRED where it is 400 and has no link (old_dates_without_sca)
# The sentence of each error in French and in Dutch, for a bank that answers in the caller's language.
WORDS: dict[str, tuple[str, str]] = {
    "MISSING_INPUT": ("Une donnée manque", "Een gegeven ontbreekt"),
    "INVALID_INPUT": ("Une donnée n'est pas acceptée", "Een gegeven wordt niet aanvaard"),
    "FAILED_SECURITY_VALIDATION": ("Le contrôle de sécurité a échoué", "De veiligheidscontrole is mislukt"),
    "SCA_REQUIRED": ("Le client doit à nouveau s'authentifier", "De klant moet zich opnieuw authenticeren"),
    "INVALID_TPP": ("Le prestataire n'est pas autorisé", "De dienstverlener is niet toegelaten"),
    "INVALID_ACCOUNT": ("Le compte n'est pas accepté", "De rekening wordt niet aanvaard"),
    "ACCESS_DENIED": ("L'accès est refusé", "De toegang wordt geweigerd"),
    "CHANNEL_NOT_PERMITTED": ("Le canal électronique est fermé", "Het elektronische kanaal is gesloten"),
    "NO_ACTIVE_CONSENT": ("Il n'y a pas de consentement actif", "Er is geen actieve toestemming"),
    "INVALID_PAYMENT": ("Le paiement n'est pas accepté", "De betaling wordt niet aanvaard"),
    "FORBIDDEN": ("Le profil du client s'y oppose", "Het profiel van de klant laat dit niet toe"),
    "INSUFFICIENT_FUNDS": ("La provision est insuffisante", "Het saldo is ontoereikend"),
    "NOT_CANCELLABLE": ("L'annulation n'est plus possible", "Annuleren is niet meer mogelijk"),
    "NOT_FOUND": ("Introuvable", "Niet gevonden"),
    "METHOD_NOT_ALLOWED": ("La méthode n'est pas offerte", "De methode wordt niet aangeboden"),
    "NOT_ACCEPTABLE": ("La version ou la langue n'est pas offerte", "De versie of de taal wordt niet aangeboden"),
    "REQUEST_TIMEOUT": ("La demande a pris trop de temps", "De aanvraag duurde te lang"),
    "CONFLICT": ("La référence désigne plusieurs ordres", "De referentie past bij meerdere opdrachten"),
    "UNSUPPORTED_MEDIA_TYPE": ("Le type du contenu n'est pas accepté", "Het type van de inhoud wordt niet aanvaard"),
    "TOO_MANY_REQUESTS": ("Trop de demandes", "Te veel aanvragen"),
    "CERTIFICATE_ERROR": ("Le certificat est refusé", "Het certificaat wordt geweigerd"),
    "INTERNAL_SERVER_ERROR": ("La banque n'a pas pu répondre", "De bank kon niet antwoorden"),
    "SERVICE_UNAVAILABLE": ("Le service est indisponible", "De dienst is niet beschikbaar"),
}
HEADER_BYTES_MAX = 65_536
# The error, the input and its fault, by the status with which waitress refuses.
UNREAD = {
    431: (
        Error.HEADER_INVALID,
        "headers",
        f"together they are over {HEADER_BYTES_MAX} bytes, which is all that the server reads; a long x5c in a "
        "Signature is the usual cause, and the first certificate of it is enough",
    ),
    413: (Error.INPUT_INVALID, "body", "it is longer than the server reads"),
    501: (Error.HEADER_INVALID, "Transfer-Encoding", "the server does not know it"),
    400: (Error.INPUT_INVALID, "request", "it is not HTTP as the server reads it"),
}


def make_refusal_response(refusal: Refusal) -> Response:
    call = request.environ.get("sandbox.call") if has_request_context() else None  # waitress refuses without one
    if call is not None and call.world.is_unloaded:  # the settings of a world that cannot be read are unknown
        call = None
    row, text = (refusal.error.value, refusal.text) if call is None else choose_refusal_variant(call, refusal)
    body: dict[str, Any] = {"error": row.error, "error_code": row.code, "error_description": text}
    if refusal.error is Error.SCA_REQUIRED:
        address = make_consent_address(request, str(refusal.facts["address"]))
        if ADDRESS_IN_TEXT in refusal.facts:
            body["error_description"] += f" {address}"
        else:
            body["_links"] = {"sca_redirect": {"href": address}}
    response = Response(orjson.dumps(body), REASONS.get(row.status, row.status), content_type=MEDIA)
    match refusal.error:
        case Error.ACCESS_TOKEN_REFUSED:
            response.headers["WWW-Authenticate"] = "Bearer"
        case Error.CREDENTIALS_REFUSED:
            response.headers["WWW-Authenticate"] = 'Basic realm="token"'
        case Error.TOO_MANY_REQUESTS | Error.UNAVAILABLE | Error.FILES_WAITING | Error.FILES_FULL:
            seconds = int(str(refusal.facts.get("seconds", RETRY_AFTER)))
            wait = str(seconds) if call is None else retry_after(call.world, seconds)
            if wait is not None:
                response.headers["Retry-After"] = wait
        case Error.METHOD_NOT_ALLOWED:
            response.headers["Allow"] = str(refusal.facts["allow"])
    return response


def render_refusal(refusal: Refusal) -> Response:
    """Makes the reply to a refused call. Also stores the refusal for the record of the call, so that a tester can read
    why the call was refused."""
    request.environ["sandbox.refusal"] = refusal.with_traceback(None)  # which refers to everything that the call read
    return make_refusal_response(refusal)


def make_http_refusal(error: HTTPException) -> Response:
    """Makes the reply to a call that the framework refuses. The reply has the bank's error body."""
    match error:
        case NotFound():
            return render_refusal(Refusal(Error.NOT_FOUND, input=request.path[:200]))
        case MethodNotAllowed():
            return render_refusal(make_method_refusal(sorted(error.valid_methods or ())))
        case InternalServerError():
            return render_refusal(Refusal(Error.INTERNAL))
        case _:
            return render_refusal(Refusal(Error.INPUT_INVALID, input="request", why=error.name.lower()))


def make_method_refusal(allowed: list[str]) -> Refusal:
    """Returns the refusal of a method that the path does not have (405), with the methods that it has. DELETE is not
    among them if a payment of this product cannot be deleted (service 3.4). If the path names an unknown product,
    returns a 404 instead, because the bank checks the path before the method (choice 2)."""
    adapter = current_app.create_url_adapter(request)
    assert adapter is not None and allowed
    name, path = adapter.match(method=allowed[0])
    if "product" in path and path["product"] not in BY_NAME[name].products:
        return Refusal(Error.NOT_FOUND, input="payment-product")
    product = PRODUCTS.get(path.get("product", ""))
    is_deletable = product is None or product.deletable  # service 3.4
    if not is_deletable:
        allowed = [method for method in allowed if method != "DELETE"]
    clause = "service 3.4" if not is_deletable and request.method == "DELETE" else None
    return Refusal(Error.METHOD_NOT_ALLOWED, method=request.method[:20], allow=", ".join(allowed), clause=clause)


def make_unreadable_reply(status: int, request_id: str = "", refusal: Refusal | None = None) -> Response:
    """Makes the reply to a request that the server could not read. `refusal` is the reason, if the server knows it. If
    it is None, the table UNREAD has the reason for `status`, the status that the server chose. For a status that is not
    in the table, the server itself has failed, and the reply is a 500. Response-ID is `request_id` if that is valid,
    else a new id."""
    error, name, reason = UNREAD.get(status, (Error.INTERNAL, "", ""))
    response = make_refusal_response(refusal or Refusal(error, input=name, why=reason))
    response.headers["Response-ID"] = request_id if UUID_4.match(request_id) else str(uuid4())
    return response


@cache
def list_other_codes() -> dict[str, str]:
    """Returns the codes that replace the bank's error codes under the axis `error_codes`: `E01`, `E02` and so on. The
    keys are the bank's own codes."""
    codes = dict.fromkeys(error.value.code for error in Error)
    return {code: f"E{number:02d}" for number, code in enumerate(codes, 1)}


def choose_refusal_variant(call: Call, refusal: Refusal) -> tuple[ErrorRow, str]:
    """Returns the error row and the text of a refusal. Axes of the world may have changed the status, the code, the
    spelling of the error and the language of the text."""
    world = call.world
    row, text = refusal.error.value, refusal.text
    if refusal.error in STATUSES:
        row = row._replace(status=int(STATUSES[refusal.error](world.decisions)))
    if ADDRESS_IN_TEXT in refusal.facts:
        row = row._replace(status=400)
    if world.decisions.error_description == "callers_language":
        text = translate_refusal(refusal, call.read_header("Accept-Language") or "") or text
    if world.decisions.error_codes == "other":
        row = row._replace(code=list_other_codes()[row.code])
    if world.decisions.error_words == "lower":
        row = row._replace(error=row.error.lower())
    return row, text


def translate_refusal(refusal: Refusal, accept_language: str) -> str | None:
    """Returns the sentence of the error in French or Dutch, as the caller prefers, with the name of the wrong input if
    there is one. Returns None if the caller accepts neither language."""
    language = choose_screen_language(read_languages(accept_language))
    if language is None:
        return None
    name = refusal.facts.get("input")
    sentence = WORDS[refusal.error.value.error][language == "nl"]
    return f"{sentence} ({name})" if name else sentence


def retry_after(world: World, seconds: int) -> str | None:
    """Returns the value of the header Retry-After, as a number of seconds or as a date. Returns None if the axis
    `retry_after` leaves out the header."""
    match world.decisions.retry_after:
        case "date":
            return http_date(world.ask(lambda bank: bank.clock.now) + timedelta(seconds=seconds))
        case "absent":
            return None
        case _:
            return str(seconds)
