"""Views of access: GET /consent-uris makes addresses at which a PSU gives a consent (service 4.7), and POST /token
issues tokens (service 4.8; choice 8)."""

from urllib.parse import parse_qsl

from sandbox.bank import consents, initiations, tokens
from sandbox.bank.state import Bank
from sandbox.bank.tokens import IssuedTokens
from sandbox.banking.iban import is_iban
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.languages import SCREENS
from sandbox.web.api.addresses import make_consent_address
from sandbox.web.api.call import Answer, Call
from sandbox.web.api.gate import count_call
from sandbox.web.api.headers import list_readings, read_languages
from sandbox.web.api.replies import ReplyContent

SCOPE_OF = {4: "AIS", 3: "CAF"}  # choice 3
# The fields of the two variants of a form, required and optional; never mix them.
VARIANTS = {
    "authorization_code": (("code", "redirect_uri", "code_verifier"), ()),
    "refresh_token": (("refresh_token",), ("scope",)),
}
FIELDS = {"grant_type"}.union(*(required + optional for required, optional in VARIANTS.values()))
FORM_MAX = 16_384


def consent_addresses(bank: Bank, call: Call) -> Answer:
    """Returns a function that makes consent addresses and replies with them. The service has a GET for this, although
    the call changes the bank. A view of a GET may only read the bank, so the change happens in the returned function.
    """
    scope, iban = read_scope(call)
    assert call.challenge is not None
    consent_arguments = (call.client.id, scope, iban, call.redirect_uri, call.challenge, call.language)

    def give() -> ReplyContent:
        addresses = call.world.act(consents.ask, *consent_arguments, *list_languages(call))
        rows = [(language, make_consent_address(call.request, token)) for language, token in addresses]
        return ReplyContent([{"language": language, "consent_uri": address} for language, address in rows])

    return give


def list_languages(call: Call) -> tuple[tuple[str, ...], ...]:
    """Returns the further arguments for `consents.ask`. If the axis `consent_languages` is `each`, and the caller
    accepts several languages in which the bank has pages, there is one further argument: the tuple of these languages.
    The bank then makes a consent address for each of them (service 4.7). In any other case there is no further
    argument."""
    wanted_languages = read_languages(call.read_header("Accept-Language") or "")
    languages = tuple(language for language in SCREENS if language in wanted_languages)
    return (languages,) if len(languages) > 1 and call.decisions.consent_languages == "each" else ()


def read_scope(call: Call) -> tuple[str, str | None]:
    """Returns the scope of the consent, and the IBAN of the account if the scope needs one, else None. Version 4 has
    the scope AIS, without an account. Version 3 has the scope CAF, with an account. Refuses every other combination, an
    invalid IBAN, and, if the axis `caf_role` is `own`, a client without the role CAF."""
    scope = call.read_query("scope") if call.decisions.scope_in == "query" else call.read_header("Scope")
    name = call.decisions.caf_account
    iban = call.read_query(name)
    if scope is None:
        raise Refusal(Error.INPUT_MISSING, input="scope", clause="choice 8")
    if scope != SCOPE_OF[call.version]:
        reason = f"version {call.version} is for {SCOPE_OF[call.version]}"
        raise make_invalid("scope", reason, "service 4.7", scope=scope, version=call.version)
    if scope == "CAF" and call.decisions.caf_role == "own" and scope not in call.client.roles:
        raise Refusal(
            Error.TPP_INVALID,
            client=call.client.id,
            why="lacks the role CAF",
            decided_by={"roles": sorted(call.client.roles)},
        )
    if scope == "AIS":
        if iban is not None:
            raise make_invalid(name, "the customer chooses the accounts", "service 4.7", scope=scope)
        return scope, None
    if iban is None:
        raise Refusal(Error.INPUT_MISSING, input=name, clause="service 4.7", decided_by={"scope": scope})
    if not is_iban(iban):
        raise make_invalid(name, "it is no valid IBAN", "choice 8", sent=iban)
    return scope, iban


def token(bank: Bank, call: Call) -> ReplyContent:
    client_id = tokens.demand_client(bank, list_readings(call.read_header("Authorization"))).id
    count_call(call, bank, client_id)
    initiations.demand_fresh(bank, client_id, call.request_id)
    form = read_form(call)
    if form["grant_type"] == "authorization_code":
        proof = (form["code"], form["redirect_uri"], form["code_verifier"])
        return make_token_reply(call.world.do(tokens.exchange_code, client_id, *proof, call.version))
    refresh_arguments = (form["refresh_token"], form.get("scope"))
    return make_token_reply(call.world.do(tokens.refresh, client_id, *refresh_arguments, call.version))


def read_form(call: Call) -> dict[str, str]:
    """Returns the fields of the form. Refuses a chunked body, a body that is not a form, and a missing or unknown grant
    type. Refuses a known field that comes twice. Refuses a form that lacks a field which its grant type requires, or
    that has a field of the other grant type. Ignores fields that belong to neither grant type. A field without a value
    counts as left out (RFC 6749)."""
    environ = call.request.environ
    if environ.get("sandbox.chunked") or "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise Refusal(
            Error.HEADER_INVALID, input="Transfer-Encoding", why="chunked is not supported", clause="service 4.8"
        )
    fields: dict[str, str] = {}
    for name, value in _read_pairs(call):
        if name in fields:
            raise make_invalid(name, "it is given twice", "choice 8")
        if name in FIELDS:
            fields[name] = value
    form = {name: value for name, value in fields.items() if value}
    if "grant_type" not in form:
        raise Refusal(Error.INPUT_MISSING, input="grant_type", clause="service 4.8")
    if form["grant_type"] not in VARIANTS:
        reason = f"it must be one of {', '.join(VARIANTS)}"
        raise make_invalid("grant_type", reason, "service 4.8", sent=form["grant_type"])
    required, optional = VARIANTS[form["grant_type"]]
    for name in form:
        if name != "grant_type" and name not in required + optional:
            reason = f"it does not go with {form['grant_type']}"
            raise make_invalid(name, reason, "service 4.8", grant_type=form["grant_type"])
    for name in required:
        if name not in form:
            decided_by = {"grant_type": form["grant_type"]}
            raise Refusal(Error.INPUT_MISSING, input=name, clause="service 4.8", decided_by=decided_by)
    return form


def _read_pairs(call: Call) -> list[tuple[str, str]]:
    if (call.request.content_length or 0) > FORM_MAX:
        raise make_invalid("body", f"it is longer than {FORM_MAX} bytes")
    try:
        text = call.request.get_data().decode()
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise make_invalid("body", "it is no form in UTF-8") from None


def make_token_reply(issued: IssuedTokens) -> ReplyContent:
    """Returns the reply with the issued tokens (service 2.6). Its headers forbid caches to store it (choice 8)."""
    content = {
        "access_token": issued.access_token,
        "refresh_token": issued.refresh_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in,
        "scope": issued.scope,
    }
    if issued.logical_id is not None:
        content["logical_id"] = issued.logical_id
    if issued.sca_token is not None:
        content["sca_token"] = issued.sca_token
    return ReplyContent(content, headers={"Cache-Control": "no-store", "Pragma": "no-cache"})
