"""The scalars of a scenario: texts, words, numbers, spans and times."""

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.banking.durations import read_duration, read_instant, write_duration
from sandbox.banking.money import is_currency
from sandbox.reader.shapes import Leaf, Notes, People
from sandbox.reader.tree import Node, Wrong, join_names, quote, suggestion

TEXT_LENGTH_MAX = 10_000
AMOUNT_PATTERN = r"[0-9]{1,13}(\.[0-9]{1,3})?"
AMOUNT = re.compile(AMOUNT_PATTERN)
DURATION_PATTERN = r"^(([0-9]{1,9}(\.[0-9]{1,6})?[smhdw])+|P[0-9WDTHMS.]+)$"


def text_of(node: Node) -> str:
    """A text that is not empty."""
    if not isinstance(node.value, str):
        quoted = node.line is not None and not isinstance(node.value, dict | tuple | None)
        raise Wrong("a text is expected", f'in quotes: "{node.text}"' if quoted else None)
    if not node.value.strip():
        raise Wrong("an empty text")
    if len(node.value) > TEXT_LENGTH_MAX:
        raise Wrong(f"a text of over {TEXT_LENGTH_MAX} characters")
    return node.value


def text(pattern: str | None = None, example: str = "") -> Leaf:
    """A text; with a pattern, one that it fits whole."""
    grammar = re.compile(pattern) if pattern else None

    def read(node: Node, notes: Notes) -> str:
        found = text_of(node)
        if grammar and not grammar.fullmatch(found):
            raise Wrong(f"{quote(found)} has the wrong form", f"like {example}")
        return found

    return Leaf(read, {"type": "string", "minLength": 1} | ({"pattern": f"^({pattern})$"} if pattern else {}))


def text_that(holds: Callable[[str], bool], called: str) -> Leaf:
    """A text that is one of too many to list."""

    def read(node: Node, notes: Notes) -> str:
        found = text_of(node)
        if not holds(found):
            raise Wrong(f"{quote(found)} is no {called}")
        return found

    return Leaf(read, {"type": "string", "minLength": 1})


def one_of(words: Iterable[str], called: str) -> Leaf:
    """One of these words."""
    options = tuple(words)

    def read(node: Node, notes: Notes) -> str:
        found = text_of(node)
        if found not in options:
            raise Wrong(f"{quote(found)} is no {called}", suggestion(found, options))
        return found

    return Leaf(read, {"enum": list(options)})


def number(least: int, most: int) -> Leaf:
    """A whole number within bounds."""

    def read(node: Node, notes: Notes) -> int:
        if isinstance(node.value, bool) or not isinstance(node.value, int):
            raise Wrong("a whole number is expected")
        if not least <= node.value <= most:
            raise Wrong(f"a number from {least} to {most} is expected")
        return node.value

    return Leaf(read, {"type": "integer", "minimum": least, "maximum": most})


def fraction(least: float, most: float, open_below: bool = False) -> Leaf:
    """A number within bounds."""

    def read(node: Node, notes: Notes) -> float:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise Wrong("a number is expected")
        below = node.value <= least if open_below else node.value < least
        if below or node.value > most or math.isnan(node.value):
            bounds = f"above {least:g} and up to" if open_below else f"from {least:g} to"
            raise Wrong(f"a number {bounds} {most:.10g} is expected")
        return float(node.value)

    return Leaf(read, {"type": "number", "exclusiveMinimum" if open_below else "minimum": least, "maximum": most})


def _flag(node: Node, notes: Notes) -> bool:
    if not isinstance(node.value, bool):
        raise Wrong("true or false is expected")
    return node.value


def _yes(node: Node, notes: Notes) -> bool:
    if node.value is not True:
        raise Wrong("true is expected", "or take the line away")
    return True


