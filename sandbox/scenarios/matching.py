"""Compares an actual value with the value that a script expects."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.banking.patterns import fits

PATTERN_MAX = 1_000  # characters; a longer text is not a pattern
SHOWN_MAX = 200  # characters of a value that a sentence quotes
MISSING = object()
PATH_PART = re.compile(r"([^.\[\]]+)|\[(-?[0-9]{1,6})\]")
BOUNDS = {"over", "under"}
OF_LISTS = {"count", "some", "none", "first", "last"}


def find_value(actual: Any, path: str) -> Any:
    """Returns the value at a path such as `bulks[0].status`. Returns MISSING if there is none."""
    if isinstance(actual, dict) and path in actual:
        return actual[path]
    for name, index in PATH_PART.findall(path):
        if name and isinstance(actual, dict) and name in actual:
            actual = actual[name]
        elif index and isinstance(actual, list) and -len(actual) <= int(index) < len(actual):
            actual = actual[int(index)]
        else:
            return MISSING
    return actual


def find_differences(expected: Any, actual: Any, place: str) -> Iterator[str]:
    """Yields a sentence for each difference between the expected and the actual value. Each sentence begins with
    `place`, the path of the value. Keys of an actual object that are not expected are no difference.

    An expected mapping with `over` or `under` gives the bounds of a number. An expected mapping for an actual list is
    about the list: its `count`, its `first` or `last` item, and whether `some` or `none` of its items fit.
    """
    if isinstance(expected, dict) and isinstance(actual, list):
        yield from _find_differences_of_list(expected, actual, place)
    elif isinstance(expected, dict) and expected and set(expected) <= BOUNDS:
        if not _is_within(expected, read_decimal(actual)):
            bounds = " and ".join(f"{name} {bound}" for name, bound in expected.items())
            yield f"{place}: expected {bounds}, found {quote(actual)}"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            yield from find_differences(value, find_value(actual, name), f"{place}.{name}" if place else name)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{place}: expected {len(expected)} of them, found {len(actual)}: {quote(actual)}"
        for index, (value, item) in enumerate(zip(expected, actual, strict=False)):
            yield from find_differences(value, item, f"{place}[{index}]")
    elif not matches(expected, actual):
        yield f"{place}: expected {quote(expected)}, found {quote(actual)}"


def matches(expected: Any, actual: Any) -> bool:
    """Whether a single value is as expected. Numbers are compared by value. An expected text with * is a pattern. The
    pattern * alone fits any value but None and MISSING. An expected None fits None and MISSING."""
    if expected is None:
        return actual is None or actual is MISSING
    if expected == "*":
        return actual is not MISSING and actual is not None
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, str) and isinstance(actual, str):
        return expected == actual or (
            "*" in expected and len(expected) <= PATTERN_MAX and fits(actual, expected.replace("[", "[[]"))
        )
    if isinstance(expected, int | float | str) and isinstance(actual, int | float | Decimal | str):
        ours, theirs = read_decimal(expected), read_decimal(actual)
        return ours is not None and ours == theirs
    return bool(expected == actual)


def read_decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def find_missing_in_order(expected: list[Any], actual: list[Any], place: str) -> Iterator[str]:
    """Yields one sentence if an expected value is missing, for the first such value. The expected values must occur in
    this order, but other values may stand between them."""
    items = iter(enumerate(actual, 1))
    position = 0
    for index, value in enumerate(expected):
        fitting = (number for number, item in items if not list(find_differences(value, item, place)))
        fitting_item = next(fitting, None)
        if fitting_item is None:
            hint = f"; after the ones before it there are {quote(actual[position:])}" if actual else "; there is none"
            yield f"{place}[{index}]: nothing fits {quote(value)}{hint}"
            return
        position = fitting_item


def quote(value: Any) -> str:
    """Returns a value as text for an error sentence. Long text is cut off. None and MISSING give `nothing`."""
    if value is MISSING or value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def _is_within(bounds: dict[str, Any], actual: Decimal | None) -> bool:
    over, under = read_decimal(bounds.get("over")), read_decimal(bounds.get("under"))
    return actual is not None and (over is None or actual > over) and (under is None or actual < under)


def _find_differences_of_list(expected: dict[str, Any], actual: list[Any], place: str) -> Iterator[str]:
    for name, value in expected.items():
        match name:
            case "count":
                yield from find_differences(value, len(actual), f"{place}, their number")
            case "some":
                if all(list(find_differences(value, item, place)) for item in actual):
                    yield f"{place}: none of the {len(actual)} fits {quote(value)}"
            case "none":
                fitting = [item for item in actual if not list(find_differences(value, item, place))]
                if fitting:
                    yield f"{place}: none was to fit {quote(value)}, found {quote(fitting[0])}"
            case "first" | "last":
                item = actual[0 if name == "first" else -1] if actual else MISSING
                yield from find_differences(value, item, f"{place}, the {name}")
            case _:
                yield f"{place}: a list has no {name}; ask for {', '.join(sorted(OF_LISTS))}"
