"""Rows of the controls that concern a whole world: its clock, its file, and what its clients did."""

from marshmallow import ValidationError, fields

from sandbox.web.controls.body_fields import (
    SPAN,
    TIME,
    BooleanField,
    ObjectField,
    after,
    body,
    given,
    limit,
    query,
    rate,
    reply,
    span,
    status,
    text,
    time,
    whole_number,
    word,
    world_name,
)
from sandbox.web.controls.control_row import TEXT, Button, Command, Control, create, delete, get, post, put
from sandbox.web.controls.scenario_rows import SCENARIO

WORLD_FILES = ("application/x-ndjson", "application/jsonl", "application/octet-stream", "application/json")

PAGE = 1_000  # worlds in one reply, at the most and by default
SEED_MAX = 2**53
REPLACE = "Whether a world of that name is replaced; left out, it stays and the reply is 409."


def _seed(value: int) -> int:
    if value >= SEED_MAX:
        raise ValidationError(f"it must be below {SEED_MAX}")
    return value


NO_CLOCK = "it is an object of at, and of frozen or rate"
NAMED_OR_WHOLE = {"anyOf": [TEXT, SCENARIO]}
WORLD_CLOCK = body("WorldClock", at=time(about=TIME), frozen=BooleanField("it is true or false"), rate=rate())

