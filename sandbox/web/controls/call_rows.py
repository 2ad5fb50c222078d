"""Rows of the controls about calls of the bank's interface: questions about the calls that were made."""

from sandbox.contract.operations import BY_NAME
from sandbox.web.controls.control_row import Command, Control, Field

PATTERN = "A * stands for any text."
NUMBER = {"type": "integer", "minimum": 0}
MATCHER = (
    Field("operation", about=f"Of the bank's interface, such as {next(iter(BY_NAME))}. {PATTERN}"),
    Field("method"),
    Field("path", about=f"Without the world's prefix and the query. {PATTERN}"),
    Field("status", type="", about="A number, or a pattern such as 4*."),
    Field("client", about=f"The Client-ID. {PATTERN}"),
    Field("headers", type="object", about=f"Names and values; null: the header is absent. {PATTERN}"),
    Field("body", type="", about="Parts of a JSON body or of a form, or a text with a *."),
)
ASKED = "Headers and bodies are known of the last calls only, as many as the setting contents_kept says."

CALL_ROWS: tuple[Control, ...] = (
    Control(
        "POST",
        "/requests/count",
        "call_questions.count",
        f"How many of the kept calls fit a matcher: all that it names must fit. {ASKED}",
        MATCHER,
        {"operation": "payment_initiation", "status": 201, "client": "demo-tpp"},
        commands=(Command("count"),),
        body_name="CallMatcher",
    ),
    Control(
        "POST",
        "/requests/verify",
        "call_questions.verify",
        "Whether calls came so often (`times`; left out: once or more), or one after the other (`in_order`, with "
        f"others between; what stands beside it holds for each). 409 says what was found. {ASKED}",
        (
            *MATCHER,
            Field(
                "times",
                type="object",
                shape={"properties": dict.fromkeys(("exactly", "at_least", "at_most"), NUMBER)},
            ),
            Field("in_order", type="array", about="Matchers.", shape={"items": {"type": "object"}}),
        ),
        {"operation": "payment_initiation", "body": {"creditor_name": "Jan*"}, "times": {"at_most": 1}},
        commands=(Command("verify"),),
        body_name="CallVerification",
    ),
)
