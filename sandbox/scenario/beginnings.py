"""From a scenario to the beginning of a world: what it leaves out is as the server was started (choice 10)."""

from dataclasses import replace

from sandbox.scenario.model import Scenario
from sandbox.world.beginning import Beginning, seeded


def began(scenario: Scenario, server: Beginning, guarded: bool = False) -> Beginning:
    """The server's beginning with what the scenario says on top."""
    return replace(
        server if scenario.seed is None else seeded(server, scenario.seed, guarded),
        fixtures=scenario.fixtures,
        at=server.at if scenario.at is None else scenario.at,
        rate=server.rate if scenario.rate is None else scenario.rate,
        scenario=scenario.name,
        settings=scenario.settings,
        rules=scenario.rules,
        faults=scenario.faults,
    )
