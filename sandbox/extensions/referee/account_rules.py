"""Rules about consents, accounts and transactions, and about reads without the PSU (service 4; choice 8, 13)."""

from collections.abc import Iterator
from datetime import timedelta

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.extensions.referee.observations import PSU_RETURNS, Observation
from sandbox.extensions.referee.rule import (
    ADVICE,
    ERROR,
    TOKEN,
    WARNING,
    OpenMatter,
    RuleState,
    rule,
)

READS = ("accounts", "account", "transactions")
TRANSACTIONS = ("transactions",)
AGAIN_WITHIN = 60.0  # seconds
BY_HAND = 5.0  # seconds between two pages that a person asks for
SMALL_PAGE = 10
SMALL_PAGES_MAX = 10
UNATTENDED_MAX = 4  # reads of an account in a day without its PSU, as the law on payment services has it
NIGHT_ENDS = 5  # o'clock in Brussels
NIGHTS, HOURS = 3, 4  # a program reads at the same minute in that many nights or hours in a row; a person does not
SAME_MINUTE = timedelta(minutes=5)  # two reads at about the same minute
NIGHT_READS_MAX = 32  # in memory, of one PSU
ANEW_MAX, ANEW_WITHIN = 2, timedelta(days=30)  # needless consents in a row; after one, the PSU may have connected again


def find_unread_pages(memory: RuleState, bank: Bank) -> Iterator[OpenMatter]:
    for exchange, pages, *_ in memory.values():
        yield exchange, f"{pages} page{'s were' if pages > 1 else ' was'} read, and the last one said that more follow"


def is_for_psu(event: Observation) -> bool:
    """Whether the call says that the PSU is present. Reads for a PSU are judged less strictly, because a person may
    stop early or load a page again."""
    return event.query.get("psu_involved") == "true"


@rule("paging-stopped", WARNING, "service 4.10", TRANSACTIONS, find_open=find_unread_pages)
def paging_stopped(event: Observation, memory: RuleState) -> str | None:
    """A client that reads the pages of a period stops before the last page.

    Request the next page with next_page_key until a reply has none.
    """
    if event.page_key is None and ("date_from" not in event.query or is_for_psu(event)):
        return None  # the newest page, or the pages that a person asks for: the client does not need the whole period
    first = event.exchange, 0, event.at, event.ended
    exchange, pages, at, ended = memory.pop((event.client, event.page_key), first)
    if pages == 0 and event.page_key is not None:
        return None
    if event.next_page_key is not None and (pages == 0 or event.seconds_since(at, ended) < BY_HAND):
        memory[event.client, event.next_page_key] = exchange, pages + 1, event.at, event.ended
    return None


@rule("paging-filters-changed", WARNING, "choice 8", TRANSACTIONS, refused=False)
def filters_changed(event: Observation, memory: RuleState) -> str | None:
    """Filters change between pages.

    Send next alone: it contains the whole query, and other parameters are ignored.
    """
    filters = {name: value for name, value in event.query.items() if name != "next"}
    first = memory.pop((event.client, event.page_key), None) if event.page_key else filters
    if event.next_page_key is not None and first is not None:
        memory[event.client, event.next_page_key] = first
    if first is None:
        return None
    changed = sorted(name for name, value in filters.items() if first.get(name) != value)
    return f"{', '.join(changed)} is not what the first page was asked with" if changed else None


@rule("paging-first-twice", WARNING, "service 4.10", TRANSACTIONS, refused=False)
def first_twice(event: Observation, memory: RuleState) -> str | None:
    """The first page is fetched twice.

    Keep the reply with the first page, and request the next page by its next_page_key.
    """
    if event.page_key is not None or event.next_page_key is None or is_for_psu(event):
        return None
    key = (event.client, event.account, tuple(sorted(event.query.items())))
    before = memory.replace(key, (event.at, event.ended))
    if before is None or event.seconds_since(*before) >= AGAIN_WITHIN:
        return None
    return "the same first page was given less than a minute before"


def small_pages(event: Observation, memory: RuleState) -> str | None:
    if event.page_key is None:
        size = event.query.get("pagesize", "50")
        pages = 1 if int(size) <= SMALL_PAGE and not is_for_psu(event) else None
    else:
        before = memory.pop((event.client, event.page_key), None)
        pages = None if before is None else before + 1
    if pages is not None and event.next_page_key is not None:
        memory[event.client, event.next_page_key] = pages
    return f"{pages} pages of {SMALL_PAGE} lines or fewer" if pages == SMALL_PAGES_MAX else None


rule("paging-small", ADVICE, "service 4.10", TRANSACTIONS, refused=False).says(
    small_pages,
    "Many small pages are read.",
    f"Ask for pages of 50: {SMALL_PAGES_MAX} of {SMALL_PAGE} lines are as many calls for what two could tell.",
)

rule("history-without-sca", WARNING, "service 4.10", TRANSACTIONS, only=lambda event: event.lacks_sca).says(
    "date_from is {event.query[date_from]}",
    "More than 90 days are requested without the SCA token.",
    "Send SCA-Token: without it the reply silently leaves out older transactions.",
)

rule("sca-token-old", WARNING, "choice 2", TRANSACTIONS, only=lambda event: event.has_old_sca).says(
    "date_from is {event.query[date_from]}, and the SCA token no longer counts",
    "More than 90 days are requested with an SCA token that has expired.",
    "Read the full history within an hour of the authentication; later it counts as absent.",
)


