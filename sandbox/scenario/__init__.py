"""Scenario files: read and checked, with line and column of every fault. The player plays their steps."""

from sandbox.reader.tree import ScenarioError as ScenarioError
from sandbox.reader.tree import ScenarioErrors as ScenarioErrors
from sandbox.scenario.model import Scenario as Scenario
from sandbox.scenario.model import ScriptStep as ScriptStep
from sandbox.scenario.reading import load as load
from sandbox.scenario.reading import read_content as read_content
from sandbox.scenario.reading import read_fault as read_fault
from sandbox.scenario.reading import read_scenario as read_scenario
from sandbox.scenario.reading import read_settings as read_settings
from sandbox.scenario.reading import schema as schema
from sandbox.scenario.reading import shipped_scenarios as shipped_scenarios
