"""The words of `steps`, and the keys that each takes. The player carries them out."""

from typing import Any, NamedTuple

from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.reader.scalars import number, text
from sandbox.reader.shapes import Json, Notes, Plain, Shape, Table
from sandbox.reader.tree import AlreadyReported, Node, Wrong, join_names, quote, suggestion
from sandbox.scenario.model import Step
from sandbox.scenario.step_values import REFUSED, VALUES, WHOLE, schema_of


class Word(NamedTuple):
    """The keys of a step; `bare` is what a single value stands for, `free` lets any key pass."""

    keys: tuple[str, ...]
    bare: str | None = None
    free: bool = False


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

STEPS: dict[str, Word] = {
    "pay": Word((*ORDER, *CALLING)),
    "order": Word((*ORDER, *PERIODIC, *CALLING)),
    "file": Word((*FILE, *CALLING)),
    "consent": Word(("scope", "customer", "account", "accounts", "iban", *CALLING), "scope"),
    "token": Word(("of", "code", "code_verifier", "redirect_uri", "version", *CALLING), "of"),
    "refresh": Word(("of", "scope", "version", "keep_old", *CALLING), "of"),
    "status": Word(("of", "external", *CALLING), "of"),
    "details": Word(("of", "external", *CALLING), "of"),
    "cancel": Word(("of", "external", *CALLING), "of"),
    "accounts": Word(("of", *CALLING), "of"),
    "account": Word(("of", "account", *CALLING), "account"),
    "transactions": Word(
        ("of", "account", "date_from", "date_to", "psu_involved", "pagesize", "next", "currency", "sca", *CALLING),
        "account",
    ),
    "psu": Word(PSU_KEYS),
    "sign": Word(("of", "customer", "method", *JUDGED)),
    "refuse": Word(("of", "customer", *JUDGED)),
    "clock": Word(("advance", "set", "mode", "rate", *JUDGED), "advance"),
    "await": Word(("of", "payment", "status", "within", *JUDGED)),
    "reset": Word((), "reset"),
    "move": Word(("of", "payment", "status", "reason", *JUDGED)),
    "book": Word(("account", "amount", "currency", "counterparty", "name", "communication", "on", *JUDGED)),
    "change": Word((*CHANGES_OF_CUSTOMER, *CHANGES_OF_ACCOUNT, *JUDGED)),
    "add": Word((*NEW, *CHANGES_OF_CUSTOMER[1:], *CHANGES_OF_ACCOUNT[1:], *JUDGED)),
    "withdraw": Word(("client", "customer", "scope", *JUDGED)),
    "settings": Word((), free=True),
    "fault": Word(("title", "when", "answer", "delay", "cut", "change", "callback", "connection", "for")),
    "verify": Word(
        ("operation", "method", "path", "status", "client", "headers", "body", "times", "in_order", *JUDGED)
    ),
    "hold": Word(("at", "when", "as", *JUDGED)),
    "release": Word(("name", *JUDGED), "name"),
    "repeat": Word(("times", "steps")),
    "parallel": Word(()),
    "expect": Word((), free=True),
    "call": Word(("method", "path", "query", "body", "json", "form", "version", *CALLING)),
}
BRANCHES_MIN = 2
STEP_REF = "#/$defs/step"
TIMES = number(1, 10_000)
Branches = tuple[tuple[Step, ...], ...]
NAME = text(r"[A-Za-z_][A-Za-z0-9_-]{0,60}", "rent")


