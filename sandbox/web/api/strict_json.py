"""JSON as strictly as it can be read: what parsers disagree on is refused."""

import json
from typing import Any

import orjson

DEPTH_MAX = 32


def read_strict(content: bytes) -> Any:
    """The content; a ValueError says why not: no JSON, no UTF-8, NaN, 1e400, too deep, or a key twice."""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as fault:
        raise ValueError(_why(content, fault)) from None
    if content.count(b"{") + content.count(b"[") > DEPTH_MAX and _deeper(found, DEPTH_MAX):
        raise ValueError(f"it is nested more than {DEPTH_MAX} deep")
    json.loads(content, object_pairs_hook=_demand_single)
    return found


def _why(content: bytes, fault: orjson.JSONDecodeError) -> str:
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    return f"it is not JSON (line {fault.lineno}, column {fault.colno})" if content.strip() else "it is empty"


def _deeper(value: Any, left: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    if left == 0:
        return True
    return any(_deeper(item, left - 1) for item in (value.values() if isinstance(value, dict) else value))


def _demand_single(pairs: list[tuple[str, Any]]) -> None:
    """Parsers differ in which of two equal keys wins, so neither does."""
    if len(pairs) > 1:
        names = set()
        for name, _ in pairs:
            if name in names:
                raise ValueError(f"the key {name[:100]} is there twice")
            names.add(name)
