"""The words of a step for a recorded body; what no word can say goes into `body`, with nobody's data in it."""

import re
from collections.abc import Callable
from typing import Any

from sandbox.contract.field_rows import IBAN, Amount, Body, fill
from sandbox.contract.fields import VERSION_1
from sandbox.lift.har import Recorded
from sandbox.lift.lifted import Lift
from sandbox.lift.pseudonyms import Pseudonyms

FREE = "x"
CODE = re.compile(r"[A-Z_0-9]{1,12}|[0-9-]{10}|-?[0-9.]{1,17}")  # a word of the bank, a day or an amount
STRUCTURED = "STRUCTURED"


def order_words(found: Lift, call: Recorded, table: Body) -> dict[str, Any]:
    """The words of a body, under other names."""
    body, words = call.json, {}
    for word, path in table.paths.items():
        if table is VERSION_1 and word == _other_communication(body):
            continue
        value: Any = body
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None and _is_text(table, path, value):
            words[word] = value
    is_foreign = call.outcome.get("error") == "INVALID_ACCOUNT"  # then no account stands in its place
    content: dict[str, Any] = {
        word: found.names.iban(value) if word == "debtor" and is_foreign else hidden(found.names, word, value)
        for word, value in words.items()
    }
    rest = _rest(found.names, table, body, fill(table, words))
    return content | ({"body": rest} if rest else {})


def _other_communication(body: dict[str, Any]) -> str:
    """Version 1 has one field for both; the word that does not fit its type."""
    return "unstructured" if body.get("communication_type") == STRUCTURED else "structured"


def _is_text(table: Body, path: str, value: Any) -> bool:
    """Whether a word of a step comes out as the same JSON."""
    kind = table.by_path[path].kind
    if path == "creditor_address":
        return isinstance(value, dict)
    return isinstance(value, str) or (isinstance(kind, Amount) and kind.number and isinstance(value, int | float))


def _rest(names: Pseudonyms, table: Body, body: dict[str, Any], by_words: dict[str, Any]) -> dict[str, Any]:
    fields = {field.outer for field in table.fields}
    rest: dict[str, Any] = {}
    for at, (name, value) in enumerate(body.items(), 1):
        if name not in fields:
            rest[name if re.fullmatch(r"[a-z_]{1,40}", name) else f"unknown_{at}"] = _blank(value)
        elif by_words.get(name) != value and name != "communication_type":
            rest[name] = _replaced(names, table, name, value)
    return rest


def _replaced(names: Pseudonyms, table: Body, path: str, value: Any) -> Any:
    """The same shape, with other people."""
    if isinstance(value, dict):
        return {part: _replaced(names, table, f"{path}.{part}", inner) for part, inner in value.items()}
    field = table.by_path.get(path)
    word = field.words[0] if field is not None and field.words else ""
    if field is not None and field.kind is IBAN and isinstance(value, str):
        return names.iban_itself(value)
    return hidden(names, word, value) if word and isinstance(value, str) else _blank(value)


def _blank(value: Any) -> Any:
    """A value of the same type."""
    if isinstance(value, dict):
        return {f"part_{at}": _blank(inner) for at, inner in enumerate(value.values(), 1)}
    if isinstance(value, list):
        return [_blank(inner) for inner in value]
    return FREE if isinstance(value, str) and not CODE.fullmatch(value) else value


def hidden(names: Pseudonyms, word: str, value: Any) -> Any:
    if isinstance(value, dict):  # an address
        return {part: text if part == "country" else "Brussels" for part, text in value.items()}
    hides: dict[str, Callable[[str], str]] = {
        "debtor": names.debtor,
        "creditor_iban": names.iban,
        "creditor_name": names.name,
        "structured": names.structured,
        "unstructured": names.text,
        "endtoend_identification": names.reference,
        "creditor_bban": lambda text: "".join("1" if sign.isdigit() else sign for sign in text),
    }
    hide = hides.get(word)
    return value if hide is None else hide(value)
