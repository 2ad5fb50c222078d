"""Rows of the controls about calls of the bank's interface: questions about them, and barriers in their way."""

from sandbox.contract.operations import BY_NAME
from sandbox.web.controls.control_row import Button, Command, Control, Field
from sandbox.world.holds import HELD_SECONDS_MAX, HOLDS_MAX, PLACES

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
    Control(
        "GET",
        "/holds",
        "hold_views.every",
        "The barriers of this world: `waiting` for a call, or with the call that is `held` there. `expired`: the call "
        f"went on by itself after {HELD_SECONDS_MAX:.0f} s; `passed`: it was not held, as the server holds too many.",
        commands=(
            Command("holds", "Shows the barriers and the calls held there.", columns=("name", "at", "state", "call")),
        ),
    ),
    Control(
        "POST",
        "/holds",
        "hold_views.add",
        "Sets a barrier for one call: the next one that fits `when` (`operation`, `client`, `nth`, `from`, `until`) "
        "stands there until it is released. `before_act`: its headers were checked, nothing was done; `after_act`: it "
        "is done, not yet listed; `before_reply`: it is done and listed, its reply is not sent. All other calls "
        f"go on. At most {HOLDS_MAX} of a world, {HELD_SECONDS_MAX:.0f} s each by the machine's clock.",
        (
            Field("at", required=True, shape={"enum": list(PLACES)}),
            Field("when", type="object"),
            Field("as", about="Its name; left out, `hold-1` and so on."),
        ),
        {"at": "after_act", "when": {"operation": "token"}, "as": "first-refresh"},
        201,
        commands=(Command("hold"),),
        buttons=(Button("hold", "The next call that fits is held {at}."),),
        body_name="NewHold",
    ),
    Control(
        "GET",
        "/holds/<name>",
        "hold_views.one",
        "One barrier; `?within=5s` waits so long, by the machine's clock, until a call is held there.",
    ),
    Control(
        "DELETE",
        "/holds/<name>",
        "hold_views.release",
        "Lets the call go that is held there, and takes the barrier away.",
        success=204,
        commands=(Command("release"),),
        buttons=(Button("release", "{name} is released."),),
    ),
    Control(
        "DELETE",
        "/holds",
        "hold_views.release_all",
        "Releases all barriers.",
        success=204,
        buttons=(Button("release all", "All barriers are gone."),),
    ),
)
