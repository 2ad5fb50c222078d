"""Makes steps of recorded calls of the sandbox's own controls."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sandbox.extensions.lift.har import Recorded
from sandbox.extensions.lift.lifted import Lift
from sandbox.player.stage import CALLBACK

READ_ONLY = ("GET", "HEAD")
QUIET = ("scenario", "worlds", "requests", "faults")  # how a record begins, and questions


def is_question(call: Recorded) -> bool:
    """A control that only asked; who looks at barriers does so beside the calls that race."""
    return call.path[0] == "_sandbox" and call.method in READ_ONLY


def lift_control(found: Lift, call: Recorded) -> None:
    """A step for what changed the bank; what only asked is left out."""
    words = call.path[1:]
    if not words:
        return
    step = _step(found, call, words)
    if step is None:
        if words[0] not in QUIET:
            found.unexplained.append(f"{call}: no step does what this control did")
        return
    if call.status >= 400:
        ((_, content),) = step.items()
        if isinstance(content, dict):
            content["refused"] = call.outcome.get("error", call.status)
    found.steps.append(step)


def _step(found: Lift, call: Recorded, words: tuple[str, ...]) -> dict[str, Any] | None:
    body = call.json
    match (call.method, *words):
        case ("POST", "clock"):
            return {"clock": body}
        case ("POST", "reset"):
            return {"reset": None}
        case ("PATCH", "settings"):
            return {"settings": body}
        case ("POST", "faults"):
            return {"fault": body}
        case ("POST", "holds"):
            return {"hold": body | {"as": call.outcome.get("name", body.get("as", "barrier"))}}
        case ("DELETE", "holds", name):
            return {"release": {"name": unquote(name)}}
        case ("POST", "await"):
            return _of_subject(found, "await", body, "status", "within")
        case ("POST", "payments", subject_id, "move"):
            return _of_subject(found, "move", body | {"payment_id": subject_id}, "status", "reason")
        case ("POST", "payments", subject_id, ("return" | "recall") as verb):
            return _of_subject(found, verb, body | {"payment_id": subject_id}, "reason")
        case ("POST", "psu", ("sign" | "refuse") as verb) if verb == "sign" or "payment_id" in body:
            return _of_subject(found, verb, body, "customer")
        case ("POST", "psu", "withdraw"):
            named = {"client_id": "client"}
            return {"withdraw": {named.get(name, name): value for name, value in body.items()}}
        case ("POST", "psu", ("approve" | "refuse") as verb):
            return _psu(found, call, verb)
        case ("POST", "customers"):
            return {"add": body | ({"name": found.names.name(body["name"])} if "name" in body else {})}
        case ("POST", "accounts"):
            name = found.new_name("account")
            found.names.own[str(call.outcome.get("iban"))] = name
            return {"add": body | {"account": name}}
        case ("PATCH", "customers", customer):
            return {"change": {"customer": unquote(customer)} | body}
        case ("PATCH", "accounts", iban):
            return {"change": {"account": found.names.debtor(unquote(iban))} | body}
        case ("POST", "accounts", iban, "transactions"):
            return {"book": _booking(found, body, unquote(iban))}
        case ("POST", "clients") | ("PUT", "clients", _):
            return {"call": {"method": call.method, "path": "/" + "/".join(call.path), "json": _client(body)}}
        case _:
            return None


def _client(body: dict[str, Any]) -> dict[str, Any]:
    """Without its keys, and with the secret and the callback address that the player has for a client."""
    shown = {name: value for name, value in body.items() if name in ("client_id", "name", "roles", "active")}
    shown |= {"secret": "no-secret"} if "client_id" in body else {}
    return shown | ({"redirect_uris": [CALLBACK]} if "redirect_uris" in body else {})


def _of_subject(found: Lift, word: str, body: dict[str, Any], *names: str) -> dict[str, Any] | None:
    subject = found.subjects.get(str(body.get("payment_id")))
    if subject is None:
        return None
    return {word: {"of": subject.name} | {name: body[name] for name in names if name in body}}


def _psu(found: Lift, call: Recorded, verb: str) -> dict[str, Any] | None:
    body = call.json
    address = str(body.get("address", ""))
    subject = found.subjects.get(address) or found.subjects.get(address.partition("?")[0])
    if subject is None:
        return None
    content: dict[str, Any] = {f"{verb}s": subject.name}
    content |= {name: body[name] for name in ("customer", "method") if body.get(name)}
    if body.get("account"):
        content["account"] = found.names.debtor(body["account"])
    if body.get("accounts"):
        content["accounts"] = [found.names.debtor(iban) for iban in body["accounts"]]
    subject.is_approved = subject.is_approved or verb == "approve"
    code = dict(parse_qsl(urlsplit(str(call.outcome.get("redirect", ""))).query)).get("code")
    if code is not None:
        found.codes[code] = subject
    return {"psu": content}


def _booking(found: Lift, body: dict[str, Any], iban: str) -> dict[str, Any]:
    content: dict[str, Any] = {"account": found.names.debtor(iban), "amount": body.get("amount")}
    content |= {"currency": body["currency"]} if "currency" in body else {}
    content |= {"on": body["date"]} if "date" in body else {}
    other = body.get("counterparty")
    if isinstance(other, dict) and "iban" in other:
        content["counterparty"] = found.names.iban(other["iban"])
    name = other.get("name") if isinstance(other, dict) else other
    if isinstance(name, str):
        content["name"] = found.names.name(name)
    if isinstance(body.get("communication"), str):
        content["communication"] = found.names.text(body["communication"])
    return content
