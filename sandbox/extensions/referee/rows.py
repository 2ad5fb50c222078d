"""Rows of the referee in tables of the core: its controls, its page of the console, and its place in the menu."""

from sandbox.web.console.page_row import ConsolePage, MenuEntry
from sandbox.web.controls.body_fields import any_value, make_word_field, query
from sandbox.web.controls.control_row import OBJECT, TEXT, Control, get

FORMATS = ("json", "junit", "sarif", "html")
SEVERITIES = ("error", "warning", "advice")

CONTROLS: tuple[Control, ...] = (
    get(
        "/referee",
        "sandbox.extensions.referee.controls:findings",
        "What the clients of this world did wrong; `format` is json, junit, sarif or html, `waive` is `rule: reason`, "
        "`level` says from where on JUnit fails.",
        reply={
            "application/json": ("sandbox.extensions.referee.controls:RefereeReportSchema", OBJECT),
            "application/xml": TEXT,
            "text/html": TEXT,
        },
        query=query(
            format=make_word_field(f"it must be one of {', '.join(FORMATS)}", *FORMATS, about="json where left out."),
            level=make_word_field(
                f"it must be one of {', '.join(SEVERITIES)}", *SEVERITIES, about="From where on JUnit fails."
            ),
            waive=any_value(about="`rule: reason`, as often as needed.", shape={"type": "array", "items": TEXT}),
        ),
        tag="Looking on",
    ),
    get(
        "/coverage",
        "sandbox.extensions.referee.controls:coverage",
        "What of the bank this world's clients have met, and what to try next.",
        reply="sandbox.extensions.referee.controls:Coverage",
        tag="Looking on",
    ),
)
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
