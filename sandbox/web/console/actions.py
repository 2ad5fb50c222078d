"""Turns the form of a console button into a call of a control. A control is an operation under `/_sandbox` (choice
10)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import orjson
from marshmallow.fields import Field, Nested

from sandbox.bank.records import METHODS
from sandbox.contract.decisions import AXES, SETTINGS
from sandbox.contract.operations import GATEWAY
from sandbox.web.console.calls import ControlRequest
from sandbox.web.controls.control_row import Button, Control, find_type
from sandbox.web.controls.people_fields import NEW_ACCOUNT
from sandbox.web.controls.rows import CONTROLS

Form = Mapping[str, str]


class ConsoleAction(NamedTuple):
    """A button of the console, and the row of the control that it calls."""

    row: Control
    button: Button

    def ask(self, form: Form) -> ControlRequest:
        """Returns the call of the control for this form. The form has the values of the names in the control's path and
        of the fields of its body. But for the action `load own`, the body is the YAML text in the form. For an action
        in BODIES, the function in BODIES makes the body."""
        if self.button.action == "load own":
            return ControlRequest(self.row, text=form.get("yaml", ""))
        names = read_filled_texts(form, *self.row.path_names)
        if self.button.action in BODIES:
            return ControlRequest(self.row, names, BODIES[self.button.action](form))
        fields = self.row.fields if self.button.fields is None else self.button.fields
        in_body = {name: self.row.fields[name] for name in fields if name not in self.row.path_names}
        return ControlRequest(self.row, names, read_filled(form, in_body))


def make_actions(rows: Iterable[Control]) -> dict[str, ConsoleAction]:
    return {button.action: ConsoleAction(row, button) for row in rows for button in row.buttons}


ACTIONS = make_actions(CONTROLS)
UNDOABLE = {"advance", "set", "await", "approve", "refuse", "sign", "withdraw", "move", "return", "recall", "book"}


def write_notice(action: ConsoleAction, form: Form) -> str:
    """Returns the notice that the console shows after the button was pressed. Each placeholder in the notice is
    replaced by the first 100 characters of the form's field of that name, or by an empty text if the form has no such
    field."""
    values = {name: value.strip()[:100] for name, value in form.items()}
    return action.button.notice.format_map(defaultdict(str, values))


# Reading a form. A value that is not of its field's type goes to the control as it is, and the control refuses it.


def read_filled(form: Form, fields: Mapping[str, Field[Any]]) -> dict[str, Any]:
    """Returns the fields that were filled in, each as a value of its JSON type. The members of a nested object are
    fields of the form like all others, without a prefix."""
    body = {name: _read(form, name, field) for name, field in fields.items()}
    return {name: value for name, value in body.items() if value != ""}


def _read(form: Form, name: str, field: Field[Any]) -> Any:
    """Returns the JSON value of a field, or an empty text if the field was not filled in."""
    if isinstance(field, Nested):
        return read_filled(form, field.schema.fields) or ""
    items = field.metadata.get("items", {})
    if "enum" in items:  # a box for each word
        return [word for word in items["enum"] if form.get(word)] or ""
    text = form.get(name, "").strip()
    match "object" if items.get("type") == "object" else find_type(field):
        case "integer" | "number":
            return read_number(text)
        case "boolean":
            return text and text != "no"
        case "array":
            return text.split() or ""
        case "object":
            return text and read_json(text)
    return text


def read_filled_texts(form: Form, *names: str) -> dict[str, Any]:
    return {name: form[name].strip() for name in names if form.get(name, "").strip()}


def read_filled_numbers(form: Form, *names: str) -> dict[str, Any]:
    return {name: read_number(text) for name, text in read_filled_texts(form, *names).items()}


def read_number(text: str) -> int | float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


# Bodies of buttons whose form does not have the fields of the body


def _read_fault(form: Form) -> dict[str, Any]:
    body = read_filled_texts(form, "title", "delay", "cut", "change", "callback", "connection", "for")
    body |= read_filled_numbers(form, "times")
    answer = read_filled_numbers(form, "status", "retry_after") | read_filled_texts(form, "content_type")
    if form.get("body", "").strip():
        is_page = "content_type" in answer or answer.get("status") in GATEWAY
        answer["body"] = form["body"] if is_page else read_json(form["body"])
    when = read_filled_texts(form, "operation", "client", "from", "until") | read_filled_numbers(form, "chance")
    for name, text in read_filled_texts(form, "nth").items():
        when[name] = [read_number(part.strip()) for part in text.split(",")] if "," in text else read_number(text)
    return body | ({"answer": answer} if answer else {}) | ({"when": when} if when else {})


def _hold(form: Form) -> dict[str, Any]:
    when = read_filled_texts(form, "operation", "client") | read_filled_numbers(form, "nth")
    return read_filled_texts(form, "at", "as") | ({"when": when} if when else {})


def _read_customer(form: Form) -> dict[str, Any]:
    """Returns a body with all fields of a customer, because the form shows all of them. An empty limit means no limit,
    and empty countries mean all countries."""
    body = read_filled_texts(form, "name", "kind", "language")
    body["channel_blocked"] = form.get("channel_blocked") == "yes"
    body["payee_check_of_files"] = form.get("payee_check_of_files", "yes") == "yes"
    body |= {name: form.get(name, "").strip() or None for name in ("limit_day", "limit_week")}
    body["countries"] = form.get("countries", "").split() or None
    return body | {"methods": [name for name in METHODS if form.get(name)]}


def _read_account(form: Form) -> dict[str, Any]:
    """Returns a body with the fields of an account. The body always has `closed` and `overdraft`, because the form
    shows the whole account. An empty `overdraft` becomes null."""
    names = ("type", "balance", "balance_shown", "signatures_required", "signers")
    body = read_filled(form, {name: NEW_ACCOUNT[name] for name in names})
    return body | {"closed": form.get("closed") == "yes", "overdraft": form.get("overdraft", "").strip() or None}


NUMBERS = {row.name for row in SETTINGS.values() if isinstance(row.default, int)}
LISTS = {row.name for row in SETTINGS.values() if isinstance(row.default, tuple)}
WAS = "was:"  # before the name of a setting: its value when the page was made


def _read_settings(form: Form) -> dict[str, Any]:
    """Returns the settings that were changed on the page. The other settings are left out, so that a page that is not
    up to date does not undo another tester's change."""
    texts = {name: form[name].strip().replace("\r\n", "\n") for name in SETTINGS if name in form}
    before = {name: form.get(WAS + name, "").strip().replace("\r\n", "\n") for name in texts}
    return {name: _read_setting(name, text, before[name]) for name, text in texts.items() if text != before[name]}


