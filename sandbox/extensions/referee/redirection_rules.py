"""Rules about the redirection of a PSU: PKCE, state, callback and code (service 5)."""

from collections.abc import Iterator

from sandbox.bank.state import Bank
from sandbox.extensions.referee.observations import PSU_OPENS, PSU_RETURNS, Observation
from sandbox.extensions.referee.rule import (
    ADVICE,
    ERROR,
    PAYMENTS,
    REDIRECTING,
    TOKEN,
    WARNING,
    OpenMatter,
    RuleState,
    open_entries,
    rule,
)
from sandbox.web.api.addresses import FROM_CONSOLE

STATE_LEAST = 8  # characters
PROVEN = ""
LETTERS_LEAST = 8  # different characters in a verifier


@rule("pkce-challenge-reused", ERROR, "service 5.2", (*REDIRECTING, "token"), refused=False)
def challenge_again(event: Observation, memory: RuleState) -> str | None:
    """The same PKCE challenge is used for a second flow.

    Make a new verifier and challenge for every redirection.
    """
    if event.challenge is None:
        for challenge in event.verifier_challenges:
            memory[event.client, challenge] = PROVEN  # from now on pkce-verifier-reused finds it
        return None
    first = memory.setdefault((event.client, event.challenge[1]), event.exchange.request_id)
    return None if first in (PROVEN, event.exchange.request_id) else f"the challenge is that of call {first}"


@rule("pkce-verifier-reused", ERROR, "service 4.8", (*REDIRECTING, "token"), refused=False)
def verifier_again(event: Observation, memory: RuleState) -> str | None:
    """A PKCE verifier that was already sent is used for a new flow.

    Forget the verifier once its code is exchanged, and draw another.
    """
    for challenge in event.verifier_challenges:
        memory[event.client, challenge] = event.exchange.request_id
    if event.challenge is None or (call := memory.get((event.client, event.challenge[1]))) is None:
        return None
    return f"the challenge belongs to the verifier that call {call} sent"


def has_plain_challenge(event: Observation) -> bool:
    return event.challenge is not None and event.challenge[0] == "plain"


rule("pkce-plain", WARNING, "service 4.0", REDIRECTING, refused=False, only=has_plain_challenge).says(
    "Code-Challenge-Method is plain",
    "The PKCE method is plain.",
    "Use S256: anyone who sees a plain challenge can exchange the code.",
)


def has_weak_verifier(event: Observation) -> bool:
    return event.verifier_letters is not None and event.verifier_letters < LETTERS_LEAST


rule("pkce-weak", ERROR, "service 4.8", TOKEN, refused=False, only=has_weak_verifier).says(
    "the verifier has {event.verifier_letters} different characters",
    "A PKCE verifier can be guessed.",
    "Draw 32 random bytes and write them as Base64 for URLs.",
)


def is_unauthorized(event: Observation) -> bool:
    return event.status == 401


rule("pkce-verifier-wrong", ERROR, "service 4.8", TOKEN, only=is_unauthorized, input="code_verifier").says(
    "the code_verifier was refused",
    "A verifier does not belong to the challenge.",
    "Keep the verifier with its flow, and send the one that the challenge was made from.",
)

rule("pkce-beside-token", ADVICE, "service 4.1", PAYMENTS, only=lambda event: event.has_needless_challenge).says(
    "Code-Challenge was sent with Authorization",
    "PKCE headers are sent beside an access token.",
    "Leave them out: they are ignored, and no code comes on the callback.",
)


@rule("state-missing", ERROR, "service 5.3", (PSU_OPENS,), find_open=open_entries)
def state_missing(event: Observation, memory: RuleState) -> str | None:
    """The address has no state.

    Append a state to the address, and check it on the callback.
    """
    if event.psu_state is not None:
        memory[event.addresses[0]] = None  # the client appended a state, whatever the customer opens later
    elif FROM_CONSOLE not in event.query:
        memory.setdefault(event.addresses[0], (event.exchange, "the PSU came to the address without a state"))
    return None


def make_redirection_key(event: Observation) -> int | bytes:
    """Returns a key for one redirection of a PSU. For an initiation, it is the address. A consent has one address for
    each language, so its key is the number of the call that gave the addresses, or the address if that call is not
    known."""
    return (event.subject is None and event.exchange.seq) or event.addresses[0]


