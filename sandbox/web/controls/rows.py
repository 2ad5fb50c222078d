"""The table of the controls (choice 10): one row for each, in the order of the reference; extensions add to it."""

from sandbox.extension_registry import with_rows
from sandbox.web.controls.bank_rows import BANK_ROWS
from sandbox.web.controls.call_rows import CALL_ROWS
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.psu_rows import PSU_ROWS
from sandbox.web.controls.scenario_rows import SCENARIO_ROWS
from sandbox.web.controls.world_rows import WORLD_ROWS

CORE = WORLD_ROWS + SCENARIO_ROWS + BANK_ROWS + PSU_ROWS + CALL_ROWS


def names_beside(row: Control) -> list[str]:
    """The command and the buttons of a control."""
    buttons = [f"button {button.action}" for button in row.buttons]
    return [f"command {row.command.name}", *buttons] if row.command else buttons


CONTROLS: tuple[Control, ...] = with_rows(CORE, "controls", lambda row: row.name, names_beside)
