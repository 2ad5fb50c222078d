"""The shapes of a scenario's `rules` (choice 13). A shape reads a part of a file and notes its errors. Rules are also
checked against the tables of moves and errors."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from sandbox.bank.rules import DEBIT, KINDS, AddedFinding, AmountCondition, Psu, RuleCondition, RuleEffect, ScenarioRule
from sandbox.banking.patterns import fits
from sandbox.banking.payees import CLOSE_MATCH, OUTCOMES, PayeeCheck
from sandbox.contract.errors import OF_CONTROLS, Error
from sandbox.contract.kinds import KINDS as INITIATIONS
from sandbox.contract.kinds import PAYMENT
from sandbox.contract.moves import MOVES, Status
from sandbox.contract.operations import BY_NAME, INITIATES
from sandbox.contract.products import PRODUCTS
from sandbox.contract.reasons import CODE_FORM, Reason
from sandbox.reader import shapes
from sandbox.reader.tree import Node, Wrong, join_names, quote, suggest
from sandbox.scenarios.settings import SETTINGS_SHAPE

PRODUCTS_OF = {name: kind.products for name, kind in INITIATIONS.items()} | {"consent": ()}
PRODUCT_NAMES = tuple(dict.fromkeys(name for names in PRODUCTS_OF.values() for name in names))
# The spans that a rule can set for one initiation or one consent.
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
BEHAVIOURS = ("approves", "refuses", "never", "wrong_code")
BOUNDS = ("equal", "over", "under")
SETTLED = (Status.ACSC, Status.ACSP)
# The ways in which money comes back, and the kinds that have them.
RETURNS = {"return": ("payment", DEBIT), "recall": ("payment",), "refund": (DEBIT,)}
# What the customer is told before they sign, and the kinds that have it.
AT_THE_PAGE = {"payee": ("payment", "standing_order"), "unreachable": ("payment",)}
# Conditions of a rule about direct debits, which belong to no TPP.
DEBIT_CONDITIONS = ("customer", "debtor", "creditor_iban", "creditor_name", "amount", "currency", "nth")
# A new authentication is asked for where a consent is read, and never of an initiation.
NAMES = {error.name: error for error in Error if error not in OF_CONTROLS and error is not Error.SCA_REQUIRED}


class PageEffect(NamedTuple):
    """An item of `then` that acts on the signing page: the outcome of the verification of payee, or a bank that cannot
    be reached."""

    word: str  # of AT_THE_PAGE
    check: PayeeCheck | None


# When a rule holds


def _make_bounds(rows: dict[str, Any]) -> AmountCondition:
    bounds = AmountCondition(**rows)
    if bounds.over is not None and bounds.under is not None and bounds.over >= bounds.under:
        raise Wrong("no amount is both over and under these", key="under")
    return bounds


def _make_condition(rows: dict[str, Any]) -> RuleCondition:
    rows = shapes.read_window(rows)
    kind, product = rows.get("kind"), rows.get("product")
    if kind in PRODUCTS_OF and product and not any(fits(name, product) for name in PRODUCTS_OF[kind]):
        products = PRODUCTS_OF[kind]
        hint = f"it has {join_names(products)}" if products else "a consent has no product"
        raise Wrong(f"a {kind} has no product {quote(product)}", hint, "product")
    return RuleCondition(**rows)


WHEN = shapes.Table(
    {
        "kind": shapes.make_one_of((*KINDS, DEBIT), "kind"),
        "product": shapes.make_checked_text(
            lambda product: any(fits(name, product) for name in PRODUCT_NAMES),
            lambda product: Wrong(f"{quote(product)} is no product", suggest(product, PRODUCT_NAMES)),
        ),
        "client": shapes.make_pattern_or(shapes.CLIENT),
        "customer": shapes.make_pattern_or(shapes.CUSTOMER),
        "debtor": shapes.make_pattern_or(shapes.ACCOUNT),
        "creditor_iban": shapes.TEXT,
        "creditor_name": shapes.TEXT,
        "amount": shapes.Either(
            shapes.Leaf(
                lambda node, notes: AmountCondition(equal=shapes.AMOUNT_TEXT.read(node, notes)),
                shapes.AMOUNT_TEXT.described,
            ),
            shapes.Table(dict.fromkeys(BOUNDS, shapes.AMOUNT_TEXT), _make_bounds, one_of=BOUNDS),
        ),
        "currency": shapes.make_text("[A-Z]{3}", "EUR"),
        "endtoend_identification": shapes.TEXT,
        "nth": shapes.NTH,
        "from": shapes.INSTANT,
        "until": shapes.INSTANT,
    },
    _make_condition,
)

# What a rule does: moves, and money that comes back after the settlement or a direct debit


def _make_effect(rows: dict[str, Any]) -> RuleEffect | PageEffect:
    word, after = shapes.find_only_key(rows, ("move", *RETURNS, *AT_THE_PAGE)), rows.get("after", timedelta())
    if word in AT_THE_PAGE:
        return _make_page_effect(rows, word)
    if "name" in rows:
        raise Wrong("a name goes with payee only", key="name")
    if word in RETURNS:
        if "reason" in rows:
            raise Wrong(f"the reason is the value of {word}", f"{word}: {rows['reason']}", "reason")
        on = Status(rows.get("on", Status.ACSC))
        if on not in SETTLED:
            raise Wrong(f"only a settled payment can be sent back, not one that is {on.value}", "say on: ACSC", "on")
        return RuleEffect(on, on, after, rows[word], word)
    if "on" not in rows:
        raise Wrong("'on' is missing")
    move = Status(rows["move"])
    if "reason" in rows and move not in (Status.RJCT, Status.CANC):
        raise Wrong("a reason goes with RJCT or CANC only", key="reason")
    return RuleEffect(Status(rows["on"]), move, after, rows.get("reason"))


def _make_page_effect(rows: dict[str, Any], word: str) -> PageEffect:
    """Makes an effect on the signing page. Raises Wrong if it has a time, a status or a reason, because it happens
    before the signature. A close match must have the name that the payee's bank knows. Raises Wrong if this name is
    missing there, and if any other effect has a name."""
    for name in ("on", "after", "reason"):
        if name in rows:
            raise Wrong(f"{word} happens before the signature", key=name)
    if word == "unreachable":
        if "name" in rows:
            raise Wrong("a name goes with payee only", key="name")
        return PageEffect(word, None)
    is_close = rows["payee"] == CLOSE_MATCH
    if is_close != ("name" in rows):
        reason = "a close match needs the name that the payee's bank knows"
        raise (
            Wrong(reason, "name: Emma Peeters") if is_close else Wrong("a name goes with close_match only", key="name")
        )
    return PageEffect(word, PayeeCheck(rows["payee"], rows.get("name")))


REASON = shapes.make_text(CODE_FORM, Reason.ACCOUNT_CLOSED.code)
STATUS = shapes.make_one_of(Status, "status")
THEN = shapes.Table(
    {
        "on": STATUS,
        "after": shapes.DURATION,
        "move": STATUS,
        "reason": REASON,
        **dict.fromkeys(RETURNS, REASON),
        "payee": shapes.make_one_of(OUTCOMES, "outcome of a verification of payee"),
        "name": shapes.TEXT,
        "unreachable": shapes.YES,
    },
    _make_effect,
    one_of=("move", *RETURNS, *AT_THE_PAGE),
    called="a move",
)


def _make_psu(rows: dict[str, Any]) -> Psu:
    does = shapes.find_only_key(rows, BEHAVIOURS)
    if does == "never" and (extra := [name for name in rows if name not in ("never", "customer")]):
        raise Wrong("`never` excludes all other acts of the customer", key=extra[0])
    if "account" in rows and "accounts" in rows:
        raise Wrong("only one of account and accounts can hold", "accounts belong to a consent", "accounts")
    if "second" in rows and does != "approves":
        raise Wrong("a second signature needs a first", "say approves: true", "second")
    values = {name: value for name, value in rows.items() if name not in (does, "second")}
    return Psu(does, then=rows.get("second"), **values)


SIGNS = {**dict.fromkeys(BEHAVIOURS, shapes.YES), "customer": shapes.CUSTOMER, "after": shapes.DURATION}
SECOND = shapes.Table(SIGNS, _make_psu, ("customer",), BEHAVIOURS, called="what the second signer does")
PSU = shapes.Table(
    {**SIGNS, "account": shapes.ACCOUNT, "accounts": shapes.Each(shapes.ACCOUNT, 1), "second": SECOND},
    _make_psu,
    one_of=BEHAVIOURS,
    called="what the customer does",
)


def _make_finding(rows: dict[str, Any]) -> AddedFinding:
    """Makes a finding about the batch with the number `bulk`. With `refuse: true`, the finding is about the whole
    file."""
    is_whole = shapes.find_only_key(rows, ("bulk", "refuse")) == "refuse"
    return AddedFinding(0 if is_whole else rows["bulk"], rows["code"], rows.get("text", "The scenario says so."))


FINDING = shapes.Table(
    {
        "bulk": shapes.make_number(1, 100_000),
        "refuse": shapes.YES,
        "code": shapes.make_text(CODE_FORM, "AC01"),
        "text": shapes.TEXT,
    },
    _make_finding,
    ("code",),
    ("bulk", "refuse"),
    "a finding",
)


def _read_error(node: Node, notes: shapes.Notes) -> str:
    """Returns the name of an error. The text is this name, or the error's token or code if no other error has the same
    token or code. Raises Wrong for any other text."""
    word = shapes.read_text(node)
    if word in NAMES:
        return word
    fitting = [name for name, error in NAMES.items() if word in (error.value.error, error.value.code)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise Wrong(f"{quote(word)} is the token of several errors", f"say which: {join_names(fitting)}")
    error_names = [*NAMES, *(error.value.error for error in NAMES.values())]
    raise Wrong(f"{quote(word)} is no error of the bank", suggest(word, error_names))


# The rule as a whole


def _make_rule(rows: dict[str, Any]) -> ScenarioRule:
    values: dict[str, Any] = {"title": "", "when": RuleCondition()} | rows
    effects = dict(enumerate(rows.get("then", ())))  # by the place in the file, for errors
    at_the_page = {index: effect for index, effect in effects.items() if isinstance(effect, PageEffect)}
    moves = {index: effect for index, effect in effects.items() if index not in at_the_page}
    values |= {"then": tuple(moves.values()), "timings": tuple(rows.get("timings", {}).items())}
    rule = ScenarioRule(**values, **_make_page_values(at_the_page, values["when"]))
    for index, effect in moves.items():
        if effect.back and rule.when.kind not in RETURNS[effect.back]:
            kind_name = join_names(RETURNS[effect.back])
            raise Wrong(
                f"a {effect.back} is of a {kind_name} only", f"say kind: {kind_name}", f"then.{index}.{effect.back}"
            )
    if rule.when.kind == DEBIT:
        _check_debit(rule, rows)
        return rule
    kinds = _list_kinds(rule.when)
    _demand_possible_moves(rule.when, moves.items())
    if rule.validation and "bulk" not in kinds:
        raise Wrong("only a bulk file is validated", "say kind: bulk", "validation")
    if rule.refuse:
        status = NAMES[rule.refuse].value.status
        if not any(status in BY_NAME[INITIATES[kind]].errors for kind in kinds):
            raise Wrong(f"{join_names([INITIATES[kind] for kind in kinds])} never answers {status}", key="refuse")
        if later_fields := [name for name in ("then", "timings", "psu", "validation") if name in rows]:
            raise Wrong("a refused initiation ends there", "take one of the two away", later_fields[0])
    return rule


def _make_page_values(effects: Mapping[int, PageEffect], when: RuleCondition) -> dict[str, Any]:
    """Returns the values of the fields `payee` and `unreachable` of a rule. A field is left out if no effect is about
    it. `effects` are the rule's effects on the signing page, by their index in `then`. Raises Wrong if an effect is
    given twice, or if no initiation that meets `when` can have it."""
    values: dict[str, Any] = {}
    for index, effect in effects.items():
        place = f"then.{index}.{effect.word}"
        if effect.word in values:
            raise Wrong(f"{effect.word} is said twice", key=place)
        allowed = AT_THE_PAGE[effect.word]
        if when.kind not in (None, *allowed) or not any(kind in allowed for kind in _list_kinds(when)):
            raise Wrong(f"{effect.word} is of a {join_names(allowed)} only", f"say kind: {allowed[0]}", place)
        if (
            effect.word == "unreachable"
            and when.product is not None
            and not any(row.instant and fits(name, when.product) for name, row in PRODUCTS.items())
        ):
            raise Wrong("only an instant payment needs its bank at once", "say product: instant-*", place)
        values[effect.word] = effect.check or True
    return values


def _list_kinds(when: RuleCondition) -> list[str]:
    """Returns the kinds of initiations that can meet the conditions on kind and product."""
    kinds = KINDS if when.kind is None else (when.kind,)
    return [
        kind for kind in kinds if when.product is None or any(fits(name, when.product) for name in PRODUCTS_OF[kind])
    ]


def _demand_possible_moves(when: RuleCondition, effects: Iterable[tuple[int, RuleEffect]]) -> None:
    """Checks each effect against the tables of moves. Raises Wrong unless at least one initiation that meets `when` can
    have the effect."""
    rows = [
        row
        for kind in _list_kinds(when)
        if kind in INITIATIONS
        for table in INITIATIONS[kind].moves
        if kind != PAYMENT.name or when.product is None or fits(table.removesuffix(" (ACSP)"), when.product)
        for row in MOVES[table]
    ]
    for index, effect in effects:
        on, targets = effect.on.value, dict.fromkeys(row.target.value for row in rows if row.source is effect.on)
        if effect.on not in {row.source for row in rows} | {row.target for row in rows}:
            sources = dict.fromkeys(row.source.value for row in rows)
            hint = f"it can be {join_names(sources)}" if sources else "a consent has no statuses"
            raise Wrong(f"no initiation that fits can be {on}", hint, f"then.{index}.on")
        if not effect.back and effect.move.value not in targets:
            hint = f"from {on} it can go to {join_names(targets)}" if targets else f"{on} is the end"
            raise Wrong(f"no table lets it go from {on} to {effect.move.value}", hint, f"then.{index}.move")


def _check_debit(rule: ScenarioRule, names: Iterable[str]) -> None:
    """Checks a rule about direct debits. Raises Wrong if its effect is not exactly one return of the money, or if it
    has a condition that direct debits do not have."""
    wrong_fields = [name for name in names if name not in ("title", "when", "then")]
    if wrong_fields:
        reason = "a direct debit belongs to no TPP: a rule can only return its money"
        raise Wrong(reason, "then: [{refund: MD06}]", wrong_fields[0])
    if len(rule.then) != 1 or not rule.then[0].back:
        raise Wrong("a direct debit has no statuses", "then: [{refund: MD06, after: 5d}]", "then")
    unknown = [name for name in ("product", "client", "endtoend_identification") if getattr(rule.when, name)]
    if unknown:
        raise Wrong("a direct debit has none", f"it has {join_names(DEBIT_CONDITIONS)}", f"when.{unknown[0]}")


RULE = shapes.Table(
    {
        "title": shapes.TITLE,
        "when": WHEN,
        "then": shapes.Each(THEN, 1),
        "timings": shapes.Table(
            {name: SETTINGS_SHAPE.fields[name] for name in OWN_SPANS}, called="a mapping of timings"
        ),
        "validation": shapes.Each(FINDING, 1),
        "psu": PSU,
        "refuse": shapes.Leaf(
            _read_error,
            {"enum": sorted({word for error in NAMES.values() for word in (error.name, *error.value[1:3])})},
        ),
    },
    _make_rule,
    one_of=("then", "timings", "validation", "psu", "refuse"),
    called="a rule",
)