@rule("sca-required-retried", WARNING, "choice 8", (*TRANSACTIONS, PSU_RETURNS))
def sca_retried(event: Observation, memory: RuleState) -> str | None:
    """A read that was refused because it needs SCA is tried again without SCA.

    Send the PSU to the address of the 401 SCA_REQUIRED. Afterwards the same token can read again.
    """
    if event.operation == PSU_RETURNS:
        memory.pop(event.client, None)
        return None
    if event.error != "SCA_REQUIRED":
        return None
    before = memory.replace(event.client, (event.access_token, event.at))
    if before is None or before[0] != event.access_token:
        return None
    if event.at >= before[1] + event.bank.settings.consent_address_life:
        return None  # that address expired, and only this call gives a fresh one
    return "SCA_REQUIRED was told before, and no PSU came since"


@rule("consent-anew", WARNING, "choice 8", (PSU_RETURNS,))
def consent_anew(event: Observation, memory: RuleState) -> str | None:
    """New consents are requested while an earlier consent is valid.

    Renew tokens by refresh. A new consent ends the earlier consent, with its tokens and logical ids.
    """
    grant = event.grant
    if grant is None or grant.consent_id is None:
        return None
    name, times = memory.get(grant.key, ("", 0))
    earlier, now = event.bank.consents.get(name), event.bank.consents[grant.consent_id]
    is_needless = (
        earlier is not None
        and earlier.ended == "replaced"
        and event.at < min(earlier.until, earlier.given + ANEW_WITHIN)
        and set(earlier.logical_ids.values()) == set(now.logical_ids.values())  # else the PSU chose other accounts
    )
    times = times + 1 if is_needless else 0
    memory[grant.key] = grant.consent_id, times
    if times != ANEW_MAX:
        return None
    return f"{times} {grant.scope} consents of {grant.customer} in a row lived, and ended with the next one"


@rule("consent-ended-used", WARNING, "choice 8", (*READS, *TOKEN), errors=("CONSENT_ENDED",))
def ended_used(event: Observation, memory: RuleState) -> str | None:
    """A consent is used again after its end was reported.

    At NO_ACTIVE_CONSENT stop, and ask the PSU for a new consent.
    """
    ended = memory.setdefault((event.client, event.access_token or event.refresh_token), event.ended)
    return f"NO_ACTIVE_CONSENT was told before: {event.why}" if event.started >= ended else None


def is_list_or_refusal(event: Observation) -> bool:
    return not event.accepted or event.operation == "accounts"


rule("logical-id-stale", ERROR, "choice 8", READS, only=is_list_or_refusal).says(
    lambda event, memory: "the logical-id is none of this consent" if find_other_owner(event, memory) == "" else None,
    "A logical-id of another consent is used.",
    "Read the account list again after every new consent: logical ids are its own.",
)


def find_other_owner(event: Observation, memory: RuleState) -> str | None:
    """If the call was refused for its logical id, returns the other PSU whose account list had that id, or an empty
    text if no list of another PSU had it. Returns None for all other calls. Stores the logical ids of each account list
    in the memory."""
    grant = event.grant
    if event.accepted and event.operation == "accounts" and grant is not None and grant.consent_id is not None:
        for logical_id in event.bank.consents[grant.consent_id].logical_ids:
            memory[event.client, logical_id] = grant.customer
    if event.accepted or event.input != "logical-id":
        return None
    customer: str = memory.get((event.client, event.account), "")
    return customer if grant is not None and customer != grant.customer else ""


@rule("account-of-another-psu", ERROR, "service 4.9", READS, only=is_list_or_refusal)
def account_of_another(event: Observation, memory: RuleState) -> str | None:
    """An account of one PSU is read with the token of another PSU.

    Store logical ids with the PSU whose consent gave them.
    """
    owner = find_other_owner(event, memory)
    return f"the logical-id is of a consent of {owner}" if owner else None


def too_often(event: Observation, memory: RuleState) -> str | None:
    if is_for_psu(event) or "next" in event.query or event.grant is None:
        return None
    allowed = event.bank.settings.reads_per_day or UNATTENDED_MAX
    key = (event.client, event.grant.customer, event.account, event.at.astimezone(BRUSSELS).date())
    times = memory.count(key)
    return f"{times} reads on {key[3]}, and {allowed} are allowed" if times == allowed + 1 else None


rule("unattended-too-often", WARNING, "choice 13", TRANSACTIONS, refused=False).says(
    too_often,
    "An account is read too often in a day without its PSU.",
    f"Read an account at most {UNATTENDED_MAX} times a day unless the PSU asked, and then say psu_involved=true.",
)


@rule("psu-involved-always", WARNING, "service 4.10", TRANSACTIONS)
def always_involved(event: Observation, memory: RuleState) -> str | None:
    """A program that reads every night claims that the PSU asked for it.

    Send psu_involved=true only while the PSU waits for the answer, because the bank may then ask for an authentication.
    """
    if not is_for_psu(event):
        if "next" not in event.query:
            memory[event.client] = True  # the client distinguishes the two
        return None
    local = event.at.astimezone(BRUSSELS)
    if memory.get(event.client) or local.hour >= NIGHT_ENDS or event.grant is None:
        return None
    key = (event.client, event.grant.customer, event.account)
    earlier = memory.get(key, ())[-NIGHT_READS_MAX:]
    if earlier and timedelta() <= local - earlier[-1] < SAME_MINUTE:
        return None
    memory[key] = reads = (*earlier, local)
    proof = None
    for step, times, unit in ((timedelta(hours=1), HOURS, "hours"), (timedelta(days=1), NIGHTS, "nights")):
        earlier_times = [local - step * back for back in range(1, times)]
        if proof is None and all(any(abs(time - read) <= SAME_MINUTE for read in reads) for time in earlier_times):
            proof = f"so it was at {local:%H:%M} in {times} {unit} in a row"
    memory[event.client] = proof is not None
    return proof
