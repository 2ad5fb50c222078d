"""Rows of the table of controls: health and metrics, worlds, and a world's clock, export, scenario, faults, settings
and callbacks."""

from marshmallow import ValidationError, fields

from sandbox.contract.decisions import SETTINGS
from sandbox.web.controls.body_fields import (
    SINCE,
    SPAN,
    TIME,
    BooleanField,
    ObjectField,
    after,
    any_value,
    body,
    limit,
    make_word_field,
    query,
    rate,
    reply,
    span,
    status,
    text,
    time,
    whole_number,
    world_name,
)
from sandbox.web.controls.control_row import (
    JSON,
    TEXT,
    Button,
    Command,
    Control,
    create,
    delete,
    get,
    patch,
    post,
    put,
)

YAML = ("application/yaml", "application/x-yaml", "text/yaml")
AFTER = "?since= gives those after that number."
SCENARIO = {"$ref": "#/components/schemas/Scenario"}
ORDERED_FAULT = reply("OrderedFault", title=fields.String(), met=fields.Integer())
# The reader of scenarios reads these fields, and its tables document them.
FAULT = ("title", "when", "answer", "delay", "cut", "change", "callback", "connection", "for", "times")
WORLD_FILES = ("application/x-ndjson", "application/jsonl", "application/octet-stream", "application/json")

PAGE = 1_000  # worlds in one reply, at the most and by default
SEED_MAX = 2**53
REPLACE = "Whether a world of that name is replaced; left out, it stays and the reply is 409."


