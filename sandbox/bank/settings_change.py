"""Changing a running bank's settings (choice 13)."""

from typing import Any

from sandbox.bank.state import Bank
from sandbox.contract.variants import with_changes


def change_settings(bank: Bank, changes: tuple[tuple[str, Any], ...]) -> None:
    """Applies from now on; events that are already scheduled keep their times."""
    before = bank.settings.life
    bank.settings = with_changes(bank.settings, dict(changes))
    if bank.settings.life != before:
        bank.habits.switch(bank, bank.settings.life == "on", bank.clock.now)
