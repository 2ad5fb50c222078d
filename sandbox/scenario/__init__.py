"""Scenario files: read, checked and told what is wrong with them; playing their steps is another's work."""

from sandbox.scenario.model import Scenario, Step
from sandbox.scenario.reading import load, read_content, read_fault, read_scenario, read_settings, shipped
from sandbox.scenario.scenario_errors import ScenarioError, ScenarioErrors
from sandbox.scenario.schema import schema

__all__ = [
    "Scenario",
    "ScenarioError",
    "ScenarioErrors",
    "Step",
    "load",
    "read_content",
    "read_fault",
    "read_scenario",
    "read_settings",
    "schema",
    "shipped",
]
