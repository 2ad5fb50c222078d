"""Rules about headers: Request-ID, versions, languages, signatures (service 4.0, 5.8, 9)."""

from operator import eq

from sandbox.extensions.referee.observations import CallKind, CallMark, Observation, marked, refused_as
from sandbox.extensions.referee.rule import ADVICE, ERROR, INITIATIONS, REDIRECTING, WARNING, RuleState, rule
from sandbox.web.api.headers import LANGUAGES, languages_asked, screen_language

FOR_HEADERS = refused_as("HEADER_MISSING", "HEADER_INVALID")
PUNCTUATION = 5  # dashes and the version, which every UUID of version 4 has
ALIKE_LEAST = 16  # digits; of two random ones two are alike
FORETOLD_AFTER = 2  # pairs of calls
SCOPE_BOUND = ("token", "consent_addresses")  # their versions go by the scope (choice 3)


@rule("request-id-constant", ERROR, "service 4.0")
def constant(event: Observation, own: RuleState) -> str | None:
    """Every call has the same Request-ID.

    Draw a fresh version 4 UUID for every call.
    """
    before = event.before
    if before is None or before.exchange.request_id != event.exchange.request_id or is_replay(event, before.body):
        return None
    return "it is that of the call before"


@rule("request-id-reused", ERROR, "service 4.0")
def reused(event: Observation, own: RuleState) -> str | None:
    """A Request-ID is reused later.

    Draw a fresh version 4 UUID for every call; only a lost initiation is sent again with its own.
    """
    name = event.exchange.request_id
    key = f"{name} {event.client}"
    if key not in own:
        own[key] = event.body
        return None
    if (event.before is not None and event.before.exchange.request_id == name) or is_replay(event, own[key]):
        return None
    return "an earlier call had it"


def is_replay(event: Observation, body: bytes | None) -> bool:
    """Tells whether the call repeats an identical initiation after a lost reply (choice 2)."""
    return event.operation in INITIATIONS and body is not None and body == event.body


@rule("request-id-foretold", ERROR, "service 4.0")
def foretold(event: Observation, own: RuleState) -> str | None:
    """The next Request-ID can be foretold.

    Draw all 122 bits at random; a counter or a clock in a UUID is a version 4 by name only.
    """
    before, name = event.before, event.exchange.request_id
    if before is None or before.exchange.request_id == name:
        return None
    last = before.exchange.request_id
    if last[:8] != name[:8] and last[-12:-4] != name[-12:-4]:
        own.pop(event.client, None)
        return None
    alike = sum(map(eq, last, name)) - PUNCTUATION
    times = own.get(event.client, 0) + 1 if alike >= ALIKE_LEAST else 0
    own[event.client] = times
    return f"{alike} of its 31 free digits are those of the call before" if times == FORETOLD_AFTER else None


rule(
    "request-id-wrong", ERROR, "service 4.0", only=refused_as("HEADER_MISSING", "HEADER_INVALID"), input="Request-ID"
).says(
    lambda event, own: None if event.why.startswith("it was used") else event.why or "it is missing",
    "Request-ID is missing, or no version 4 UUID.",
    "Send a random UUID (version 4) with every call.",
)


def is_old(kind: CallKind) -> bool:
    return kind.version == 1 and kind.newest > 1 and kind.operation not in SCOPE_BOUND


rule("version-old", WARNING, "service 9.2", only=is_old).says(
    "version 1 was asked for; the newest is {event.kind.newest}",
    "Version 1 is used where a newer one exists.",
    "Ask for the newest version of the operation: version 1 is the earlier interface.",
)

rule("language-unknown", WARNING, "service 4.0", only=lambda kind: bool(strangers(kind.language))).says(
    lambda event, own: f"{strangers(event.kind.language)} is none",
    "Accept-Language contains no valid language.",
    "Send ISO 639-1 codes, such as fr or nl.",
)


def strangers(header: str) -> str:
    """The first range of an Accept-Language header that is no language."""
    for part in header.split(","):
        tag = part.partition(";")[0].strip().lower()
        if tag and tag != "*" and tag.partition("-")[0] not in LANGUAGES:
            return tag[:40]
    return ""


def has_no_screens(kind: CallKind) -> bool:
    asked = languages_asked(kind.language)
    return "*" not in asked and screen_language(asked) is None


rule("language-without-screens", ADVICE, "service 4.0", REDIRECTING, refused=False, only=has_no_screens).says(
    "asked for was {event.kind.language:.40}",
    "The initiation asks for no language that the PSU's screens have.",
    "Ask for fr or nl, in the PSU's own language: redirection screens exist in no other.",
)

rule("signature-missing", ADVICE, "service 5.8", INITIATIONS, refused=False, only=marked(CallMark.UNSIGNED)).says(
    "there is no Signature",
    "A client that has a key does not sign its initiation.",
    "Send Signature, Digest and Date: another bank, and this one in strict mode, refuses without.",
)

rule("digest-missing", WARNING, "service 5.8", INITIATIONS, only=marked(CallMark.UNDATED)).says(
    "Signature stands alone",
    "A signature comes without Digest or Date.",
    "Send Digest and Date beside every Signature.",
)

rule("signature-algorithm", ADVICE, "service 5.8", INITIATIONS, only=marked(CallMark.OTHER_ALGORITHM)).says(
    "it is {event.signed}",
    "The signature's algorithm is not the recommended one.",
    "Sign with ECDSA on P-256 and SHA-256 (ES256).",
)
