"""Settings and axes of a running world: shown with their clauses, changed one by one (choice 10, 13)."""

from dataclasses import fields
from datetime import timedelta
from typing import Any

from sandbox.bank.state import change_settings
from sandbox.banking.durations import write_duration
from sandbox.contract.axis import described
from sandbox.contract.settings import Settings
from sandbox.contract.variants import AXES, value_in
from sandbox.scenario.reading import read_changes
from sandbox.web.controls.scenario_bodies import reading
from sandbox.world.world import World

NAMES = tuple(row.name for row in fields(Settings))


def show(world: World) -> dict[str, Any]:
    return {"settings": world.ask(lambda bank: settings_row(bank.settings))}


def settings_row(settings: Settings) -> dict[str, Any]:
    found = {name: getattr(settings, name) for name in NAMES}
    shown = {name: write_duration(value) if isinstance(value, timedelta) else value for name, value in found.items()}
    return shown | {"variants": dict(settings.variants)}


def change(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Changes apply from now on; scheduled events keep their times. Variants are merged into those of the world."""
    changes = reading(lambda: read_changes(body), "settings")
    world.act(change_settings, tuple(sorted(changes.items())))
    return show(world)


def axes(world: World) -> dict[str, Any]:
    """What each axis decides, what this world has chosen, and which were met."""
    settings, met = world.ask(lambda bank: bank.settings), world.axes.met(world.exchanges_made > 0)
    return {
        "variants": [
            described(axis) | {"value": value_in(settings, axis), "met": axis.name in met} for axis in AXES.values()
        ]
    }
