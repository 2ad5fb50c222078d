"""The SCA address: log in, pick an account, read, sign or refuse (service 1, choice 5)."""

from flask import Response

from sandbox.bank import signing, signing_sessions
from sandbox.contract.errors import Error, Refusal
from sandbox.web.psu.page_views import Sight, at_address
from sandbox.web.psu.papers import headline, lines
from sandbox.web.psu.session_steps import WRONG, Take, again, code_typed, leave, open_at, take_at, wording
from sandbox.web.psu.templating import draw
from sandbox.web.psu.visits import Visit, address_cookie, form_targets, go, keep

STEPS = ("login", "account", "review", "code")


def open_address(visit: Visit) -> Response:
    return open_at(visit, signing_sessions.enter, show)


def see_step(visit: Visit) -> Response:
    session_id = visit.session_id(address_cookie(visit.path["token"]))
    return show(visit, session_id, visit.path["step"])


def take_step(visit: Visit) -> Response:
    return take_at(visit, signing.waiting, TAKES)


def log_in(visit: Visit, session_id: str, token: str) -> Response:
    customer = visit.request.form.get("login")
    if not customer:
        return show(visit, session_id, "login", problem="choose.customer")
    try:
        renewed = visit.world.act(signing_sessions.log_in_anew, session_id, token, customer)
    except Refusal as refusal:
        return again(show, visit, session_id, "login", refusal)
    return keep(visit, go(visit.to(f"/sign/{token}/account")), address_cookie(token), renewed)


def pick(visit: Visit, session_id: str, token: str) -> Response:
    sight = visit.world.ask(at_address, session_id, token)
    value = visit.request.form.get("account")
    picked = next((option for option in sight.options if option.value == value), None)
    if picked is None:
        return show(visit, session_id, "account", problem="choose.account")
    try:
        visit.world.act(signing_sessions.pick, session_id, token, picked.account.iban, picked.currency)
    except Refusal as refusal:
        return again(show, visit, session_id, "account", refusal)
    return go(visit.to(f"/sign/{token}/review"))


def confirm(visit: Visit, session_id: str, token: str) -> Response:
    """An account that is no longer fit may be changed."""
    code = code_typed(visit.request.form.get("code", ""))
    if code is None:
        return show(visit, session_id, "code", problem="type.code")
    try:
        callback = visit.world.act(signing_sessions.confirm, session_id, token, code)
    except Refusal as refusal:
        return again(show, visit, session_id, "code" if refusal.error is Error.CODE_WRONG else "account", refusal)
    return leave(visit, callback)


def turn_down(visit: Visit, session_id: str, token: str) -> Response:
    return leave(visit, visit.world.act(signing_sessions.turn_down, session_id, token))


TAKES: dict[str, Take] = {"login": log_in, "account": pick, "code": confirm, "refuse": turn_down}


def show(
    visit: Visit, session_id: str, step: str, *, problem: str | None = None, refusal: Refusal | None = None
) -> Response:
    """The step that was asked for, or the first before it that is not done yet."""
    sight = visit.world.ask(at_address, session_id, visit.path["token"])
    origin = sight.origin
    language = visit.language(origin.language, sight.customer.language if sight.customer else None)
    steps = [name for name in STEPS if not (name == "account" and sight.given)]
    shown = first_open(sight, step)
    return draw(
        visit,
        language,
        shown,
        status=WRONG if problem or refusal else 200,
        session_id=session_id,
        forms=form_targets(origin.redirect_uri),
        sight=sight,
        kind=sight.kind,
        headline=headline(language, sight),
        lines=lines(language, sight),
        at=f"/sign/{visit.path['token']}",
        number=steps.index(shown) + 1,
        of=len(steps),
        problem=wording(language, problem, refusal),
    )


def first_open(sight: Sight, asked: str) -> str:
    if sight.customer is None or asked == "login":
        return "login"
    if not sight.given and (sight.session.debtor is None or asked == "account"):
        return "account"
    return "code" if asked == "code" else "review"
