"""Every duration, limit and undecided choice of the bank: one named field each, which a scenario may set."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any


class Topic(StrEnum):
    """The headings below which people find the settings."""

    INTERFACE = "Interface"
    SIGNATURES = "Signatures and certificates"
    PAYMENTS = "Payments and their times"
    FILES = "Bulk files"
    SIGNING = "Signing by the customer"
    CONSENTS = "Consents and tokens"
    ACCOUNTS = "Accounts"
    LIMITS = "Limits of a client"
    REFEREE = "Referee"
    MEMORY = "What the sandbox keeps"
    VARIANTS = "How this bank differs"


def choice(default: Any, clause: str, topic: Topic, about: str) -> Any:
    """A field and the clause it comes from; `service` where that speaks, `choice` where it is ours."""
    return field(default=default, metadata={"clause": clause, "topic": topic, "about": about})


@dataclass(frozen=True)
class Settings:
    """The defaults are the contract's. The order of the fields is that of old files: a new one comes last."""

    vendor: str = choice("service", "choice 2", Topic.INTERFACE, "The word in Accept: application/vnd.<word>.api+json.")
    request_id_reuse: str = choice(
        "replay",
        "choice 2",
        Topic.INTERFACE,
        "What a used Request-ID gets: the same reply again, a refusal, or a new initiation.",
    )
    worlds: str = choice(
        "on_demand", "choice 10", Topic.INTERFACE, "Whether a call to an unknown world makes it, or gets 404."
    )
    settled_status: str = choice("ACSC", "choice 5", Topic.PAYMENTS, "The status in which a settled payment ends.")
    closed_days: str = choice(
        "ignore", "choice 5", Topic.PAYMENTS, "Whether a direct payment waits for the next banking day."
    )
    # A bank whose beginning does not name `life` is older than the setting, so this default never changes;
    # `bank-sandbox serve` begins its own banks with on.
    life: str = choice(
        "off",
        "choice 13",
        Topic.ACCOUNTS,
        "Whether the customers' habits go on under the clock: salaries, rent, card payments.",
    )

    signatures: str = choice(
        "lenient",
        "choice 2",
        Topic.SIGNATURES,
        "off: not read. lenient: verified where they are sent. strict: required on each initiation.",
    )
    date_tolerance: timedelta = choice(
        timedelta(minutes=3),
        "choice 9",
        Topic.SIGNATURES,
        "How far the header Date of a signed call may be from bank time.",
    )
    client_certificates: str = choice(
        "off",
        "choice 9",
        Topic.SIGNATURES,
        "Where the client's certificate comes from: nowhere, a proxy's header, or the TLS handshake.",
    )
    certificate_header: str = choice(
        "X-Client-Cert", "choice 9", Topic.SIGNATURES, "The header in which a proxy hands the certificate on."
    )
    trusted_proxies: tuple[str, ...] = choice(
        ("127.0.0.0/8", "::1"), "choice 9", Topic.SIGNATURES, "The networks whose header is believed."
    )
    certificate_clock: str = choice(
        "real", "choice 9", Topic.SIGNATURES, "Whose time a certificate must cover: the machine's or the bank's."
    )
    requests_per_minute: int = choice(0, "choice 13", Topic.LIMITS, "Calls of a client in one minute; 0 is no limit.")
    reads_per_day: int = choice(
        0, "choice 13", Topic.LIMITS, "Reads of an account in one day without its customer; 0 is no limit."
    )

    technical_checks: timedelta = choice(
        timedelta(seconds=1), "choice 5", Topic.PAYMENTS, "How long the technical checks of an initiation take."
    )
    unsigned_after: timedelta = choice(
        timedelta(minutes=60),
        "service 3.3",
        Topic.SIGNING,
        "After this time an initiation that nobody signed is cancelled.",
    )
    sca_address_life: timedelta = choice(
        timedelta(minutes=5),
        "choice 5",
        Topic.SIGNING,
        "How long a signing address can be opened; service 4.6 says a few minutes.",
    )
    instant_settlement: timedelta = choice(
        timedelta(seconds=3),
        "choice 5",
        Topic.PAYMENTS,
        "How long an instant payment takes; service 2.1 rule 7 allows 10 seconds.",
    )
    settlement_begins: timedelta = choice(
        timedelta(seconds=5), "choice 5", Topic.PAYMENTS, "How long after the signature settlement begins."
    )
    settlement_ends: timedelta = choice(
        timedelta(seconds=60), "choice 5", Topic.PAYMENTS, "How long after the signature settlement ends."
    )
    recycling_tries: int = choice(
        3, "choice 5", Topic.PAYMENTS, "How often a payment without funds is tried again after its execution date."
    )
    contract_activation: timedelta = choice(
        timedelta(seconds=1),
        "choice 6",
        Topic.PAYMENTS,
        "How long after the signature a standing order becomes active.",
    )
    bulk_validation: timedelta = choice(
        timedelta(seconds=120), "choice 7", Topic.FILES, "How long the validation of a file takes."
    )
    bulk_execution: timedelta = choice(
        timedelta(seconds=60), "choice 7", Topic.FILES, "How long after the signature a bulk of today is executed."
    )
    # A world that was kept before files followed the SEPA rulebook has 1; one that was kept before consents and further
    # signatures had methods, and a blocked customer no channel, has 2. Such a world does what it did then.
    rules_edition: int = choice(
        3,
        "choice 7",
        Topic.FILES,
        "1: without the SEPA rulebook; 2: consents and further signatures by card reader alone; 3: all rules.",
    )
    code_life: timedelta = choice(
        timedelta(minutes=10), "choice 5", Topic.CONSENTS, "How long an authorisation code can be exchanged."
    )
    access_token_life: timedelta = choice(
        timedelta(hours=1), "service 3.5", Topic.CONSENTS, "How long an access token is valid."
    )
    sca_token_life: timedelta = choice(
        timedelta(hours=1), "choice 2", Topic.CONSENTS, "How long the token of a signed initiation is valid."
    )
    sca_renewal_after: timedelta = choice(
        timedelta(days=90),
        "choice 8",
        Topic.CONSENTS,
        "After this time the customer must authenticate again for older transactions.",
    )
    consent_life: timedelta = choice(timedelta(days=180), "choice 8", Topic.CONSENTS, "How long a consent is valid.")
    consent_address_life: timedelta = choice(
        timedelta(minutes=15), "choice 8", Topic.CONSENTS, "How long a consent address can be opened."
    )
    page_size: int = choice(
        50, "choice 8", Topic.ACCOUNTS, "Transactions on a page where the caller names no number; 50 at most."
    )
    wrong_codes_max: int = choice(
        3, "choice 5", Topic.SIGNING, "After so many wrong codes at the card reader the initiation is refused."
    )
    execution_days_ahead_max: int = choice(
        365, "choice 5", Topic.PAYMENTS, "How many days ahead an execution date may be."
    )

    referee: str = choice("on", "choice 10", Topic.REFEREE, "Whether the referee watches the clients.")
    referee_waives: tuple[str, ...] = choice(
        (), "choice 10", Topic.REFEREE, "Findings that are suppressed, each as rule: reason."
    )
    requests_kept: int = choice(10_000, "choice 10", Topic.MEMORY, "Calls in the list of calls; the oldest go first.")
    acts_kept: int = choice(
        400_000, "choice 10", Topic.MEMORY, "Acts in memory, from which a fork can begin; older ones are compacted."
    )
    acts_bytes_max: int = choice(256_000_000, "choice 10", Topic.MEMORY, "The same in bytes, of which files are most.")
    remembered_max: int = choice(
        100_000,
        "choice 10",
        Topic.MEMORY,
        "Entries in each register of Request-IDs, sessions, codes and replaced tokens.",
    )
    remembered_bytes_max: int = choice(
        32_000_000, "choice 10", Topic.MEMORY, "Bytes of callers' texts in each of these registers."
    )
    files_waiting_max: int = choice(
        100_000_000, "choice 7", Topic.FILES, "Bytes of packed files that wait for their validation."
    )
    calls_bytes_max: int = choice(
        16_000_000, "choice 10", Topic.MEMORY, "Bytes of the list of calls, and again of headers and bodies."
    )
    contents_kept: int = choice(
        200, "choice 10", Topic.MEMORY, "The last calls whose headers and bodies are kept; 0 is none."
    )
    due_events_max: int = choice(
        10_000_000, "choice 10", Topic.MEMORY, "Events that one move of the clock may meet before it is refused."
    )
    body_size_max: int = choice(1_000_000, "choice 2", Topic.INTERFACE, "Bytes of a JSON or form body.")
    # The axes of variants.py that are not at their first value, each with its value, by name.
    variants: tuple[tuple[str, str], ...] = choice(
        (), "choice 13", Topic.VARIANTS, "The axes on which this bank differs, each as axis: value."
    )
    # by_risk: the methods that the customer activated, of which a risk refuses some.
    sca_methods: str = choice(
        "by_risk",
        "service 5.7",
        Topic.SIGNING,
        "How customers approve: by card reader or app alone, or by the methods they activated.",
    )
    app_approval_life: timedelta = choice(
        timedelta(minutes=3), "service 5.7", Topic.SIGNING, "How long a page waits for the approval in the app."
    )
    screens_in_english: str = choice(
        "off",
        "service 4.0",
        Topic.SIGNING,
        "Whether the bank's pages can be read in English too, for demos; the service has French and Dutch.",
    )
