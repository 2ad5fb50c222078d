"""What the reference lists: the controls' rows, and the addresses of the reference itself (choice 10)."""

from sandbox.web.controls.control_row import Control
from sandbox.web.controls.rows import CONTROLS

# docs/app.py routes them.
REFERENCE: tuple[Control, ...] = (
    Control("GET", "/openapi.json", "", "The bank's interface as an OpenAPI 3.1 document."),
    Control("GET", "/controls.json", "", "These controls as an OpenAPI 3.1 document."),
    Control("GET", "/callback", "", "A callback page, registered for `demo-tpp`: what came back, and the next call."),
    Control("GET", "/docs", "", "This page."),
    Control("GET", "/docs/<slug>", "", "A page of the documentation: tutorial, how-to, reference, explanation."),
    Control("GET", "/docs/try", "", "The document to read and to try out, by Swagger UI."),
)


def rows() -> tuple[Control, ...]:
    """All that the reference lists, in the order of the table."""
    return CONTROLS + REFERENCE
