"""Small changes of a document, of which the amendments are made."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from sandbox.contract.errors import Error
from sandbox.web.docs.responses import title_of
from sandbox.web.docs.schemas import reference

Document = dict[str, Any]
Amend = Callable[[Document], None]
Given = ParamSpec("Given")
INITIATIONS = ("payment_initiation", "standing_order_initiation")


def amendment(change: Callable[Concatenate[Document, Given], None]) -> Callable[Given, Amend]:
    """A change that is given everything but the document, which comes later."""

    @wraps(change)
    def given(*words: Given.args, **more: Given.kwargs) -> Amend:
        return lambda document: change(document, *words, **more)

    return given


def schema(document: Document, name: str) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


def operation(document: Document, *names: str) -> Iterator[dict[str, Any]]:
    """Operations, each at all of its paths; without a name all."""
    for methods in document["paths"].values():
        yield from (described for described in methods.values() if not names or described["x-operation"] in names)


@amendment
def field(document: Document, /, name: str, *fields: str, **shape: Any) -> None:
    """Fields of a component have another shape."""
    found = schema(document, name)["properties"]
    for one in fields:
        kept = {key: value for key, value in found.get(one, {}).items() if key == "description" or key[:2] == "x-"}
        found[one] = kept | shape


@amendment
def respelled(document: Document, name: str, words: Mapping[str, str]) -> None:
    """Fields of a component by other names."""
    found = schema(document, name)
    found["properties"] = {words.get(one, one): shape for one, shape in found["properties"].items()}
    if "required" in found:
        found["required"] = [words.get(one, one) for one in found["required"]]


@amendment
def optional(document: Document, name: str, *fields: str) -> None:
    """Fields of a component may be left out."""
    found = schema(document, name)
    found["required"] = [one for one in found.get("required", []) if one not in fields]


@amendment
def required(document: Document, name: str, *fields: str) -> None:
    """Fields of a component are always there."""
    found = schema(document, name)
    found["required"] = [*found.get("required", []), *fields]


@amendment
def both(document: Document, *amends: Amend) -> None:
    for one in amends:
        one(document)


def each(names: tuple[str, ...], make: Callable[..., Amend], *given: Any, **shape: Any) -> Amend:
    """The same change of several components."""
    return both(*(make(name, *given, **shape) for name in names))


@amendment
def parameter(document: Document, /, of: str, *operations: str, **changes: Any) -> None:
    """A header or a query parameter of these operations, or of all that have it, changes."""
    for described in operation(document, *operations):
        for row in described.get("parameters", ()):
            if row["name"] == of:
                row.update(changes)


@amendment
def refuses(document: Document, status: int, error: Error, when: str, *names: str) -> None:
    """Operations refuse with an error that they do not have otherwise, or with another status."""
    row = error.value
    for described in operation(document, *names):
        found = described["responses"].setdefault(str(status), new_refusal(row.error))
        content = found["content"]["application/json"]["schema"]
        codes = content["allOf"][1]["properties"]["error_code"]["enum"]
        if row.code not in codes:
            codes.append(row.code)
            found["description"] += f"\n\n{row.error} {row.code}: {when}"


def new_refusal(error: str) -> dict[str, Any]:
    codes: dict[str, Any] = {"type": "object", "properties": {"error_code": {"enum": []}}}
    return {
        "description": title_of(error),
        "content": {"application/json": {"schema": {"allOf": [reference("ErrorReply"), codes]}}},
    }
