"""Settings of a running world: shown with their clauses, changed one by one (choice 10, 13)."""

from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from typing import Any

from flask import Request

from sandbox.bank.state import Bank, verb
from sandbox.control.asking import body_of, value_of
from sandbox.rules.durations import write_duration
from sandbox.rules.setting_values import read_setting
from sandbox.settings import Settings
from sandbox.worlds import World

NAMES = tuple(row.name for row in fields(Settings))


def show(world: World, request: Request) -> dict[str, Any]:
    return {"settings": world.ask(lambda bank: written(bank.settings))}


def written(settings: Settings) -> dict[str, Any]:
    found = {name: getattr(settings, name) for name in NAMES}
    return {name: write_duration(value) if isinstance(value, timedelta) else value for name, value in found.items()}


def change(world: World, request: Request) -> dict[str, Any]:
    """What is named changes, from now on; what was promised before keeps its time."""
    content = body_of(request, *NAMES)
    changes = {name: value_of(content, name, partial(read_setting, name)) for name in content}
    world.act(change_settings, tuple(sorted(changes.items())))
    return show(world, request)


@verb
def change_settings(bank: Bank, changes: tuple[tuple[str, Any], ...]) -> None:
    bank.settings = replace(bank.settings, **dict(changes))
