"""Rules about tokens and secrets (service 3.5, 4.8; choice 2 and 8)."""

from sandbox.extensions.referee.observations import PSU_OPENS, Observation
from sandbox.extensions.referee.rule import (
    ADVICE,
    CANCELLATIONS,
    ERROR,
    PAYMENTS,
    TOKEN,
    WARNING,
    Proof,
    RuleState,
    rule,
)

LATE_MAX = 3  # refreshes in a row that each came after a 401
EARLY_MAX = 3  # refreshes in a row before half of the token's life is over
NO_TOKEN = ("bulk_initiation", "bulk_status", "bulk_cancellation", "consent_addresses")
OF_ONE_PSU = (*PAYMENTS, *CANCELLATIONS, "payment_details", "standing_order_details")
OF_ANOTHER = ("it belongs to another customer", "it is another customer's")
SECRET_NAMES = {"access_token", "token", "refresh_token", "sca_token", "code_verifier", "client_secret", "password"}


def gives_or_refuses(event: Observation) -> bool:
    return event.operation == "token" or event.error == "ACCESS_TOKEN_REFUSED"


@rule("token-replaced", ERROR, "service 3.5", only=gives_or_refuses)
def replaced_token_used(event: Observation, memory: RuleState) -> str | Proof | None:
    """A client uses an access token after it was replaced.

    Keep one pair of tokens for each scope, and use the new pair everywhere as soon as it is there.
    """
    if event.operation == "token":
        if event.accepted:
            memory[event.client] = event.ended, event.exchange, event.code is not None
        return None
    if event.why != "replaced":
        return None
    ended, by, exchanged = memory.get(event.client, (0.0, None, False))
    if event.started < ended:
        return None
    if by is None:
        return "the access token was replaced before"
    how = "the pair of a newer flow" if exchanged else "a refresh"
    return Proof(f"{how} replaced it in call {by.request_id}: one pair per client, PSU and scope", (by,))


rule("token-foreign", ERROR, "choice 2", refused=True, reason="of another client").says(
    "the token belongs to another client",
    "A token of another client is used.",
    "Keep the tokens of each registration apart.",
)


@rule("token-expired-again", ERROR, "service 3.5", errors=("ACCESS_TOKEN_REFUSED",), reason="expired")
def expired_again(event: Observation, memory: RuleState) -> str | None:
    """An expired access token is used again after it was refused.

    Renew the token when its hour is over, or at the first 401.
    """
    call, ended = memory.setdefault((event.client, event.access_token), (event.exchange.request_id, event.ended))
    return f"it was told expired in call {call}" if event.started >= ended else None


@rule("token-refresh-race", ERROR, "service 3.5", TOKEN)
def refresh_race(event: Observation, memory: RuleState) -> str | None:
    """A client sends two refreshes with the same token at once.

    Let one caller refresh while the others wait. Only one of the two new pairs is valid.
    """
    if event.refresh_token is None:
        return None
    other = memory.replace((event.client, event.refresh_token), (event.ended, event.exchange.request_id))
    if other is None or event.started >= other[0]:
        return None
    return f"call {other[1]} with the same refresh token was under way"


@rule("token-refresh-reused", ERROR, "service 3.5", TOKEN)
def refresh_reused(event: Observation, memory: RuleState) -> str | None:
    """A client uses a refresh token a second time.

    Store the new pair of tokens before you use it. The old pair is invalid.
    """
    if event.refresh_token is None:
        return None
    key = (event.client, event.refresh_token)
    if event.accepted:
        memory[key] = event.ended
    elif event.error == "REFRESH_TOKEN_REFUSED" and event.started >= memory.get(key, event.ended):
        return "it was exchanged before"
    return None


@rule("token-refreshed-always", WARNING, "service 2.6", TOKEN, refused=False)
def refreshed_always(event: Observation, memory: RuleState) -> str | None:
    """Valid tokens are refreshed again and again.

    Use an access token for its hour (expires_in), then refresh.
    """
    at, times = memory.pop((event.client, event.refresh_token), (None, 0))
    is_early = at is not None and (event.at - at) * 2 < event.bank.settings.access_token_life
    times = times + 1 if is_early else 0
    memory[event.client, event.new_refresh_token] = event.at, times
    return f"{times} refreshes in a row, each before half of the life" if times == EARLY_MAX else None


