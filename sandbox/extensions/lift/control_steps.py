"""Makes scenario steps from recorded calls of the sandbox's own controls."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sandbox.extensions.lift.default_words import drop_spelling_axes
from sandbox.extensions.lift.lift_state import LiftState, Step
from sandbox.player.stage import CALLBACK
from sandbox.recordings.recorded_calls import RecordedCall

READ_ONLY = ("GET", "HEAD")
WITHOUT_STEP = ("scenario", "worlds", "requests", "faults", "payee-checks")  # controls that begin a record, or only ask
CLIENT_FIELDS = ("client_id", "name", "roles", "active")


def is_question(call: RecordedCall) -> bool:
    """Whether the call only read a control, so it changed nothing and needs no step. Such calls are removed before
    calls that overlap in time are grouped, because a tester may ask about a barrier while other calls run."""
    return call.path[0] == "_sandbox" and call.method in READ_ONLY


def lift_control(lift: LiftState, call: RecordedCall) -> None:
    words = call.path[1:]
    if not words:
        return
    step = make_control_step(lift, call, words)
    if step is None:
        if words[0] not in WITHOUT_STEP:
            lift.add_unexplained(call, "no step does what this control did")
        return
    if call.status >= 400:
        ((_, content),) = step.items()
        if isinstance(content, dict):
            content["refused"] = call.reply_json.get("error", call.status)
    lift.steps.append(step)


def make_control_step(lift: LiftState, call: RecordedCall, words: tuple[str, ...]) -> Step | None:
    body = call.json
    match (call.method, *words):
        case ("POST", "clock"):
            return {"clock": body}
        case ("POST", "reset"):
            return {"reset": None}
        case ("PATCH", "settings"):
            return {"settings": drop_spelling_axes(body)}
        case ("POST", "faults"):
            return {"fault": body}
        case ("POST", "holds"):
            return {"hold": body | {"as": call.reply_json.get("name", body.get("as", "barrier"))}}
        case ("DELETE", "holds", name):
            return {"release": {"name": unquote(name)}}
        case ("POST", "await"):
            return make_subject_step(lift, "await", body, "status", "within")
        case ("POST", "payments", subject_id, "move"):
            return make_subject_step(lift, "move", body | {"payment_id": subject_id}, "status", "reason")
        case ("POST", "payments", subject_id, ("return" | "recall") as verb):
            return make_subject_step(lift, verb, body | {"payment_id": subject_id}, "reason")
        case ("POST", "psu", ("sign" | "refuse") as verb) if verb == "sign" or "payment_id" in body:
            return make_subject_step(lift, verb, body, "customer")
        case ("POST", "psu", "withdraw"):
            return {"withdraw": {"client" if name == "client_id" else name: value for name, value in body.items()}}
        case ("POST", "psu", ("approve" | "refuse") as verb):
            return make_psu_step(lift, call, verb)
        case ("POST", "customers"):
            return {"add": body | ({"name": lift.names.name(body["name"])} if "name" in body else {})}
        case ("POST", "accounts"):
            name = lift.make_name("account")
            lift.names.own[str(call.reply_json.get("iban"))] = name
            return {"add": body | {"account": name}}
        case ("PATCH", "customers", customer):
            return {"change": {"customer": unquote(customer)} | body}
        case ("PATCH", "accounts", iban):
            return {"change": {"account": lift.names.debtor(unquote(iban))} | body}
        case ("POST", "accounts", iban, "transactions"):
            return {"book": make_booking(lift, body, unquote(iban))}
        case ("POST", "clients") | ("PUT", "clients", _):
            return {
                "call": {"method": call.method, "path": "/" + "/".join(call.path), "json": select_client_fields(body)}
            }
        case _:
            return None


def select_client_fields(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a client that a scenario needs, without its keys. The secret and the callback addresses are
    those that the player of scenarios uses, not the recorded ones."""
    fields = {name: value for name, value in body.items() if name in CLIENT_FIELDS}
    fields |= {"secret": "no-secret"} if "client_id" in body else {}
    return fields | ({"redirect_uris": [CALLBACK]} if "redirect_uris" in body else {})


def make_subject_step(lift: LiftState, word: str, body: dict[str, Any], *names: str) -> Step | None:
    subject = lift.subjects.get(str(body.get("payment_id")))
    if subject is None:
        return None
    subject.is_approved = subject.is_approved or word == "sign"
    return {word: {"of": subject.name} | {name: body[name] for name in names if name in body}}


def make_psu_step(lift: LiftState, call: RecordedCall, verb: str) -> Step | None:
    body = call.json
    address = str(body.get("address", ""))
    subject = lift.subjects.get(address) or lift.subjects.get(address.partition("?")[0])
    if subject is None:
        return None
    content: dict[str, Any] = {f"{verb}s": subject.name}
    content |= {name: body[name] for name in ("customer", "method") if body.get(name)}
    if body.get("account"):
        content["account"] = lift.names.debtor(body["account"])
    if body.get("accounts"):
        content["accounts"] = [lift.names.debtor(iban) for iban in body["accounts"]]
    subject.is_approved = subject.is_approved or verb == "approve"
    code = dict(parse_qsl(urlsplit(str(call.reply_json.get("redirect", ""))).query)).get("code")
    if code is not None:
        lift.codes[code] = subject
    return {"psu": content}


def make_booking(lift: LiftState, body: dict[str, Any], iban: str) -> dict[str, Any]:
    content: dict[str, Any] = {"account": lift.names.debtor(iban), "amount": body.get("amount")}
    content |= {"currency": body["currency"]} if "currency" in body else {}
    content |= {"on": body["date"]} if "date" in body else {}
    counterparty = body.get("counterparty")
    if isinstance(counterparty, dict) and "iban" in counterparty:
        content["counterparty"] = lift.names.account(counterparty["iban"])
    name = counterparty.get("name") if isinstance(counterparty, dict) else counterparty
    if isinstance(name, str):
        content["name"] = lift.names.name(name)
    if isinstance(body.get("communication"), str):
        content["communication"] = lift.names.text(body["communication"])
    return content
