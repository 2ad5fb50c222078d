"""A bank in a tester's hand: what `sandbox.running` and the fixture `bank` give."""

from sandbox.testing.bank import Awaited, Bank, Faults
from sandbox.testing.start import Start

__all__ = ["Awaited", "Bank", "Faults", "Start"]
