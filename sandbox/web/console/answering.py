"""Answers the calls of the console: admits the visitor, shows the page or presses the button, and reports refusals."""

import orjson
from flask import Response, request
from werkzeug.exceptions import HTTPException

from sandbox.banking.durations import write_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.lazy import load
from sandbox.web.api.app import here
from sandbox.web.console import settings_page
from sandbox.web.console.actions import ACTIONS, notice_of
from sandbox.web.console.calls import curl_of, done
from sandbox.web.console.formats import clock_text
from sandbox.web.console.templating import HEADERS, draw, draw_page, mark_of
from sandbox.web.console.visits import SESSION_COOKIE, ConsoleState, ConsoleVisit, Notice, keep, keep_form, session_of
from sandbox.web.controls.lock import KEY_COOKIE, fingerprint_of, is_right
from sandbox.web.html.pages import see_other

FORM_BYTES_MAX = 1_000_000
SURE = "sure"  # the field of a form whose question was answered with yes
FOREIGN = "The form is not of this console. Go back and reload it."


def visit_of(desk: ConsoleState, names: dict[str, object]) -> ConsoleVisit:
    request.max_content_length = request.max_form_memory_size = FORM_BYTES_MAX
    path = {name: str(value) for name, value in names.items()}
    return ConsoleVisit(desk, here(desk.worlds), request, path, session_of(request))


def answer(desk: ConsoleState, view: str, **names: object) -> Response:
    visit = visit_of(desk, names)
    if not visit.is_admitted:
        return ask_key(visit)
    number = request.args.get("notice", "")
    for name, kept in (("sandbox.notice", desk.notices.get(number)), ("sandbox.refused", desk.refused.get(number))):
        request.environ[name] = kept if kept and kept.session == visit.session else None
    try:
        if request.method == "POST" and not visit.is_proven:
            response = draw(visit, "trouble", status=403, text=FOREIGN)
        else:
            found = load(view)(visit)
            response = found if isinstance(found, Response) else draw_page(visit, view, found)
    except Refusal as refusal:
        response = draw(visit, "trouble", status=refusal.error.value.status, text=refusal.text)
    except HTTPException as refused:
        response = draw(visit, "trouble", status=refused.code or 400, text=refused.name)
    keep(visit, response, SESSION_COOKIE, visit.session)
    return response


def ask_key(visit: ConsoleVisit, text: str = "") -> Response:
    response = draw(visit, "key", status=401, text=text)
    keep(visit, response, SESSION_COOKIE, visit.session)
    return response


def take_key(desk: ConsoleState) -> Response:
    """Right: the browser keeps a print of it, not the key."""
    visit = visit_of(desk, {})
    shown = visit.request.form.get("key", "")
    if visit.desk.key is not None and visit.is_proven and shown and is_right(visit.request, shown, visit.desk.key):
        response = see_other(inside(visit.root, visit.request.form.get("back", "/")), HEADERS)
        keep(visit, response, KEY_COOKIE, fingerprint_of(visit.desk.key))
        return response
    return ask_key(visit, "That is not the key.")


def return_with_key(visit: ConsoleVisit) -> Response:
    """Where the key form leads back to, once the key is taken."""
    return see_other(inside(visit.root, visit.request.args.get("back", "/")), HEADERS)


def act(visit: ConsoleVisit) -> Response:
    """Presses a button: calls the control, and says what came of it on the page that follows."""
    form, action = visit.request.form, ACTIONS.get(visit.path["action"])
    if action is None:
        raise Refusal(Error.NOT_FOUND, input="action")
    loss = action.row.loss({"world": visit.world.name, **form})
    if loss and SURE not in form:
        return ask_first(visit, loss)
    ask = action.ask(form)
    line = curl_of(visit, ask)
    try:
        outcome = done(visit, ask)
    except Refusal as refusal:
        if action.button.action == "settings":
            return settings_page.refused_page(visit, ask, refusal)
        notice = Notice(visit.session, refusal.text, line, refused=True)
        number = keep_form(visit)
    else:
        number = str(next(visit.desk.numbers))
        callback = outcome.get("redirect") if isinstance(outcome, dict) else None
        sent = f" The TPP is called back at {callback.partition('?')[0]}." if callback else ""
        notice = Notice(visit.session, notice_of(action, form) + sent, line)
    visit.desk.notices.keep(number, notice)
    return see_other(follow(visit, form.get("back", "/"), number), HEADERS)


def ask_first(visit: ConsoleVisit, loss: str) -> Response:
    """The question before something is lost: a yes sends the same form once more, a no leads back to it as typed."""
    form, action = visit.request.form, visit.path["action"]
    back = follow(visit, form.get("back", "/"), keep_form(visit))
    return draw(visit, "sure", action=action, loss=loss, sure=SURE, typed=list(form.items(multi=True)), no=back)


def follow(visit: ConsoleVisit, back: str, number: str) -> str:
    """A page of this console and of no other place; a world that was dropped leads to the default one."""
    root = (
        visit.root
        if visit.desk.worlds.get_or_default(visit.world.name).name == visit.world.name
        else f"{visit.prefix}/_sandbox"
    )
    path = inside(root, back)
    return f"{path}{'&' if '?' in path else '?'}notice={number}"


def inside(root: str, back: str) -> str:
    """A path below the console; anything else is its first page."""
    path = back if back.startswith("/") and back.isprintable() and len(back) < 2_000 else "/"
    return root + path


def live(visit: ConsoleVisit) -> Response:
    """What an open page asks for each second: the time, and a mark that changes when the page should be read again."""
    world = visit.world
    now, mark, moves = world.ask(lambda bank: (bank.clock.now, mark_of(bank, world), len(bank.journal)))
    found = {
        "mark": mark,
        "now": clock_text(now),
        "machine": write_instant(now),
        "calls": world.exchanges_made,
        "moves": moves,
    }
    return Response(orjson.dumps(found), headers=HEADERS, content_type="application/json")