def _check_seed(value: int) -> int:
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
        query=query(live=any_value(shape=TEXT, about="Asks only whether anybody is there.")),
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
            mode=make_word_field("it must be frozen or running", "frozen", "running"),
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
        command=Command(
            "reset",
            "Begins the world again as it was first loaded.",
            shows="world {name} begins again: {clock}",
            group="Keep",
        ),
        buttons=(Button("reset", "This world began again."),),
        reply="World",
        loses="World {world} begins again as it was first loaded. All that happened in it is lost.",
    ),
    get(
        "/worlds",
        "world_views.list_worlds",
        "The worlds of this server: separate banks, each with its own clock. `away` ones lie in the state file until "
        "they are called; this list wakes none, and their due_next is as it stood (null if none was called since the "
        f"server started). ?limit= gives at most so many, by default {PAGE:,}; where there are more, `next` is the "
        "name for ?after= of the next page.",
        command=Command(
            "worlds",
            "Shows the worlds of the server.",
            columns="name scenario seed clock.now clock.mode",
            drops="seed clock.mode scenario",
            group="Keep",
        ),
        pages=True,
        reply="WorldPage",
        query=query(
            limit=limit(PAGE, about="At most so many."),
            after=after(about="`next` of the page before."),
        ),
    ),
    get("/worlds/<name>", "world_views.show_world", "One world, without waking it when it is away.", reply="World"),
    put(
        "/worlds/<name>",
        "world_views.make_world",
        "Makes a world. What is left out is as the server was started. `life` (`on` or `off`) says whether the "
        "customers' habits go on under its clock; `variants` says how this bank differs, and `extensions` has the "
        "settings that extensions add, each as `name: value`. 409 where a world of "
        "that name exists, also one that a call made on demand, and `default` always does: `replace` true replaces it.",
        body(
            "WorldCreation",
            scenario=any_value(shape=NAMED_OR_WHOLE),
            seed=whole_number(post_load=_check_seed, shape={"format": "int64"}),
            clock=ObjectField(WORLD_CLOCK, error_text=NO_CLOCK),
            life=any_value(),
            variants=any_value(),
            extensions=any_value(),
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
        "world_views.drop_world",
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
        "world_views.send_file",
        "The whole world as one file: JSON lines that on any machine give the same bank, byte for byte. "
        "`secrets=strip` takes out what callers kept secret: it replays all the same.",
        reply={"application/x-ndjson": TEXT},
        query=query(secrets=make_word_field("it is keep or strip", "keep", "strip", about="strip: without secrets.")),
    ),
    create(
        "/import",
        "world_views.take_file",
        "A world from such a file, as lines or packed with gzip. Its digest is checked first; then it is played again "
        "and must come to what the file says; then it takes the name that `as` gives, else that of the address, else "
        "its own. "
        "409 where a world of that name exists: `?replace=true` replaces it.",
        media=WORLD_FILES,
        reply="ImportedWorld",
        query=query(
            **{"as": world_name(about="The name that the world takes.")},
            replace=make_word_field("it is true or false", "true", "false", about=REPLACE),
        ),
        loses="If there is a world of that name, it is replaced. All that happened in it is lost.",
        loses_if="replace",
    ),
    post(
        "/await",
        "world_views.await_status",
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
            "Moves the bank's time until PAYMENT_ID has STATUS. Says why when the status can never be reached.",
            "{status} at {at}, after {waited} s of the bank's time",
            group="Time",
        ),
        buttons=(Button("await", "It is {status} now."),),
        reply="Awaited",
    ),
    get(
        "/timeline",
        "world_views.timeline",
        "What will happen next in this world, soonest first.",
        command=Command(
            "timeline", "Shows what will happen next, soonest first.", columns="at trigger subject", group="Time"
        ),
        reply=[reply("ComingEvent", at=fields.DateTime(), subject=fields.String(), trigger=fields.String())],
    ),
    get(
        "/explain/<request_id>",
        "call_views.explain",
        "Why that call was answered so: the rule, its clause, and what it was judged on.",
        reply="Explanation",
    ),
    get(
        "/scenarios",
        "world_views.list_scenarios",
        "The scenarios that can be loaded.",
        reply=[reply("ShippedScenario", name=fields.String(), title=fields.String(), about=fields.String())],
    ),
    get(
        "/scenario",
        "world_views.show_scenario",
        "The scenario that this world began with.",
        reply=reply("CurrentScenario", scenario=fields.String()),
    ),
    put(
        "/scenario",
        "world_views.load_scenario",
        "Begins the world again with a scenario: by name, as YAML (application/yaml), or its content as JSON. The "
        "world keeps its seed, unless the scenario names one.",
        body(
            "ScenarioChoice",
            name=any_value(about="One of the two.", shape=TEXT),
            scenario=any_value(shape={"allOf": [SCENARIO, {"description": "The other of the two."}]}),
        ),
        {"name": "default"},
        media=(*JSON, *YAML),
        buttons=(
            Button("load", "This world began again with {name}.", ("name",)),
            Button("load own", "This world began again with your scenario."),
        ),
        reply="World",
        loses="World {world} begins again with the scenario. All that happened in it is lost.",
    ),
    get(
        "/faults",
        "world_views.list_faults",
        "The fault rules of this world, and how often each was met.",
        reply=[ORDERED_FAULT],
    ),
    create(
        "/faults",
        "world_views.add_fault",
        "Adds a fault rule: when it applies, and an answer, a delay, a cut or a change. `when` has `operation`, "
        "`client`, `nth` (the number of a call among those that fit the rest, or a list of numbers), `chance` (0 "
        "to 1), `from` and `until`; `times` says how often the fault happens, without end where it is left out. A "
        "call is answered by the first rule that applies, and counted by all that it fits. An answer has a "
        "`status` of the operation, or 502 or 504 of a gateway, and may have `retry_after`, `body` and "
        "`content_type`. With a `content_type`, and at 502 and 504, a body that is a text is sent as it is, so a "
        "gateway may speak HTML; such an answer carries Response-ID and no other header of the bank. At the edges: "
        "the operation `psu_page` is a page of the bank (500, 502, 503, 504, a delay, a cut), and `callback` "
        "(`lost`, `late`, `twice`, `altered_state`) the customer's way back, by a page, a control or a rule. "
        "`connection` (`closed`, `silent`, `handshake`) is of the whole server, `for` up to 60 s of the machine's "
        "clock: after the call that fits `when`, at once without one.",
        body("Fault", **{name: any_value() for name in FAULT}),
        {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 503, "retry_after": 30}},
        buttons=(Button("fault", "The fault rule stands."),),
        reply=[ORDERED_FAULT],
    ),
    delete(
        "/faults",
        "world_views.drop_faults",
        "Drops all fault rules.",
        loses="All fault rules of world {world} and their counts are lost.",
        buttons=(Button("drop faults", "All fault rules are gone."),),
    ),
    get(
        "/settings",
        "world_views.show_settings",
        "The settings of this world, as they stand.",
        reply="Settings",
    ),
    patch(
        "/settings",
        "world_views.save_settings",
        "Changes settings from now on; scheduled events keep their times. `variants` is merged: axes that are "
        "not named stay as they are, and an axis at its first value is as it was by default.",
        body("SettingsChange", **{row.name: any_value() for row in SETTINGS.values()}),
        {"unsigned_after": "5m"},
        buttons=(
            Button("settings", "The changed settings are saved."),
            Button("waive", "{rule} is accepted."),
            Button("unwaive", "{rule} counts again."),
        ),
        reply="Settings",
    ),
    get(
        "/variants",
        "world_views.list_axes",
        "How this bank could differ within the service's word: each axis with its values, the value that this world "
        "has (null where its settings are those of none), and whether a call met it. It is changed by the setting "
        "`variants`.",
        reply=["AxisRow"],
    ),
    get(
        "/callbacks",
        "psu_views.callbacks",
        "Where customers were sent back to. A fault of `callback` counts for those who sign by a rule of the scenario, "
        f"when they are first listed: null is lost, `times` 2 is twice. {AFTER}",
        query=SINCE,
        command=Command(
            "callbacks",
            "Shows where customers without a browser were sent back to.",
            columns="seq at subject redirect",
            drops="subject seq",
        ),
        reply=["Callback"],
    ),
)