def duration(longest: timedelta | None = None) -> Leaf:
    """A span of time, with or without a bound."""

    def read(node: Node, notes: Notes) -> timedelta:
        try:
            span = read_duration(node.value)
        except ValueError as fault:
            bare = isinstance(node.value, int) and not isinstance(node.value, bool)
            raise Wrong(str(fault), f"did you mean '{node.value}s'?" if bare else None) from None
        if longest is not None and span > longest:
            raise Wrong(f"{quote(node.value)} is too long", f"{write_duration(longest)} at most")
        return span

    return Leaf(read, {"type": "string", "pattern": DURATION_PATTERN})


def _instant(node: Node, notes: Notes) -> datetime:
    try:
        return read_instant(node.value)
    except ValueError as fault:
        raise Wrong(str(fault)) from None


def _amount(node: Node, notes: Notes) -> Decimal:
    """As written, so that 0.10 stays 0.10; quotes are welcome but not needed."""
    if isinstance(node.value, bool) or not AMOUNT.fullmatch(node.text):
        raise Wrong("an amount is expected", 'like "250.00"')
    return Decimal(node.text)


def _title(node: Node, notes: Notes) -> str:
    found = text_of(node)
    if len(found) > 300:
        raise Wrong("a title of over 300 characters", "say the rest in 'about'")
    return found


def account_iban(node: Node, notes: Notes) -> str:
    """The IBAN of an account that is named by its IBAN, its name, or its owner's."""
    found = text_of(node)
    people = notes.fixtures
    if people is None:
        return found
    iban = people.iban_of(found)
    if iban is not None:
        return iban
    if found in people.customers:
        raise Wrong(f"{quote(found)} has no account")
    raise Wrong(f"{quote(found)} is no account of this bank", suggestion(found, [*people.names, *people.customers]))


def name_of(called: str, names_in: Callable[[People], Iterable[str]]) -> Leaf:
    """A name that the bank knows."""

    def read(node: Node, notes: Notes) -> str:
        found: str = text_of(node)
        if notes.fixtures is not None and found not in (names := list(names_in(notes.fixtures))):
            raise Wrong(f"{quote(found)} is no {called} of this bank", suggestion(found, names))
        return found

    return Leaf(read, TEXT.described)


def pattern_or(leaf: Leaf) -> Leaf:
    """A text with * or ? is a pattern; any other is read as the leaf says."""

    def read(node: Node, notes: Notes) -> Any:
        found = text_of(node)
        return found if any(sign in found for sign in "*?[") else leaf.read(node, notes)

    return Leaf(read, leaf.described if "enum" not in leaf.described else {"type": "string", "minLength": 1})


TEXT = text()
TITLE = Leaf(_title, {"type": "string", "minLength": 1, "maxLength": 300})
FLAG = Leaf(_flag, {"type": "boolean"})
YES = Leaf(_yes, {"const": True})
DURATION = duration()
INSTANT = Leaf(_instant, {"type": "string", "pattern": r"^2[01][0-9]{2}-"})
AMOUNT_TEXT = Leaf(
    _amount, {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": f"^({AMOUNT_PATTERN})$"}]}
)
ACCOUNT = Leaf(account_iban, TEXT.described)
CURRENCY = text_that(is_currency, "currency")
CUSTOMER = name_of("customer", lambda people: people.customers)
CLIENT = name_of("client", lambda people: people.clients)
NTH = number(1, 1_000_000_000)


def read_window(rows: dict[str, Any]) -> dict[str, Any]:
    """The rows with `from` as `since`; it lies before `until`."""
    since: datetime | None = rows.get("from")
    until: datetime | None = rows.get("until")
    if since and until and since >= until:
        raise Wrong("'until' must lie after 'from'", key="until")
    return {name: value for name, value in rows.items() if name != "from"} | {"since": since}


def exactly_one(rows: dict[str, Any], names: Iterable[str]) -> str:
    """The one that is given."""
    given = [name for name in names if name in rows]
    if len(given) > 1:
        raise Wrong(f"only one of {join_names(given, 'and')} can hold", key=given[1])
    if not given:
        raise Wrong(f"one of {join_names(names)} is missing")
    return given[0]
