"""Rules that apply to calls of any operation: about Request-ID, version, language, signature, and retries (service 4.0,
5.8, 7.2, 9; choice 4)."""

from functools import lru_cache
from operator import eq

from sandbox.extensions.referee.observations import Observation
from sandbox.extensions.referee.rule import (
    ADVICE,
    ERROR,
    INITIATIONS,
    REDIRECTING,
    WARNING,
    RuleState,
    rule,
)
from sandbox.web.api.headers import LANGUAGES, choose_screen_language, read_languages

PUNCTUATION = 5  # dashes and the version, which every UUID of version 4 has
ALIKE_LEAST = 16  # equal digits; two random UUIDs have two
FORETOLD_AFTER = 2  # pairs of calls
SCOPE_BOUND = ("token", "consent_addresses")  # their versions depend on the scope (choice 3)
RECOMMENDED = "ES256"  # algorithm of a signature (service 5.8)
FAILED = (408, 500)
TRIES_MAX = 3  # failed tries without a pause
PAUSE = 1.0  # seconds
NOT_FOUND_MAX, NOT_FOUND_WITHIN = 3, 86_400.0
BY_REFERENCE_MAX = 10  # a client asks so whether a lost initiation was made


@rule("request-id-constant", ERROR, "service 4.0")
def request_id_constant(event: Observation, memory: RuleState) -> str | None:
    """Every call has the same Request-ID.

    Draw a fresh version 4 UUID for every call.
    """
    before = event.before
    if before is None or before.exchange.request_id != event.exchange.request_id or is_replay(event, before.body):
        return None
    return "it is that of the call before"


@rule("request-id-reused", ERROR, "service 4.0")
def request_id_reused(event: Observation, memory: RuleState) -> str | None:
    """A client uses a Request-ID again for another call.

    Draw a new version 4 UUID for every call. Send an initiation again with its own Request-ID only if its reply was
    lost.
    """
    name = event.exchange.request_id
    key = f"{name} {event.client}"
    if key not in memory:
        memory[key] = event.body
        return None
    if (event.before is not None and event.before.exchange.request_id == name) or is_replay(event, memory[key]):
        return None
    return "an earlier call had it"


def is_replay(event: Observation, body: bytes | None) -> bool:
    """Whether the call is an initiation with the same body as an earlier call. `body` is the fingerprint of that
    earlier body, or None if the earlier call was no initiation. Such a repetition is allowed after a lost reply
    (choice 2)."""
    return event.operation in INITIATIONS and body is not None and body == event.body


@rule("request-id-foretold", ERROR, "service 4.0")
def request_id_foretold(event: Observation, memory: RuleState) -> str | None:
    """The next Request-ID can be predicted.

    Draw all 122 bits at random. A UUID made from a counter or a clock is a version 4 by name only.
    """
    before, name = event.before, event.exchange.request_id
    if before is None or before.exchange.request_id == name:
        return None
    last = before.exchange.request_id
    if last[:8] != name[:8] and last[-12:-4] != name[-12:-4]:
        memory.pop(event.client, None)
        return None
    alike = sum(map(eq, last, name)) - PUNCTUATION
    times = memory.get(event.client, 0) + 1 if alike >= ALIKE_LEAST else 0
    memory[event.client] = times
    return f"{alike} of its 31 free digits are those of the call before" if times == FORETOLD_AFTER else None


rule("request-id-wrong", ERROR, "service 4.0", errors=("HEADER_MISSING", "HEADER_INVALID"), input="Request-ID").says(
    lambda event, memory: None if event.why.startswith("it was used") else event.why or "it is missing",
    "Request-ID is missing, or no version 4 UUID.",
    "Send a random UUID (version 4) with every call.",
)


def is_old(event: Observation) -> bool:
    return event.version == 1 and event.newest_version > 1 and event.operation not in SCOPE_BOUND


rule("version-old", WARNING, "service 9.2", only=is_old).says(
    "version 1 was asked for; the newest is {event.newest_version}",
    "Version 1 is used where a newer one exists.",
    "Ask for the newest version of the operation: version 1 is the earlier interface.",
)


