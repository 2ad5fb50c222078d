"""The page that the extension adds to the console."""

from sandbox.web.console.page_row import ConsolePage

PAGES = (ConsolePage("GET", "/console/lift", "sandbox.extensions.lift.console_pages:lift"),)
