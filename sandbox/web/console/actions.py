"""What a button does: from the fields of a form to one call of the controls (choice 10)."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import orjson

from sandbox.contract.settings import Settings
from sandbox.web.console.control_calls import Ask
from sandbox.web.controls.client_views import ROLES

Form = Mapping[str, str]


class Action(NamedTuple):
    """The call, and what is said once it is done; the words may name fields of the form."""

    ask: Callable[[Form], Ask]
    words: str


def given(form: Form, *names: str) -> dict[str, Any]:
    """What was filled in."""
    return {name: form[name].strip() for name in names if form.get(name, "").strip()}


def number(text: str) -> int | float | str:
    """A number where it is one; else the text, for the control to refuse."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _advance(form: Form) -> Ask:
    return Ask("POST", "/clock", body={"advance": form.get("advance", "").strip()})


def _set(form: Form) -> Ask:
    return Ask("POST", "/clock", body={"set": form.get("set", "").strip()})


def _run(form: Form) -> Ask:
    rate = {"rate": number(form["rate"].strip())} if form.get("rate", "").strip() else {}
    return Ask("POST", "/clock", body={"mode": "running"} | rate)


def _make(form: Form) -> Ask:
    body = given(form, "scenario")
    if form.get("seed", "").strip():
        body["seed"] = number(form["seed"].strip())
    clock: dict[str, Any] = given(form, "at")
    if form.get("frozen"):
        clock["frozen"] = True
    return Ask(
        "PUT", "/worlds/<name>", {"name": form.get("name", "").strip()}, body | ({"clock": clock} if clock else {})
    )


def _approve(form: Form) -> Ask:
    return Ask("POST", "/psu/approve", body=given(form, "address", "customer", "account"))


def _move(form: Form) -> Ask:
    return Ask("POST", "/payments/<payment_id>/move", _payment(form), given(form, "status", "reason"))


def _payment(form: Form) -> dict[str, str]:
    return {"payment_id": form.get("payment_id", "")}


def _book(form: Form) -> Ask:
    body = given(form, "amount", "currency", "date", "counterparty", "communication")
    return Ask("POST", "/accounts/<iban>/transactions", {"iban": form.get("iban", "")}, body)


def _fault(form: Form) -> Ask:
    when: dict[str, Any] = given(form, "operation", "client", "from", "until")
    when |= {name: number(text) for name, text in given(form, "nth", "chance").items()}
    body: dict[str, Any] = given(form, "title", "delay", "cut", "change")
    answer = {name: number(text) for name, text in given(form, "status", "retry_after").items()}
    if answer:
        body["answer"] = answer
    return Ask("POST", "/faults", body=body | ({"when": when} if when else {}))


def client_of(form: Form) -> dict[str, Any]:
    """What was filled in of a TPP; lists stand a line each, keys are JSON."""
    body: dict[str, Any] = given(form, "secret", "name", "organisation")
    roles = [role for role in ROLES if form.get(role)]
    if roles:
        body["roles"] = roles
    if form.get("active"):
        body["active"] = form["active"] == "yes"
    if form.get("redirect_uris", "").strip():
        body["redirect_uris"] = form["redirect_uris"].split()
    if form.get("keys", "").strip():
        body["keys"] = parsed(form["keys"])
    return body


def parsed(text: str) -> Any:
    """JSON where it is some; else the text, for the control to refuse."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _amend(form: Form) -> Ask:
    return Ask("PUT", "/clients/<client_id>", given(form, "client_id"), client_of(form))


NUMBERS = {row.name for row in fields(Settings) if isinstance(row.default, int)}
LISTS = {row.name for row in fields(Settings) if isinstance(row.default, tuple)}


def _setting(form: Form) -> Ask:
    name, value = form.get("setting", ""), form.get("value", "").strip()
    if name in LISTS:
        return Ask("PATCH", "/settings", body={name: value.splitlines()})
    return Ask("PATCH", "/settings", body={name: number(value) if name in NUMBERS else value})


def _waive(form: Form) -> Ask:
    row = f"{form.get('rule', '')}: {form.get('reason', '').strip()}"
    return Ask("PATCH", "/settings", body={"referee_waives": [*others(form), row]})


def others(form: Form) -> list[str]:
    """What is waved off beside the rule of the form."""
    rule = form.get("rule", "")
    return [text for text in form.get("waives", "").splitlines() if text.partition(":")[0].strip() != rule]


def _own_scenario(form: Form) -> Ask:
    return Ask("PUT", "/scenario", text=form.get("yaml", ""))


def _plain(method: str, path: str, *names: str) -> Callable[[Form], Ask]:
    """A control whose body has the form's fields as they are."""
    return lambda form: Ask(method, path, body=given(form, *names))


ACTIONS: dict[str, Action] = {
    "advance": Action(_advance, "The clock went on by {advance}."),
    "set": Action(_set, "The clock was set to {set}."),
    "freeze": Action(lambda form: Ask("POST", "/clock", body={"mode": "frozen"}), "The clock stands."),
    "run": Action(_run, "The clock runs."),
    "reset": Action(_plain("POST", "/reset"), "This world began again."),
    "make": Action(_make, "World {name} was made."),
    "drop": Action(lambda form: Ask("DELETE", "/worlds/<name>", given(form, "name")), "World {name} was dropped."),
    "fork": Action(
        lambda form: Ask("POST", "/worlds/<name>/fork", given(form, "name"), given(form, "as", "at")),
        "World {name} goes on as {as} too.",
    ),
    "approve": Action(_approve, "Approved, as the PSU."),
    "refuse": Action(_plain("POST", "/psu/refuse", "address", "customer"), "Refused, as the PSU."),
    "sign": Action(_plain("POST", "/psu/sign", "payment_id", "customer"), "Signed by {customer}."),
    "withdraw": Action(_plain("POST", "/psu/withdraw", "client_id", "customer", "scope"), "The consent was withdrawn."),
    "move": Action(_move, "Moved to {status}."),
    "await": Action(_plain("POST", "/await", "payment_id", "status", "within"), "It is {status} now."),
    "book": Action(_book, "Booked {amount}."),
    "load": Action(_plain("PUT", "/scenario", "name"), "This world began again with {name}."),
    "load own": Action(_own_scenario, "This world began again with your scenario."),
    "fault": Action(_fault, "The fault rule stands."),
    "drop faults": Action(lambda form: Ask("DELETE", "/faults"), "All fault rules are gone."),
    "register": Action(
        lambda form: Ask("POST", "/clients", body=given(form, "client_id") | client_of(form)),
        "{client_id} is a TPP now.",
    ),
    "amend": Action(_amend, "{client_id} was changed."),
    "setting": Action(_setting, "{setting} is {value} now."),
    "waive": Action(_waive, "{rule} is waved off."),
    "unwaive": Action(
        lambda form: Ask("PATCH", "/settings", body={"referee_waives": others(form)}), "{rule} counts again."
    ),
}


class _Said(dict[str, str]):
    """A field that was left empty says nothing."""

    def __missing__(self, name: str) -> str:
        return ""


def said(action: Action, form: Form) -> str:
    return action.words.format_map(_Said({name: value.strip()[:100] for name, value in form.items()}))
