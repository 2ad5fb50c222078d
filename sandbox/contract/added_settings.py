"""Settings that extensions add. A world stores their values in its setting `extensions`, as lines `name: value`."""

from functools import cache
from typing import NamedTuple

from sandbox.contract.decisions import Decisions
from sandbox.extension_registry import with_rows


class AddedSetting(NamedTuple):
    """A setting of an extension. Its values are words, of which the first is the default."""

    name: str
    words: tuple[str, ...]
    about: str
    clause: str


@cache
def load_added_settings() -> dict[str, AddedSetting]:
    no_rows: tuple[AddedSetting, ...] = ()
    return {row.name: row for row in with_rows(no_rows, "settings", lambda row: row.name)}


def split_line(line: str) -> tuple[str, str]:
    """Splits a line `name: value`."""
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def value_of(settings: Decisions, name: str) -> str:
    """Returns the value of an extension's setting in a world with these settings. Returns its default if the world does
    not set it."""
    lines = dict(map(split_line, settings.extensions))
    return lines.get(name, load_added_settings()[name].words[0])
