"""Rules about who is there when accounts are read: the PSU, or a program alone (service 4.10, choice 13)."""

from sandbox.banking.calendar import BRUSSELS
from sandbox.referee.observations import Observation
from sandbox.referee.rule import WARNING, Own, rule

UNATTENDED_MAX = 4  # reads of an account in a day without its PSU, as the law on payment services has it
NIGHT_ENDS = 5  # o'clock in Brussels
NIGHTS = 3


@rule(
    "unattended-too-often",
    WARNING,
    "choice 13",
    ("transactions",),
    refused=False,
    instead=f"Read an account at most {UNATTENDED_MAX} times a day unless the PSU asked, and then say "
    "psu_involved=true.",
)
def too_often(event: Observation, own: Own) -> str | None:
    """An account is read too often in a day without its PSU."""
    if event.query.get("psu_involved") == "true" or "next" in event.query or event.grant is None:
        return None
    allowed = event.bank.settings.reads_per_day or UNATTENDED_MAX
    key = (event.client, event.grant.customer, event.account, event.at.astimezone(BRUSSELS).date())
    times = own.get(key, 0) + 1
    own[key] = times
    return f"{times} reads on {key[3]}, and {allowed} are allowed" if times == allowed + 1 else None


@rule("psu-involved-always", WARNING, "service 4.10", ("transactions",))
def always_involved(event: Observation, own: Own) -> str | None:
    """A program that reads at night says that the PSU asked.

    Say psu_involved=true only while the PSU waits for the answer: the bank may then ask for an authentication.
    """
    involved, local = event.query.get("psu_involved"), event.at.astimezone(BRUSSELS)
    if involved != "true":
        if "next" not in event.query:
            own[event.client] = None  # it can tell the two apart
        return None
    nights = own.get(event.client, ())
    if nights is None or local.hour >= NIGHT_ENDS or (nights and nights[-1] == local.date()):
        return None
    own[event.client] = nights = (*nights, local.date())
    return f"so it was in {NIGHTS} nights" if len(nights) == NIGHTS else None
