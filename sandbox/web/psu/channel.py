"""The PSU's own channel: balances, further signatures, and what leaves from the PSU's accounts (service 1).

Beside it the bank's app, in a tab of its own: it compares a code, approves or refuses (service 5.7).
"""

from collections.abc import Callable
from hmac import compare_digest

from flask import Response

from sandbox.bank import confirmations, consent_sessions, signing_sessions
from sandbox.bank.records import METHODS
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.psu.channel_views import LISTS, answer_of, folder, in_channel, standing_one
from sandbox.web.psu.papers import from_accounts, headline
from sandbox.web.psu.sights import in_app, session_at
from sandbox.web.psu.steps import ENDS, Verb, draw_sight, read_code
from sandbox.web.psu.visits import CHANNEL_COOKIE, Lost, SigningVisit, draw, go, keep, proof_of

Show = Callable[[SigningVisit, str, Refusal], Response]
OVER = (*ENDS, Error.CHANNEL_CLOSED)
ANSWERS = {"approve": True, "refuse": False}
NEWS = ("signed", "waiting", "refused", "withdrawn", "undone")


def open_channel(visit: SigningVisit) -> Response:
    """The log-in page, or what waits."""
    session_id = visit.session_id(CHANNEL_COOKIE)
    if visit.world.ask(session_at, session_id, signing_sessions.CHANNEL) is None:
        session_id = visit.world.act(signing_sessions.enter_channel)
    response = show(visit, session_id)
    return keep(visit, response, CHANNEL_COOKIE, session_id)


def log_in(visit: SigningVisit) -> Response:
    session_id, form = visit.form(CHANNEL_COOKIE)
    if not form.get("login"):
        return show(visit, session_id, "choose.customer")
    try:
        renewed = visit.world.act(signing_sessions.log_in_to_channel, session_id, form["login"])
    except Refusal as refusal:
        return show(visit, session_id, refusal)
    return keep(visit, go(visit.to("/channel")), CHANNEL_COOKIE, renewed)


def see_payment(visit: SigningVisit) -> Response:
    """A page that waits for the app leads on to the list once the app has answered."""
    session_id = visit.session_id(CHANNEL_COOKIE)
    news = visit.world.ask(answer_of, session_id, visit.path["payment_id"])
    return go(visit.to("/channel", news=news)) if news else show_payment(visit, session_id)


def choose_method(visit: SigningVisit) -> Response:
    """Another way to sign; a risk may refuse it, and the page says why (service 5.7)."""
    session_id, form = visit.form(CHANNEL_COOKIE)
    subject, method = visit.path["payment_id"], form.get("method", "")
    if not method:
        return show_payment(visit, session_id, "choose.method")
    if method not in METHODS:
        raise Refusal(Error.NOT_FOUND, input="method")
    try:
        visit.world.act(confirmations.choose_method_in_channel, session_id, subject, method)
    except Refusal as refusal:
        return show_again(visit, session_id, refusal)
    return go(visit.to(f"/channel/payments/{subject}"))


def sign_payment(visit: SigningVisit) -> Response:
    session_id, form = visit.form(CHANNEL_COOKIE)
    code = read_code(form.get("code", ""))
    if code is None:
        return show_payment(visit, session_id, "type.code")
    return answer(visit, signing_sessions.confirm_in_channel, code)


def sign_by_biometrics(visit: SigningVisit) -> Response:
    return answer(visit, confirmations.confirm_in_channel_by_biometrics)


def refuse_payment(visit: SigningVisit) -> Response:
    return answer(visit, signing_sessions.refuse_in_channel, news="refused")


def cancel_payment(visit: SigningVisit) -> Response:
    """What the customer signed, where its status still permits it (service 3.4)."""
    return answer(visit, signing_sessions.cancel_in_channel, news="undone", again=show)


def see_consent(visit: SigningVisit) -> Response:
    """A consent before it is withdrawn."""
    session_id = visit.session_id(CHANNEL_COOKIE)
    customer, allowed = visit.world.ask(standing_one, session_id, visit.path["consent_id"])
    language = visit.language(customer=customer.language)
    return draw(visit, language, "withdraw", session_id=session_id, customer=customer, allowed=allowed)


def withdraw_consent(visit: SigningVisit) -> Response:
    session_id, _ = visit.form(CHANNEL_COOKIE)
    visit.world.act(consent_sessions.withdraw, session_id, visit.path["consent_id"])
    return go(visit.to("/channel", news="withdrawn"))


