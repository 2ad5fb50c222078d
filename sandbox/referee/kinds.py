"""Kinds of calls: the properties by which rules are selected before they run."""

from collections.abc import Callable
from enum import StrEnum, auto
from typing import NamedTuple

from sandbox.contract.operations import BY_NAME

# Acts of a PSU stand in the same stream, under these names.
PSU_OPENS = "psu_opens"
FROM_CONSOLE = "console"  # in the query of an address that a tester opens; the client's state cannot be known there
PSU_RETURNS = "psu_returns"
ACTS = (PSU_OPENS, PSU_RETURNS)


class Mark(StrEnum):
    """What else sets a call apart: an initiation, a token call, or a read of more than 90 days back."""

    PLAIN = auto()
    BESIDE_TOKEN = auto()
    UNSIGNED = auto()
    UNDATED = auto()
    OTHER_ALGORITHM = auto()
    SECRET_IN_FORM = auto()
    WEAK_VERIFIER = auto()
    WITHOUT_SCA = auto()
    OLD_SCA = auto()


class Kind(NamedTuple):
    """Properties that calls share; the rules of a kind are selected once."""

    operation: str | None
    version: int
    status: int
    error: str | None
    state: str | None
    product: str | None = None
    language: str = ""
    bearing: bool = False  # a token was sent
    queried: bool = False  # there are query parameters
    marks: frozenset[Mark] = frozenset()  # what else sets a call apart

    @property
    def newest(self) -> int:
        """Whether the call used the newest version of the operation."""
        row = BY_NAME.get(self.operation or "")
        return row.versions_for(self.product)[0] if row else 0

    @property
    def is_refused(self) -> bool:
        return self.status >= 300


# As `Kind` has it, but quicker to make.
Key = tuple[str | None, int, int, str | None, str | None, str | None, str, bool, bool, frozenset[Mark]]
Sort = Callable[[Kind], bool]


def refused_as(*errors: str) -> Sort:
    """A condition: the call was refused with one of these errors."""
    return lambda kind: kind.error in errors


def answered(*statuses: int) -> Sort:
    return lambda kind: kind.status in statuses


def called(*operations: str) -> Sort:
    return lambda kind: kind.operation in operations


def in_state(*states: str) -> Sort:
    """A condition: the subject of the call is in one of these states."""
    return lambda kind: kind.state in states


def marked(mark: Mark) -> Sort:
    return lambda kind: mark in kind.marks
