"""Makes steps of consents, tokens and account information."""

from base64 import urlsafe_b64encode
from datetime import date, timedelta
from hashlib import sha256
from typing import Any

from sandbox.extensions.lift.gaps import OPENING
from sandbox.extensions.lift.har import Recorded
from sandbox.extensions.lift.lifted import UNKNOWN, Lift, LiftedSubject, Step, approve, keep_account, keep_subject

WRONG_VERIFIER = "x" * 43
NOBODY = "Basic bm86bm8="  # no:no
ASKED = ("date_from", "date_to", "psu_involved", "currency")
FORM = "application/x-www-form-urlencoded"
PAGE_SIZE = 50  # of a page without `pagesize`
TIMES_MAX = 10_000  # of a step `repeat`


def consent(found: Lift, call: Recorded) -> Step:
    content: dict[str, Any] = {"scope": call.query.get("scope", "AIS")}
    subject = LiftedSubject(found.new_name("consent"))
    if "iban" in call.query:
        content["iban"] = found.names.debtor(call.query["iban"])
        subject.accounts, subject.is_of_one_account = [content["iban"]], True
    keep_subject(found, call, subject)
    for row in call.reply if isinstance(call.reply, list) else ():
        if isinstance(row, dict) and isinstance(row.get("consent_uri"), str):
            found.subjects[row["consent_uri"]] = subject
    subject.last = content
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
    _keep_tokens(found, call, name, subject)
    return {"token": content, "as": name}


def _refresh(found: Lift, call: Recorded, form: dict[str, str]) -> Step | None:
    name = found.tokens.get(form.get("refresh_token", ""))
    if name is None:
        return _wrong_token(found, call, "its refresh token is not in the record")
    fresh = found.new_name("tokens")
    _keep_tokens(found, call, fresh, found.consents.get(form["refresh_token"]))
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


def _keep_tokens(found: Lift, call: Recorded, name: str, subject: LiftedSubject | None) -> None:
    for kind in ("access_token", "refresh_token"):
        if isinstance(call.outcome.get(kind), str):
            found.tokens[call.outcome[kind]] = name
            if subject is not None:
                found.consents[call.outcome[kind]] = subject
    if isinstance(call.outcome.get("sca_token"), str):
        found.sca_tokens.add(call.outcome["sca_token"])
    logical_id = call.outcome.get("logical_id")
    if isinstance(logical_id, str):
        found.accounts[logical_id] = ""


def accounts(found: Lift, call: Recorded) -> Step | None:
    rows = _embedded(call).get("accounts")
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"logical_id": str(logical_id), "iban": str(iban)}:
                keep_account(found, call, logical_id, iban)
    return _reading(found, call, "accounts", {})


def _embedded(call: Recorded) -> dict[str, Any]:
    content = call.outcome.get("_embedded")
    return content if isinstance(content, dict) else {}


def account(found: Lift, call: Recorded) -> Step | None:
    iban = call.outcome.get("iban")
    if call.path[1] not in found.accounts and isinstance(iban, str):
        keep_account(found, call, call.path[1], iban)
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
    key = _embedded(call).get("next_page_key")
    if step is not None and isinstance(key, str):
        step["as"] = found.pages[key] = found.new_name("page")
        if "next" not in call.query:
            _fill_pages(found, call, key)
    return step


def _fill_pages(found: Lift, call: Recorded, key: Any) -> None:
    """An account that stands for one from elsewhere has no past: as many transactions as the pages that were read."""
    name = found.accounts.get(call.path[1])
    if found.has_controls or name not in found.names.payers or call.query.get("currency", "EUR") != "EUR":
        return
    keys = [key]
    while keys[-1] in found.followers:
        following = _embedded(found.followers[keys[-1]]).get("next_page_key")
        keys.append(following if following not in keys else None)
    pages = len(keys) - 1
    size = call.query.get("pagesize", "")
    booking = {"account": name, "amount": "0.01"} | _day_within(call)
    times = pages * (int(size) if size.isdigit() else PAGE_SIZE) + 1
    if pages:
        found.steps.append({"repeat": {"times": min(times, TIMES_MAX), "steps": [{"book": booking}]}})


def _day_within(call: Recorded) -> dict[str, str]:
    """A day that the filter of the call lets through; without one it is today."""
    try:
        last = date.fromisoformat(call.query["date_to"]) - timedelta(days=1)
    except (KeyError, ValueError, OverflowError):
        return {}
    return {"on": last.isoformat()} if last < (call.began or OPENING).date() else {}


def _named(found: Lift, call: Recorded) -> dict[str, Any]:
    name = found.accounts.get(call.path[1], UNKNOWN)
    return {"account": name} if name else {}


def _reading(found: Lift, call: Recorded, word: str, content: dict[str, Any]) -> Step | None:
    name = found.tokens.get(call.token or "")
    if content.get("account") == UNKNOWN and call.status < 400:
        found.unexplained.append(f"{call}: its account is not in the record")
        return None
    if name is not None:
        return {word: {"of": name} | content}
    latest = next(reversed(found.tokens.values()), None)
    if call.status != 401 or latest is None:
        found.unexplained.append(f"{call}: its token is not in the record")
        return None
    return {word: {"of": latest, "token": None if call.token is None else UNKNOWN} | content}
