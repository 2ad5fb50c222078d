"""Times, amounts and account numbers as the console writes them."""

from datetime import datetime, timedelta

from markupsafe import Markup

from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.iban import group_iban
from sandbox.banking.money import Money

# Triggers whose names say too little.
EVENTS = {
    "unsigned_too_long": "expires",
    "ruled": "rule of the scenario",
    "psu_acts": "the customer acts",
    "returned": "money comes back",
}
# An event that is still to come is in the present tense.
COMING_EVENTS = {
    "activated": "becomes active",
    "checked": "is checked",
    "ended": "ends",
    "executed": "is executed",
    "given_up": "is given up",
    "occurred": "is executed",
    "payee_checked": "the name is checked",
    "rejected": "is rejected",
    "settled": "is settled",
    "validated": "is validated",
}


# The meanings of the words of faults, barriers and calls. The screens show the meaning and the word, because scenarios
# use the word.
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
    """Returns the text for a word of a scenario, followed by the word in brackets: `Payment initiation
    (payment_initiation)`."""
    return f"{LABELS.get(word, word.replace('_', ' ').capitalize())} ({word})"


def clock_text(instant: datetime) -> str:
    """Returns the time in Brussels as `Mon 1 Mar 2027 09:00:00`."""
    there = instant.astimezone(BRUSSELS)
    return f"{there:%a} {there.day} {there:%b %Y %H:%M:%S}"


def moment(instant: datetime) -> str:
    """Returns the time in Brussels as `2027-03-01 09:00:00`. Adds milliseconds only if the time is not a whole
    second."""
    there = instant.astimezone(BRUSSELS)
    return f"{there:%Y-%m-%d %H:%M:%S}" + (f".{there.microsecond // 1000:03}" if there.microsecond else "")


def local(instant: datetime) -> str:
    """Returns the value for an input of type datetime-local: the time in Brussels, rounded up to a whole second."""
    whole = instant if not instant.microsecond else instant.replace(microsecond=0) + timedelta(seconds=1)
    return f"{whole.astimezone(BRUSSELS):%Y-%m-%dT%H:%M:%S}"


def took(seconds: float) -> str:
    """Returns a duration as `3.4 ms` or `1.20 s`."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def wall(instant: datetime) -> str:
    """Returns the machine's time of day, in Brussels, to the millisecond: `09:00:00.123`."""
    return f"{instant.astimezone(BRUSSELS):%H:%M:%S.%f}"[:-3]


def span(length: timedelta) -> str:
    """Returns a length of time in its largest unit and the unit below, such as `2 d 3 h`. Leaves out the unit below if
    its number is 0. Returns `0 s` for less than a second, and for a negative length."""
    seconds_left = max(0, int(length.total_seconds()))
    parts: list[str] = []
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds_left = divmod(seconds_left, seconds)
        if count and len(parts) < 2:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts) or "0 s"


def amount(money: Money) -> str:
    """Returns an amount as `1,234.50 EUR`, with a non-breaking space."""
    whole, dot, cents = money.text().partition(".")
    sign, digits = ("\u2212", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{dot}{cents}\u00a0{money.currency}"


def account(number: str) -> str:
    """Returns the account number in groups, with non-breaking spaces between them."""
    return group_iban(number).replace(" ", "\u00a0")


def event(trigger: str) -> str:
    """Returns the name under which the screens show a trigger of the bank."""
    return EVENTS.get(trigger, trigger.replace("_", " "))


def coming_event(trigger: str) -> str:
    """Returns the name under which the screens show a trigger that has not happened yet."""
    return COMING_EVENTS.get(trigger) or event(trigger)


def middle(text: str) -> str:
    """Returns a reference of more than 18 characters as its first 8 and last 6 characters, with an ellipsis between
    them, because people recognize a reference by its beginning and its end. Returns a shorter reference unchanged."""
    return text if len(text) <= 18 else f"{text[:8]}\u2026{text[-6:]}"


def short(name: str) -> str:
    """Returns an id of more than 14 characters as its first 8 characters and an ellipsis, and a shorter id
    unchanged."""
    return name if len(name) <= 14 else f"{name[:8]}\u2026"


def breakable(code: str) -> Markup:
    """Returns the HTML of a code such as `PSU_REFUSED`, in which a browser may break the line after each underscore."""
    return Markup("_<wbr>").join(code.split("_"))


def tone(status: int) -> str:
    """Returns the style of an HTTP status on the screens: `good`, `wait` for a refusal (4XX), or `bad` for a failure of
    the bank (5XX)."""
    return "good" if status < 400 else "wait" if status < 500 else "bad"
