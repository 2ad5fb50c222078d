"""The words of `steps`: the keys that each takes, and the shapes of their values. The player carries them out."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sandbox.banking.durations import RATE_MAX
from sandbox.banking.recurrence import Frequency
from sandbox.contract.errors import Error
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.reader.scalars import (
    CUSTOMER,
    DURATION,
    FLAG,
    INSTANT,
    TEXT,
    account_iban,
    fraction,
    number,
    one_of,
    pattern_or,
    text,
    text_of,
)
from sandbox.reader.shapes import Each, Either, Leaf, Notes, Shape, Table
from sandbox.reader.tree import LISTED_MAX, Node, Wrong, join_names, suggestion
from sandbox.scenarios.fault_rows import FAULT, HOLD
from sandbox.scenarios.return_rows import STATUS
from sandbox.scenarios.setting_rows import SETTINGS_SHAPE

IBAN_LIKE = re.compile(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]*")
LOGICAL_ID_MIN = 20  # characters: shorter texts are names
REFUSALS = sorted({word for error in Error for word in error.value[1:3]} | {"access_denied", "invalid_request"})

# The values of steps


def _account(node: Node, notes: Notes) -> str:
    """An account of the bank by its name, its IBAN or its owner; or one that a step above added."""
    found = text_of(node)
    if found in notes.added:
        return found
    try:
        return account_iban(node, notes)
    except Wrong as wrong:
        people = notes.fixtures
        names = [] if people is None else [*people.names, *people.customers]
        some = f"such as {join_names(names[:LISTED_MAX])}" if names else None
        raise Wrong(wrong.text, suggestion(found, [*sorted(notes.added), *names]) or some) from None


def _account_unless(stands: Callable[[str], object]) -> Leaf:
    """An account, or a text that stands for itself."""

    def read(node: Node, notes: Notes) -> str:
        found = text_of(node)
        return found if stands(found) else _account(node, notes)

    return Leaf(read, TEXT.described)


def _customer(node: Node, notes: Notes) -> Any:
    found = text_of(node)
    return found if found in notes.added else CUSTOMER.read(node, notes)


def _refusal(node: Node, notes: Notes) -> Any:
    """True for any, or the token, the code or the HTTP status of an error."""
    value = node.value
    if value is True or (isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599):
        return value
    return one_of(REFUSALS, "error of this bank").read(node, notes)


ACCOUNT = Leaf(_account, TEXT.described)
DEBTOR = _account_unless(IBAN_LIKE.fullmatch)  # of any bank
READABLE = _account_unless(lambda name: len(name) >= LOGICAL_ID_MIN)
WHO = Leaf(_customer, TEXT.described)
REFUSED = Leaf(_refusal, {"anyOf": [{"const": True}, {"type": "integer"}, {"enum": REFUSALS}]})
SCOPE = one_of(("AIS", "CAF"), "scope")
RATE = fraction(0, RATE_MAX, open_below=True)
ELAPSED = Either(DURATION, Table({"over": DURATION, "under": DURATION}, one_of=("over", "under"), called="a bound"))
EXPECTED: Mapping[str, Shape] = {"account": ACCOUNT, "went": Each(STATUS), "elapsed": ELAPSED}
TIMES = number(1, 10_000)
NAME = text(r"[A-Za-z_][A-Za-z0-9_-]{0,60}", "rent")

Values = Mapping[str, Shape]
PAY: Values = {
    "product": one_of(PRODUCTS, "payment product"),
    "resend": FLAG,
    "debtor": DEBTOR,
    "creditor_iban": DEBTOR,
    "frequency": one_of(Frequency, "frequency"),
    "type": one_of(("FIXED", "VARIABLE"), "type"),
    "charge_bearer": one_of(("SHAR", "DEBT", "CRED"), "charge bearer"),
    "instruction_priority": one_of(("NORM", "HIGH"), "priority"),
}
PSU: Values = {"customer": WHO, "account": ACCOUNT, "accounts": Each(ACCOUNT)}

CLOCK: Values = {"advance": DURATION, "set": INSTANT, "mode": one_of(("frozen", "running"), "mode"), "rate": RATE}

# Their keys

JUDGED = ("expect", "refused")  # what a step says of its own reply; without a word it must succeed
AMOUNTS = STANDING_ORDER.parts("instructed_amount")
CALLING = ("client", "token", "headers", "lost", *JUDGED)  # of every step that calls the bank
# The words of contract/fields. A payment knows the amounts of a standing order too, so that a script can be refused.
PAYMENT_WORDS = tuple(dict.fromkeys(("debtor", *(word for part in AMOUNTS for word in part.words), *PAYMENT.paths)))
ORDER = ("product", *PAYMENT_WORDS, "body", "version", "resend")
PERIODIC = tuple(word for word in STANDING_ORDER.paths if word not in PAYMENT_WORDS)
FILE = ("product", "sample", "content", "transfers", "debtor", "on", "payment_information_id", "resend")
PSU_KEYS = ("approves", "refuses", "customer", "account", "accounts", "method", *JUDGED)
# Of a customer or, with `account`, of an account; what a new account is called in the script stands for its IBAN.
CHANGES_OF_CUSTOMER = ("customer", "channel_blocked", "language", "limit_day", "limit_week", "countries", "methods")
CHANGES_OF_ACCOUNT = ("account", "closed", "overdraft", "signatures_required", "signers", "balance_shown")
NEW = ("customer", "account", "name", "kind", "iban", "type", "currencies", "balance")


class Word(NamedTuple):
    """A step; the values of some keys are checked before a script plays. `whole`: a scenario reads it so elsewhere."""

    keys: tuple[str, ...]
    bare: str | None = None  # the key that a single value stands for
    values: Values = {}
    whole: Shape | None = None
    free: bool = False  # takes any key


STEPS: dict[str, Word] = {
    "pay": Word((*ORDER, *CALLING), values=PAY),
    "order": Word((*ORDER, *PERIODIC, *CALLING), values=PAY),
    "file": Word((*FILE, *CALLING), values={"debtor": DEBTOR, "resend": FLAG}),
    "consent": Word(("scope", *PSU, "iban", *CALLING), "scope", {"scope": SCOPE, **PSU, "iban": DEBTOR}),
    "token": Word(("of", "code", "code_verifier", "redirect_uri", "version", *CALLING), "of"),
    "refresh": Word(("of", "scope", "version", "keep_old", *CALLING), "of"),
    "status": Word(("of", "external", *CALLING), "of"),
    "details": Word(("of", "external", *CALLING), "of"),
    "cancel": Word(("of", "external", *CALLING), "of"),
    "accounts": Word(("of", *CALLING), "of"),
    "account": Word(("of", "account", *CALLING), "account", {"account": READABLE}),
    "transactions": Word(
        ("of", "account", "date_from", "date_to", "psu_involved", "pagesize", "next", "currency", "sca", *CALLING),
        "account",
        {"account": READABLE},
    ),
    "psu": Word(PSU_KEYS, values=PSU),
    "sign": Word(("of", "customer", "method", *JUDGED), values={"customer": WHO}),
    "refuse": Word(("of", "customer", *JUDGED), values={"customer": WHO}),
    "clock": Word((*CLOCK, *JUDGED), "advance", CLOCK),
    "await": Word(("of", "payment", "status", "within", *JUDGED), values={"status": STATUS, "within": DURATION}),
    "reset": Word((), "reset"),
    "move": Word(("of", "payment", "status", "reason", *JUDGED), values={"status": STATUS}),
    **dict.fromkeys(("return", "recall"), Word(("of", "payment", "reason", *JUDGED))),
    "book": Word(
        ("account", "amount", "currency", "counterparty", "name", "communication", "on", *JUDGED),
        values={"account": ACCOUNT},
    ),
    "change": Word((*CHANGES_OF_CUSTOMER, *CHANGES_OF_ACCOUNT, *JUDGED), values={"customer": WHO, "account": ACCOUNT}),
    "add": Word((*NEW, *CHANGES_OF_CUSTOMER[1:], *CHANGES_OF_ACCOUNT[1:], *JUDGED)),
    "withdraw": Word(("client", "customer", "scope", *JUDGED), values={"customer": WHO, "scope": SCOPE}),
    "settings": Word((), whole=SETTINGS_SHAPE, free=True),
    "fault": Word(tuple(FAULT.fields), whole=FAULT),
    "verify": Word(
        ("operation", "method", "path", "status", "client", "headers", "body", "times", "in_order", *JUDGED),
        values={"operation": pattern_or(one_of(BY_NAME, "operation"))},
    ),
    "hold": Word((*HOLD.fields, *JUDGED), values={name: HOLD.fields[name] for name in ("at", "when")}),
    "release": Word(("name", *JUDGED), "name"),
    "repeat": Word(("times", "steps")),
    "parallel": Word(()),
    "expect": Word((), free=True),
    "call": Word(("method", "path", "query", "body", "json", "form", "version", *CALLING)),
}
