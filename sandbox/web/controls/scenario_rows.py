"""Rows of the controls for scenarios, faults, settings and callbacks."""

from marshmallow import fields

from sandbox.contract.decisions import SETTINGS
from sandbox.web.controls.body_fields import SINCE, body, given, reply
from sandbox.web.controls.control_row import JSON, TEXT, Button, Command, Control, create, delete, get, patch, put

YAML = ("application/yaml", "application/x-yaml", "text/yaml")
AFTER = "?since= gives those after that number."
SCENARIO = {"$ref": "#/components/schemas/Scenario"}
ORDERED_FAULT = reply("OrderedFault", title=fields.String(), met=fields.Integer())
# What the reader of scenarios reads: the fields are those of its tables, and so is their documentation.
FAULT = ("title", "when", "answer", "delay", "cut", "change", "callback", "connection", "for", "times")

SCENARIO_ROWS: tuple[Control, ...] = (
    get(
        "/scenarios",
        "scenario_views.every",
        "The scenarios that can be loaded.",
        reply=[reply("ShippedScenario", name=fields.String(), title=fields.String(), about=fields.String())],
    ),
    get(
        "/scenario",
        "scenario_views.one",
        "The scenario that this world began with.",
        reply=reply("CurrentScenario", scenario=fields.String()),
    ),
    put(
        "/scenario",
        "scenario_views.put",
        "Begins the world again with a scenario: by name, as YAML (application/yaml), or its content as JSON. The "
        "world keeps its seed, unless the scenario names one.",
        body("ScenarioChoice", name=given(about="One of the two.", shape=TEXT), scenario=given(shape=SCENARIO)),
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
        "scenario_views.faults",
        "The fault rules of this world, and how often each was met.",
        reply=[ORDERED_FAULT],
    ),
    create(
        "/faults",
        "scenario_views.add_fault",
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
        body("Fault", **{name: given() for name in FAULT}),
        {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 503, "retry_after": 30}},
        buttons=(Button("fault", "The fault rule stands."),),
        reply=[ORDERED_FAULT],
    ),
    delete(
        "/faults",
        "scenario_views.drop_faults",
        "Drops all fault rules.",
        buttons=(Button("drop faults", "All fault rules are gone."),),
    ),
    get(
        "/settings",
        "scenario_views.show_settings",
        "The settings of this world, as they stand.",
        reply="Settings",
    ),
    patch(
        "/settings",
        "scenario_views.save_settings",
        "Changes settings from now on; scheduled events keep their times. `variants` is merged: axes that are "
        "not named stay as they are, and an axis at its first value is as it was by default.",
        body("SettingsChange", **{row.name: given() for row in SETTINGS.values()}),
        {"unsigned_after": "5m"},
        buttons=(
            Button("settings", "The changed settings are saved."),
            Button("waive", "{rule} is waved off."),
            Button("unwaive", "{rule} counts again."),
        ),
        reply="Settings",
    ),
    get(
        "/variants",
        "scenario_views.axes",
        "How this bank could differ within the service's word: each axis with its values, the value that this world "
        "has (null where its settings are those of none), and whether a call met it. It is changed by the setting "
        "`variants`.",
        reply=["AxisRow"],
    ),
    get(
        "/callbacks",
        "psu.callbacks",
        "Where customers were sent back to. A fault of `callback` counts for those who sign by a rule of the scenario, "
        f"when they are first listed: null is lost, `times` 2 is twice. {AFTER}",
        query=SINCE,
        command=Command(
            "callbacks",
            "Shows where customers without a browser were sent back to.",
            columns="seq at subject redirect",
        ),
        reply=["Callback"],
    ),
)
