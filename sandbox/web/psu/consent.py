"""The consent address: log in, choose accounts, read, confirm or refuse (service 4.7, choice 8)."""

from flask import Response

from sandbox.bank import consent_sessions
from sandbox.contract.errors import Error, Refusal
from sandbox.web.psu.consent_views import ConsentSight, consent_at
from sandbox.web.psu.papers import consent_lines
from sandbox.web.psu.session_steps import WRONG, Take, again, code_typed, leave, open_at, take_at, wording
from sandbox.web.psu.templating import draw
from sandbox.web.psu.visits import Visit, address_cookie, form_targets, go, keep
from sandbox.web.psu.words import say

STEPS = ("login", "accounts", "review", "code")
TEMPLATES = {"login": "login", "accounts": "consent_accounts", "review": "consent_review", "code": "code"}


def open_address(visit: Visit) -> Response:
    return open_at(visit, consent_sessions.enter, show)


def see_step(visit: Visit) -> Response:
    return show(visit, visit.session_id(address_cookie(visit.path["token"])), visit.path["step"])


def take_step(visit: Visit) -> Response:
    return take_at(visit, consent_sessions.waiting, TAKES)


def log_in(visit: Visit, session_id: str, token: str) -> Response:
    customer = visit.request.form.get("login")
    if not customer:
        return show(visit, session_id, "login", problem="choose.customer")
    try:
        renewed = visit.world.act(consent_sessions.log_in_anew, session_id, token, customer)
    except Refusal as refusal:
        return again(show, visit, session_id, "login", refusal)
    return keep(visit, go(visit.to(f"/consent/{token}/accounts")), address_cookie(token), renewed)


def choose(visit: Visit, session_id: str, token: str) -> Response:
    """Only what the list offers; the bank itself asks again whose accounts they are."""
    chosen = tuple(dict.fromkeys(visit.request.form.getlist("account")))
    sight = visit.world.ask(consent_at, session_id, token)
    if not chosen or not set(chosen) <= {choice.account.iban for choice in sight.choices}:
        return show(visit, session_id, "accounts", problem="choose.accounts")
    try:
        visit.world.act(consent_sessions.choose, session_id, token, chosen)
    except Refusal as refusal:
        return again(show, visit, session_id, "accounts", refusal)
    return go(visit.to(f"/consent/{token}/review"))


def confirm(visit: Visit, session_id: str, token: str) -> Response:
    code = code_typed(visit.request.form.get("code", ""))
    if code is None:
        return show(visit, session_id, "code", problem="type.code")
    try:
        callback = visit.world.act(consent_sessions.confirm, session_id, token, code)
    except Refusal as refusal:
        return again(show, visit, session_id, "code" if refusal.error is Error.CODE_WRONG else "accounts", refusal)
    return leave(visit, callback)


def turn_down(visit: Visit, session_id: str, token: str) -> Response:
    return leave(visit, visit.world.act(consent_sessions.turn_down, session_id, token))


TAKES: dict[str, Take] = {"login": log_in, "accounts": choose, "code": confirm, "refuse": turn_down}


def show(
    visit: Visit, session_id: str, step: str, *, problem: str | None = None, refusal: Refusal | None = None
) -> Response:
    """The step that was asked for, or the first before it that is not done yet."""
    sight = visit.world.ask(consent_at, session_id, visit.path["token"])
    language = visit.language(sight.address.language)
    steps = [name for name in STEPS if not (name == "accounts" and sight.given)]
    shown = first_open(sight, step)
    return draw(
        visit,
        language,
        TEMPLATES[shown],
        status=WRONG if problem or refusal else 200,
        session_id=session_id,
        forms=form_targets(sight.address.redirect_uri),
        sight=sight,
        kind=sight.kind,
        headline=(say(language, "consent.drawn"), sight.tpp),
        lines=consent_lines(language, sight),
        at=f"/consent/{visit.path['token']}",
        number=steps.index(shown) + 1,
        of=len(steps),
        problem=wording(language, problem, refusal),
    )


def first_open(sight: ConsentSight, asked: str) -> str:
    if sight.customer is None or asked == "login":
        return "login"
    if not sight.given and (not sight.chosen or asked == "accounts"):
        return "accounts"
    return "code" if asked == "code" else "review"
