"""Makes steps of consents, tokens and account information."""

from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

from sandbox.lift.har import Recorded
from sandbox.lift.lifted import UNKNOWN, Lift, Step, Subject, approve, keep_subject

WRONG_VERIFIER = "x" * 43
NOBODY = "Basic bm86bm8="  # no:no
ASKED = ("date_from", "date_to", "psu_involved", "currency")
FORM = "application/x-www-form-urlencoded"


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
        return _refresh(found, call, form)
    verifier, code = form.get("code_verifier", ""), form.get("code", "")
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    shown = found.subjects.get(challenge) or found.subjects.get(verifier)
    subject = found.codes.get(code) or shown
    if subject is None:
        return _wrong_token(found, call, "no redirection of the record has its code_verifier")
    found.codes.setdefault(code, subject)
    approve(found, subject)
    content: dict[str, Any] = {"of": subject.name}
    if subject.verifier is not None:
        content["code_verifier"] = subject.verifier
    if shown is not subject:
        content["code_verifier"] = WRONG_VERIFIER
    name = found.new_name("tokens")
    _keep_tokens(found, call, name)
    return {"token": content, "as": name}


def _refresh(found: Lift, call: Recorded, form: dict[str, str]) -> Step | None:
    name = found.tokens.get(form.get("refresh_token", ""))
    if name is None:
        return _wrong_token(found, call, "its refresh token is not in the record")
    fresh = found.new_name("tokens")
    _keep_tokens(found, call, fresh)
    scope = {"scope": form["scope"]} if "scope" in form else {}
    return {"refresh": {"of": name, "keep_old": True} | scope, "as": fresh}


def _wrong_token(found: Lift, call: Recorded, why: str) -> Step | None:
    """A call that was refused, with nothing of what it sent."""
    if call.status < 400:
        found.unexplained.append(f"{call}: {why}")
        return None
    form = {name: call.form[name] if name == "grant_type" else UNKNOWN for name in call.form}
    headers = {"Authorization": NOBODY, "Content-Type": FORM}
    return {"call": {"method": "POST", "path": "/token", "form": form, "headers": headers}}


def _keep_tokens(found: Lift, call: Recorded, name: str) -> None:
    for kind in ("access_token", "refresh_token"):
        if isinstance(call.outcome.get(kind), str):
            found.tokens[call.outcome[kind]] = name
    if isinstance(call.outcome.get("sca_token"), str):
        found.sca_tokens.add(call.outcome["sca_token"])
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
    asked: dict[str, Any] = {name: call.query[name] for name in ASKED if name in call.query}
    if "next" in call.query:
        page = found.pages.get(call.query["next"])
        asked["next"] = UNKNOWN if page is None else f"{{{page}._embedded.next_page_key}}"
    if call.query.get("pagesize", "").isdigit():
        asked["pagesize"] = int(call.query["pagesize"])
    sca_token = call.headers.get("sca-token")
    if sca_token not in found.sca_tokens:
        asked["sca"] = False if sca_token is None else UNKNOWN
    step = _reading(found, call, "transactions", _named(found, call) | asked)
    key = (call.outcome.get("_embedded") or {}).get("next_page_key")
    if step is not None and isinstance(key, str):
        step["as"] = found.pages[key] = found.new_name("page")
    return step


def _named(found: Lift, call: Recorded) -> dict[str, Any]:
    name = found.accounts.get(call.path[1], UNKNOWN)
    return {"account": name} if name else {}


def _reading(found: Lift, call: Recorded, word: str, content: dict[str, Any]) -> Step | None:
    name = found.tokens.get(call.token or "")
    if name is not None:
        return {word: {"of": name} | content}
    latest = next(reversed(found.tokens.values()), None)
    if call.status != 401 or latest is None:
        found.unexplained.append(f"{call}: its token is not in the record")
        return None
    return {word: {"of": latest, "token": None if call.token is None else UNKNOWN} | content}
