"""The types of the rows in `contract/fields`: the kinds of values, the field, and the body of a request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any


class Use(StrEnum):
    """How a product uses a field."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    ABSENT = "n/a"


# The kinds of values that a field may have


@dataclass(frozen=True, slots=True)
class TextKind:
    """A string of 1 to `longest` characters without control characters. If there is a `pattern`, the string matches it,
    and `fault` explains the pattern to the caller."""

    longest: int
    pattern: str | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceKind:
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AmountKind:
    """A decimal string (service 2.1 rule 4). With `number`, as in version 1, also a JSON number (choice 5)."""

    number: bool = False


class DateKind:
    """A date, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A JSON object. `request` and `reply` are the names of its schemas. `always` says whether each reply has the
    object."""

    request: str
    reply: str = ""
    always: bool = False


ValueKind = TextKind | ChoiceKind | AmountKind | DateKind | ObjectKind

EUR = "EUR"  # the currency of a field that was left out
IBAN = TextKind(34)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body.

    If `uses` is empty, the use follows from other rows. For a field inside an object, the use of the object counts. For
    an object, the uses of its fields count.
    """

    path: str  # its place in the body, such as creditor_account.iban
    kind: ValueKind
    uses: str = ""  # a letter for each column of the body: r required, o optional, - n/a
    note: str = ""  # a remark that the reference shows
    clause: str = (
        "choice 5"  # decides which values are right; the clause of the body decides which product uses the field
    )
    attribute: str = (
        ""  # the attribute of the bank's record that holds the value; if empty, the path without `_account`
    )
    called: tuple[str, ...] | None = (
        None  # its names in a scenario step and in the client; None: made from the attribute
    )
    demanded: bool = False  # for every product: required if its object is there
    default: str = ""  # the value that counts if the field was left out
    label: str = ""  # the word before the value on the signing page, unless a view composes that line

    @property
    def outer(self) -> str:
        return self.path.partition(".")[0]

    @property
    def inner(self) -> str:
        return self.path.partition(".")[2]

    @property
    def attribute_path(self) -> str:
        """The dotted path of the attribute that holds the value in a record of the bank, such as `creditor.iban`."""
        return self.attribute or self.path.replace("_account.", ".")

    @property
    def words(self) -> tuple[str, ...]:
        """The names of the field in a scenario step and in the client."""
        if self.called is None:
            return (self.attribute_path.replace(".", "_"),) if self.uses else ()
        return self.called

    @property
    def always(self) -> bool:
        """Whether each reply that has the field's object also has the field."""
        if isinstance(self.kind, ObjectKind):
            return self.kind.always
        return self.demanded or bool(self.default) or bool(self.uses) and set(self.uses) == {"r"}


LETTERS = {"r": Use.REQUIRED, "o": Use.OPTIONAL, "-": Use.ABSENT}


@dataclass(frozen=True)
class BodyRow:
    """The body of a request. `request` and `reply` are the names of its schemas. `columns` are the products (or the
    version) that have this body, and `fields` are in the order of reading."""

    request: str
    reply: str
    columns: tuple[str, ...]
    fields: tuple[Field, ...]
    clause: str  # decides which column requires or excludes a field; empty: the clause of the field's row decides

    def find_clause(self, path: str) -> str:
        """Returns the clause that decides which values the field at `path` may have. For an unknown path, this is
        choice 5."""
        return self.by_path[path].clause if path in self.by_path else "choice 5"

    def find_use(self, field: Field, column: str) -> Use:
        return LETTERS[field.uses[self.columns.index(column)]]

    @cached_property
    def stated(self) -> dict[str, Field]:
        """The fields whose row lists their uses, by path."""
        return {field.path: field for field in self.fields if field.uses}

    @cached_property
    def by_path(self) -> dict[str, Field]:
        return {field.path: field for field in self.fields}

    @cached_property
    def paths(self) -> dict[str, str]:
        """The paths of the fields. The keys are the names of the fields in a scenario."""
        return {word: field.path for field in self.fields for word in field.words}

    def list_parts(self, outer: str) -> list[Field]:
        """Returns the fields inside the object `outer`."""
        return [field for field in self.fields if field.outer == outer and field.inner]

    def list_outers(self) -> Iterator[Field]:
        """Yields the fields and objects of the first level."""
        return (field for field in self.fields if not field.inner)


def set_at_path(body: dict[str, Any], path: str, value: Any) -> None:
    """Sets a value in a body at its path, such as `creditor_account.iban`."""
    outer, _, inner = path.partition(".")
    if inner:
        body.setdefault(outer, {})[inner] = value
    else:
        body[outer] = value


def make_body(body: BodyRow, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a request body with these values. The keys of `values` are the names of the fields in a scenario. Values
    that are None are left out."""
    content: dict[str, Any] = {}
    for word, path in body.paths.items():
        if values.get(word) is not None:
            set_at_path(content, path, values[word])
    return content
