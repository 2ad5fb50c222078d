"""What the reference lists: the controls' rows, and the addresses of the reference itself (choice 10)."""

from sandbox.web.controls.control_row import OBJECT, TEXT, Control
from sandbox.web.controls.rows import CONTROLS

# docs/app.py routes them.
JSON, PAGE = {"application/json": OBJECT}, {"text/html": TEXT}
REFERENCE: tuple[Control, ...] = (
    Control("GET", "/openapi.json", "", "The bank's interface as an OpenAPI 3.1 document.", reply=JSON),
    Control("GET", "/controls.json", "", "These controls as an OpenAPI 3.1 document.", reply=JSON),
    Control(
        "GET",
        "/callback",
        "",
        "A callback page, registered for `demo-tpp`: what came back, and the next call.",
        reply=PAGE,
    ),
    Control("GET", "/docs", "", "This page.", reply=PAGE),
    Control(
        "GET", "/docs/<slug>", "", "A page of the documentation: tutorial, how-to, reference, explanation.", reply=PAGE
    ),
    Control("GET", "/docs/try", "", "The document to read and to try out, by Swagger UI.", reply=PAGE),
)


def rows() -> tuple[Control, ...]:
    """All that the reference lists, in the order of the table."""
    return CONTROLS + REFERENCE
