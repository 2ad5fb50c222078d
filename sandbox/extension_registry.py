"""Finds the installed extensions, and adds their rows to the tables of the core. The core imports no extension, and
works without any.

An extension is a package with an entry point in the group `bank_sandbox.extensions`. The entry point leads to an object
`Extension`. Each field of that object adds rows to one table of the core. The field names the rows as
`package.module:name`, and they are imported at their first use (lazy.py). Reading the entry points takes some
milliseconds. So they are read at most once, and are not read to start a command of the core.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from sandbox.lazy import load

GROUP = "bank_sandbox.extensions"
T = TypeVar("T")
Names = Mapping[str, str]


class ExtensionError(Exception):
    """Raised if an extension cannot be used. The text names its package and says what to do."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """The additions of one package to the program. docs/extend.md has an example.

    Most fields that are a text hold the address `package.module:name` of a tuple of rows or of an object. Most fields
    that are a mapping hold such an address for each key. There are exceptions: `groups` has the name of a group for
    each key, `pytest` and `extends` hold names of modules, and `name` and `package` are plain names.
    """

    name: str
    commands: Names = field(default_factory=dict)  # the first word -> a click command
    groups: Names = field(default_factory=dict)  # the first word -> its group in the help; the others are in `Extend`
    options: Names = field(default_factory=dict)  # a command that takes more options -> the class that has them
    controls: str = ""  # rows of web/controls/control_row.py
    pages: str = ""  # rows of web/console/page_row.py
    menu: str = ""  # rows of the same file
    panels: Names = field(default_factory=dict)  # a page of the console -> a function that adds a part to it
    documents: str = ""  # rows of web/docs/document_row.py
    tables: Names = field(default_factory=dict)  # a table of `bank-sandbox tables` -> its function
    settings: str = ""  # rows of contract/added_settings.py
    expectations: Names = field(default_factory=dict)  # a word of the step `expect` -> the function that checks it
    listener: str = ""  # a CallListener of web/api/call_records.py
    replies: str = ""  # a ReplyFilter of web/api/reply_filter.py
    findings: str = ""  # a FindingsCarrier of storage/transfer/form.py
    pytest: str = ""  # a module with more hooks for pytest
    extends: Names = field(default_factory=dict)  # another extension -> a module that it imports with its own
    package: str = ""  # of the distribution; the registry fills it in


@cache
def load_installed() -> tuple[Extension, ...]:
    """Returns all extensions, sorted by name. Raises ExtensionError if one cannot be imported or is not an `Extension`,
    or if two have the same name."""
    from importlib.metadata import entry_points

    extensions: dict[str, Extension] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            extension = point.load()
        except Exception as error:
            raise make_extension_error(point.name, package, f"{type(error).__name__}: {error}") from error
        if not isinstance(extension, Extension):
            raise make_extension_error(point.name, package, f"{point.value} is no Extension")
        if extension.name in extensions:
            other = extensions[extension.name].package
            raise make_extension_error(point.name, package, f"{other} has an extension of that name too")
        extensions[extension.name] = replace(extension, package=package)
    return tuple(extensions.values())


def make_extension_error(name: str, package: str, reason: str) -> ExtensionError:
    return ExtensionError(f"The extension {name} of {package} cannot be used: {reason}. Repair or uninstall {package}.")


def with_rows(
    core: Iterable[T], table: str, name_of: Callable[[T], str], also: Callable[[T], Iterable[str]] = lambda row: ()
) -> tuple[T, ...]:
    """Returns the rows of the core together with the rows that extensions have in the field `table`, ordered as
    `sort_rows` says. `name_of` returns the name of a row, and `also` returns further names of it. Raises ExtensionError
    if a row of an extension has the name of another row, or shares a further name with another row."""
    rows = {name_of(row): row for row in core}
    rows_of_other_names = {other: row for row in rows.values() for other in also(row)}
    for extension in load_installed():
        for row in _load(extension, getattr(extension, table)) or ():
            _demand_free(extension, table, name_of(row), rows)
            rows[name_of(row)] = row
            for other in also(row):
                _demand_free(extension, table, other, rows_of_other_names)
                rows_of_other_names[other] = row
    return tuple(sort_rows(rows.values(), name_of))


def sort_rows(rows: Iterable[T], name_of: Callable[[T], str]) -> list[T]:
    """Returns the rows in the given order, except that a row with `after` comes directly behind the row that `after`
    names. If no row before it has that name, its `after` has no effect."""
    ordered: list[T] = []
    for row in rows:
        names = [name_of(other) for other in ordered]
        after: str = getattr(row, "after", "")
        ordered.insert(names.index(after) + 1 if after in names else len(ordered), row)
    return ordered


def with_names(core: Mapping[str, T], table: str) -> dict[str, T | str]:
    """Returns the core's mapping with the entries that extensions have in the field `table`. Raises ExtensionError if
    an extension has a key that the core or another extension has too."""
    rows: dict[str, T | str] = dict(core)
    for extension in load_installed():
        for word, name in getattr(extension, table).items():
            _demand_free(extension, table, word, rows)
            rows[word] = name
    return rows


def load_objects(table: str) -> list[Any]:
    """Imports and returns the objects that extensions name in the field `table`, such as `listener`. The field must
    hold one address, not a mapping."""
    return [_load(extension, name) for extension in load_installed() if (name := getattr(extension, table))]


def find_addresses(table: str, word: str) -> list[str]:
    """Returns the addresses that extensions have under the key `word` in the field `table`. The field must be a
    mapping, such as `options`."""
    return [name for extension in load_installed() if (name := getattr(extension, table).get(word))]


def list_folders(table: str) -> list[Path]:
    """Returns a path for each extension that uses the field `table`: the folder of the module that the field names, or
    the module's file if the module is in no package."""
    modules = [name.partition(":")[0] for extension in load_installed() if (name := getattr(extension, table))]
    files = {module: Path(str(import_module(module).__file__)) for module in modules}
    return [file.parent if "." in module else file for module, file in files.items()]


def _load(extension: Extension, name: str) -> Any:
    try:
        return load(name) if name else None
    except Exception as error:
        raise make_extension_error(extension.name, extension.package, f"{type(error).__name__}: {error}") from error


def _demand_free(extension: Extension, table: str, name: str, rows: Mapping[str, object]) -> None:
    if name in rows:
        raise make_extension_error(extension.name, extension.package, f"{name!r} in its {table} is taken")
