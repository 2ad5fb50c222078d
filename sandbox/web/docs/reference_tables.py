"""The tables of the package `contract`, such as those of operations, errors and settings: as rows of text, and as pages
of the documentation in Markdown."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from json import dumps
from typing import Any

from sandbox.banking.durations import write_duration
from sandbox.contract.added_settings import load_added_settings
from sandbox.contract.decision_rows import MARKS, TOPICS, Topic
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.contract.errors import Error
from sandbox.contract.fields import FIELDS, PAYMENT
from sandbox.contract.moves import MOVES
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.products import PRODUCTS
from sandbox.contract.reasons import Reason
from sandbox.contract.reference_flows import FLOWS, describe_evidence, list_axes
from sandbox.extension_registry import with_names
from sandbox.lazy import load
from sandbox.web.controls.control_row import OBJECT, TEXT, Control
from sandbox.web.controls.rows import CONTROLS

Row = tuple[str, ...]
Table = tuple[Row, list[Row]]

JSON, PAGE = {"application/json": OBJECT}, {"text/html": TEXT}
# The addresses that app.py routes, and the page that the console routes for it.
REFERENCE = tuple(
    Control("GET", path, "", words, reply=reply)
    for path, words, reply in (
        ("/openapi.json", "The bank's interface as an OpenAPI 3.1 document.", JSON),
        ("/controls.json", "These controls as an OpenAPI 3.1 document.", JSON),
        ("/callback", "A callback page, registered for `demo-tpp`: what came back, and the next call.", PAGE),
        ("/docs", "The first page of the documentation.", PAGE),
        ("/docs/reference", "This page: the choices and the tables.", PAGE),
        ("/docs/<slug>", "A page of the documentation: tutorial, how-to, reference, explanation.", PAGE),
        ("/docs/try", "The document to read and to try out, by Swagger UI.", PAGE),
    )
)


def list_control_rows() -> tuple[Control, ...]:
    """Returns the controls and the addresses of the documentation, in the order in which the reference lists them."""
    return CONTROLS + REFERENCE


def is_choice(clause: str) -> bool:
    """Whether the clause is a choice of the sandbox. A choice settles a matter that the service does not settle."""
    return clause.startswith("choice")


def make_table(head: Row, rows: Iterable[Row]) -> Table:
    """Returns a table from a head and rows that end with a clause. Adds a column that says whether the clause is a
    choice of the sandbox."""
    return (*head, "clause", ""), [(*row, "ours" if is_choice(row[-1]) else "") for row in rows]


def moves() -> Table:
    return make_table(
        ("path", "from", "trigger", "to", "when"),
        (
            (path, row.source, row.trigger, row.target, row.when.__doc__ or "" if row.when else "", row.clause)
            for path, rows in MOVES.items()
            for row in rows
        ),
    )


def errors() -> Table:
    rows = (error.value for error in Error)
    return make_table(
        ("status", "error", "error_code", "text"),
        ((str(row.status), row.error, row.code, row.text, row.clause) for row in rows),
    )


def reasons() -> Table:
    rows = (reason.value for reason in Reason)
    return make_table(
        ("reason", "meaning", "used", "ISO 20022"),
        ((row.code, row.meaning, row.used, row.iso_code, row.clause) for row in rows),
    )


def operations() -> Table:
    return make_table(
        ("operation", "method", "path", "versions", "authorization"),
        (
            (row.name, row.method, row.path, " ".join(map(str, row.versions)), row.authorization.value, row.clause)
            for row in OPERATIONS
        ),
    )


def products() -> Table:
    uses = {path: [PAYMENT.find_use(row, name).value for name in PRODUCTS] for path, row in FIELDS.items()}
    return make_table(("field", *PRODUCTS), ((path, *row, "service 2.1") for path, row in uses.items()))


def settings() -> Table:
    def text(value: object) -> str:
        return write_duration(value) if isinstance(value, timedelta) else str(value)

    extension_rows = [(f"extensions: {row.name}", row.words[0], row) for row in load_added_settings().values()]
    return make_table(
        ("setting", "topic", "default", "text"),
        [
            *((row.name, row.topic, text(row.default), row.about, row.clause) for row in SETTINGS.values()),
            *((name, Topic.EXTENSIONS, default, row.about, row.clause) for name, default, row in extension_rows),
        ],
    )


def variants() -> Table:
    return make_table(
        ("axis", "topic", "values", "text", "brings to light", "within", "withstood"),
        (
            (
                row.name, row.topic, " ".join(row.marked), row.about, row.brings,
                "" if row.within else "not within", describe_evidence(row).replace("`", ""), row.clause,
            )
            for row in AXES.values()
        ),
    )  # fmt: skip


CORE_TABLES = {
    function.__name__: function for function in (moves, errors, reasons, operations, products, settings, variants)
}
TABLES: dict[str, Callable[[], Table] | str] = with_names(CORE_TABLES, "tables")


def find_table(name: str) -> Table:
    """Returns the table with this name. If an extension has the table, the extension's module is imported now."""
    made = TABLES[name]
    rows: Table = (load(made) if isinstance(made, str) else made)()
    return rows


