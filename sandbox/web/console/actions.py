"""What a button does: it turns the fields of a form into one call of a control (choice 10)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
from marshmallow.fields import Field, Nested

from sandbox.bank.records import METHODS
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.contract.operations import GATEWAY
from sandbox.web.console.calls import ControlRequest
from sandbox.web.controls.control_row import Button, Control, type_of
from sandbox.web.controls.people_fields import NEW_ACCOUNT
from sandbox.web.controls.rows import CONTROLS

Form = Mapping[str, str]
OWN_SCENARIO = "load own"  # sends the YAML of the form as it is


class Action(NamedTuple):
    """A button's control, and how a form becomes a call of it."""

    row: Control
    button: Button

    def ask(self, form: Form) -> ControlRequest:
        names = given(form, *self.row.path_names)
        if self.button.action == OWN_SCENARIO:
            return ControlRequest(self.row, text=form.get("yaml", ""))
        return ControlRequest(self.row, names, self._body(form))

    def _body(self, form: Form) -> dict[str, Any]:
        if self.button.action in BODIES:
            return BODIES[self.button.action](form)
        names = self.row.fields if self.button.fields is None else self.button.fields
        return filled(form, {name: self.row.fields[name] for name in names if name not in self.row.path_names})


def filled(form: Form, parts: Mapping[str, Field[Any]]) -> dict[str, Any]:
    """The fields that were filled in, each as its JSON type; those of an object within the body stand beside them."""
    body = {name: read(form, name, field) for name, field in parts.items()}
    return {name: value for name, value in body.items() if value != ""}


def read(form: Form, name: str, field: Field[Any]) -> Any:
    """An empty text where nothing was filled in."""
    if isinstance(field, Nested):
        return filled(form, field.schema.fields) or ""
    items = field.metadata.get("items", {})
    if "enum" in items:  # a box for each word
        return [word for word in items["enum"] if form.get(word)] or ""
    text = form.get(name, "").strip()
    return text and typed("object" if items.get("type") == "object" else type_of(field), text)


def given(form: Form, *names: str) -> dict[str, Any]:
    """The fields that were filled in."""
    return {name: form[name].strip() for name in names if form.get(name, "").strip()}


def number(text: str) -> int | float | str:
    """The text as a number, or as it is, for the control to refuse."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def typed(kind: str, text: str) -> Any:
    """The text of a form as the field's JSON type; a text that is none goes as it is, for the control to refuse."""
    match kind:
        case "integer" | "number":
            return number(text)
        case "boolean":
            return text != "no"
        case "array":
            return text.split()
        case "object":
            return parsed(text)
        case _:
            return text


def _run(form: Form) -> dict[str, Any]:
    return {"mode": "running"} | ({"rate": number(form["rate"].strip())} if form.get("rate", "").strip() else {})


def _fault(form: Form) -> dict[str, Any]:
    when: dict[str, Any] = given(form, "operation", "client", "from", "until")
    when |= {name: number(text) for name, text in given(form, "chance").items()}
    when |= {name: _numbers(text) for name, text in given(form, "nth").items()}
    body: dict[str, Any] = given(form, "title", "delay", "cut", "change", "callback", "connection", "for")
    body |= {name: number(text) for name, text in given(form, "times").items()}
    answer = {name: number(text) for name, text in given(form, "status", "retry_after").items()}
    answer |= given(form, "content_type")
    if form.get("body", "").strip():
        is_page = "content_type" in answer or answer.get("status") in GATEWAY
        answer["body"] = form["body"] if is_page else parsed(form["body"])
    if answer:
        body["answer"] = answer
    return body | ({"when": when} if when else {})


def _numbers(text: str) -> Any:
    """One number, or several with commas between them."""
    return [number(part.strip()) for part in text.split(",")] if "," in text else number(text)


