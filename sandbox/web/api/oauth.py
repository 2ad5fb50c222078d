"""POST /token (service 4.8, choice 8)."""

from urllib.parse import parse_qsl

from flask import Response

from sandbox.bank import initiations, tokens
from sandbox.bank.state import Bank
from sandbox.bank.tokens import TokenReply
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api import replies
from sandbox.web.api.credentials import readings
from sandbox.web.api.gate import Call
from sandbox.web.api.rate_limits import count_call

# The fields of the two variants; never mix them.
VARIANTS = {
    "authorization_code": (("code", "redirect_uri", "code_verifier"), ()),
    "refresh_token": (("refresh_token",), ("scope",)),
}
FORM_MAX = 16_384


def token(bank: Bank, call: Call) -> Response:
    client_id = _demand(bank, call)
    form = read_form(call)
    match form["grant_type"]:
        case "authorization_code":
            proof = (form["code"], form["redirect_uri"], form["code_verifier"])
            issued = call.world.do(tokens.exchange, client_id, *proof, call.version)
        case _:
            wanted = form.get("scope")
            issued = call.world.do(tokens.refresh, client_id, form["refresh_token"], wanted, call.version)
    return token_reply(issued, call)


def _demand(bank: Bank, call: Call) -> str:
    """The client_id of the caller, once its credentials, its rate and its Request-ID hold."""
    client = tokens.demand_client(bank, readings(call.header("Authorization")))
    count_call(call, bank, client.id)
    initiations.demand_fresh(bank, client.id, call.request_id)
    return client.id


def read_form(call: Call) -> dict[str, str]:
    """The fields of one variant; those that OAuth does not know are ignored."""
    environ = call.request.environ
    if environ.get("sandbox.chunked") or "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise Refusal(Error.HEADER_INVALID, input="Transfer-Encoding", why="chunked is not supported")
    pairs = _pairs(call)
    names = {"grant_type"}.union(*(required + optional for required, optional in VARIANTS.values()))
    form: dict[str, str] = {}
    for name, value in pairs:
        if name in names:
            if name in form:
                raise Refusal(Error.INPUT_INVALID, input=name, why="it is given twice")
            form[name] = value
    if not form.get("grant_type"):
        raise Refusal(Error.INPUT_MISSING, input="grant_type")
    if form["grant_type"] not in VARIANTS:
        raise Refusal(Error.INPUT_INVALID, input="grant_type", why=f"it must be one of {', '.join(VARIANTS)}")
    required, optional = VARIANTS[form["grant_type"]]
    for name in form:
        if name != "grant_type" and name not in required + optional:
            raise Refusal(Error.INPUT_INVALID, input=name, why=f"it does not go with {form['grant_type']}")
    for name in required:
        if not form.get(name):
            raise Refusal(Error.INPUT_MISSING, input=name)
    return form


def _pairs(call: Call) -> list[tuple[str, str]]:
    if (call.request.content_length or 0) > FORM_MAX:
        raise Refusal(Error.INPUT_INVALID, input="body", why=f"it is longer than {FORM_MAX} bytes")
    try:
        text = call.request.get_data().decode()
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise Refusal(Error.INPUT_INVALID, input="body", why="it is no form in UTF-8") from None


def token_reply(issued: TokenReply, call: Call) -> Response:
    """service 2.6; never kept by anyone on the way (choice 8)."""
    content = {
        "access_token": issued.access_token,
        "refresh_token": issued.refresh_token,
        "token_type": call.variant("token_type_case"),
        "expires_in": issued.expires_in,
        "scope": issued.scope,
    }
    for name, value in (("logical_id", issued.logical_id), ("sca_token", issued.sca_token)):
        if value is not None:
            content[name] = value
    members = replies.TOKEN.dump(content)
    if "sca_token" in members:
        members[call.variant("sca_token_reply")] = members.pop("sca_token")
    response = replies.json_response(members)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Pragma"] = "no-cache"
    return response
