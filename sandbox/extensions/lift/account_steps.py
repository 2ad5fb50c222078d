"""Makes scenario steps from recorded calls about consents, tokens and account information."""

from datetime import date, timedelta
from typing import Any

from sandbox.extensions.lift.lift_state import OPENING, UNKNOWN, LiftedSubject, LiftState, Step
from sandbox.recordings.recorded_calls import RecordedCall

WRONG_VERIFIER = "x" * 43
NOBODY = "Basic bm86bm8="  # the credentials of no client (`no:no`)
FILTERS = ("date_from", "date_to", "psu_involved", "currency")
FORM = "application/x-www-form-urlencoded"
PAGE_SIZE = 50  # the lines of a page if the call has no `pagesize`
TIMES_MAX = 10_000  # the most rounds of a step `repeat`


def consent(lift: LiftState, call: RecordedCall) -> Step:
    content: dict[str, Any] = {"scope": call.query.get("scope", "AIS")}
    subject = LiftedSubject(lift.make_name("consent"), last=content)
    if "iban" in call.query:
        content["iban"] = lift.names.debtor(call.query["iban"])
        subject.accounts, subject.is_of_one_account = [content["iban"]], True
    rows = call.reply if isinstance(call.reply, list) else ()
    addresses = [row.get("consent_uri") for row in rows if isinstance(row, dict)]
    lift.add_subject(call, subject, *(address for address in addresses if isinstance(address, str)))
    return {"consent": content, "as": subject.name}


def token(lift: LiftState, call: RecordedCall) -> Step | None:
    form = call.form
    if form.get("grant_type") == "refresh_token":
        return refresh(lift, call, form)
    code = form.get("code", "")
    by_verifier = next((lift.subjects[name] for name in call.challenges if name in lift.subjects), None)
    subject = lift.codes.get(code) or by_verifier
    if subject is None:
        return lift_refused_token(lift, call, "no redirection of the record has its code_verifier")
    lift.codes.setdefault(code, subject)
    lift.approve(subject)
    content: dict[str, Any] = {"of": subject.name}
    if subject.verifier is not None:
        content["code_verifier"] = subject.verifier
    if by_verifier is not subject:
        content["code_verifier"] = WRONG_VERIFIER
    name = lift.make_name("tokens")
    add_tokens(lift, call, name, subject)
    return {"token": content, "as": name}


def refresh(lift: LiftState, call: RecordedCall, form: dict[str, str]) -> Step | None:
    name = lift.tokens.get(form.get("refresh_token", ""))
    if name is None:
        return lift_refused_token(lift, call, "its refresh token is not in the record")
    new_name = lift.make_name("tokens")
    add_tokens(lift, call, new_name, lift.consents.get(form["refresh_token"]))
    scope = {"scope": form["scope"]} if "scope" in form else {}
    return {"refresh": {"of": name, "keep_old": True} | scope, "as": new_name}


def lift_refused_token(lift: LiftState, call: RecordedCall, reason: str) -> Step | None:
    """Makes a step from a call to /token that the bank refused. The values and credentials in the step are invented, so
    the bank refuses the step too. If the bank accepted the recorded call, returns None and lists the call as
    unexplained, with `reason`."""
    if call.status < 400:
        lift.add_unexplained(call, reason)
        return None
    form = {name: call.form[name] if name == "grant_type" else UNKNOWN for name in call.form}
    headers = {"Authorization": NOBODY, "Content-Type": FORM}
    return {"call": {"method": "POST", "path": "/token", "form": form, "headers": headers}}


def add_tokens(lift: LiftState, call: RecordedCall, name: str, subject: LiftedSubject | None) -> None:
    reply = call.reply_json
    for kind in ("access_token", "refresh_token"):
        if isinstance(reply.get(kind), str):
            lift.tokens[reply[kind]] = name
            if subject is not None:
                lift.consents[reply[kind]] = subject
    if isinstance(reply.get("sca_token"), str):
        lift.sca_tokens.add(reply["sca_token"])
    if isinstance(reply.get("logical_id"), str):
        lift.accounts[reply["logical_id"]] = ""