def _hold(form: Form) -> dict[str, Any]:
    when: dict[str, Any] = given(form, "operation", "client")
    when |= {name: number(text) for name, text in given(form, "nth").items()}
    return given(form, "at", "as") | ({"when": when} if when else {})


def parsed(text: str) -> Any:
    """The text as JSON, or as it is, for the control to refuse."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _customer(form: Form) -> dict[str, Any]:
    """A customer as the form shows it whole: an empty limit is none, no countries are all."""
    body: dict[str, Any] = given(form, "name", "kind", "language")
    body["channel_blocked"] = form.get("channel_blocked") == "yes"
    body |= {name: form.get(name, "").strip() or None for name in ("limit_day", "limit_week")}
    body["countries"] = form.get("countries", "").split() or None
    return body | {"methods": [name for name in METHODS if form.get(name)]}


def _account(form: Form) -> dict[str, Any]:
    """An account as the form shows it whole."""
    names = ("type", "balance", "balance_shown", "signatures_required", "signers")
    body = filled(form, {name: NEW_ACCOUNT[name] for name in names})
    return body | {"closed": form.get("closed") == "yes", "overdraft": form.get("overdraft", "").strip() or None}


NUMBERS = {row.name for row in SETTINGS.values() if isinstance(row.default, int)}
LISTS = {row.name for row in SETTINGS.values() if isinstance(row.default, tuple)}
WAS = "was:"  # before the name of a setting: its value when the page was made


def setting_value(name: str, text: str, was: str = "") -> Any:
    """A setting as it was typed, as its JSON. An axis whose line is gone returns to its first value."""
    if name == "variants":
        axes = {axis: AXES[axis].default for axis in _variants(was) if axis in AXES}
        return axes | _variants(text)
    if name in LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return number(text) if name in NUMBERS else text


def _variants(text: str) -> dict[str, str]:
    rows = (line.partition(":") for line in text.splitlines() if line.strip())
    return {axis.strip(): value.strip() for axis, _, value in rows}


def _settings(form: Form) -> dict[str, Any]:
    """The settings that differ from what the page showed, so that an old page takes nobody's change back."""
    found = {
        row.name: form.get(row.name, "").strip().replace("\r\n", "\n") for row in SETTINGS.values() if row.name in form
    }
    before = {name: form.get(WAS + name, "").strip().replace("\r\n", "\n") for name in found}
    return {name: setting_value(name, text, before[name]) for name, text in found.items() if text != before[name]}


def _waive(form: Form) -> dict[str, Any]:
    row = f"{form.get('rule', '')}: {form.get('reason', '').strip()}"
    return {"referee_waives": [*others(form), row]}


def others(form: Form) -> list[str]:
    """The other waived rules than that of the form."""
    rule = form.get("rule", "")
    return [text for text in form.get("waives", "").splitlines() if text.partition(":")[0].strip() != rule]


# The body of a button whose form does not have the fields of the body.
BODIES: dict[str, Callable[[Form], dict[str, Any]]] = {
    "advance": lambda form: {"advance": form.get("advance", "").strip()},
    "set": lambda form: {"set": form.get("set", "").strip()},
    "freeze": lambda form: {"mode": "frozen"},
    "run": _run,
    "fault": _fault,
    "hold": _hold,
    "add customer": lambda form: given(form, "customer") | _customer(form),
    "change customer": _customer,
    "add account": lambda form: given(form, "customer") | _account(form),
    "change account": _account,
    "settings": _settings,
    "waive": _waive,
    "unwaive": lambda form: {"referee_waives": others(form)},
}


def actions_of(rows: Iterable[Control]) -> dict[str, Action]:
    return {button.action: Action(row, button) for row in rows for button in row.buttons}


ACTIONS = actions_of(CONTROLS)


def notice_of(action: Action, form: Form) -> str:
    """A field that is missing becomes an empty text."""
    shown = {name: value.strip()[:100] for name, value in form.items()}
    return action.button.notice.format_map(defaultdict(str, shown))
