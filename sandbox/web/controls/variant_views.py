"""The axes of a world: what each decides, what this world has chosen, and which were met (choice 13)."""

from typing import Any

from sandbox.contract.axis import described
from sandbox.contract.settings import Settings
from sandbox.contract.variants import AXES, Axis, value_in
from sandbox.world.world import World


def every(world: World) -> dict[str, Any]:
    settings, met = world.ask(lambda bank: bank.settings), world.axes.met(world.exchanges_made > 0)
    return {"variants": [described(axis) | standing(axis, settings, axis.name in met) for axis in AXES.values()]}


def standing(axis: Axis, settings: Settings, met: bool) -> dict[str, Any]:
    return {"value": value_in(settings, axis), "met": met}