@rule("token-refreshed-late", ADVICE, "service 4.8", TOKEN, refused=False)
def refreshed_late(event: Observation, memory: RuleState) -> str | None:
    """A client refreshes tokens only after a call was refused.

    Refresh shortly before expires_in is over. Otherwise every PSU who meets a 401 waits for two more calls.
    """
    if event.refresh_token is None:
        return None
    before = event.before
    if before is None or before.error != "ACCESS_TOKEN_REFUSED" or before.why != "expired":
        memory.pop(event.client, None)
        return None
    return f"{LATE_MAX} refreshes in a row came after a 401" if memory.count(event.client) == LATE_MAX else None


rule("client-secret-in-form", WARNING, "service 4.8", TOKEN, only=lambda event: event.has_secret_in_form).says(
    "the form has a field client_secret",
    "The client's secret is sent in the form.",
    "Send client_id and secret in the Authorization header alone; forms are written into logs.",
)

rule("scope-wrong", ERROR, "service 5.6", errors=("ACCESS_DENIED",), reason="of the scope").says(
    "the token is {event.why}",
    "A token of one scope is used for another.",
    "Payments take a PIS token, accounts one of AIS (or CAF, for its one account).",
)

rule("payment-of-another-psu", ERROR, "choice 2", OF_ONE_PSU, errors=("ACCESS_DENIED",), reason="it ").says(
    lambda event, memory: f"{event.input}: {event.why}" if event.why in OF_ANOTHER else None,
    "The token of one PSU is used for the payment or the account of another.",
    "Keep tokens with their PSU; to pay from another account leave the token out, and the PSU authenticates.",
)

rule("scope-version", ERROR, "service 9.2", TOKEN, errors=("NOT_ACCEPTABLE",), reason="version ").says(
    "{event.why}",
    "A token call asks for a version that does not serve the scope.",
    "Ask for version 3 with AIS and PIS, version 2 with CAF.",
)


def secret_in_query(event: Observation, memory: RuleState) -> str | None:
    """Returns the text of a finding if a query parameter has the name of a secret, or if its value is a token of the
    bank or the client's secret. Otherwise returns None."""
    bank, client = event.bank, event.bank.clients.get(event.client)
    for name, value in event.query.items():
        is_token = value in bank.access_tokens or value in bank.refresh_tokens or value in bank.sca_tokens
        if name.lower() in SECRET_NAMES or is_token or (client is not None and value == client.secret):
            return f"the query parameter {name[:40]} carries it"
    return None


rule("secret-in-address", ERROR, "service 5.5", only=lambda event: bool(event.query)).says(
    secret_in_query,
    "A token or a secret is part of an address.",
    "Send tokens in headers, secrets in the Authorization header or the form: addresses are logged everywhere.",
)

rule("secret-on-redirection", ERROR, "service 5.3", (PSU_OPENS,)).says(
    secret_in_query,
    "A token or a secret is part of the address that the PSU is sent to.",
    "Append only the state, as the PSU's browser sees the address.",
)

rule("token-where-none", WARNING, "service 5.6", NO_TOKEN, only=lambda event: event.access_token is not None).says(
    "Authorization was sent",
    "An access token is sent where none is needed.",
    "Bulk files and consent addresses take no token; send one only where it is used.",
)

rule("token-chunked", ERROR, "service 4.8", TOKEN, refused=True, input="Transfer-Encoding").says(
    "Transfer-Encoding is chunked",
    "The form of a token call is sent in chunks.",
    "Send a Content-Length: chunked transfer is not supported here.",
)

rule("token-fields-mixed", ERROR, "service 4.8", TOKEN, refused=True, reason="it does not go with").says(
    lambda event, memory: f"{event.input} {event.why.removeprefix('it ')}",
    "A token call mixes the fields of both variants.",
    "Send code, redirect_uri and code_verifier, or refresh_token and scope, never both.",
)


@rule("credentials-again", ERROR, "service 5.4", TOKEN)
def credentials_again(event: Observation, memory: RuleState) -> str | None:
    """A client sends credentials again after they were refused.

    Stop at the first 401 of a token call, because the client_id or its secret is wrong.
    """
    if event.error != "CREDENTIALS_REFUSED":
        memory.pop(event.client, None)
        return None
    return "the credentials were refused in the call before too" if memory.count(event.client) > 1 else None


@rule("token-gone-initiation", WARNING, "choice 2", PAYMENTS, errors=("ACCESS_TOKEN_REFUSED",), reason="unknown")
def initiation_again(event: Observation, memory: RuleState) -> str | None:
    """An initiation is sent again with a token that was refused.

    Renew the token, or leave it out and send the PKCE headers. The bank does not ignore a wrong token.
    """
    again = event.access_token is not None and memory.count((event.client, event.access_token)) > 1
    return "the same token was refused as unknown before" if again else None
