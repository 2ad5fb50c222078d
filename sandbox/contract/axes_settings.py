"""Axes that settings decide: each value by reference, nothing is asked in the code."""

from datetime import timedelta
from typing import Any

from sandbox.contract.axis import Axis, Exclusion, Value, axes_of
from sandbox.contract.settings import Settings

DEFAULTS = Settings()


def by_setting(
    name: str,
    clause: str,
    topic: str,
    about: str,
    brings: str,
    *others: tuple[str, dict[str, Any], str],
    first: str = "default",
    does: str = "",
    lenient: tuple[str, ...] = (),
) -> Axis:
    """The first value leaves the settings as they are by default."""
    names = {setting: getattr(DEFAULTS, setting) for _, changes, _ in others for setting in changes}
    rows = [(first, names, does or "As the sandbox begins.")]
    rows += [(value, names | changes, text) for value, changes, text in others]
    values = tuple(Value(value, text, settings=tuple(sorted(changes.items()))) for value, changes, text in rows)
    return Axis(name, clause, values, about, brings, topic, lenient=lenient)


def words(name: str, clause: str, topic: str, about: str, brings: str, /, *granting: str, **others: str) -> Axis:
    """A setting of few words: an axis of the same name, each word a value; `granting` are those that grant more."""
    first = str(getattr(DEFAULTS, name))
    rows = [(word, {name: word}, text) for word, text in others.items() if word != first]
    return by_setting(name, clause, topic, about, brings, *rows, first=first, does=others[first], lenient=granting)


PROOF = axes_of("proof")


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


