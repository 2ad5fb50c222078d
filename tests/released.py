"""The public names of the program that docs/compatibility.md promises, and which of them a change takes away.

When a version is released, `python -m tests.released > tests/data/released.json` writes the list anew.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from enum import EnumType
from importlib import import_module
from pkgutil import resolve_name
from typing import Any

import click
import pytest

import sandbox
from sandbox import client, pytest_plugin
from sandbox.cli import main
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.contract.errors import Error
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.extension_registry import GROUP, Extension
from sandbox.people.fixtures import load_fixtures
from sandbox.scenarios.reading import list_shipped
from sandbox.scenarios.reading import make_schema as scenario_schema
from sandbox.scenarios.well_known_values import list_default_values
from sandbox.storage.format import VERSION as STATE_VERSION
from sandbox.storage.transfer.form import VERSIONS_READ
from sandbox.testing import BankFixture, Start
from sandbox.web.controls import monitoring
from sandbox.web.docs.bank_document import describe_bank as bank_document
from sandbox.web.docs.controls_document import describe_controls as controls_document

Tree = dict[str, Any]
# What has a section of its own: the words of scenarios, settings and axes are not repeated where a call takes them.
LEFT_OUT = ("#/components/schemas/Scenario", "#/components/schemas/ScenarioStep", "#/components/schemas/SettingsChange")
OWN_SECTION = ("settings", "variants")
# What docs/extend.md names of the modules that an extension imports.
FOR_EXTENSIONS = (
    "sandbox.commands.remote:RemoteWorld",
    "sandbox.commands.remote:remote",
    "sandbox.contract.added_settings:AddedSetting",
    "sandbox.contract.added_settings:value_of",
    "sandbox.extension_registry:Extension",
    "sandbox.extensions.referee.observations:Observation",
    "sandbox.extensions.referee.rule:RuleState",
    "sandbox.extensions.referee.rule:WARNING",
    "sandbox.extensions.referee.rule:rule",
    "sandbox.web.api.call_records:CallListener",
    "sandbox.web.console.page_row:ConsolePage",
    "sandbox.web.console.page_row:MenuEntry",
    "sandbox.web.controls.body_fields:reply",
    "sandbox.web.controls.control_row:Command",
    "sandbox.web.controls.control_row:Control",
    "sandbox.web.controls.control_row:get",
    "sandbox.web.docs.document_row:Document",
)


# Collecting


def public_names() -> Tree:
    """The sections of the promise. A key is a name, a list holds names, and any other leaf is a value."""
    return {
        "bank": calls_of(bank_document("http://127.0.0.1:8080", "service", date(2027, 3, 1))),
        "controls": calls_of(controls_document("http://127.0.0.1:8080")),
        "errors": {f"{error.value.code} {error.value.error}": error.value.status for error in Error},
        "statuses": [status.value for status in Status],
        "reasons": [reason.value.code for reason in Reason],
        "settings": {name: str(row.default) for name, row in SETTINGS.items()},
        "axes": {name: {"default": axis.default, "values": list(axis.names)} for name, axis in AXES.items()},
        "commands": dict(commands_of(main, "bank-sandbox")),
        "pytest": pytest_names(),
        "python": {
            "sandbox": {name: parameters_of(getattr(sandbox, name)) for name in sandbox.__all__},
            "sandbox.client": {name: members_of(value) for name, value in vars(client).items() if name[0].isupper()},
        },
        "scenarios": {
            "words": sorted(set(paths_of(scenario_schema(), scenario_schema()))),
            "shipped": [name for name, *_ in list_shipped()],
            "values": [row.value for row in list_default_values()],
            "customers": list(load_fixtures().customers),
            "clients": list(load_fixtures().clients),
        },
        "stored": {"state": STATE_VERSION, "exports": list(VERSIONS_READ)},
        "extensions": {
            "group": GROUP,
            "fields": [field.name for field in fields(Extension)],
            "names": {name: parameters_of(resolve_name(name)) for name in FOR_EXTENSIONS},
        },
        "metrics": sorted(re.findall(r'_family\("\w+", "(\w+)"', inspect.getsource(monitoring))),
    }


def calls_of(document: Tree) -> Tree:
    return {
        f"{method.upper()} {path}": call_of(document, row)
        for path, methods in document["paths"].items()
        for method, row in methods.items()
    }


def call_of(document: Tree, row: Tree) -> Tree:
    """What a call takes and needs, and what the reply of its success gives."""
    success = next(status for status in row["responses"] if status < "4")
    bodies = row.get("requestBody", {}).get("content", {})
    replies = row["responses"][success].get("content", {})
    body = {path for media in bodies.values() for path in paths_of(media["schema"], document)}
    required = {path.rstrip("!") for path in body if path.endswith("!")}
    parameters = row["parameters"]
    return {
        "id": row["operationId"],
        "success": success,
        "media": sorted({*bodies, *replies}),
        "takes": sorted({f"{one['in']} {one['name']}" for one in parameters} | {path.rstrip("!") for path in body}),
        "needs": sorted({one["name"] for one in parameters if one.get("required")} | required),
        "gives": sorted({path for media in replies.values() for path in paths_of(media["schema"], document)}),
    }


def paths_of(schema: Any, document: Tree, path: str = "", around: tuple[str, ...] = ()) -> Iterator[str]:
    """The path of each property; `!` marks a required one. `around` are the components that hold the schema."""
    if not isinstance(schema, dict) or (name := schema.get("$ref", "")) in (*around, *LEFT_OUT):
        return
    if name:
        target: Any = document
        for part in name.removeprefix("#/").split("/"):
            target = target[part]
        yield from paths_of(target, document, path, (*around, name))
    others = {name[1:-1]: inner for name, inner in schema.get("patternProperties", {}).items()}
    for name, inner in (schema.get("properties", {}) | others).items():
        yield f"{path}{name}{'!' if name in schema.get('required', ()) else ''}"
        yield from () if name in OWN_SECTION else paths_of(inner, document, f"{path}{name}.", around)
    for word in ("items", "additionalProperties"):
        yield from paths_of(schema.get(word), document, f"{path}*.", around)
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from paths_of(part, document, path, around)


def commands_of(command: click.Command, name: str) -> Iterator[tuple[str, Tree]]:
    options = [row for row in command.params if isinstance(row, click.Option) and not row.hidden]
    yield (
        name,
        {
            "options": sorted(text for row in options for text in row.opts),
            "variables": sorted(str(row.envvar) for row in options if row.envvar),
            "arguments": [str(row.name) for row in command.params if isinstance(row, click.Argument)],
        },
    )
    for word in sorted(command.commands) if isinstance(command, click.Group) else ():
        assert isinstance(command, click.Group)
        yield from commands_of(command.commands[word], f"{name} {word}")


def pytest_names() -> Tree:
    parser = pytest.Parser(_ispytest=True)
    for plugin in (pytest_plugin, *map(import_module, pytest_plugin.pytest_plugins)):
        plugin.pytest_addoption(parser)
    return {
        "fixtures": [name for name in ("bank", "bank_server") if hasattr(pytest_plugin, name)],
        "options": sorted(name for group in parser._groups for option in group.options for name in option.names()),
        "ini": sorted(parser._inidict),
        "marker": [field.name for field in fields(Start)],
        "hooks": members_of(pytest_plugin.BankHooks),
        "bank": members_of(BankFixture),
        "bank has": sorted(set(re.findall(r"self\.([a-z]\w*) =", inspect.getsource(BankFixture.__init__)))),
    }


def members_of(value: Any) -> Tree:
    """The parameters of a function, or of a class and of each of its public members; an attribute has none."""
    classes = [row for row in value.__mro__ if row.__module__.startswith("sandbox.")] if inspect.isclass(value) else []
    names = {name for row in classes for name in vars(row) if not name.startswith("_")}
    return {"": parameters_of(value)} | {name: parameters_of(getattr(value, name, None)) for name in names}


def parameters_of(value: Any) -> list[str]:
    """The names of parameters; `=` marks one that may be left out. A class of a built-in kind has none to see, nor has
    an enumeration, for which each version of Python has its own."""
    if isinstance(value, EnumType) or not (
        inspect.isclass(value) or inspect.isfunction(value) or inspect.ismethod(value)
    ):
        return []
    try:
        rows = inspect.signature(value).parameters.values()
    except ValueError:
        return []
    return [row.name + ("" if row.default is row.empty else "=") for row in rows if row.kind is not row.VAR_KEYWORD]


# Comparing


def lost(released: Any, now: Any, place: str = "") -> Iterator[str]:
    """Each promise of a release that does not hold now."""
    match released:
        case dict():
            for name, value in released.items():
                if name not in now:
                    yield f"{place}: {name} is gone".lstrip(": ")
                elif name == "needs":
                    yield from (f"{place} needs {new}" for new in now[name] if new not in value)
                else:
                    yield from lost(value, now[name], f"{place} / {name}")
        case list():  # what may be there may become what always is
            yield from (f"{place}: {name} is gone" for name in released if name not in now and f"{name}!" not in now)
        case _ if released != now:
            yield f"{place}: {released} became {now}"


if __name__ == "__main__":
    text = json.dumps(public_names(), indent=1, sort_keys=True)
    sys.stdout.write(
        re.sub(r"\[[^\[\]{}]*\]", lambda match: " ".join(match[0].split()), text) + "\n"
    )  # each list on one line
