"""The `rules` of a scenario (choice 13), checked against the tables of moves and of errors."""

from collections.abc import Iterable
from typing import Any

from sandbox.bank.rules import DEBIT, KINDS, AddedFinding, AmountCondition, Psu, RuleCondition, RuleEffect, ScenarioRule
from sandbox.banking.patterns import fits
from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.contract.kinds import KINDS as INITIATIONS
from sandbox.contract.kinds import PAYMENT
from sandbox.contract.moves import MOVES
from sandbox.contract.operations import BY_NAME, INITIATES
from sandbox.contract.reasons import CODE_FORM
from sandbox.reader.scalars import (
    ACCOUNT,
    AMOUNT_TEXT,
    CLIENT,
    CUSTOMER,
    DURATION,
    INSTANT,
    NTH,
    TEXT,
    TITLE,
    YES,
    exactly_one,
    number,
    one_of,
    pattern_or,
    read_window,
    text,
    text_of,
)
from sandbox.reader.shapes import Each, Either, Leaf, Notes, Table
from sandbox.reader.tree import Node, Wrong, join_names, quote, suggestion
from sandbox.scenarios.return_rows import THEN, check_debit, check_returns
from sandbox.scenarios.setting_rows import SETTINGS_SHAPE

PRODUCTS_OF = {name: kind.products for name, kind in INITIATIONS.items()} | {"consent": ()}
# The spans that one initiation or one consent can have for itself; what a token lives is no matter of one.
OWN_SPANS = (
    "technical_checks",
    "unsigned_after",
    "sca_address_life",
    "instant_settlement",
    "settlement_begins",
    "settlement_ends",
    "contract_activation",
    "bulk_validation",
    "bulk_execution",
    "code_life",
    "consent_address_life",
    "consent_life",
)
TIMINGS = {name: SETTINGS_SHAPE.fields[name] for name in OWN_SPANS}
BEHAVIOURS = ("approves", "refuses", "never", "wrong_code")
PRODUCT_NAMES = tuple(dict.fromkeys(name for names in PRODUCTS_OF.values() for name in names))


def _bounds(rows: dict[str, Any]) -> AmountCondition:
    bounds = AmountCondition(**rows)
    if bounds.over is not None and bounds.under is not None and bounds.over >= bounds.under:
        raise Wrong("no amount is both over and under these", key="under")
    return bounds


def _product(node: Node, notes: Notes) -> str:
    found = text_of(node)
    if not any(fits(name, found) for name in PRODUCT_NAMES):
        raise Wrong(f"{quote(found)} is no product", suggestion(found, PRODUCT_NAMES))
    return found


def _when(rows: dict[str, Any]) -> RuleCondition:
    rows = read_window(rows)
    kind, product = rows.get("kind"), rows.get("product")
    if kind in PRODUCTS_OF and product and not any(fits(name, product) for name in PRODUCTS_OF[kind]):
        there = PRODUCTS_OF[kind]
        hint = f"it has {join_names(there)}" if there else "a consent has no product"
        raise Wrong(f"a {kind} has no product {quote(product)}", hint, "product")
    return RuleCondition(**rows)


AMOUNT = Either(
    Leaf(lambda node, notes: AmountCondition(equal=AMOUNT_TEXT.read(node, notes)), AMOUNT_TEXT.described),
    Table(dict.fromkeys(("equal", "over", "under"), AMOUNT_TEXT), _bounds, one_of=("equal", "over", "under")),
)
WHEN = Table(
    {
        "kind": one_of((*KINDS, DEBIT), "kind"),
        "product": Leaf(_product, {"type": "string", "minLength": 1}),
        "client": pattern_or(CLIENT),
        "customer": pattern_or(CUSTOMER),
        "debtor": pattern_or(ACCOUNT),
        "creditor_iban": TEXT,
        "creditor_name": TEXT,
        "amount": AMOUNT,
        "currency": text("[A-Z]{3}", "EUR"),
        "endtoend_identification": TEXT,
        "nth": NTH,
        "from": INSTANT,
        "until": INSTANT,
    },
    _when,
)


def _psu(rows: dict[str, Any]) -> Psu:
    does = exactly_one(rows, BEHAVIOURS)
    if does == "never" and (extra := [name for name in rows if name not in ("never", "customer")]):
        raise Wrong("`never` excludes all other acts of the customer", key=extra[0])
    if "account" in rows and "accounts" in rows:
        raise Wrong("only one of account and accounts can hold", "accounts belong to a consent", "accounts")
    if "second" in rows and does != "approves":
        raise Wrong("a second signature needs a first", "say approves: true", "second")
    given = {name: value for name, value in rows.items() if name not in (does, "second")}
    return Psu(does, then=rows.get("second"), **given)