def accounts(lift: LiftState, call: RecordedCall) -> Step | None:
    rows = read_embedded(call).get("accounts")
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"logical_id": str(logical_id), "iban": str(iban)}:
                lift.add_account(call, logical_id, iban)
    return read_step(lift, call, "accounts", {})


def account(lift: LiftState, call: RecordedCall) -> Step | None:
    iban = call.reply_json.get("iban")
    if call.path[1] not in lift.accounts and isinstance(iban, str):
        lift.add_account(call, call.path[1], iban)
    return read_step(lift, call, "account", write_account_words(lift, call))


def transactions(lift: LiftState, call: RecordedCall) -> Step | None:
    content: dict[str, Any] = {name: call.query[name] for name in FILTERS if name in call.query}
    if "next" in call.query:
        page = lift.pages.get(call.query["next"])
        content["next"] = UNKNOWN if page is None else f"{{{page}._embedded.next_page_key}}"
    if call.query.get("pagesize", "").isdigit():
        content["pagesize"] = int(call.query["pagesize"])
    sca_token = call.headers.get("sca-token")
    if sca_token not in lift.sca_tokens:
        content["sca"] = False if sca_token is None else UNKNOWN
    step = read_step(lift, call, "transactions", write_account_words(lift, call) | content)
    key = read_embedded(call).get("next_page_key")
    if step is not None and isinstance(key, str):
        step["as"] = lift.pages[key] = lift.make_name("page")
        if "next" not in call.query:
            fill_pages(lift, call, key)
    return step


def read_embedded(call: RecordedCall) -> dict[str, Any]:
    content = call.reply_json.get("_embedded")
    return content if isinstance(content, dict) else {}


def fill_pages(lift: LiftState, call: RecordedCall, key: Any) -> None:
    """Adds a step that books transactions on the account that `call` reads, so that they fill as many pages as the
    recording has. Books at most TIMES_MAX. In the scenario, the account has no transactions yet, because the scenario
    adds it in place of an account at another bank. `call` is the call for the first page, and `key` is the key of the
    next page in its reply.

    Adds no step if the recording has calls of the controls, if the account does not replace one of another bank, if the
    call asks for another currency than EUR, or if the client did not call the next page.
    """
    name = lift.accounts.get(call.path[1])
    if lift.has_controls or name not in lift.names.payers or call.query.get("currency", "EUR") != "EUR":
        return
    keys = [key]
    while keys[-1] in lift.following_pages:
        following = read_embedded(lift.following_pages[keys[-1]]).get("next_page_key")
        keys.append(following if following not in keys else None)
    pages = len(keys) - 1
    size = call.query.get("pagesize", "")
    times = pages * (int(size) if size.isdigit() else PAGE_SIZE) + 1
    if pages:
        booking = {"account": name, "amount": "0.01"} | find_day_within(call)
        lift.steps.append({"repeat": {"times": min(times, TIMES_MAX), "steps": [{"book": booking}]}})


def find_day_within(call: RecordedCall) -> dict[str, str]:
    """Returns the field `on` of a step `book`, with the day before the end of the call's filter (`date_to`). Returns an
    empty dictionary if the filter has no valid end, or if this day is not before the day of the call."""
    try:
        last = date.fromisoformat(call.query["date_to"]) - timedelta(days=1)
    except (KeyError, ValueError, OverflowError):
        return {}
    return {"on": last.isoformat()} if last < (call.began or OPENING).date() else {}


def write_account_words(lift: LiftState, call: RecordedCall) -> dict[str, Any]:
    name = lift.accounts.get(call.path[1], UNKNOWN)
    return {"account": name} if name else {}


def read_step(lift: LiftState, call: RecordedCall, word: str, content: dict[str, Any]) -> Step | None:
    name = lift.tokens.get(call.access_token or "")
    if content.get("account") == UNKNOWN and call.status < 400:
        lift.add_unexplained(call, "its account is not in the record")
        return None
    if name is not None:
        return {word: {"of": name} | content}
    latest = next(reversed(lift.tokens.values()), None)
    if call.status != 401 or latest is None:
        lift.add_unexplained(call, "its token is not in the record")
        return None
    return {word: {"of": latest, "token": None if call.access_token is None else UNKNOWN} | content}
