"""Makes steps of consents, tokens and account information."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from sandbox.lift.har import Recorded
from sandbox.lift.lifted import (
    Lift,
    Step,
    Subject,
    approve,
    keep_subject,
)


def consent(found: Lift, call: Recorded) -> Step:
    content: dict[str, Any] = {"scope": call.query.get("scope", "AIS")}
    if "iban" in call.query:
        content["iban"] = found.names.debtor(call.query["iban"])
    subject = Subject(found.new_name("consent"))
    keep_subject(found, call, subject)
    for row in call.reply if isinstance(call.reply, list) else ():
        if isinstance(row, dict) and isinstance(row.get("consent_uri"), str):
            found.subjects[row["consent_uri"]] = subject
    return {"consent": content, "as": subject.name}


def token(found: Lift, call: Recorded) -> Step | None:
    form = call.form
    if form.get("grant_type") == "refresh_token":
        name = found.tokens.get(form.get("refresh_token", ""))
        if name is None:
            found.unexplained.append(f"{call}: its refresh token is not in the record")
            return None
        fresh = found.new_name("tokens")
        _keep_tokens(found, call, fresh)
        scope = {"scope": form["scope"]} if "scope" in form else {}
        return {"refresh": {"of": name, "keep_old": True} | scope, "as": fresh}
    verifier = form.get("code_verifier", "")
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    subject = found.subjects.get(challenge) or found.subjects.get(verifier)
    if subject is None:
        found.unexplained.append(f"{call}: no redirection of the record has its code_verifier")
        return None
    approve(found, subject)
    name = found.new_name("tokens")
    _keep_tokens(found, call, name)
    return {"token": {"of": subject.name}, "as": name}


def _keep_tokens(found: Lift, call: Recorded, name: str) -> None:
    for kind in ("access_token", "refresh_token"):
        if isinstance(call.outcome.get(kind), str):
            found.tokens[call.outcome[kind]] = name
    logical_id = call.outcome.get("logical_id")
    if isinstance(logical_id, str):
        found.accounts[logical_id] = ""


def accounts(found: Lift, call: Recorded) -> Step | None:
    rows = (call.outcome.get("_embedded") or {}).get("accounts") or []
    for row in rows:
        found.accounts[row["logical_id"]] = found.names.debtor(row["iban"])
    return _reading(found, call, "accounts", {})


def account(found: Lift, call: Recorded) -> Step | None:
    return _reading(found, call, "account", _named(found, call))


def transactions(found: Lift, call: Recorded) -> Step | None:
    if "next" in call.query:
        found.unexplained.append(f"{call}: a further page")
        return None
    asked: dict[str, Any] = {
        name: call.query[name] for name in ("date_from", "date_to", "psu_involved", "currency") if name in call.query
    }
    if call.query.get("pagesize", "").isdigit():
        asked["pagesize"] = int(call.query["pagesize"])
    if "sca-token" not in call.headers:
        asked["sca"] = False
    return _reading(found, call, "transactions", _named(found, call) | asked)


def _named(found: Lift, call: Recorded) -> dict[str, Any]:
    name = found.accounts.get(call.path[1], call.path[1])
    return {"account": name} if name else {}


def _reading(found: Lift, call: Recorded, word: str, content: dict[str, Any]) -> Step | None:
    name = found.tokens.get(call.token or "")
    if name is None:
        found.unexplained.append(f"{call}: its token is not in the record")
        return None
    return {word: {"of": name} | content}
