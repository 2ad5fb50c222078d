"""Every duration, limit and undecided choice of the bank: one named field each, which a scenario may set."""

from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any


def choice(default: Any, clause: str) -> Any:
    """A field and the clause it comes from; `service` where that speaks, `choice` where it is ours."""
    return field(default=default, metadata={"clause": clause})


@dataclass(frozen=True)
class Settings:
    """The defaults are the contract's."""

    vendor: str = choice("service", "choice 2")  # the word in application/vnd.<vendor>.api+json
    request_id_reuse: str = choice("replay", "choice 2")  # replay, refuse or allow
    worlds: str = choice("on_demand", "choice 10")  # on_demand or declared
    settled_status: str = choice("ACSC", "choice 5")  # ACSC or ACSP
    closed_days: str = choice("ignore", "choice 5")  # ignore or respect, for direct execution
    # Whether the customers' habits go on under the clock: on or off. A bank whose beginning does not say is from before
    # there was such a thing, so this default never changes; `bank-sandbox serve` begins its own banks with on.
    life: str = choice("off", "choice 13")

    signatures: str = choice("lenient", "choice 2")  # off, lenient or strict
    date_tolerance: timedelta = choice(timedelta(minutes=3), "choice 9")  # of the Date beside a signature
    client_certificates: str = choice("off", "choice 9")  # off, proxy or tls
    certificate_header: str = choice("X-Client-Cert", "choice 9")
    trusted_proxies: tuple[str, ...] = choice(("127.0.0.0/8", "::1"), "choice 9")
    certificate_clock: str = choice("real", "choice 9")  # real, or bank: whose time a certificate must cover
    requests_per_minute: int = choice(0, "choice 13")  # of a client; 0 is no limit
    reads_per_day: int = choice(0, "choice 13")  # of an account without its PSU; 0 is no limit

    technical_checks: timedelta = choice(timedelta(seconds=1), "choice 5")
    unsigned_after: timedelta = choice(timedelta(minutes=60), "service 3.3")
    sca_address_life: timedelta = choice(timedelta(minutes=5), "choice 5")  # service 4.6 says "a few minutes"
    instant_settlement: timedelta = choice(timedelta(seconds=3), "choice 5")  # service 2.1 rule 7: within 10 s
    settlement_begins: timedelta = choice(timedelta(seconds=5), "choice 5")  # after the signature
    settlement_ends: timedelta = choice(timedelta(seconds=60), "choice 5")  # after the signature
    recycling_tries: int = choice(3, "choice 5")  # after the execution date's own
    contract_activation: timedelta = choice(timedelta(seconds=1), "choice 6")  # of a signed standing order
    bulk_validation: timedelta = choice(timedelta(seconds=120), "choice 7")
    bulk_execution: timedelta = choice(timedelta(seconds=60), "choice 7")  # of a date of today, after the signature
    # 1 for a world that was kept before files followed the SEPA rulebook, 2 for one before consents and further
    # signatures had methods and a blocked customer had no channel: what such a world did then, it does again.
    rules_edition: int = choice(3, "choice 7")
    code_life: timedelta = choice(timedelta(minutes=10), "choice 5")
    access_token_life: timedelta = choice(timedelta(hours=1), "service 3.5")
    sca_token_life: timedelta = choice(timedelta(hours=1), "choice 2")
    sca_renewal_after: timedelta = choice(timedelta(days=90), "choice 8")
    consent_life: timedelta = choice(timedelta(days=180), "choice 8")
    consent_address_life: timedelta = choice(timedelta(minutes=15), "choice 8")
    page_size: int = choice(50, "choice 8")  # of transactions when the caller names none; 50 at most
    wrong_codes_max: int = choice(3, "choice 5")  # at the card reader; then the initiation is refused
    execution_days_ahead_max: int = choice(365, "choice 5")

    referee: str = choice("on", "choice 10")  # on or off: whether it watches the clients
    referee_waives: tuple[str, ...] = choice((), "choice 10")  # findings waved off, each `rule: reason`
    requests_kept: int = choice(10_000, "choice 10")  # the oldest go first
    acts_kept: int = choice(400_000, "choice 10")  # in memory, to fork from; what was before is folded together
    acts_bytes_max: int = choice(256_000_000, "choice 10")  # the same in bytes, of which files are most
    remembered_max: int = choice(100_000, "choice 10")  # Request-IDs, sessions, codes, replaced tokens and the like
    remembered_bytes_max: int = choice(32_000_000, "choice 10")  # of callers' texts in each of those registers
    files_waiting_max: int = choice(100_000_000, "choice 7")  # bytes of files, packed, that wait for their validation
    calls_bytes_max: int = choice(16_000_000, "choice 10")  # of that list, and again of headers and bodies
    contents_kept: int = choice(200, "choice 10")  # of the last calls: headers and bodies, for the console; 0 is none
    due_events_max: int = choice(10_000_000, "choice 10")  # an endless agenda is our bug, so find it
    body_size_max: int = choice(1_000_000, "choice 2")  # bytes of a JSON or form body
    # How this bank differs: the axes of variants.py that are not at their default, each with its value, by name.
    variants: tuple[tuple[str, str], ...] = choice((), "choice 13")
    # How customers sign and consent. card_reader, app: that method alone; by_risk: those that the customer activated,
    # of which a risk refuses some.
    sca_methods: str = choice("by_risk", "service 5.7")
    app_approval_life: timedelta = choice(timedelta(minutes=3), "service 5.7")  # how long a page waits for the app


def clause_of(name: str) -> str:
    """Where a setting comes from."""
    return next(str(row.metadata["clause"]) for row in fields(Settings) if row.name == name)
