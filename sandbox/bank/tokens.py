"""Authorization codes and tokens (service 3.5, 4.8; choice 8). Whether a code or a token has expired is decided by the
bank's clock when it is used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sandbox.bank.bounded_registers import drop_invalid, forget_oldest
from sandbox.bank.records import Code, Grant, PairKey, RegisteredClient, ScaToken, TokenPair
from sandbox.bank.state import Bank
from sandbox.banking import pkce
from sandbox.contract.errors import Error, Refusal, make_invalid

LONG_PARTS = 34  # of a long token, 43 characters each

# The scopes that a version of POST /token serves (choice 3).
SCOPES_OF = {3: ("AIS", "PIS"), 2: ("CAF", "PIS")}


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens of a reply to POST /token, with their scope and lifetime."""

    access_token: str
    refresh_token: str
    expires_in: int
    scope: str
    logical_id: str | None = None
    sca_token: str | None = None


def create_code(bank: Bank, grant: Grant, redirect_uri: str, challenge: tuple[str, str], rule: int | None) -> str:
    """Creates a single-use authorization code for the callback and returns it. A rule of the scenario may set its
    lifetime. If the decision `callback_arrival` is `late`, the code has expired when the callback arrives. If the
    decision `code_characters` is `reserved`, the code has characters that a URL must encode."""
    code = bank.mint.draw_secret()
    if bank.decisions.code_characters == "reserved":
        code = f"+/{code}=="
    until = bank.clock.now + bank.find_decisions_of_rule(rule).code_life
    if bank.decisions.callback_arrival == "late":
        until = bank.clock.now
    bank.codes[code] = Code(grant, redirect_uri, challenge, until)
    forget_oldest(bank.codes, bank.decisions, lambda issued: len(issued.redirect_uri))
    return code


def demand_grant(bank: Bank, token: str, client_id: str) -> Grant:
    """Returns the grant of an access token. Refuses a token that is unknown, was replaced, has expired, or belongs to
    another client (choice 2)."""
    pair = _demand_pair(bank, bank.access_tokens, token, client_id, Error.ACCESS_TOKEN_REFUSED, "Authorization")
    if bank.clock.now >= pair.until:
        facts = {"expired_at": pair.until, "life_seconds": int(bank.decisions.access_token_life.total_seconds())}
        raise Refusal(
            Error.ACCESS_TOKEN_REFUSED, input="Authorization", why="expired", clause="service 3.5.2", decided_by=facts
        )
    return pair.grant


def _demand_pair(
    bank: Bank, keys: dict[str, PairKey], token: str, client_id: str, error: Error, field: str
) -> TokenPair:
    """Returns the token pair to which an access or refresh token belongs. Refuses a token that is unknown, was
    replaced, or belongs to another client. Does not check whether the token has expired."""
    key = keys.get(token)
    pair = None if key is None else bank.pairs.get(key)
    if pair is None or not _is_valid(pair, token):
        newer = {} if pair is None else {"newer_pair_until": pair.until}
        if key is None:
            raise Refusal(error, input=field, why="unknown")
        raise Refusal(error, input=field, why="replaced", clause="service 3.5.1", decided_by=newer)
    if pair.grant.client_id != client_id:
        raise Refusal(error, input=field, why="of another client", clause="choice 2")
    return pair


def find_client(bank: Bank, credentials: Iterable[tuple[str, str]]) -> RegisteredClient | None:
    """Returns the registered client of the first right pair of id and secret in `credentials`, or None. Always compares
    all pairs, also those with an unknown id, so that the duration does not reveal which pair is right."""
    clients_and_secrets = ((bank.clients.get(client_id), secret) for client_id, secret in credentials)
    fitting = [
        client
        for client, secret in clients_and_secrets
        if pkce.is_same_secret(client.secret if client else "", secret) and client is not None
    ]
    return fitting[0] if fitting else None


def demand_client(bank: Bank, credentials: Iterable[tuple[str, str]]) -> RegisteredClient:
    """Returns the registered client to which the Basic credentials belong. Raises a Refusal if there is none, or if the
    client is not active."""
    client = find_client(bank, credentials)
    if client is None:
        raise Refusal(Error.CREDENTIALS_REFUSED, input="Authorization")
    if not client.active:
        raise Refusal(Error.TPP_INVALID, client=client.id, why="is not active", decided_by={"active": False})
    return client


def exchange_code(
    bank: Bank, client_id: str, code: str, redirect_uri: str, verifier: str, version: int
) -> IssuedTokens:
    """Exchanges a code for tokens. If the decision `sca_token_for` is `ais`, only a code of the scope AIS also gives an
    SCA token. Otherwise each code does.

    Refuses a code that is unknown, was used before, has expired or belongs to another client. Also refuses a wrong
    redirect address or verifier, a scope that this version of POST /token does not serve, and a consent that has ended.
    By default, a second use of a code also invalidates the tokens of its first use.
    """
    code_row = bank.codes.get(code)
    if code_row is None or code_row.grant.client_id != client_id:
        raise _make_refusal("code", "it is unknown")
    if code_row.used:
        ends = bank.decisions.reused_code == "ends_the_pair"
        pair = bank.pairs.get(code_row.grant.key)
        if ends and pair is not None and pair.code == code:  # also after the pair was refreshed
            del bank.pairs[code_row.grant.key]
        raise _make_refusal("code", "it was used before", lasting=ends, clause="choice 8")
    if bank.clock.now >= code_row.until:
        raise _make_refusal("code", "it is outdated", decided_by={"valid_until": code_row.until}, clause="choice 5")
    if redirect_uri != code_row.redirect_uri:
        raise _fail_exchange(bank, code, "redirect_uri", "it is not that of the authorization request")
    if not pkce.matches(*code_row.challenge, verifier):
        raise _fail_exchange(bank, code, "code_verifier", "it does not match the challenge")
    _demand_served(code_row.grant.scope, version)
    demand_consent(bank, code_row.grant.consent_id)

    bank.codes[code] = replace(code_row, used=True)
    issued = _issue(bank, code_row.grant, code)
    if code_row.grant.scope != "AIS" and bank.decisions.sca_token_for == "ais":
        return issued
    sca_token = bank.mint.draw_secret()
    until = bank.clock.now + bank.decisions.sca_token_life
    bank.sca_tokens[sca_token] = ScaToken(code_row.grant.consent_id, until)
    forget_oldest(bank.sca_tokens, bank.decisions)
    return replace(issued, sca_token=sca_token)


