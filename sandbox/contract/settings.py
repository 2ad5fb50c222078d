"""Every duration, limit and undecided choice of the bank: one named field each, which a scenario may set."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import partial
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
    EXTENSIONS = "Extensions"


NUMBER_MAX = 1_000_000_000


def choice(
    topic: Topic,
    usual: str,
    default: Any,
    about: str,
    clause: str = "",
    *,
    words: tuple[str, ...] = (),
    least: int = 1,
    most: int = NUMBER_MAX,
    longest: timedelta | None = None,
    form: tuple[str, str] | None = None,
) -> Any:
    """A field and the clause it comes from, else the usual one of its topic; `choice` where it is ours.

    Its words or its bounds, or the form of its text: a pattern with an example.
    """
    limits = {"words": words, "bounds": (least, most), "longest": longest, "form": form}
    return field(default=default, metadata={"clause": clause or usual, "topic": topic, "about": about, **limits})


ON_OFF = ("on", "off")
NETWORK = (r"[0-9.]{7,15}(/[0-9]{1,2})?|[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?", "10.0.0.0/8")
ADDED = (r"[a-z0-9_]+ *: *\S.*", "company_invoices: required")
WAIVE = (r"[a-z0-9-]+ *: *\S.*", "paging-stopped: one page is all we show")


_interface = partial(choice, Topic.INTERFACE, "choice 2")
_signatures = partial(choice, Topic.SIGNATURES, "choice 9")
_payments = partial(choice, Topic.PAYMENTS, "choice 5")
_files = partial(choice, Topic.FILES, "choice 7")
_signing = partial(choice, Topic.SIGNING, "choice 5")
_consents = partial(choice, Topic.CONSENTS, "choice 8")
_accounts = partial(choice, Topic.ACCOUNTS, "choice 8")
_limits = partial(choice, Topic.LIMITS, "choice 13")
_referee = partial(choice, Topic.REFEREE, "choice 10")
_memory = partial(choice, Topic.MEMORY, "choice 10")
_variants = partial(choice, Topic.VARIANTS, "choice 13")
_extensions = partial(choice, Topic.EXTENSIONS, "choice 10")


@dataclass(frozen=True)
class Settings:
    """The defaults are the contract's. The order of the fields is that of old files: a new one comes last."""

    vendor: str = _interface(
        "service", "The word in Accept: application/vnd.<word>.api+json.", form=(r"[a-z0-9][a-z0-9.-]{0,60}", "service")
    )
    request_id_reuse: str = _interface(
        "replay",
        "What a used Request-ID gets: the same reply again, a refusal, or a new initiation.",
        words=("replay", "refuse", "allow"),
    )
    worlds: str = _interface(
        "on_demand",
        "Whether a call to an unknown world makes it, or gets 404.",
        "choice 10",
        words=("on_demand", "declared"),
    )
    settled_status: str = _payments("ACSC", "The status in which a settled payment ends.", words=("ACSC", "ACSP"))
    closed_days: str = _payments(
        "ignore", "Whether a direct payment waits for the next banking day.", words=("ignore", "respect")
    )
    # A bank whose beginning does not name `life` is older than the setting, so this default never changes;
    # `bank-sandbox serve` begins its own banks with on.
    life: str = _accounts(
        "off",
        "Whether the customers' habits go on under the clock: salaries, rent, card payments.",
        "choice 13",
        words=ON_OFF,
    )

    signatures: str = _signatures(
        "lenient",
        "off: not read. lenient: verified where they are sent. strict: required on each initiation.",
        "choice 2",
        words=("off", "lenient", "strict"),
    )
    date_tolerance: timedelta = _signatures(
        timedelta(minutes=3), "How far the header Date of a signed call may be from bank time."
    )
    client_certificates: str = _signatures(
        "off",
        "Where the client's certificate comes from: nowhere, a proxy's header, or the TLS handshake.",
        words=("off", "proxy", "tls"),
    )
    certificate_header: str = _signatures(
        "X-Client-Cert",
        "The header in which a proxy hands the certificate on.",
        form=(r"[A-Za-z0-9-]{1,64}", "X-Client-Cert"),
    )
    trusted_proxies: tuple[str, ...] = _signatures(
        ("127.0.0.0/8", "::1"), "The networks whose header is believed.", form=NETWORK
    )
    certificate_clock: str = _signatures(
        "real", "Whose time a certificate must cover: the machine's or the bank's.", words=("real", "bank")
    )
    requests_per_minute: int = _limits(0, "Calls of a client in one minute; 0 is no limit.", least=0)
    reads_per_day: int = _limits(0, "Reads of an account in one day without its customer; 0 is no limit.", least=0)

    technical_checks: timedelta = _payments(
        timedelta(seconds=1), "How long the technical checks of an initiation take."
    )
    unsigned_after: timedelta = _signing(
        timedelta(minutes=60), "After this time an initiation that nobody signed is cancelled.", "service 3.3"
    )
    sca_address_life: timedelta = _signing(
        timedelta(minutes=5), "How long a signing address can be opened; service 4.6 says a few minutes."
    )
    instant_settlement: timedelta = _payments(
        timedelta(seconds=3),
        "How long an instant payment takes; service 2.1 rule 7 allows 10 seconds.",
        longest=timedelta(seconds=10),
    )
    settlement_begins: timedelta = _payments(timedelta(seconds=5), "How long after the signature settlement begins.")
    settlement_ends: timedelta = _payments(timedelta(seconds=60), "How long after the signature settlement ends.")
    recycling_tries: int = _payments(
        3, "How often a payment without funds is tried again after its execution date.", least=0, most=1000
    )
    contract_activation: timedelta = _payments(
        timedelta(seconds=1), "How long after the signature a standing order becomes active.", "choice 6"
    )
    bulk_validation: timedelta = _files(timedelta(seconds=120), "How long the validation of a file takes.")
    bulk_execution: timedelta = _files(
        timedelta(seconds=60), "How long after the signature a bulk of today is executed."
    )
    # A world that was kept before files followed the SEPA rulebook has 1; one that was kept before consents and further
    # signatures had methods, and a blocked customer no channel, has 2. Such a world does what it did then.
    rules_edition: int = _files(
        3,
        "1: without the SEPA rulebook; 2: consents and further signatures by card reader alone; 3: all rules.",
        most=3,
    )
    code_life: timedelta = _consents(
        timedelta(minutes=10), "How long an authorisation code can be exchanged.", "choice 5"
    )
    access_token_life: timedelta = _consents(timedelta(hours=1), "How long an access token is valid.", "service 3.5")
    sca_token_life: timedelta = _consents(
        timedelta(hours=1), "How long the token of a signed initiation is valid.", "choice 2"
    )
    sca_renewal_after: timedelta = _consents(
        timedelta(days=90), "After this time the customer must authenticate again for older transactions."
    )
    consent_life: timedelta = _consents(timedelta(days=180), "How long a consent is valid.")
    consent_address_life: timedelta = _consents(timedelta(minutes=15), "How long a consent address can be opened.")
    page_size: int = _accounts(50, "Transactions on a page where the caller names no number; 50 at most.", most=50)
    wrong_codes_max: int = _signing(3, "After so many wrong codes at the card reader the initiation is refused.")
    execution_days_ahead_max: int = _payments(365, "How many days ahead an execution date may be.", least=0, most=3650)

    referee: str = _referee("on", "Whether the referee watches the clients.", words=ON_OFF)
    referee_waives: tuple[str, ...] = _referee((), "Findings that are suppressed, each as rule: reason.", form=WAIVE)
    requests_kept: int = _memory(10_000, "Calls in the list of calls; the oldest go first.")
    acts_kept: int = _memory(400_000, "Acts in memory, from which a fork can begin; older ones are compacted.")
    acts_bytes_max: int = _memory(256_000_000, "The same in bytes, of which files are most.")
    remembered_max: int = _memory(
        100_000, "Entries in each register of Request-IDs, sessions, codes and replaced tokens."
    )
    remembered_bytes_max: int = _memory(32_000_000, "Bytes of callers' texts in each of these registers.")
    files_waiting_max: int = _files(100_000_000, "Bytes of packed files that wait for their validation.")
    calls_bytes_max: int = _memory(16_000_000, "Bytes of the list of calls, and again of headers and bodies.")
    contents_kept: int = _memory(
        200, "The last calls whose headers and bodies are kept; 0 is none.", least=0, most=10_000
    )
    # Fewer events than one advance may meet would stop the bank itself.
    due_events_max: int = _memory(
        10_000_000, "Events that one move of the clock may meet before it is refused.", least=1_000_000
    )
    body_size_max: int = _interface(1_000_000, "Bytes of a JSON or form body.")
    # The axes of variants.py that are not at their first value, each with its value, by name.
    variants: tuple[tuple[str, str], ...] = _variants((), "The axes on which this bank differs, each as axis: value.")
    # by_risk: the methods that the customer activated, of which a risk refuses some.
    sca_methods: str = _signing(
        "by_risk",
        "How customers approve: by card reader or app alone, or by the methods they activated.",
        "service 5.7",
        words=("card_reader", "app", "by_risk"),
    )
    app_approval_life: timedelta = _signing(
        timedelta(minutes=3), "How long a page waits for the approval in the app.", "service 5.7"
    )
    screens_in_english: str = _signing(
        "off",
        "Whether the bank's pages can be read in English too, for demos; the service has French and Dutch.",
        "service 4.0",
        words=ON_OFF,
    )

    extensions: tuple[str, ...] = _extensions((), "The settings that extensions add, each as name: value.", form=ADDED)