def _read_setting(name: str, text: str, was: str) -> Any:
    """Returns the JSON value of the setting `name`. `text` is the text in its form field, and `was` is the text that
    the field had when the page was made. The setting `variants` is a mapping of axes to values. An axis that is in
    `was` but not in `text`, because the tester deleted its line, gets its default value."""
    if name == "variants":
        return {axis: AXES[axis].default for axis in _read_variants(was) if axis in AXES} | _read_variants(text)
    if name in LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    return read_number(text) if name in NUMBERS else text


def _read_variants(text: str) -> dict[str, str]:
    rows = (line.partition(":") for line in text.splitlines() if line.strip())
    return {axis.strip(): value.strip() for axis, _, value in rows}


def _read_other_waives(form: Form) -> list[str]:
    """Returns the lines of the form's field `waives`, except the line of the rule in the form's field `rule`. Each line
    has the form `rule: reason`. It names a rule of the referee, and the reason for which a tester accepts the findings
    of this rule."""
    rule = form.get("rule", "")
    return [text for text in form.get("waives", "").splitlines() if text.partition(":")[0].strip() != rule]


BODIES: dict[str, Callable[[Form], dict[str, Any]]] = {
    "advance": lambda form: {"advance": form.get("advance", "").strip()},
    "set": lambda form: {"set": form.get("set", "").strip()},
    "freeze": lambda form: {"mode": "frozen"},
    "run": lambda form: {"mode": "running"} | read_filled_numbers(form, "rate"),
    "fault": _read_fault,
    "hold": _hold,
    "add customer": lambda form: read_filled_texts(form, "customer") | _read_customer(form),
    "change customer": _read_customer,
    "add account": lambda form: read_filled_texts(form, "customer") | _read_account(form),
    "change account": _read_account,
    "settings": _read_settings,
    "waive": lambda form: {
        "referee_waives": [*_read_other_waives(form), f"{form.get('rule', '')}: {form.get('reason', '').strip()}"]
    },
    "unwaive": lambda form: {"referee_waives": _read_other_waives(form)},
}
