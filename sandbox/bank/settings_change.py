"""Changing a running bank's settings (choice 13)."""

from dataclasses import replace
from typing import Any

from sandbox.bank.state import Bank


def change_settings(bank: Bank, changes: tuple[tuple[str, Any], ...]) -> None:
    """Applies from now on; events that are already scheduled keep their times."""
    bank.settings = replace(bank.settings, **dict(changes))