ROWS: tuple[Axis, ...] = (
    by_setting(
        "vendor", "service 4.0", "headers", "The word in application/vnd.<vendor>.api+json.", "a hard-coded Accept",
        ("bank.example", {"vendor": "bank.example"}, "Accept is application/vnd.bank.example.api+json."),
        first="service", does="Accept is application/vnd.service.api+json.",
    ),
    words(
        "request_id_reuse", "service 4.0", "headers", "What a Request-ID does that was used before.",
        "a second payment when a POST is sent again",
        replay="The identical initiation gets the first reply again.", refuse="It is refused with 400.",
        allow="It is a call like any other.",
    ),
    by_setting(
        "limits", "service 8", "headers", "How much a client may call.", "no back-off after 429",
        ("minute", {"requests_per_minute": 20}, "20 calls a minute, then 429."),
        ("day", {"reads_per_day": 4}, "4 reads of an account a day without its PSU, then 429."),
        first="none", does="As much as it likes.",
    ),
    by_setting(
        "final_status", "service 3.1", "settling", "The status at which settlement ends.", "waiting for ACSC",
        ("ACSP", {"settled_status": "ACSP"}, "It ends at ACSP; ACSC never appears."),
        first="ACSC", does="It ends at ACSC.",
    ),
    words(
        "closed_days", "service 2.1", "settling", "Whether a closed day delays a payment of today.",
        "a payment of a weekend that is waited for",
        ignore="It is executed at once.", respect="It waits for 06:00 of the next banking day.",
    ),
    by_setting(
        "technical_checks", "service 3.3", "initiation", "How long RCVD lasts.", "a fixed pause before the next call",
        ("long", {"technical_checks": seconds(60)}, "60 seconds."), first="short", does="1 second.",
    ),
    by_setting(
        "settlement", "service 3.3", "settling", "How long a direct payment takes after its signature.",
        "a fixed pause, or a deadline of a minute",
        ("slow", {"settlement_begins": timedelta(minutes=10), "settlement_ends": timedelta(hours=2)},
         "ACSP after 10 minutes, ACSC after 2 hours."),
        first="fast", does="ACSP after 5 seconds, ACSC after 60.",
    ),
    by_setting(
        "instant_settlement", "service 2.1", "settling", "How long an instant payment takes.",
        "a deadline of less than 10 seconds",
        ("slow", {"instant_settlement": seconds(10)}, "10 seconds."), first="fast", does="3 seconds.",
    ),
    by_setting(
        "contract_activation", "service 3.2", "standing orders", "How long a signed standing order stays PDNG.",
        "reading the status once, right after the signature",
        ("late", {"contract_activation": timedelta(minutes=5)}, "5 minutes."), first="at_once", does="1 second.",
    ),
    by_setting(
        "bulk_validation", "service 4.6", "files", "How long the validation of a file takes.",
        "giving up before the address appears",
        ("slow", {"bulk_validation": timedelta(minutes=9)}, "9 minutes."), first="fast", does="2 minutes.",
    ),
    by_setting(
        "bulk_execution", "service 3.3", "files", "How long a file of today takes after its signature.",
        "a fixed pause",
        ("slow", {"bulk_execution": timedelta(minutes=30)}, "30 minutes."), first="fast", does="60 seconds.",
    ),
    by_setting(
        "sca_address_life", "service 4.6", "initiation", "How long an SCA address lives: a few minutes.",
        "an address that is kept for later",
        ("short", {"sca_address_life": timedelta(minutes=2)}, "2 minutes."), first="long", does="5 minutes.",
    ),
    by_setting(
        "code_life", "service 4.8", "tokens", "How long a callback's code lives.", "a code that is exchanged later",
        ("short", {"code_life": seconds(30)}, "30 seconds."), first="long", does="10 minutes.",
    ),
    by_setting(
        "recycling_tries", "service 3.3", "settling", "How often a payment is tried again while funds are missing.",
        "a constant number of days",
        ("0", {"recycling_tries": 0}, "Never: RJCT at once."), ("10", {"recycling_tries": 10}, "10 times."),
        first="3", does="3 times.",
    ),
    by_setting(
        "sca_token_life", "service 4.8", "tokens", "How long an SCA token opens the full history.",
        "an SCA token that is kept",
        ("short", {"sca_token_life": timedelta(minutes=5)}, "5 minutes."), first="long", does="1 hour.",
    ),
    by_setting(
        "sca_renewal_after", "service 4.10", "tokens", "After how long the PSU must authenticate again.",
        "a constant of 90 days",
        ("180_days", {"sca_renewal_after": timedelta(days=180)}, "180 days."), first="90_days", does="90 days.",
        lenient=("180_days",),
    ),
    by_setting(
        "consent_life", "service 4.7", "tokens", "How long a consent lives.", "a constant of 180 days",
        ("90_days", {"consent_life": timedelta(days=90)}, "90 days."), first="180_days", does="180 days.",
    ),
    by_setting(
        "consent_address_life", "service 4.7", "tokens", "How long a consent address lives.",
        "an address that is kept for later",
        ("short", {"consent_address_life": timedelta(minutes=3)}, "3 minutes."), first="long", does="15 minutes.",
    ),
    by_setting(
        "page_size", "service 4.10", "accounts", "How many transactions a page has when no pagesize is sent.",
        "taking the first page for all",
        ("10", {"page_size": 10}, "10."), first="50", does="50.",
    ),
    words(
        "signatures", "service 5.8", "proof", "Whether initiations must be signed.", "an unsigned initiation",
        "off", lenient="Signature, Digest and Date are verified when they are there.", off="They are not looked at.",
        strict="All three are required.",
    ),
    words(
        "sca_methods", "service 5.7", "proof", "How customers sign and consent.", "a time-out too short",
        card_reader="The card reader alone.", app="The bank's app alone, for which a page waits.",
        by_risk="As the customer activated; a risk refuses some methods.",
    ),
    by_setting(
        "date_tolerance", "service 5.8", "proof", "How far Date may be from the bank's time.", "a clock that is wrong",
        ("short", {"date_tolerance": seconds(30)}, "30 seconds."), first="long", does="3 minutes.",
    ),
    by_setting(
        "client_certificates", "service 5.1", "proof", "Whether a client certificate is demanded.",
        "495, and a proxy that forwards no certificate",
        ("proxy", {"client_certificates": "proxy"}, "A proxy passes it on in a header; without one 495."),
        ("tls", {"client_certificates": "tls"}, "It comes with the handshake; without one 495."),
        first="off", does="None is looked at.",
    ),
    words(
        "certificate_clock", "service 5.1", "proof", "Whose time a certificate must cover.", "a certificate that ends",
        real="Real time.", bank="The bank's time.",
    ),
    PROOF(
        "signature_over", "service 5.8", "What a signature is over.", "a proof that the bank cannot verify",
        ("body", "The body, in the payload part or detached."),
        ("attached", "The body, which stands in the payload part."), ("detached", "The body, detached."),
        ("headers", "The lines request-id, digest and date, in the payload part or detached."),
        excludes=tuple(Exclusion(value, "signatures", "off") for value in ("attached", "detached", "headers")),
    ),
)  # fmt: skip
