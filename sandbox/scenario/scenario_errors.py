"""Errors of a scenario: the place, a sentence and a hint."""

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.banking.names import nearest

SHOWN_MAX = 80  # characters of a value that a sentence quotes
PATH_MAX = 400  # characters of a path
LISTED_MAX = 16  # names that a hint lists


@dataclass(frozen=True, slots=True)
class ScenarioError:
    """One error. A file has lines and columns (from 1), JSON has a path only."""

    file: str
    line: int | None
    column: int | None
    path: str
    text: str
    hint: str | None = None

    def __str__(self) -> str:
        place = self.path[:PATH_MAX] if self.line is None else f"{self.line}:{self.column}"
        return f"{self.file}:{place}: {self.text}" + (f" ({self.hint})" if self.hint else "")


class ScenarioErrors(ValueError):
    """All errors of a scenario."""

    def __init__(self, errors: Iterable[ScenarioError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class Wrong(Exception):
    """A wrong value; `key` names the wrong part of it."""

    def __init__(self, text: str, hint: str | None = None, key: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        self.key = key


class AlreadyReported(Exception):
    """The error of this node is already in the notes."""


def quote(value: object) -> str:
    """A value as a sentence quotes it."""
    text = str(value)
    return f"'{text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + '...'}'"


def join_names(words: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    names = list(words)
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """A hint: the nearest names, or all names if they are few."""
    names = list(known)
    near = nearest(word, names)
    if near:
        return f"did you mean '{near}'?"
    return f"known: {join_names(names)}" if 0 < len(names) <= LISTED_MAX else None