def write_cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ") or " "


def write_markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(write_cell, line))} |" for line in lines)


def write_page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *parts]) + "\n"


def write_table_page(name: str, title: str, about: str, code: int = 1) -> str:
    """Returns a page with one table. The texts of the first `code` columns are written in the font of code."""
    head, rows = find_table(name)
    marked = [[f"`{text}`" if at < code and text else text for at, text in enumerate(row)] for row in rows]
    return write_page(title, about, write_markdown_table([*head[:-1], "whose"], marked))


def write_axes_page() -> str:
    felt = [axis for axis in AXES.values() if not axis.unfelt]
    parts = [
        f"Points on which a real bank may have decided otherwise. {MARKS}",
        "The reference client and the demo shop withstand every value that is not marked !, and refuse what is. For "
        f"{len(felt)} of the {len(AXES)} axes the last column names the flow of the client that shows it; for the "
        "rest it says why a right client does not feel them. [The flows](#flows-of-the-reference-client) follow.",
    ]
    head = ("axis", "values", "about", "brings to light", "clause", "withstood")
    for topic in TOPICS:
        rows = [
            (f"`{axis.name}`", ", ".join(axis.marked), axis.about, axis.brings, axis.clause, describe_evidence(axis))
            for axis in AXES.values()
            if axis.topic == topic
        ]
        if rows:
            parts += [f"## {topic.capitalize()}", write_markdown_table(head, rows)]
    flows = [(f"`{name}`", words, ", ".join(list_axes(name))) for name, words in FLOWS.items()]
    unfelt = [(axis.name, value) for axis in AXES.values() for value in axis.values if value.unfelt]
    values = [(f"`{axis}={value.name}`", value.unfelt) for axis, value in unfelt]
    return write_page(
        "Axes",
        *parts,
        "## Flows of the reference client",
        write_markdown_table(("flow", "what the client does", "axes that it shows"), flows),
        "Single values that a right client does not feel:",
        write_markdown_table(("value", "why"), values),
    )


def write_controls_page() -> str:
    rows = [
        (f"`{row.method} {row.path}`", row.words, "" if row.example is None else f"`{dumps(row.example)}`")
        for row in list_control_rows()
    ]
    about = "Calls below `/_sandbox` of each world. They are no part of the bank (choice 10)."
    return write_page("Controls", about, write_markdown_table(("call", "what it does", "body, for example"), rows))


def write_scenario_keys_page() -> str:
    from sandbox.scenarios.reading import make_schema
    from sandbox.scenarios.step_words import STEPS

    top: dict[str, Any] = make_schema()
    rows = [(f"`{name}`", key.get("description", "")) for name, key in top["properties"].items()]
    steps = [(f"`{name}`", ", ".join(word.keys), word.bare or "") for name, word in STEPS.items()]
    return write_page(
        "Scenario keys",
        "`bank-sandbox scenario schema` prints the JSON Schema, for completion in an editor.",
        "## Keys of a file",
        write_markdown_table(("key", "what it holds"), rows),
        "## Steps",
        write_markdown_table(("step", "keys", "a single value is"), steps),
    )


def write_values_page() -> str:
    from sandbox.scenarios.reading import load as load_scenario
    from sandbox.scenarios.well_known_values import write_markdown

    about = (
        "The default scenario gives every outcome without configuration: name the beneficiary, or the bulk file "
        "(`PaymentInformationID`, or the MsgId), so. `bank-sandbox trigger NAME` makes one."
    )
    return write_page("Well-known values", about, write_markdown(load_scenario("default")))


PAGES: dict[str, Callable[[], str]] = {
    "operations": partial(write_table_page, "operations", "Operations", "Every operation of the bank's interface."),
    "errors": partial(write_table_page, "errors", "Errors", "Codes that begin with `SBX-` are the sandbox's own.", 3),
    "reasons": partial(
        write_table_page,
        "reasons",
        "Reasons",
        "Codes in the status of an initiation and in the remark of a transaction that came back. A scenario and a "
        "control may give any other code of capital letters, digits and `_`.",
    ),
    "moves": partial(write_table_page, "moves", "Moves between statuses", "Any other move is refused.", 0),
    "fields": partial(write_table_page, "products", "Fields by product", "r is required, o optional, n/a refused."),
    "settings": partial(
        write_table_page, "settings", "Settings", "Set in a scenario, or with `PATCH /_sandbox/settings`."
    ),
    "axes": write_axes_page,
    "control-rows": write_controls_page,
    "scenario-keys": write_scenario_keys_page,
    "well-known-values": write_values_page,
}
