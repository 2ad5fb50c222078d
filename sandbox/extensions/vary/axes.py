"""The core's table of axes. Only this module of the extension imports it."""

from sandbox.contract.decision import MARKS, TOPICS, Axis
from sandbox.contract.decisions import AXES, SET_BY_SETTINGS

__all__ = ["AXES", "MARKS", "SET_BY_SETTINGS", "TOPICS", "Axis"]
