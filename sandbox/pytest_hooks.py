"""Hooks of the fixture `bank`, which extensions implement in their modules for pytest."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sandbox.testing.bank import BankFixture
    from sandbox.testing.start import Start


def pytest_bank_variants(item: pytest.Item, start: "Start") -> Mapping[str, str]:  # type: ignore[empty-body]
    """Returns axes and values by which the bank of a test differs from what the test asks for."""


def pytest_bank_ends(item: pytest.Item, bank: "BankFixture", start: "Start") -> None:
    """Is called before the world of a test is dropped, also where the test failed."""