@rule("state-reused", ERROR, "service 5.3", (PSU_OPENS,))
def state_again(event: Observation, memory: RuleState) -> str | None:
    """Two flows have the same state.

    Draw a fresh state for every redirection.
    """
    if event.psu_state is None:
        return None
    flow = event.subject or make_redirection_key(event)
    first = memory.setdefault((event.client, event.psu_state), flow)
    return "the state was on another address before" if first != flow else None


@rule("state-short", WARNING, "service 5.3", (PSU_OPENS,))
def state_short(event: Observation, memory: RuleState) -> str | None:
    """A state can be guessed.

    Draw it at random, 16 characters or more.
    """
    if event.psu_state is None or event.psu_state_length >= STATE_LEAST:
        return None
    return f"the state has {event.psu_state_length} characters"


rule("code-late", ERROR, "choice 5", TOKEN, refused=True, input="code", reason="it is outdated").says(
    "the code was outdated",
    "A code is exchanged after it expired.",
    "Exchange the code as soon as the callback brings it.",
)

rule("code-twice", ERROR, "choice 8", TOKEN, refused=True, input="code", reason="it was used before").says(
    "the code was used before",
    "A code is exchanged twice.",
    "Exchange a code once: the second time ends the tokens that the first one gave.",
)


@rule("code-never-came", ERROR, "service 4.8", (PSU_RETURNS, "token"))
def code_never_came(event: Observation, memory: RuleState) -> str | None:
    """A client exchanges a code that no callback brought.

    Look for `error` in the callback first. A callback with an error has no code, and the flow is over.
    """
    if event.operation == PSU_RETURNS:
        memory[event.client] = event.is_psu_refusal
        return None
    if event.refresh_token is not None or event.accepted or event.status >= 500:
        return None
    if event.placeholder is not None:
        return f"the code is {event.placeholder[:20]!r}" if event.placeholder else "the code is empty"
    refused = memory.pop(event.client, False)
    if refused and event.input == "code" and event.why == "it is unknown":
        return "the last callback brought an error and no code"
    return None


rule("redirect-differs", ERROR, "service 4.8", TOKEN, only=is_unauthorized, input="redirect_uri").says(
    "the redirect_uri was refused",
    "The redirect_uri is not that of the authorization request.",
    "Send the redirect_uri that the Redirect-URI header had, letter by letter.",
)

rule("redirect-unregistered", ERROR, "choice 2", errors=("HEADER_INVALID",), input="Redirect-URI").says(
    "the Redirect-URI was refused",
    "Redirect-URI is not registered.",
    "Register every callback address before it is used.",
)


@rule("sca-opened-late", WARNING, "service 4.6", (PSU_OPENS,))
def opened_late(event: Observation, memory: RuleState) -> str | None:
    """A PSU is sent to an address that has expired.

    Send the PSU at once, or ask for a new address: for a bulk by its status, otherwise by a new initiation.
    """
    redirection = make_redirection_key(event)
    if event.status != 410:
        memory[redirection] = True  # the client sent the customer in time, who may come back late
        return None
    return None if redirection in memory else "the PSU found the address outdated"


def find_unexchanged(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
    for grant, exchange, until in memory.values():
        consent = bank.consents.get(grant.consent_id)
        if bank.clock.now >= until and consent is not None and consent.ended is None:
            yield exchange, f"the code for the {grant.scope} consent of {grant.customer} expired unused"


@rule("code-never-exchanged", WARNING, "service 5.2", (PSU_RETURNS, "token"), find_open=find_unexchanged)
def never_exchanged(event: Observation, memory: RuleState) -> str | None:
    """The code of a consent is never exchanged for tokens.

    Exchange the code when the callback brings it. Without tokens, nothing can be read with the consent.
    """
    if event.operation == PSU_RETURNS and event.grant is not None and event.code is not None:
        until = event.bank.clock.now + event.bank.settings.code_life
        for code in [code for code, (grant, *_) in memory.items() if grant.key == event.grant.key]:
            del memory[code]  # the PSU began again
        memory[event.code] = event.grant, event.exchange, until
    elif event.operation == "token":
        memory.pop(event.code, None)
    return None