def _fail_exchange(bank: Bank, code: str, field: str, reason: str) -> Refusal:
    """Returns the refusal of a code exchange whose redirect address or verifier is wrong. If the decision
    `failed_exchange` is `code_dies`, also invalidates the code."""
    dies = bank.decisions.failed_exchange == "code_dies"
    if dies:
        bank.codes[code] = replace(bank.codes[code], used=True)
    return _make_refusal(field, reason, lasting=dies)


def use_sca_token(bank: Bank, token: str) -> bool:
    """Marks an SCA token as used. A bank calls this if its SCA tokens are valid for one call only. Returns False if the
    token was used before, else True.

    Also returns True for an unknown token, because a later check refuses it.
    """
    code_row = bank.sca_tokens.get(token)
    if code_row is None or code_row.used:
        return code_row is None  # an unknown one is refused later
    bank.sca_tokens[token] = replace(code_row, used=True)
    return True


def refresh(bank: Bank, client_id: str, refresh_token: str, scope: str | None, version: int) -> IssuedTokens:
    """Issues a new pair of tokens for a refresh token. The old pair becomes invalid (service 3.5). Refuses an invalid
    refresh token, a `scope` other than the granted one, a scope that this version of POST /token does not serve, and a
    consent that has ended."""
    pair = _demand_pair(
        bank, bank.refresh_tokens, refresh_token, client_id, Error.REFRESH_TOKEN_REFUSED, "refresh_token"
    )
    if scope is not None and scope != pair.grant.scope:
        granted = pair.grant.scope
        raise make_invalid("scope", f"granted was {granted}", "service 4.8", scope=scope, granted=granted)
    _demand_served(pair.grant.scope, version)
    demand_consent(bank, pair.grant.consent_id)
    return _issue(bank, pair.grant, pair.code)


def demand_consent(bank: Bank, consent_id: str | None) -> None:
    """Raises a Refusal if the consent was withdrawn or replaced, or has expired (choice 8). Does nothing if
    `consent_id` is None."""
    consent = bank.consents[consent_id] if consent_id else None
    if consent is not None and (consent.ended is not None or bank.clock.now >= consent.until):
        decided_by = {"given": consent.given, "valid_until": consent.until}
        raise Refusal(Error.CONSENT_ENDED, why=f"it is {consent.ended or 'over'}", decided_by=decided_by)


def _issue(bank: Bank, grant: Grant, code: str) -> IssuedTokens:
    """Issues a pair of tokens in the place of the pair with the same key: client, PSU, scope and, for CAF, account. If
    the decision `pair_of` is `client`, also invalidates the newest pair of the same client and scope, even if that pair
    is for another PSU or account."""
    life = bank.decisions.access_token_life
    pair = TokenPair(grant, _create_token(bank), _create_token(bank), bank.clock.now + life, code)
    earlier = bank.newest_pair.get((grant.client_id, grant.scope), grant.key)
    if earlier != grant.key and bank.decisions.pair_of == "client":
        bank.pairs.pop(earlier, None)
    bank.pairs[grant.key] = pair
    bank.newest_pair[grant.client_id, grant.scope] = grant.key
    bank.access_tokens[pair.access_token] = grant.key
    bank.refresh_tokens[pair.refresh_token] = grant.key
    most, valid_count = bank.decisions.remembered_max, len(bank.pairs)
    drop_invalid(bank.access_tokens, valid_count, most, lambda token, of: _is_valid(bank.pairs.get(of), token))
    drop_invalid(bank.refresh_tokens, valid_count, most, lambda token, of: _is_valid(bank.pairs.get(of), token))
    logical_id = None
    if grant.scope == "CAF":
        assert grant.consent_id is not None
        logical_id = next(iter(bank.consents[grant.consent_id].logical_ids))
    return IssuedTokens(pair.access_token, pair.refresh_token, int(life.total_seconds()), grant.scope, logical_id)


def _create_token(bank: Bank) -> str:
    token = bank.mint.draw_secret()
    return token if bank.decisions.token_length == "short" else ".".join([token] * LONG_PARTS)


def _is_valid(pair: TokenPair | None, token: str) -> bool:
    return pair is not None and token in (pair.access_token, pair.refresh_token)


def _demand_served(scope: str, version: int) -> None:
    if scope not in SCOPES_OF[version]:
        reason, decided_by = f"version {version} does not serve the scope {scope}", {"version": version, "scope": scope}
        raise Refusal(Error.NOT_ACCEPTABLE, why=reason, clause="choice 3", decided_by=decided_by)


def _make_refusal(
    field: str,
    reason: str,
    *,
    lasting: bool = False,
    decided_by: Mapping[str, object] | None = None,
    clause: str | None = None,
) -> Refusal:
    error = Error.SECURITY_INPUT_REFUSED
    return Refusal(error, input=field, why=reason, lasting=lasting, decided_by=decided_by, clause=clause)