SIGNS = {**dict.fromkeys(BEHAVIOURS, YES), "customer": CUSTOMER, "after": DURATION}
SECOND = Table(SIGNS, _psu, ("customer",), BEHAVIOURS, called="what the second signer does")
PSU = Table(
    {**SIGNS, "account": ACCOUNT, "accounts": Each(ACCOUNT, 1), "second": SECOND},
    _psu,
    one_of=BEHAVIOURS,
    called="what the customer does",
)


def _added(rows: dict[str, Any]) -> AddedFinding:
    """`refuse: true` is about the whole file."""
    whole = exactly_one(rows, ("bulk", "refuse")) == "refuse"
    return AddedFinding(0 if whole else rows["bulk"], rows["code"], rows.get("text", "The scenario says so."))


ADDED = Table(
    {"bulk": number(1, 100_000), "refuse": YES, "code": text(CODE_FORM, "AC01"), "text": TEXT},
    _added,
    ("code",),
    ("bulk", "refuse"),
    "a finding",
)
# A new authentication is asked for where a consent is read, and never of an initiation.
NAMES = {error.name: error for error in Error if error not in OF_CONTROLS and error is not Error.SCA_REQUIRED}


def _refuse(node: Node, notes: Notes) -> str:
    """An error by its name here, or by its token or code on the wire where that is enough."""
    found = text_of(node)
    if found in NAMES:
        return found
    fitting = [name for name, error in NAMES.items() if found in (error.value.error, error.value.code)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Wrong(f"{quote(found)} is the token of several errors", f"say which: {join_names(fitting)}")
    known = [*NAMES, *(error.value.error for error in NAMES.values())]
    raise Wrong(f"{quote(found)} is no error of the bank", suggestion(found, known))


def _kinds(when: RuleCondition) -> list[str]:
    """The kinds that a rule can be about."""
    named = KINDS if when.kind is None else (when.kind,)
    return [kind for kind in named if when.product is None or any(_fits(when, name) for name in PRODUCTS_OF[kind])]


def _fits(when: RuleCondition, product: str) -> bool:
    return fits(product, when.product or product)


def _tables(when: RuleCondition) -> list[str]:
    """The tables of moves that a rule can be about."""
    return [
        path
        for kind in _kinds(when)
        if kind in INITIATIONS
        for path in INITIATIONS[kind].moves
        if kind != PAYMENT.name or _fits(when, path.removesuffix(" (ACSP)"))  # of payments a table for each product
    ]


def _check_moves(when: RuleCondition, moves: Iterable[RuleEffect]) -> None:
    tables = _tables(when)
    for at, then in enumerate(moves):
        rows = [row for path in tables for row in MOVES[path]]
        targets = dict.fromkeys(row.target.value for row in rows if row.source is then.on)
        if then.on not in {row.source for row in rows} | {row.target for row in rows}:
            there = dict.fromkeys(row.source.value for row in rows)
            hint = f"it can be {join_names(there)}" if there else "a consent has no statuses"
            raise Wrong(f"no initiation that fits can be {then.on.value}", hint, f"then.{at}.on")
        if not then.back and then.move.value not in targets:
            on = then.on.value
            hint = f"from {on} it can go to {join_names(targets)}" if targets else f"{on} is the end"
            raise Wrong(f"no table lets it go from {on} to {then.move.value}", hint, f"then.{at}.move")


def _rule(rows: dict[str, Any]) -> ScenarioRule:
    given: dict[str, Any] = {"title": "", "when": RuleCondition()} | rows
    rule = ScenarioRule(**given | {"timings": tuple(rows.get("timings", {}).items())})
    check_returns(rule.when, rule.then)
    if rule.when.kind == DEBIT:
        check_debit(rule, rows)
        return rule
    kinds = _kinds(rule.when)
    _check_moves(rule.when, rule.then)
    if rule.validation and "bulk" not in kinds:
        raise Wrong("only a bulk file is validated", "say kind: bulk", "validation")
    if rule.refuse and not any(NAMES[rule.refuse].value.status in BY_NAME[INITIATES[kind]].errors for kind in kinds):
        named = join_names([INITIATES[kind] for kind in kinds])
        raise Wrong(f"{named} never answers {NAMES[rule.refuse].value.status}", key="refuse")
    if rule.refuse and (others := [name for name in ("then", "timings", "psu", "validation") if name in rows]):
        raise Wrong("a refused initiation ends there", "take one of the two away", others[0])
    return rule


RULE = Table(
    {
        "title": TITLE,
        "when": WHEN,
        "then": Each(THEN, 1),
        "timings": Table(TIMINGS, called="a mapping of timings"),
        "validation": Each(ADDED, 1),
        "psu": PSU,
        "refuse": Leaf(_refuse, {"enum": sorted({word for e in NAMES.values() for word in (e.name, *e.value[1:3])})}),
    },
    _rule,
    one_of=("then", "timings", "validation", "psu", "refuse"),
    called="a rule",
)
