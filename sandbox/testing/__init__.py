"""The API for tests: `sandbox.running` and the fixture `bank`."""

from sandbox.testing.bank import Awaited, Bank, Faults
from sandbox.testing.start import Start

__all__ = ["Awaited", "Bank", "Faults", "Start"]
