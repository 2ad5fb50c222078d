"""The page of settings: by topic, with one Save, which sends the changed ones (choice 10, 13)."""

from collections.abc import Mapping
from typing import Any

from flask import Response

from sandbox.contract.decision import Topic
from sandbox.contract.decisions import AXES, SETTINGS, Decisions
from sandbox.contract.errors import Refusal
from sandbox.reader.tree import ScenarioErrors
from sandbox.scenarios.reading import read_changes
from sandbox.web.console.actions import LISTS, WAS
from sandbox.web.console.calls import ControlRequest
from sandbox.web.console.templating import draw
from sandbox.web.console.visits import ConsoleVisit, Facts
from sandbox.web.controls.world_views import settings_row

NO_FORM: Mapping[str, str] = {}


def settings(visit: ConsoleVisit, form: Mapping[str, str] = NO_FORM, refused: Mapping[str, str] = NO_FORM) -> Facts:
    """By topic; after a refusal with what was typed, and the reason at each field."""
    now, first = visit.world.ask(lambda bank: settings_row(bank.settings)), settings_row(Decisions())
    topics: dict[Topic, list[Facts]] = {topic: [] for topic in Topic}
    for name, setting in SETTINGS.items():
        was = form.get(WAS + name, typed(now[name]))
        row = {
            "name": name,
            "about": setting.about,
            "clause": setting.clause,
            "words": setting.words,
            "title": name.replace("_", " "),
            "value": form.get(name, was),  # what was typed, where that was refused
            "was": was,
            "default": typed(first[name]),
            "is_list": name in LISTS,
            "refused": refused.get(name, ""),
        }
        topics[setting.topic].append(row)
    return {"topics": topics, "faults": len(refused), "axes": AXES}


def refused_page(visit: ConsoleVisit, ask: ControlRequest, refusal: Refusal) -> Response:
    """Nothing was saved: the page with what was typed, and the reason at each field."""
    body = ask.body or {}
    facts = settings(visit, visit.request.form, reasons(body) or dict.fromkeys(list(body)[:1], refusal.text))
    return draw(visit, "settings", here="/console/settings", status=400, **facts)


def reasons(body: Mapping[str, Any]) -> dict[str, str]:
    """Why each setting is refused, by its name."""
    try:
        read_changes(body)
    except ScenarioErrors as errors:
        found: dict[str, str] = {}
        for error in errors.errors:
            name = error.path.partition(".")[0].partition("[")[0]
            text = f"{error.text} ({error.hint})" if error.hint else error.text
            found[name] = f"{found[name]}; {text}" if name in found else text
        return {name: text for name, text in found.items() if name in body}
    return {}


def typed(value: Any) -> str:
    """As a person types it: a list has a line for each."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {one}" for name, one in value.items())
    return "\n".join(value) if isinstance(value, tuple | list) else str(value)
