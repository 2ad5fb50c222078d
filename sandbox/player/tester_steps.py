"""Steps of the customers and of the tester, performed through the controls."""

from typing import Any
from urllib.parse import quote

from sandbox.client import Kind, Reply
from sandbox.client.reply import link_of
from sandbox.player.orders import Content, amount
from sandbox.player.stage import Capture, ScriptFault, Stage
from sandbox.scenario.step_rows import JUDGED

ARRIVES_WITHIN = "2s"  # of the machine's clock, for the call that a release lets go


def psu(stage: Stage, content: Content) -> Reply:
    """Approves or refuses at the address; for a file without an address it first asks for the status."""
    verb = "approve" if "approves" in content else "refuse"
    name = content.get(f"{verb}s")
    found = stage.capture(name)
    if found.address is None and found.reference is not None and found.reference.kind is Kind.BULK:
        status_reply = stage.tpp(found.client).status(found.reference)
        found.address, found.flow = status_reply.sca_address, status_reply.flow
    if found.address is None:
        _take_address(stage, found)
    if found.address is None:
        raise ScriptFault(f"{name!r} has no address to send a customer to")
    body: Content = {"address": found.address}
    if "customer" in content:
        body["customer"] = content["customer"]
    if "method" in content:
        body["method"] = content["method"]
    if "account" in content:
        body["account"] = stage.iban(content["account"])
    if "accounts" in content:
        body["accounts"] = [stage.iban(name) for name in content["accounts"]]
    reply = stage.controls.call("POST", f"/psu/{verb}", body)
    found.callback = reply.body["redirect"]
    return reply


def _take_address(stage: Stage, found: Capture) -> None:
    """That of a refusal SCA_REQUIRED, where the customer authenticates again (choice 4)."""
    address = link_of(found.reply.body, "sca_redirect") if found.reply is not None else None
    if address is not None:
        found.flow = stage.tpp(found.client).caller.flow("AIS")
        found.address = found.flow.on(address)


def sign(stage: Stage, content: Content) -> Reply:
    body = {"payment_id": _id(stage, content), "customer": content.get("customer")}
    how = {"method": content["method"]} if "method" in content else {}
    return stage.controls.call("POST", "/psu/sign", body | how)


def refuse(stage: Stage, content: Content) -> Reply:
    """A further signer refuses in the bank's own channel."""
    body = {"payment_id": _id(stage, content), "customer": content.get("customer")}
    return stage.controls.call("POST", "/psu/refuse", body)


def withdraw(stage: Stage, content: Content) -> Reply:
    body = {"client_id": "demo-tpp", "scope": "AIS"} | {
        {"client": "client_id"}.get(name, name): content[name]
        for name in ("client", "customer", "scope")
        if name in content
    }
    return stage.controls.call("POST", "/psu/withdraw", body)


def clock(stage: Stage, content: Content) -> Reply:
    body = {name: content[name] for name in ("advance", "set", "mode", "rate") if name in content}
    return stage.controls.call("POST", "/clock", body)


def wait(stage: Stage, content: Content) -> Reply:
    body = {"payment_id": _id(stage, content)}
    body |= {name: content[name] for name in ("status", "within") if name in content}
    return stage.controls.call("POST", "/await", body)


def reset(stage: Stage, content: Content) -> Reply:
    reply = stage.controls.call("POST", "/reset", {})
    stage.begin()
    return reply


def move(stage: Stage, content: Content) -> Reply:
    body = {name: content[name] for name in ("status", "reason") if name in content}
    return stage.controls.call("POST", f"/payments/{quote(_id(stage, content), safe='')}/move", body)


def book(stage: Stage, content: Content) -> Reply:
    body: Content = {"amount": amount(content.get("amount"))}
    body |= {name: content[name] for name in ("currency", "communication") if name in content}
    if "on" in content:
        body["date"] = content["on"]
    other = {"iban": stage.iban(content["counterparty"])} if "counterparty" in content else {}
    other |= {"name": content["name"]} if "name" in content else {}
    if other:
        body["counterparty"] = other
    iban = stage.iban(str(content.get("account")))
    return stage.controls.call("POST", f"/accounts/{quote(iban, safe='')}/transactions", body)


def change(stage: Stage, content: Content) -> Reply:
    """A customer, or the account that is named."""
    body = _people(content)
    if "account" in body:
        iban = stage.iban(str(body.pop("account")))
        return stage.controls.call("PATCH", f"/accounts/{quote(iban, safe='')}", body)
    name = str(body.pop("customer", ""))
    if not name:
        raise ScriptFault("change names a customer or an account")
    return stage.controls.call("PATCH", f"/customers/{quote(name, safe='')}", body)


def add(stage: Stage, content: Content) -> Reply:
    """A customer or, with `account`, an account of that customer, which later steps may call by that name."""
    body = _people(content)
    if "account" not in body:
        return stage.controls.call("POST", "/customers", body)
    name = str(body.pop("account"))
    reply = stage.controls.call("POST", "/accounts", body)
    stage.opened[name] = reply.body["iban"]
    return reply


def _people(content: Content) -> Content:
    """Amounts as texts, however they were written."""
    body = {name: value for name, value in content.items() if name not in ("expect", "refused")}
    amounts = ("limit_day", "limit_week", "overdraft", "balance")
    return body | {name: amount(body[name]) for name in amounts if body.get(name) is not None}


def settings(stage: Stage, content: Content) -> Reply:
    return stage.controls.call("PATCH", "/settings", content)


def fault(stage: Stage, content: Content) -> Reply:
    return stage.controls.call("POST", "/faults", content)


def verify(stage: Stage, content: Content) -> Reply:
    """Asks whether calls came so often, or in this order."""
    return stage.controls.call("POST", "/requests/verify", {k: v for k, v in content.items() if k not in JUDGED})


def hold(stage: Stage, content: Content) -> Reply:
    """Sets a barrier; its name is that of `as`, in the step or beside it."""
    body = {name: content[name] for name in ("at", "when", "as") if name in content}
    return stage.controls.call("POST", "/holds", body)


def release(stage: Stage, content: Content) -> Reply:
    """Lets the call of a barrier go; a barrier that no call reached is the script's fault."""
    name = str(content.get("name"))
    place = f"/holds/{quote(name, safe='')}"
    found = stage.controls.call("GET", f"{place}?within={ARRIVES_WITHIN}").body
    if found["state"] != "held":
        raise ScriptFault(f"no call is held at {name!r}: it is {found['state']}")
    reply = stage.controls.call("DELETE", place)
    if stage.turns is not None:
        stage.turns.let_go(name)
    return reply


def _id(stage: Stage, content: Content) -> Any:
    """The id of a captured initiation; any other text is returned as an id."""
    name = content.get("of", content.get("payment"))
    found: Capture | None = stage.captures.get(name) if isinstance(name, str) else None
    if found is None and isinstance(name, str) and len(name) == 36:
        return name
    return (stage.capture_of_initiation(name).reference or _never()).id


def _never() -> Any:
    raise AssertionError("what was initiated has a reference")
