"""The page of the referee in the console, and its place in the menu."""

from sandbox.web.console.page_row import ConsolePage, MenuEntry

PAGES = (ConsolePage("GET", "/console/referee", "sandbox.extensions.referee.console_pages:referee"),)
MENU = (
    MenuEntry(
        "/console/referee",
        "Referee",
        after="/console/calls",
        number="sandbox.extensions.referee.console_pages:count_findings",
        unit="findings",
        mark="sandbox.extensions.referee.console_pages:count_all",
    ),
)
