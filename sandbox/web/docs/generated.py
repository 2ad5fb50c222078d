"""The pages of the documentation that are made from the tables, as Markdown."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sandbox.contract.axis import MARKS, TOPICS
from sandbox.contract.reference_flows import FLOWS, NOT_FELT, evidence
from sandbox.contract.variants import AXES
from sandbox.web.docs.controls import rows as control_rows
from sandbox.web.docs.tables import TABLES


def cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ") or " "


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def of_table(name: str, title: str, about: str, code: int = 1) -> Callable[[], str]:
    """A page of one table; its first columns are code, its last says whose the row is."""

    def page() -> str:
        head, rows = TABLES[name]()
        marked = [[f"`{text}`" if at < code and text else text for at, text in enumerate(row)] for row in rows]
        return f"# {title}\n\n{about}\n\n{table([*head[:-1], 'whose'], marked)}\n"

    return page


def axes() -> str:
    felt = {axis for row in FLOWS.values() for axis in row.axes}
    about = (
        f"Points on which a real bank may have decided otherwise. {MARKS}\n\n"
        "The reference client and the demo shop withstand every value that is not marked !, and refuse what is. For "
        f"{len(felt)} of the {len(AXES)} axes the last column names the flow of the client that shows it; for the "
        "rest it says why a right client does not feel them. [The flows](#flows-of-the-reference-client) follow."
    )
    parts = ["# Axes", about]
    for topic in TOPICS:
        found = [axis for axis in AXES.values() if axis.topic == topic]
        rows = [
            (f"`{one.name}`", ", ".join(one.marked), one.about, one.brings, one.clause, evidence(one.name))
            for one in found
        ]
        head = ("axis", "values", "about", "brings to light", "clause", "withstood")
        if rows:
            parts += [f"## {topic.capitalize()}", table(head, rows)]
    flows = [(f"`{name}`", row.words, ", ".join(row.axes)) for name, row in FLOWS.items()]
    parts += ["## Flows of the reference client", table(("flow", "what the client does", "axes that it shows"), flows)]
    values = [(f"`{name}`", why) for name, why in NOT_FELT.items() if "=" in name]
    parts += ["Single values that a right client does not feel:", table(("value", "why"), values)]
    return "\n\n".join(parts) + "\n"


def controls() -> str:
    from json import dumps

    rows = [
        (f"`{row.method} {row.path}`", row.words, "" if row.example is None else f"`{dumps(row.example)}`")
        for row in control_rows()
    ]
    about = "Calls below `/_sandbox` of each world. They are no part of the bank (choice 10)."
    return f"# Controls\n\n{about}\n\n{table(('call', 'what it does', 'body, for example'), rows)}\n"


def scenario_keys() -> str:
    from sandbox.scenario.reading import schema
    from sandbox.scenario.step_rows import STEPS

    top: dict[str, Any] = schema()
    rows = [(f"`{name}`", one.get("description", "")) for name, one in top["properties"].items()]
    steps = [(f"`{name}`", ", ".join(word.keys), word.bare or "") for name, word in STEPS.items()]
    about = "`bank-sandbox scenario schema` prints the JSON Schema, for completion in an editor."
    return (
        f"# Scenario keys\n\n{about}\n\n## Keys of a file\n\n{table(('key', 'what it holds'), rows)}\n\n"
        f"## Steps\n\n{table(('step', 'keys', 'a single value is'), steps)}\n"
    )


def values() -> str:
    from sandbox.scenario.reading import load
    from sandbox.scenario.values import markdown

    about = (
        "The default scenario gives every outcome without configuration: name the beneficiary, or the bulk file "
        "(`PaymentInformationID`, or the MsgId), so. `bank-sandbox trigger NAME` makes one."
    )
    return f"# Well-known values\n\n{about}\n\n{markdown(load('default'))}\n"


PAGES: dict[str, Callable[[], str]] = {
    "operations": of_table("operations", "Operations", "Every operation of the bank's interface."),
    "errors": of_table("errors", "Errors", "Codes that begin with `SBX-` are the sandbox's own.", 3),
    "moves": of_table("moves", "Moves between statuses", "Any other move is refused.", 0),
    "fields": of_table("products", "Fields by product", "r is required, o optional, n/a refused."),
    "settings": of_table("settings", "Settings", "Set in a scenario, or with `PATCH /_sandbox/settings`."),
    "axes": axes,
    "control-rows": controls,
    "scenario-keys": scenario_keys,
    "referee-rules": of_table("referee", "Rules of the referee", "What it notices about clients."),
    "well-known-values": values,
}
