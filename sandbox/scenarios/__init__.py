"""Reads and checks scenario files. Every error has its line and column. `sandbox.player` performs the steps of a
scenario."""

from sandbox.reader.tree import ScenarioError as ScenarioError
from sandbox.reader.tree import ScenarioErrors as ScenarioErrors
from sandbox.scenarios.model import Scenario as Scenario
from sandbox.scenarios.model import ScriptStep as ScriptStep
from sandbox.scenarios.reading import list_shipped as list_shipped
from sandbox.scenarios.reading import load as load
from sandbox.scenarios.reading import make_schema as make_schema
from sandbox.scenarios.reading import read_content as read_content
from sandbox.scenarios.reading import read_fault as read_fault
from sandbox.scenarios.reading import read_scenario as read_scenario
from sandbox.scenarios.reading import read_settings as read_settings
