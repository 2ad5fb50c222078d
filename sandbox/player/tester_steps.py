"""Steps of the customers and of the tester, performed through the controls."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from sandbox.client import ClientReply, PathKind
from sandbox.client.transport import sca_link
from sandbox.player.orders import Content, write_amount
from sandbox.player.stage import Capture, ScenarioContext, ScriptFault
from sandbox.scenarios.step_words import JUDGED, STEPS

ARRIVES_WITHIN = "2s"  # real time for which a `release` waits until a call is held
OF_INITIATION = ("of", "payment")

# Steps that only call a control, whose body has the words of the step: the method and the path of the control.
CONTROLS = {
    "sign": ("POST", "/psu/sign"),
    "refuse": ("POST", "/psu/refuse"),  # by a further signer, in the bank's own channel
    "clock": ("POST", "/clock"),
    "await": ("POST", "/await"),
    "move": ("POST", "/payments/<payment_id>/move"),
    "return": ("POST", "/payments/<payment_id>/return"),
    "recall": ("POST", "/payments/<payment_id>/recall"),
    "settings": ("PATCH", "/settings"),
    "fault": ("POST", "/faults"),
    "verify": ("POST", "/requests/verify"),
    "hold": ("POST", "/holds"),
}


def make_control_step(word: str) -> Callable[[ScenarioContext, Content], ClientReply]:
    """Returns the function of a step that calls a control. If the step names an initiation, its id is put into the path
    of the control, or into the body."""
    method, path = CONTROLS[word]

    def call(stage: ScenarioContext, content: Content) -> ClientReply:
        body = {name: value for name, value in content.items() if name not in (*JUDGED, *OF_INITIATION)}
        if "of" not in STEPS[word].keys:
            return stage.controls.call(method, path, body)
        subject = _find_id(stage, content)
        if "<payment_id>" in path:
            return stage.controls.call(method, path.replace("<payment_id>", quote(subject, safe="")), body)
        return stage.controls.call(method, path, {"payment_id": subject} | body)

    return call


def psu(stage: ScenarioContext, content: Content) -> ClientReply:
    """Approves or refuses as a customer, at the address of a capture, and stores the callback in the capture. If a bulk
    file has no address yet, asks for its status first. If the captured call was refused with SCA_REQUIRED, the address
    is the one in this refusal. Raises ScriptFault if the capture has no address."""
    verb = "approve" if "approves" in content else "refuse"
    name = content.get(f"{verb}s")
    capture = stage.capture(name)
    if capture.address is None and capture.reference is not None and capture.reference.kind is PathKind.BULK:
        status_reply = stage.find_tpp(capture.client).status(capture.reference)
        capture.address, capture.flow = status_reply.sca_address, status_reply.flow
    if capture.address is None:
        _take_address(stage, capture)
    if capture.address is None:
        raise ScriptFault(f"{name!r} has no address to send a customer to")
    body = {"address": capture.address} | {name: content[name] for name in ("customer", "method") if name in content}
    if "account" in content:
        body["account"] = stage.find_iban(content["account"])
    if "accounts" in content:
        body["accounts"] = [stage.find_iban(name) for name in content["accounts"]]
    reply = stage.controls.call("POST", f"/psu/{verb}", body)
    capture.callback = reply.body["redirect"]
    return reply


def _take_address(stage: ScenarioContext, capture: Capture) -> None:
    """Stores the address at which the customer authenticates again (choice 4) in the capture, if the captured reply has
    one. Such a reply has the error SCA_REQUIRED."""
    address = sca_link(capture.reply.body) if capture.reply is not None else None
    if address is not None:
        capture.flow = stage.find_tpp(capture.client).caller.flow("AIS")
        capture.address = capture.flow.on(address)


def withdraw(stage: ScenarioContext, content: Content) -> ClientReply:
    body = {"client_id": "demo-tpp", "scope": "AIS"} | {
        {"client": "client_id"}.get(name, name): content[name]
        for name in ("client", "customer", "scope")
        if name in content
    }
    return stage.controls.call("POST", "/psu/withdraw", body)


def reset(stage: ScenarioContext, content: Content) -> ClientReply:
    reply = stage.controls.call("POST", "/reset", {})
    stage.begin()
    return reply


def book(stage: ScenarioContext, content: Content) -> ClientReply:
    words = {"currency": "currency", "communication": "communication", "on": "date"}
    optional = {name: content[word] for word, name in words.items() if word in content}
    other = {"iban": stage.find_iban(content["counterparty"])} if "counterparty" in content else {}
    other |= {"name": content["name"]} if "name" in content else {}
    if other:
        optional["counterparty"] = other
    return stage.controls.book(
        stage.find_iban(str(content.get("account"))), write_amount(content.get("amount")), **optional
    )


def change(stage: ScenarioContext, content: Content) -> ClientReply:
    """Changes a customer, or with `account` an account. Raises ScriptFault if the step names neither."""
    body = _make_people_body(content)
    if "account" in body:
        iban = stage.find_iban(str(body.pop("account")))
        return stage.controls.call("PATCH", f"/accounts/{quote(iban, safe='')}", body)
    name = str(body.pop("customer", ""))
    if not name:
        raise ScriptFault("change names a customer or an account")
    return stage.controls.call("PATCH", f"/customers/{quote(name, safe='')}", body)


def add(stage: ScenarioContext, content: Content) -> ClientReply:
    """Adds a customer, or with `account` an account of a customer. Later steps can refer to the account by its name."""
    body = _make_people_body(content)
    if "account" not in body:
        return stage.controls.call("POST", "/customers", body)
    name = str(body.pop("account"))
    reply = stage.controls.call("POST", "/accounts", body)
    stage.opened[name] = reply.body["iban"]
    return reply


def _make_people_body(content: Content) -> Content:
    """Returns the body for a control that makes or changes a customer or an account: the fields of the step, with
    amounts as texts."""
    body = {name: value for name, value in content.items() if name not in JUDGED}
    amounts = ("limit_day", "limit_week", "overdraft", "balance")
    return body | {name: write_amount(body[name]) for name in amounts if body.get(name) is not None}


def release(stage: ScenarioContext, content: Content) -> ClientReply:
    """Lets the call that a barrier holds continue. Waits up to ARRIVES_WITHIN until the barrier holds a call. Raises
    ScriptFault if it holds none by then."""
    name = str(content.get("name"))
    place = f"/holds/{quote(name, safe='')}"
    hold = stage.controls.call("GET", f"{place}?within={ARRIVES_WITHIN}").body
    if hold["state"] != "held":
        raise ScriptFault(f"no call is held at {name!r}: it is {hold['state']}")
    reply = stage.controls.call("DELETE", place)
    stage.let_go(name)
    return reply


def _find_id(stage: ScenarioContext, content: Content) -> Any:
    """Returns the id of a captured initiation. A text of 36 characters that is not the name of a capture counts as the
    id itself."""
    name = content.get("of", content.get("payment"))
    if isinstance(name, str) and len(name) == 36 and name not in stage.captures:
        return name
    return stage.find_reference(name).id


VERBS = (psu, withdraw, reset, book, change, add, release)
