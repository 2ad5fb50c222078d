"""Small changes of a document, of which the amendments are made."""

from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
Amend = Callable[[Document], None]


def schema(document: Document, name: str) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


def every_operation(document: Document) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


def operation(document: Document, name: str) -> Iterator[dict[str, Any]]:
    """An operation, at each of its paths."""
    return (described for described in every_operation(document) if described["x-operation"] == name)


def field(name: str, *fields: str, **shape: Any) -> Amend:
    """Fields of a component have another shape."""

    def amend(document: Document) -> None:
        for one in fields:
            found = schema(document, name)["properties"]
            kept = {key: value for key, value in found.get(one, {}).items() if key == "description" or key[:2] == "x-"}
            found[one] = kept | shape

    return amend


def optional(name: str, *fields: str) -> Amend:
    """Fields of a component may be left out."""

    def amend(document: Document) -> None:
        found = schema(document, name)
        found["required"] = [one for one in found.get("required", []) if one not in fields]

    return amend


def required(name: str, *fields: str) -> Amend:
    """Fields of a component are always there."""

    def amend(document: Document) -> None:
        found = schema(document, name)
        found["required"] = [*found.get("required", []), *fields]

    return amend


def both(*amends: Amend) -> Amend:
    def amend(document: Document) -> None:
        for one in amends:
            one(document)

    return amend


def parameter(name: str, *operations: str, **changes: Any) -> Amend:
    """A header or a query parameter of these operations, or of all that have it, changes."""

    def amend(document: Document) -> None:
        for described in every_operation(document):
            if not operations or described["x-operation"] in operations:
                for row in described.get("parameters", ()):
                    if row["name"] == name:
                        row.update(changes)

    return amend


def refuses(status: int, code: str, error: str, when: str, *names: str) -> Amend:
    """Operations refuse with an error that they do not have otherwise."""

    def amend(document: Document) -> None:
        for name in names:
            for described in operation(document, name):
                responses = described["responses"]
                found = responses.setdefault(str(status), new_refusal(error))
                content = found["content"]["application/json"]["schema"]
                codes = content["allOf"][1]["properties"]["error_code"]["enum"]
                if code not in codes:
                    codes.append(code)
                    found["description"] += f"\n\n{error} {code}: {when}"

    return amend


def new_refusal(error: str) -> dict[str, Any]:
    codes: dict[str, Any] = {"type": "object", "properties": {"error_code": {"enum": []}}}
    shape = {"allOf": [{"$ref": "#/components/schemas/ErrorReply"}, codes]}
    return {
        "description": f"{error.replace('_', ' ').capitalize()}.",
        "content": {"application/json": {"schema": shape}},
    }
