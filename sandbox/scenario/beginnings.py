"""The Beginning of a world from a scenario; the server's own options fill the gaps (choice 10)."""

from dataclasses import replace

from sandbox.scenario.model import Scenario
from sandbox.world.beginning import Beginning, seeded


def scenario_beginning(scenario: Scenario, server: Beginning, guarded: bool = False) -> Beginning:
    """The server's Beginning with the values of the scenario merged into it.

    Life goes on as the server was started where the shipped default scenario is loaded. Every other scenario asserts on
    money: there it is off, unless the scenario says otherwise (choice 13).
    """
    life = scenario.life or (server.settings.life if scenario.is_root else "off")
    return replace(
        server if scenario.seed is None else seeded(server, scenario.seed, guarded),
        fixtures=scenario.fixtures,
        at=server.at if scenario.at is None else scenario.at,
        rate=server.rate if scenario.rate is None else scenario.rate,
        scenario=scenario.name,
        settings=replace(scenario.settings, life=life),
        rules=scenario.rules,
        faults=scenario.faults,
    )
