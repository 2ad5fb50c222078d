"""Compares a found value with the value that a script expects."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from sandbox.banking.patterns import fits

PATTERN_MAX = 1_000  # characters; what is longer is no pattern
SHOWN_MAX = 200  # characters of a value that a sentence quotes
MISSING = object()
_PART = re.compile(r"([^.\[\]]+)|\[(-?[0-9]{1,6})\]")
BOUNDS = {"over", "under"}
OF_LISTS = {"count", "some", "none", "first", "last"}


def at(found: Any, path: str) -> Any:
    """The value at a path such as `bulks[0].status`; MISSING where there is none."""
    if isinstance(found, dict) and path in found:
        return found[path]
    for name, index in _PART.findall(path):
        if name and isinstance(found, dict) and name in found:
            found = found[name]
        elif index and isinstance(found, list) and -len(found) <= int(index) < len(found):
            found = found[int(index)]
        else:
            return MISSING
    return found


def differences(expected: Any, found: Any, place: str) -> Iterator[str]:
    """Yields a sentence for each difference; an object may have further keys."""
    if isinstance(expected, dict) and isinstance(found, list):
        yield from _of_list(expected, found, place)
    elif isinstance(expected, dict) and expected and set(expected) <= BOUNDS:
        if not _within(expected, number(found)):
            bounds = " and ".join(f"{name} {bound}" for name, bound in expected.items())
            yield f"{place}: expected {bounds}, found {quote(found)}"
    elif isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            yield from differences(value, at(found, name), f"{place}.{name}" if place else name)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{place}: expected {len(expected)} of them, found {len(found)}: {quote(found)}"
        for index, (value, item) in enumerate(zip(expected, found, strict=False)):
            yield from differences(value, item, f"{place}[{index}]")
    elif not same(expected, found):
        yield f"{place}: expected {quote(expected)}, found {quote(found)}"


def same(expected: Any, found: Any) -> bool:
    """Compares values: numbers by worth, texts with * as patterns; null also matches a missing value."""
    if expected is None:
        return found is None or found is MISSING
    if expected == "*":
        return found is not MISSING and found is not None
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, str) and isinstance(found, str):
        return expected == found or (
            "*" in expected and len(expected) <= PATTERN_MAX and fits(found, expected.replace("[", "[[]"))
        )
    if isinstance(expected, int | float | str) and isinstance(found, int | float | Decimal | str):
        ours, theirs = number(expected), number(found)
        return ours is not None and ours == theirs
    return bool(expected == found)


def number(value: Any) -> Decimal | None:
    """Reads a decimal number; None where it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def in_order(expected: list[Any], found: list[Any], place: str) -> Iterator[str]:
    """Checks that all wanted values were found in this order; others may stand between."""
    position = 0
    for index, value in enumerate(expected):
        ahead = (at for at in range(position, len(found)) if not list(differences(value, found[at], place)))
        held = next(ahead, None)
        if held is None:
            rest = f"; after the ones before it there are {quote(found[position:])}" if found else "; there is none"
            yield f"{place}[{index}]: nothing fits {quote(value)}{rest}"
            return
        position = held + 1


def quote(value: Any) -> str:
    """A value as a sentence quotes it."""
    if value is MISSING or value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def _within(bounds: dict[str, Any], found: Decimal | None) -> bool:
    over, under = number(bounds.get("over")), number(bounds.get("under"))
    return found is not None and (over is None or found > over) and (under is None or found < under)


def _of_list(expected: dict[str, Any], found: list[Any], place: str) -> Iterator[str]:
    for name, value in expected.items():
        match name:
            case "count":
                yield from differences(value, len(found), f"{place}, their number")
            case "some":
                if all(list(differences(value, item, place)) for item in found):
                    yield f"{place}: none of the {len(found)} fits {quote(value)}"
            case "none":
                fitting = [item for item in found if not list(differences(value, item, place))]
                if fitting:
                    yield f"{place}: none was to fit {quote(value)}, found {quote(fitting[0])}"
            case "first" | "last":
                item = found[0 if name == "first" else -1] if found else MISSING
                yield from differences(value, item, f"{place}, the {name}")
            case _:
                yield f"{place}: a list has no {name}; ask for {', '.join(sorted(OF_LISTS))}"
