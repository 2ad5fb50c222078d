"""The SCA address: log in, pick an account, read, sign or refuse (service 1, choice 5)."""

from flask import Response

from sandbox.bank import screens, signing
from sandbox.errors import Error, Refusal
from sandbox.pages.drawing import draw
from sandbox.pages.papers import headline, lines
from sandbox.pages.refusals import say_refusal
from sandbox.pages.sights import Sight, at_address, session_at
from sandbox.pages.visits import Visit, address_cookie, drop, form_targets, go, keep
from sandbox.pages.words import say
from sandbox.pages.writing import country

STEPS = ("login", "account", "review", "code")
# After these there is nothing left to do at the address; the rest is told on the page itself.
ENDS = (Error.NOT_FOUND, Error.ALREADY_OVER, Error.ADDRESS_OUTDATED)
WRONG = 422


def open_address(visit: Visit) -> Response:
    """Where the TPP sends the PSU, with its state; a second visit goes on where the first was."""
    token = visit.path["token"]
    cookie = address_cookie(token)
    states = visit.request.args.getlist("state")
    session_id = visit.session_id(cookie)
    session = visit.world.ask(session_at, session_id, token)
    if session is None or (states and states[-1] != session.state):
        session_id = visit.world.act(screens.enter, token, states[-1] if states else None)
    response = show(visit, session_id, "review")
    keep(visit, response, cookie, session_id)
    return response


def see_step(visit: Visit) -> Response:
    session_id = visit.session_id(address_cookie(visit.path["token"]))
    return show(visit, session_id, visit.path["step"])


def take_step(visit: Visit) -> Response:
    """A form of one of the steps."""
    token, step = visit.path["token"], visit.path["step"]
    visit.world.ask(signing.waiting, token)  # that it is over is told first
    session_id, form = visit.form(address_cookie(token))
    take = TAKES.get(step)
    if take is None:
        raise Refusal(Error.NOT_FOUND, input="step")
    return take(visit, session_id, token, form.get(step, ""))


def log_in(visit: Visit, session_id: str, token: str, customer: str) -> Response:
    if not customer:
        return show(visit, session_id, "login", problem="choose.customer")
    try:
        visit.world.act(screens.log_in, session_id, token, customer)
    except Refusal as refusal:
        return told(visit, session_id, "login", refusal)
    return go(visit.to(f"/sign/{token}/account"))


def pick(visit: Visit, session_id: str, token: str, value: str) -> Response:
    sight = visit.world.ask(at_address, session_id, token)
    picked = next((option for option in sight.options if option.value == value), None)
    if picked is None:
        return show(visit, session_id, "account", problem="choose.account")
    try:
        visit.world.act(screens.pick, session_id, token, picked.account.iban, picked.currency)
    except Refusal as refusal:
        return told(visit, session_id, "account", refusal)
    return go(visit.to(f"/sign/{token}/review"))


def confirm(visit: Visit, session_id: str, token: str, typed: str) -> Response:
    """What has not the shape of a code costs no try. An account that is no longer fit may be changed."""
    code = "".join(typed.split())
    if len(code) != screens.CODE_DIGITS or not (code.isascii() and code.isdigit()):
        return show(visit, session_id, "code", problem="type.code")
    try:
        callback = visit.world.act(screens.confirm, session_id, token, code)
    except Refusal as refusal:
        return told(visit, session_id, "code" if refusal.error is Error.CODE_WRONG else "account", refusal)
    return leave(visit, token, callback)


def turn_down(visit: Visit, session_id: str, token: str, _: str) -> Response:
    return leave(visit, token, visit.world.act(screens.turn_down, session_id, token))


TAKES = {"login": log_in, "account": pick, "code": confirm, "refuse": turn_down}


def leave(visit: Visit, token: str, callback: str) -> Response:
    """Back to the TPP, and nowhere else."""
    response = go(callback)
    drop(visit, response, address_cookie(token))
    return response


def told(visit: Visit, session_id: str, step: str, refusal: Refusal) -> Response:
    """The bank's no on the page where something else may be chosen."""
    if refusal.error in ENDS:
        raise refusal
    return show(visit, session_id, step, refusal=refusal)


def show(
    visit: Visit, session_id: str, step: str, *, problem: str | None = None, refusal: Refusal | None = None
) -> Response:
    """The step that was asked for, or the first before it that is not done yet."""
    sight = visit.world.ask(at_address, session_id, visit.path["token"])
    origin = sight.payment.origin
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


def wording(language: str, problem: str | None, refusal: Refusal | None) -> str:
    if refusal is not None:
        facts = {"country": country(language, str(refusal.facts["country"]))} if "country" in refusal.facts else {}
        return say_refusal(language, refusal, **facts)
    return say(language, problem) if problem else ""