class StepShape:
    """A mapping of one step word, and `as`."""

    def read(self, node: Node, notes: Notes) -> Step:
        if not isinstance(node.value, dict):
            word = node.value if isinstance(node.value, str) and node.value in STEPS else None
            if word is None or STEPS[word].bare is None:
                raise Wrong("a step is a word with what it takes", "like pay: {amount: ...}")
            return Step(word, None, node.line, node.column)
        words = [name for name in node.rows if name in STEPS]
        count = len(notes.errors)
        for name, entry in node.rows.items():
            if name not in STEPS and name != "as":
                notes.add(entry.key, f"no step is called {quote(name)}", suggestion(name, [*STEPS, "as"]))
        for name in words[1:]:
            notes.add(node.rows[name].key, f"{words[0]} and {name} are two steps", "give each a dash of its own")
        as_name = None
        if "as" in node.rows:
            as_name = _read_or_none(NAME, node.rows["as"].value, notes)
        inner: Branches = ()
        if words:
            inner = self._inner(words[0], node.rows[words[0]].value, notes)
            _check(words[0], node.rows[words[0]].value, notes)
        elif len(notes.errors) == count:
            notes.add(node, "this step does nothing", f"the words are {join_names(STEPS)}")
        if len(notes.errors) > count:
            raise AlreadyReported
        content = node.rows[words[0]].value.plain()
        return Step(words[0], content, node.line, node.column, as_name, inner)

    def _inner(self, name: str, node: Node, notes: Notes) -> Branches:
        """The steps within a step."""
        if name == "parallel":
            return tuple(branch for branch in (self._branch(item, notes) for item in _list(node, notes)) if branch)
        if name != "repeat" or not isinstance(node.value, dict):
            return ()
        for key in ("times", "steps"):
            if key not in node.rows:
                notes.add(node, f"'{key}' is missing")
        if "times" in node.rows:
            _read_or_none(TIMES, node.rows["times"].value, notes)
        return (self._branch(node.rows["steps"].value, notes),) if "steps" in node.rows else ()

    def _branch(self, node: Node, notes: Notes) -> tuple[Step, ...]:
        """A list of steps, or one."""
        steps = node.items if isinstance(node.value, tuple) else (node,)
        if not steps:
            notes.add(node, "an empty list")
        found = (_read_or_none(self, step, notes) for step in steps)
        return tuple(step for step in found if step is not None)

    def schema(self) -> Json:
        """One step; the steps within it are read by the same schema, which the scenario's has as `step`."""
        words = [
            {"required": [name], "properties": {"as": NAME.schema(), name: _schema(name, word)}}
            | {"additionalProperties": False}
            for name, word in STEPS.items()
        ]
        bare = {"enum": [name for name, word in STEPS.items() if word.bare]}
        return {"anyOf": [bare, {"type": "object", "oneOf": words}]}


class InnerSteps:
    """Refers to the schema of a step, as steps may stand within steps."""

    def read(self, node: Node, notes: Notes) -> Step:
        return StepShape().read(node, notes)

    def schema(self) -> Json:
        return {"$ref": STEP_REF}


def _read_or_none(shape: Shape, node: Node, notes: Notes) -> Any:
    try:
        return notes.read(shape, node)
    except AlreadyReported:
        return None


def _list(node: Node, notes: Notes) -> tuple[Node, ...]:
    if len(node.items) < BRANCHES_MIN:
        notes.add(node, "parallel takes a list of two or more branches", "each is a list of steps, or one step")
    return node.items


def _check(name: str, node: Node, notes: Notes) -> None:
    word = STEPS[name]
    if name == "parallel":
        return
    if isinstance(node.value, dict):
        for key, entry in node.rows.items():
            if key not in word.keys and not word.free:
                notes.add(entry.key, f"{name} knows no {quote(key)}", suggestion(key, word.keys))
    elif isinstance(node.value, tuple) or word.bare is None:
        keys = f"with {join_names(word.keys[:8])}" if word.keys else None
        notes.add(node, f"{name} takes a mapping", keys)


def _schema(name: str, word: Word) -> Json:
    steps: Json = {"type": "array", "items": {"$ref": STEP_REF}, "minItems": 1}
    if name == "parallel":
        branch = {"anyOf": [{"$ref": STEP_REF}, steps]}
        return {"type": "array", "items": branch, "minItems": BRANCHES_MIN}
    if name == "repeat":
        return {
            "type": "object",
            "properties": {"times": TIMES.schema(), "steps": {"anyOf": [steps, {"$ref": STEP_REF}]}},
            "required": ["times", "steps"],
            "additionalProperties": False,
        }
    if name in WHOLE:
        return WHOLE[name].schema()
    rows = Table(dict.fromkeys(word.keys, Plain())).schema()
    if word.free:
        rows = {"type": "object"}
    values = {key: schema_of(shape) for key, shape in VALUES.get(name, {}).items()}
    if values:  # a step that expects a refusal may be wrong on purpose
        rows["if"] = {"not": {"anyOf": [{"required": [key]} for key in (*JUDGED, "lost")]}}
        rows["then"] = {"properties": values}
    if "refused" in word.keys:
        rows["properties"]["refused"] = schema_of(REFUSED)
    return {"anyOf": [{"type": ["string", "number", "boolean", "null"]}, rows]} if word.bare else rows
