"""The API for tests: `sandbox.running` and the fixture `bank`."""

from sandbox.testing.bank import Awaited as Awaited
from sandbox.testing.bank import BankFixture as BankFixture
from sandbox.testing.bank import WorldFaults as WorldFaults
from sandbox.testing.start import Start as Start