WORLD_ROWS: tuple[Control, ...] = (
    get(
        "/health",
        "monitoring.health",
        "200 when the sandbox is ready: calls are answered, and what they do is kept. 503 with the reason while the "
        "state file cannot be written. ?live asks only whether anybody is there.",
        reply="Health",
        query=query(live=given(shape=TEXT, about="Asks only whether anybody is there.")),
    ),
    get(
        "/metrics",
        "monitoring.metrics",
        "Figures for Prometheus: calls by operation and status, how long they took, worlds in memory and away, "
        "initiations by status, the state file. Needs the extra `metrics`, else 501.",
        reply={"text/plain": TEXT},
    ),
    get(
        "/clock",
        "world_views.show_clock",
        "What the bank's clock shows, how it goes, and when something falls due next.",
        reply="Clock",
    ),
    post(
        "/clock",
        "world_views.change_clock",
        "Moves the clock: advance by a span (s, m, h, d, w or ISO 8601), set a time, freeze it, or let it run at a "
        "rate. All that falls due on the way happens, each at its own time. It does not go back.",
        body(
            "ClockChange",
            advance=span(about=SPAN),
            set=time(about=TIME),
            mode=word("it must be frozen or running", "frozen", "running"),
            rate=rate(about="Bank seconds per second."),
        ),
        {"advance": "61m"},
        buttons=(
            Button("advance", "The clock went on by {advance}."),
            Button("set", "The clock was set to {set}."),
            Button("freeze", "The clock stands."),
            Button("run", "The clock runs."),
        ),
        reply="Clock",
    ),
    post(
        "/reset",
        "world_views.reset",
        "The world as it was first loaded.",
        body("NoContent"),
        {},
        command=Command("reset", "The world as it was first loaded.", shows="world {name} begins again: {face}"),
        buttons=(Button("reset", "This world began again."),),
        reply="World",
        loses="World {world} begins again as it was first loaded. All that happened in it is lost.",
    ),
    get(
        "/worlds",
        "world_views.every",
        "The worlds of this server: separate banks, each with its own clock. `away` ones lie in the state file until "
        "they are called; this list wakes none, and their due_next is as it stood (null if none was called since the "
        f"server started). ?limit= gives at most so many, by default {PAGE:,}; where there are more, `next` is the "
        "name for ?after= of the next page.",
        command=Command("worlds", "Shows the worlds of the server.", columns="name scenario seed clock.now clock.mode"),
        pages=True,
        reply="WorldPage",
        query=query(
            limit=limit(PAGE, about="At most so many."),
            after=after(about="`next` of the page before."),
        ),
    ),
    get("/worlds/<name>", "world_views.one", "One world, without waking it when it is away.", reply="World"),
    put(
        "/worlds/<name>",
        "world_views.make",
        "Makes a world. What is left out is as the server was started. `life` (`on` or `off`) says whether the "
        "customers' habits go on under its clock; `variants` says how this bank differs. 409 where a world of "
        "that name exists, also one that a call made on demand, and `default` always does: `replace` true replaces it.",
        body(
            "NewWorld",
            scenario=given(shape=NAMED_OR_WHOLE),
            seed=whole_number(post_load=_seed),
            clock=ObjectField(WORLD_CLOCK, why=NO_CLOCK),
            life=given(),
            variants=given(),
            replace=BooleanField(about=REPLACE),
        ),
        {"scenario": "default", "seed": 7, "clock": {"at": "2027-03-01T09:00", "frozen": True}},
        201,
        buttons=(Button("make", "World {name} was made."),),
        reply="World",
        loses="If there is a world {name}, it is replaced. All that happened in it is lost.",
        loses_if="replace",
    ),
    delete(
        "/worlds/<name>",
        "world_views.drop",
        "Drops a world.",
        buttons=(Button("drop", "World {name} was dropped."),),
        loses="World {name} is dropped. All that happened in it is lost.",
    ),
    create(
        "/worlds/<name>/fork",
        "world_views.fork",
        "A second world that is this one as it is, or was at a time. 409 where a world of the new name exists: "
        "`replace` true replaces it.",
        body(
            "Fork",
            **{
                "as": world_name(required=True, about="The name of the new world."),
                "at": time(about=TIME),
                "replace": BooleanField(about=REPLACE),
            },
        ),
        {"as": "b"},
        buttons=(Button("fork", "World {name} goes on as {as} too."),),
        reply="World",
        loses="If there is a world {as}, it is replaced. All that happened in it is lost.",
        loses_if="replace",
    ),
    post(
        "/worlds/<name>/rewind",
        "world_views.rewind",
        "Takes the world back to a time: its acts until then are kept, all later ones are gone.",
        body("Rewind", at=time(required=True, about=TIME)),
        {"at": "2027-03-01T09:00"},
        buttons=(Button("rewind", "World {name} is as it was at {at}."),),
        reply="World",
        loses="World {name} goes back to {at}. All that happened in it since then is lost.",
    ),
    get(
        "/export",
        "world_views.send",
        "The whole world as one file: JSON lines that on any machine give the same bank, byte for byte. "
        "`secrets=strip` takes out what callers kept secret: it replays all the same.",
        reply={"application/x-ndjson": TEXT},
        query=query(secrets=word("it is keep or strip", "keep", "strip", about="strip: without secrets.")),
    ),
    create(
        "/import",
        "world_views.take",
        "A world from such a file, as lines or packed with gzip. Its digest is checked first; then it is played again "
        "and must come to what the file says; then it takes the name that `as` gives, else that of the address, else "
        "its own. "
        "409 where a world of that name exists: `?replace=true` replaces it.",
        media=WORLD_FILES,
        reply="ImportedWorld",
        query=query(
            **{"as": world_name(about="The name that the world takes.")},
            replace=word("it is true or false", "true", "false", about=REPLACE),
        ),
        loses="If there is a world of that name, it is replaced. All that happened in it is lost.",
        loses_if="replace",
    ),
    post(
        "/await",
        "world_views.wait",
        "Moves bank time from event to event until a status holds, and says how long that took. "
        "409 says why when the status can never be reached.",
        body(
            "Await",
            payment_id=text(required=True, about="Of a payment, standing order or file."),
            status=status(required=True),
            within=span(about=SPAN, option="At most so far ahead, such as 5d."),
        ),
        {"payment_id": "...", "status": "ACSC", "within": "5d"},
        command=Command(
            "await",
            "Moves the bank's time until PAYMENT_ID has STATUS; says why when the status can never be reached.",
            "{status} at {at}, after {waited} s of the bank's time",
        ),
        buttons=(Button("await", "It is {status} now."),),
        reply="Awaited",
    ),
    get(
        "/timeline",
        "world_views.timeline",
        "What will happen next in this world, soonest first.",
        command=Command("timeline", "Shows what will happen next, soonest first.", columns="at trigger subject"),
        reply=[reply("ComingEvent", at=fields.DateTime(), subject=fields.String(), trigger=fields.String())],
    ),
    get(
        "/explain/<request_id>",
        "judgements.explain",
        "Why that call was answered so: the rule, its clause, and what it was judged on.",
        reply="Explanation",
    ),
)
