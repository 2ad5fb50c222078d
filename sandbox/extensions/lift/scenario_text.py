"""Writes a lifted scenario: how it begins, who pays, the steps, and what could not be explained."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.banking.durations import write_instant
from sandbox.extensions.lift.gaps import opening_of
from sandbox.extensions.lift.har import Recorded, read_har
from sandbox.extensions.lift.lifted import Lift
from sandbox.extensions.lift.lifting import lift
from sandbox.extensions.lift.pseudonyms import FIRST_NUMBER, Pseudonyms
from sandbox.reader.yaml_text import read_yaml
from sandbox.scenarios.library import SHIPPED
from sandbox.scenarios.reading import load, read_content

OPENING = {"EUR": "100000.00"}
KEPT = ("extends", "seed", "clock", "bank", "settings", "rules", "faults")  # kept of a scenario that the record loads


def lift_file(content: bytes, title: str) -> tuple[str, list[str]]:
    """Returns the scenario of a HAR as YAML, and a line for each call that could not be explained."""
    calls = read_har(content)
    head = _loaded(calls)
    people = {name: head[name] for name in ("extends", "bank") if name in head}
    fixtures = read_content(people, "scenario").fixtures if people else load("default").fixtures
    patterns = [row["when"].get("creditor_name") for row in head.get("rules", ()) if isinstance(row.get("when"), dict)]
    names = Pseudonyms(fixtures, tuple(pattern for pattern in patterns if pattern))
    found = lift(calls, names)
    if not found.has_controls:
        head["clock"] = {"at": write_instant(opening_of(calls)), "frozen": True}
    return _text(title, head, found), found.unexplained


def _loaded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """The scenario that the record loads, if it does."""
    for call in calls:
        if call.method == "PUT" and call.path == ("_sandbox", "scenario") and call.status == 200:
            shipped, content = SHIPPED.get(str(call.json.get("name"))), call.json.get("scenario")
            if shipped is not None or not isinstance(content, dict):
                content = read_yaml(shipped or call.sent, "scenario.yaml").plain() or {}
            return {name: value for name, value in content.items() if name in KEPT}
    return {}


def _text(title: str, began: Mapping[str, Any], found: Lift) -> str:
    lines = [
        f"scenario: {json.dumps(title)}",
        "about: Lifted from a record. Names, IBANs and communications are other ones.",
    ]
    head = {"clock": {"at": "2027-03-01T09:00", "frozen": True}} | {name: began[name] for name in KEPT if name in began}
    head["bank"] = _bank(began.get("bank"), found.names)
    lines += [
        f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items() if value or name == "extends"
    ]
    lines += ["steps:" if found.steps else "steps: []", *(line for step in found.steps for line in _step(step))]
    lines += [f"# Not explained: {line}" for line in found.unexplained]
    return "\n".join(lines) + "\n"


def _bank(began: Any, names: Pseudonyms) -> Any:
    """With the accounts that stand for those of the record; alice and others own them."""
    if not names.debtors:
        return began
    bank = dict(began) if isinstance(began, dict) else {}
    customers, accounts = dict(bank.get("customers", {})), dict(bank.get("accounts", {}))
    business = {names.payers[name] for name in names.business}
    for at, (name, payer) in enumerate(names.payers.items()):
        kind = "business" if payer in business else "private"
        customers[payer] = {"name": payer.replace("-", " ").capitalize(), "kind": kind, "language": "fr"}
        accounts[name] = {"number": FIRST_NUMBER + at, "owners": [payer], "opening": OPENING}
    return bank | {"customers": customers, "accounts": accounts}


def _step(step: Mapping[str, Any]) -> list[str]:
    rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in step.items()]
    return [f"  {'-' if at == 0 else ' '} {row}" for at, row in enumerate(rows)]
