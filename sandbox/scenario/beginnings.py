"""From a scenario to the beginning of a world: what it leaves out is as the server was started (choice 10)."""

from dataclasses import replace

from sandbox.scenario.model import Scenario
from sandbox.world.beginning import Beginning


def began(scenario: Scenario, server: Beginning) -> Beginning:
    """The server's beginning with what the scenario says on top."""
    return replace(
        server,
        fixtures=scenario.fixtures,
        seed=server.seed if scenario.seed is None else scenario.seed,
        at=server.at if scenario.at is None else scenario.at,
        rate=server.rate if scenario.rate is None else scenario.rate,
        scenario=scenario.name,
        settings=scenario.settings,
        rules=scenario.rules,
        faults=scenario.faults,
    )