def log_out(visit: SigningVisit) -> Response:
    session_id, _ = visit.form(CHANNEL_COOKIE)
    visit.world.act(signing_sessions.leave_channel, session_id)
    response = go(visit.to("/channel"))
    response.delete_cookie(CHANNEL_COOKIE, **visit.guards)
    return response


def show_again(visit: SigningVisit, session_id: str, refusal: Refusal) -> Response:
    """The bank's no on the page of the payment, or on the list where nothing is left to sign.

    A session of its own follows one that too many wrong codes ended."""
    if refusal.error is Error.CODE_WRONG and not refusal.facts["left"]:
        session_id = visit.world.act(signing_sessions.enter_channel)
        return keep(visit, show(visit, session_id, refusal), CHANNEL_COOKIE, session_id)
    if refusal.error in OVER:
        return show(visit, session_id, refusal)
    return show_payment(visit, session_id, refusal)


def answer(visit: SigningVisit, verb: Verb, *given: str, news: str = "", again: Show = show_again) -> Response:
    """Signs, refuses or cancels, and leads on to the list, which says what came of it."""
    session_id, _ = visit.form(CHANNEL_COOKIE)
    try:
        status = visit.world.act(verb, session_id, visit.path["payment_id"], *given)
    except Refusal as refusal:
        return again(visit, session_id, refusal)
    return go(visit.to("/channel", news=news or ("waiting" if status is Status.PATC else "signed")))


def number_of(visit: SigningVisit, name: str) -> int:
    """The page of a list that the address asks for."""
    asked = visit.request.args.get(name, "")
    return int(asked) if asked.isascii() and asked.isdecimal() and 0 < len(asked) < 7 and int(asked) else 1


def address_of(visit: SigningVisit, name: str, number: int) -> str:
    """The same folder with another page of one list."""
    others = {name: str(number_of(visit, name)) for name in LISTS if name in visit.request.args}
    return visit.to("/channel", **others | {name: str(number)})


def show(visit: SigningVisit, session_id: str, wrong: str | Refusal = "") -> Response:
    view = visit.world.ask(folder, session_id, {name: number_of(visit, name) for name in LISTS})
    language = visit.language(customer=view["customer"].language if view["customer"] else None)
    news = visit.request.args.get("news")
    return draw(
        visit,
        language,
        "folder" if view["customer"] else "channel_login",
        session_id=session_id,
        folder=view,
        headline=lambda view: headline(language, view),
        from_accounts=from_accounts,
        page_at=lambda name, number: address_of(visit, name, number),
        news=news if news in NEWS else None,
        wrong=wrong,
        path="/channel",
    )


def show_payment(visit: SigningVisit, session_id: str, wrong: str | Refusal = "") -> Response:
    sight = visit.world.ask(in_channel, session_id, visit.path["payment_id"])
    language = visit.language(customer=sight.customer.language if sight.customer else None)
    at = f"/channel/payments/{sight.id}"
    return draw_sight(visit, language, "cosign", sight, session_id, at, wrong, path=at)


# The app


def see_approval(visit: SigningVisit) -> Response:
    answered = visit.request.args.get("answered")
    if answered in ANSWERS:
        return draw(visit, visit.language(), "app_done", answered=answered)
    return show_approval(visit)


def answer_approval(visit: SigningVisit) -> Response:
    """The address of an approval is the app's own secret, from which its forms are proven."""
    approval, given = visit.path["approval"], visit.request.form.get("proof", "")
    if not compare_digest(given.encode(), proof_of(approval).encode()):
        raise Lost
    if visit.path["answer"] not in ANSWERS:
        raise Refusal(Error.NOT_FOUND, input="step")
    visit.world.ask(confirmations.session_waiting, approval)  # an approval that is over is refused first
    try:
        visit.world.act(confirmations.answer_in_app, approval, ANSWERS[visit.path["answer"]])
    except Refusal as refusal:
        if refusal.error in (Error.ALREADY_OVER, Error.NOT_FOUND, Error.ADDRESS_OUTDATED):
            raise
        return show_approval(visit, refusal)
    return go(visit.to(f"/app/{approval}", answered=visit.path["answer"]))


def show_approval(visit: SigningVisit, wrong: str | Refusal = "") -> Response:
    approval = visit.path["approval"]
    sight = visit.world.ask(in_app, approval)
    at = f"/app/{approval}"
    return draw_sight(visit, visit.language(sight.language), "app", sight, approval, at, wrong, path=at)
