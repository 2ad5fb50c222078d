"""The table of all controls (choice 10), in the order of the reference. Extensions can add rows to it."""

from sandbox.extension_registry import with_rows
from sandbox.web.controls.bank_rows import BANK_ROWS
from sandbox.web.controls.call_rows import CALL_ROWS
from sandbox.web.controls.control_row import Control
from sandbox.web.controls.world_rows import WORLD_ROWS

CONTROLS: tuple[Control, ...] = with_rows(
    WORLD_ROWS + BANK_ROWS + CALL_ROWS, "controls", lambda row: row.name, lambda row: row.names_added
)
