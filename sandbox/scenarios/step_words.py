"""The words that a step can have. For each word, the table STEPS has the keys and the shapes that check their values.
`sandbox.player` performs the steps."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sandbox.banking.durations import RATE_MAX
from sandbox.banking.recurrence import Frequency
from sandbox.contract.errors import Error
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS
from sandbox.reader import shapes
from sandbox.reader.tree import LISTED_MAX, Node, Wrong, join_names, suggest
from sandbox.scenarios.faults import FAULT, HOLD
from sandbox.scenarios.rules import STATUS
from sandbox.scenarios.settings import SETTINGS_SHAPE

IBAN_LIKE = re.compile(r"[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]*")
LOGICAL_ID_MIN = 20  # characters: shorter texts are names
REFUSALS = sorted({word for error in Error for word in error.value[1:3]} | {"access_denied", "invalid_request"})

# The values of steps


def _read_account(node: Node, notes: shapes.Notes) -> str:
    """Returns the IBAN of an account of the bank. If the text is the name of an account that an earlier step adds,
    returns the name. Raises Wrong if the bank has no such account."""
    name = shapes.read_text(node)
    if name in notes.added:
        return name
    try:
        return shapes.find_iban(node, notes)
    except Wrong as wrong:
        people = notes.fixtures
        names = [] if people is None else [*people.names, *people.customers]
        some = f"such as {join_names(names[:LISTED_MAX])}" if names else None
        raise Wrong(wrong.text, suggest(name, [*sorted(notes.added), *names]) or some) from None


def _make_account_shape(is_other: Callable[[str], object]) -> shapes.Leaf:
    """Returns the shape that reads an account of the bank, or any text that `is_other` accepts."""

    def read(node: Node, notes: shapes.Notes) -> str:
        name = shapes.read_text(node)
        return name if is_other(name) else _read_account(node, notes)

    return shapes.Leaf(read, shapes.NOT_EMPTY)


def _read_customer(node: Node, notes: shapes.Notes) -> Any:
    name = shapes.read_text(node)
    return name if name in notes.added else shapes.CUSTOMER.read(node, notes)


def _read_refusal(node: Node, notes: shapes.Notes) -> Any:
    """Reads which refusal a step expects. Returns True for any refusal, or the token, the code or the HTTP status of an
    error."""
    value = node.value
    if value is True or (isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599):
        return value
    return shapes.make_one_of(REFUSALS, "error of this bank").read(node, notes)


ACCOUNT = shapes.Leaf(_read_account, shapes.NOT_EMPTY)
DEBTOR = _make_account_shape(IBAN_LIKE.fullmatch)  # an account of any bank
READABLE = _make_account_shape(lambda name: len(name) >= LOGICAL_ID_MIN)
WHO = shapes.Leaf(_read_customer, shapes.NOT_EMPTY)
REFUSED = shapes.Leaf(_read_refusal, {"anyOf": [{"const": True}, {"type": "integer"}, {"enum": REFUSALS}]})
SCOPE = shapes.make_one_of(("AIS", "CAF"), "scope")
RATE = shapes.make_fraction(0, RATE_MAX, open_below=True)
ELAPSED = shapes.Either(
    shapes.DURATION,
    shapes.Table({"over": shapes.DURATION, "under": shapes.DURATION}, one_of=("over", "under"), called="a bound"),
)
EXPECTED: Mapping[str, shapes.Shape] = {"account": ACCOUNT, "went": shapes.Each(STATUS), "elapsed": ELAPSED}
TIMES = shapes.make_number(1, 10_000)
NAME = shapes.make_text(r"[A-Za-z_][A-Za-z0-9_-]{0,60}", "rent")

Values = Mapping[str, shapes.Shape]
PAY: Values = {
    "product": shapes.make_one_of(PRODUCTS, "payment product"),
    "resend": shapes.FLAG,
    "debtor": DEBTOR,
    "creditor_iban": DEBTOR,
    "frequency": shapes.make_one_of(Frequency, "frequency"),
    "type": shapes.make_one_of(("FIXED", "VARIABLE"), "type"),
    "charge_bearer": shapes.make_one_of(("SHAR", "DEBT", "CRED"), "charge bearer"),
    "instruction_priority": shapes.make_one_of(("NORM", "HIGH"), "priority"),
}
PSU: Values = {"customer": WHO, "account": ACCOUNT, "accounts": shapes.Each(ACCOUNT)}

CLOCK: Values = {
    "advance": shapes.DURATION,
    "set": shapes.INSTANT,
    "mode": shapes.make_one_of(("frozen", "running"), "mode"),
    "rate": RATE,
}

# Their keys

JUDGED = ("expect", "refused")  # the keys about a step's own reply, which else must be a success
AMOUNTS = STANDING_ORDER.list_parts("instructed_amount")
CALLING = ("client", "token", "headers", "lost", *JUDGED)  # of every step that calls the bank
# The words of contract/fields. A payment takes the amounts of a standing order too, so that a script can be refused.
PAYMENT_WORDS = tuple(dict.fromkeys(("debtor", *(word for part in AMOUNTS for word in part.words), *PAYMENT.paths)))
ORDER = ("product", *PAYMENT_WORDS, "body", "version", "resend")
PERIODIC = tuple(word for word in STANDING_ORDER.paths if word not in PAYMENT_WORDS)
FILE = ("product", "sample", "content", "transfers", "debtor", "on", "payment_information_id", "resend")
PSU_KEYS = ("approves", "refuses", "customer", "account", "accounts", "method", *JUDGED)
# Changes of a customer or, with `account`, of an account. The name of a new account is used for its IBAN in the script.
CHANGES_OF_CUSTOMER = (
    "customer",
    "channel_blocked",
    "language",
    "limit_day",
    "limit_week",
    "countries",
    "methods",
    "payee_check_of_files",
)
CHANGES_OF_ACCOUNT = ("account", "closed", "overdraft", "signatures_required", "signers", "balance_shown")
NEW = ("customer", "account", "name", "kind", "iban", "type", "currencies", "balance")


class StepWord(NamedTuple):
    """A word of a step: the keys that its content can have, and the shapes that check their values before the script
    plays."""

    keys: tuple[str, ...]
    bare: str | None = None  # the key of a content that is a single value
    values: Values = {}
    whole: shapes.Shape | None = None  # of a content that scenarios have elsewhere too
    free: bool = False  # takes any key


STEPS: dict[str, StepWord] = {
    "pay": StepWord((*ORDER, *CALLING), values=PAY),
    "order": StepWord((*ORDER, *PERIODIC, *CALLING), values=PAY),
    "file": StepWord((*FILE, *CALLING), values={"debtor": DEBTOR, "resend": shapes.FLAG}),
    "consent": StepWord(("scope", *PSU, "iban", *CALLING), "scope", {"scope": SCOPE, **PSU, "iban": DEBTOR}),
    "token": StepWord(("of", "code", "code_verifier", "redirect_uri", "version", *CALLING), "of"),
    "refresh": StepWord(("of", "scope", "version", "keep_old", *CALLING), "of"),
    "status": StepWord(("of", "external", *CALLING), "of"),
    "details": StepWord(("of", "external", *CALLING), "of"),
    "cancel": StepWord(("of", "external", *CALLING), "of"),
    "accounts": StepWord(("of", *CALLING), "of"),
    "account": StepWord(("of", "account", *CALLING), "account", {"account": READABLE}),
    "transactions": StepWord(
        ("of", "account", "date_from", "date_to", "psu_involved", "pagesize", "next", "currency", "sca", *CALLING),
        "account",
        {"account": READABLE},
    ),
    "psu": StepWord(PSU_KEYS, values=PSU),
    "sign": StepWord(("of", "customer", "method", *JUDGED), values={"customer": WHO}),
    "refuse": StepWord(("of", "customer", *JUDGED), values={"customer": WHO}),
    "clock": StepWord((*CLOCK, *JUDGED), "advance", CLOCK),
    "await": StepWord(
        ("of", "payment", "status", "within", *JUDGED), values={"status": STATUS, "within": shapes.DURATION}
    ),
    "reset": StepWord((), "reset"),
    "move": StepWord(("of", "payment", "status", "reason", *JUDGED), values={"status": STATUS}),
    **dict.fromkeys(("return", "recall"), StepWord(("of", "payment", "reason", *JUDGED))),
    "book": StepWord(
        ("account", "amount", "currency", "counterparty", "name", "communication", "on", *JUDGED),
        values={"account": ACCOUNT},
    ),
    "change": StepWord(
        (*CHANGES_OF_CUSTOMER, *CHANGES_OF_ACCOUNT, *JUDGED), values={"customer": WHO, "account": ACCOUNT}
    ),
    "add": StepWord((*NEW, *CHANGES_OF_CUSTOMER[1:], *CHANGES_OF_ACCOUNT[1:], *JUDGED)),
    "withdraw": StepWord(("client", "customer", "scope", *JUDGED), values={"customer": WHO, "scope": SCOPE}),
    "settings": StepWord((), whole=SETTINGS_SHAPE, free=True),
    "fault": StepWord(tuple(FAULT.fields), whole=FAULT),
    "verify": StepWord(
        ("operation", "method", "path", "status", "client", "headers", "body", "times", "in_order", *JUDGED),
        values={"operation": shapes.make_pattern_or(shapes.make_one_of(BY_NAME, "operation"))},
    ),
    "hold": StepWord((*HOLD.fields, *JUDGED), values={name: HOLD.fields[name] for name in ("at", "when")}),
    "release": StepWord(("name", *JUDGED), "name"),
    "repeat": StepWord(("times", "steps")),
    "parallel": StepWord(()),
    "expect": StepWord((), free=True),
    "call": StepWord(("method", "path", "query", "body", "json", "form", "version", *CALLING)),
}
