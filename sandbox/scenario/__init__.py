"""Scenario files: read and checked, with line and column of every fault. The player plays their steps."""

from sandbox.reader.tree import ScenarioError, ScenarioErrors
from sandbox.scenario.model import Scenario, Step
from sandbox.scenario.reading import load, read_content, read_fault, read_scenario, read_settings, shipped_scenarios
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
    "shipped_scenarios",
]
