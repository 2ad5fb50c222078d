"""Times, amounts and account numbers as the console writes them."""

from datetime import datetime, timedelta

from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.iban import grouped
from sandbox.banking.money import Money

# Triggers whose names say too little.
EVENTS = {
    "unsigned_too_long": "expires",
    "ruled": "rule of the scenario",
    "psu_acts": "the customer acts",
    "returned": "money comes back",
}


# What the words of faults, barriers and calls mean. The screens show both, because scenarios use the word.
LABELS = {
    "before": "No reply, the connection ends",
    "within": "The reply breaks off",
    "reset": "The connection is reset",
    "unknown_fields": "Fields that nobody knows",
    "key_order": "Fields in another order",
    "malformed": "JSON that breaks off",
    "both_languages": "Addresses in every language",
    "psu_page": "A page of the bank",
    "callback": "The way back to the TPP",
    "lost": "The customer does not come back",
    "late": "The customer comes back late",
    "twice": "The customer comes back twice",
    "altered_state": "The state is another one",
    "closed": "Closed at once",
    "silent": "Open, but without an answer",
    "handshake": "Fail at the TLS handshake",
    "before_act": "Before it does anything",
    "after_act": "When it is done, before others see it",
    "before_reply": "When it is done, before the reply",
}


def label(word: str) -> str:
    """`Payment initiation (payment_initiation)`."""
    return f"{LABELS.get(word, word.replace('_', ' ').capitalize())} ({word})"


def clock_text(instant: datetime) -> str:
    """`Mon 1 Mar 2027 09:00:00`, Brussels time."""
    there = instant.astimezone(BRUSSELS)
    return f"{there:%a} {there.day} {there:%b %Y %H:%M:%S}"


def moment(instant: datetime) -> str:
    """`2027-03-01 09:00:00`, Brussels time; parts of a second only where there are any."""
    there = instant.astimezone(BRUSSELS)
    return f"{there:%Y-%m-%d %H:%M:%S}" + (f".{there.microsecond // 1000:03}" if there.microsecond else "")


def local(instant: datetime) -> str:
    """As a field of type datetime-local holds it: Brussels time, whole seconds, never earlier than the instant."""
    whole = instant if not instant.microsecond else instant.replace(microsecond=0) + timedelta(seconds=1)
    return f"{whole.astimezone(BRUSSELS):%Y-%m-%dT%H:%M:%S}"


def took(seconds: float) -> str:
    """`3.4 ms`, `1.20 s`."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def wall(instant: datetime) -> str:
    """The machine's time of day, in Brussels, to the millisecond."""
    return f"{instant.astimezone(BRUSSELS):%H:%M:%S.%f}"[:-3]


def span(length: timedelta) -> str:
    """`in 2 d 3 h`: the two largest units of a time ahead."""
    left = max(0, int(length.total_seconds()))
    parts: list[str] = []
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        if count and len(parts) < 2:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts) or "0 s"


def amount(money: Money) -> str:
    """`1,234.50 EUR`; the blank does not break."""
    whole, dot, rest = money.text().partition(".")
    sign, digits = ("\u2212", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{dot}{rest}\u00a0{money.currency}"


def account(number: str) -> str:
    """In groups whose blanks do not break."""
    return grouped(number).replace(" ", "\u00a0")


def event(trigger: str) -> str:
    """A trigger of the bank in the words of the screens."""
    return EVENTS.get(trigger, trigger.replace("_", " "))


def middle(text: str) -> str:
    """A reference without its middle: people know one by its beginning and its end."""
    return text if len(text) <= 22 else f"{text[:10]}\u2026{text[-8:]}"


def short(name: str) -> str:
    """The head of an id."""
    return name if len(name) <= 14 else f"{name[:8]}\u2026"


def tone(status: int) -> str:
    """The tone of a reply: a fault of the bank is worse than a refusal."""
    return "good" if status < 400 else "wait" if status < 500 else "bad"