@lru_cache(maxsize=256)
def find_unknown_language(header: str) -> str:
    """Returns the first entry of an Accept-Language header that is not a language, or an empty text if all entries are
    languages."""
    for part in header.split(","):
        tag = part.partition(";")[0].strip().lower()
        if tag and tag != "*" and tag.partition("-")[0] not in LANGUAGES:
            return tag[:40]
    return ""


rule("language-unknown", WARNING, "service 4.0", only=lambda event: bool(find_unknown_language(event.language))).says(
    lambda event, memory: f"{find_unknown_language(event.language)} is none",
    "Accept-Language contains no valid language.",
    "Send ISO 639-1 codes, such as fr or nl.",
)


def has_no_screens(event: Observation) -> bool:
    languages = read_languages(event.language)
    return "*" not in languages and choose_screen_language(languages) is None


rule("language-without-screens", ADVICE, "service 4.0", REDIRECTING, refused=False, only=has_no_screens).says(
    "asked for was {event.language:.40}",
    "The initiation asks for no language that the PSU's screens have.",
    "Ask for fr or nl, in the PSU's own language: redirection screens exist in no other.",
)

rule(
    "signature-missing", ADVICE, "service 5.8", INITIATIONS, refused=False, only=lambda event: event.lacks_signature
).says(
    "there is no Signature",
    "A client that has a key does not sign its initiation.",
    "Send Signature, Digest and Date: another bank, and this one in strict mode, refuses without.",
)

rule("digest-missing", WARNING, "service 5.8", INITIATIONS, only=lambda event: event.lacks_digest_or_date).says(
    "Signature stands alone",
    "A signature comes without Digest or Date.",
    "Send Digest and Date beside every Signature.",
)


def has_other_algorithm(event: Observation) -> bool:
    return event.signature_algorithm not in (None, RECOMMENDED)


rule("signature-algorithm", ADVICE, "service 5.8", INITIATIONS, only=has_other_algorithm).says(
    "it is {event.signature_algorithm}",
    "The signature's algorithm is not the recommended one.",
    "Sign with ECDSA on P-256 and SHA-256 (ES256).",
)


@rule("not-found-again", WARNING, "choice 4", errors=("NOT_FOUND",))
def not_found_again(event: Observation, memory: RuleState) -> str | None:
    """A client asks again and again for an id that was not found.

    Stop at the 404. The id belongs to another client, product or bank, or it does not exist.
    """
    exchange, query = event.exchange, tuple(sorted(event.query.items()))
    times = memory.extend_streak((event.client, exchange.method, exchange.path, query), event, NOT_FOUND_WITHIN)
    by_reference = "EXTERNAL" in (event.query.get("paymentIdType"), event.query.get("paymentFileIdType"))
    return f"it was not found {times} times" if times == (BY_REFERENCE_MAX if by_reference else NOT_FOUND_MAX) else None


@rule("retry-after-ignored", ERROR, "choice 4")
def retry_after_ignored(event: Observation, memory: RuleState) -> str | None:
    """Retry-After is ignored.

    Wait as many seconds as Retry-After says before the next call.
    """
    earlier = memory.pop((event.client, event.operation), None)
    if event.retry_after is not None:
        memory[event.client, event.operation] = event.at, event.ended, event.retry_after
    if earlier is None or (waited := event.seconds_since(earlier[0], earlier[1])) >= earlier[2]:
        return None
    return f"the next call came after {waited:.1f} s; {earlier[2]} s were asked for"


@rule("retried-without-pause", WARNING, "service 7.2")
def retried_without_pause(event: Observation, memory: RuleState) -> str | None:
    """A call that failed because of the bank is tried again without a pause.

    Wait longer before every further try, and give up after a few.
    """
    key = (event.client, event.exchange.method, event.exchange.path)
    if event.status not in FAILED:
        memory.pop(key, None)
        return None
    tries = memory.extend_streak(key, event, PAUSE)
    return f"{tries} tries within a second of each other" if tries >= TRIES_MAX else None
