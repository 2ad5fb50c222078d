"""Writes a lifted scenario: who pays, the steps, and what could not be explained."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.lift.beginning_words import beginning_words
from sandbox.lift.har import Recorded, read_har
from sandbox.lift.lifted import Lift
from sandbox.lift.lifting import lift
from sandbox.lift.pseudonyms import FIRST_NUMBER, Pseudonyms
from sandbox.lift.world_file import is_world_file, read_world
from sandbox.reader.yaml_text import read_yaml
from sandbox.scenario.library import SHIPPED
from sandbox.scenario.reading import load, read_content

OPENING = {"EUR": "100000.00"}
KEPT = ("extends", "seed", "clock", "bank", "settings", "rules", "faults")  # kept of a scenario that the record loads


def lift_file(content: bytes, title: str) -> tuple[str, list[str]]:
    """The scenario of a HAR or of the sandbox's own export as YAML, and what could not be explained."""
    if is_world_file(content):
        record = read_world(content)
        head = beginning_words(record.beginning)
        calls, unexplained = record.calls, record.unexplained
        fixtures = record.beginning.fixtures
    else:
        calls, unexplained = read_har(content), []
        head = _loaded(calls)
        fixtures = _fixtures(head)
    patterns = [row["when"].get("creditor_name") for row in head.get("rules", ()) if isinstance(row.get("when"), dict)]
    names = Pseudonyms(fixtures, tuple(pattern for pattern in patterns if pattern))
    found = lift(calls, names, has_controls=is_world_file(content))
    found.unexplained += unexplained
    return _text(title, head, found), found.unexplained


def _loaded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """The scenario that the record loads, if it does."""
    for call in calls:
        if call.method == "PUT" and call.path == ("_sandbox", "scenario") and call.status == 200:
            if call.json.get("name") in SHIPPED:
                text = SHIPPED[str(call.json["name"])]
            elif isinstance(call.json.get("scenario"), dict):
                return {name: value for name, value in call.json["scenario"].items() if name in KEPT}
            else:
                text = call.sent
            content = read_yaml(text, "scenario.yaml").plain()
            return {name: value for name, value in (content or {}).items() if name in KEPT}
    return {}


def _fixtures(began: Mapping[str, Any]) -> Any:
    parts = {name: began[name] for name in ("extends", "bank") if name in began}
    return read_content(parts, "scenario").fixtures if parts else load("default").fixtures


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
    lines += ["steps:"] + [line for step in found.steps for line in _step(step)]
    if not found.steps:
        lines[-1] = "steps: []"
    lines += [f"# Not explained: {line}" for line in found.unexplained]
    return "\n".join(lines) + "\n"


def _bank(began: Any, names: Pseudonyms) -> Any:
    """With the accounts that stand for those of the record; alice and others own them."""
    if not names.debtors:
        return began
    bank = dict(began) if isinstance(began, dict) else {}
    customers, accounts = dict(bank.get("customers", {})), dict(bank.get("accounts", {}))
    for at, name in enumerate(names.debtors.values()):
        kind = "business" if name in names.business else "private"
        customers[f"payer-{at + 1}"] = {"name": f"Payer {at + 1}", "kind": kind, "language": "fr"}
        accounts[name] = {"number": FIRST_NUMBER + at, "owners": [f"payer-{at + 1}"], "opening": OPENING}
    return bank | {"customers": customers, "accounts": accounts}


def _step(step: Mapping[str, Any]) -> list[str]:
    rows = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in step.items()]
    return [f"  {'-' if at == 0 else ' '} {row}" for at, row in enumerate(rows)]
