"""The API for tests: `sandbox.running` and the fixture `bank`."""

from sandbox.testing.bank import Awaited as Awaited
from sandbox.testing.bank import Bank as Bank
from sandbox.testing.bank import Faults as Faults
from sandbox.testing.start import Start as Start
