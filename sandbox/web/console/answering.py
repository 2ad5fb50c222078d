"""Answers the requests of the console. If the controls are guarded by a key, the first page asks for the key. After
that, a request gets a page, or calls the control of a button. A refusal is shown as a page."""

from dataclasses import replace
from secrets import token_hex

import orjson
from flask import Response, request
from werkzeug.exceptions import HTTPException

from sandbox.banking.durations import write_instant
from sandbox.contract.errors import Error, Refusal
from sandbox.lazy import load
from sandbox.web.api.app import find_world_of_request
from sandbox.web.console import pages
from sandbox.web.console.actions import ACTIONS, UNDOABLE, write_notice
from sandbox.web.console.calls import call_control, make_api_call
from sandbox.web.console.formats import clock_text
from sandbox.web.console.templating import HEADERS, compute_mark, draw, draw_page
from sandbox.web.console.visits import ConsoleState, ConsoleVisit, Facts, Notice
from sandbox.web.controls.lock import KEY_COOKIE, compute_fingerprint, is_right, shows_key
from sandbox.web.html.pages import see_other

SESSION_COOKIE = "sandbox-console"
FORM_BYTES_MAX = 1_000_000
SURE = "sure"  # the field of a form whose question was answered with yes
FOREIGN = "The form is not of this console. Go back and reload it."


def make_visit(state: ConsoleState, names: dict[str, object]) -> ConsoleVisit:
    """Returns the visit for this request, and limits the size of the request's form. The visit has the session in the
    browser's cookie, or a new session if there is no valid one. A session is a random text. The console uses it to
    check that a form was made for the browser that sends it, and to show a notice only in the browser that caused
    it."""
    request.max_content_length = request.max_form_memory_size = FORM_BYTES_MAX
    path = {name: str(value) for name, value in names.items()}
    session = request.cookies.get(SESSION_COOKIE, "")
    is_session = len(session) == 32 and session.isalnum() and session.isascii()
    return ConsoleVisit(
        state, find_world_of_request(state.worlds), request, path, session if is_session else token_hex(16)
    )


def answer(state: ConsoleState, view: str, **names: object) -> Response:
    visit = make_visit(state, names)
    if state.key is not None and not shows_key(request, state.key, by_cookie=True):
        return ask_key(visit)
    number = request.args.get("notice", "")
    notice, refused = state.notices.get(number), state.refused.get(number)
    visit = replace(
        visit,
        notice=notice if notice and notice.session == visit.session else None,
        refused=refused if refused and refused.session == visit.session else None,
    )
    try:
        if request.method == "POST" and not visit.is_proven:
            response = draw_trouble(visit, 403, FOREIGN)
        else:
            outcome = load(view)(visit)
            response = outcome if isinstance(outcome, Response) else draw_page(visit, view, outcome)
    except Refusal as refusal:
        response = draw_trouble(visit, refusal.error.value.status, refusal.text)
    except HTTPException as error:
        response = draw_trouble(visit, error.code or 400, error.name)
    return with_cookie(visit, response, SESSION_COOKIE, visit.session)


def draw_trouble(visit: ConsoleVisit, status: int, text: str) -> Response:
    return draw(visit, "trouble", status=status, text=text, is_missing=status == 404)


def with_cookie(visit: ConsoleVisit, response: Response, cookie: str, value: str) -> Response:
    """Returns the response with a cookie for all worlds of this sandbox. No script can read the cookie, and browsers do
    not send it with requests that come from other sites."""
    path = visit.prefix or "/"
    response.set_cookie(cookie, value, path=path, secure=request.is_secure, httponly=True, samesite="Strict")
    return response


def ask_key(visit: ConsoleVisit, text: str = "") -> Response:
    return with_cookie(visit, draw(visit, "key", status=401, text=text), SESSION_COOKIE, visit.session)


def take_key(state: ConsoleState) -> Response:
    """Handles the form in which a tester types the key of the controls. If the key is right, and the console made the
    form for this browser, redirects to the page that the form names in `back`, and sets a cookie with a fingerprint of
    the key. Otherwise shows the form again."""
    visit = make_visit(state, {})
    key = request.form.get("key", "")
    if state.key is not None and visit.is_proven and key and is_right(request, key, state.key):
        response = see_other(resolve_address(visit.root, request.form.get("back", "/")), HEADERS)
        return with_cookie(visit, response, KEY_COOKIE, compute_fingerprint(state.key))
    return ask_key(visit, "That is not the key.")


def return_with_key(visit: ConsoleVisit) -> Response:
    """Redirects to the page that the query names in `back`. The caller has the right key, because `answer` asks for the
    key before it calls a view."""
    return see_other(resolve_address(visit.root, request.args.get("back", "/")), HEADERS)


def return_to_overview(visit: ConsoleVisit) -> Response:
    """Redirects `/console/` to the overview, whose address is `/_sandbox/`."""
    return see_other(f"{visit.root}/", HEADERS)


def refuse_unknown_page(visit: ConsoleVisit) -> Response:
    raise Refusal(Error.NOT_FOUND, input=visit.request.path[:200])


def preview(visit: ConsoleVisit) -> Response:
    """Shows the JSON body that the form would send to its control, without calling the control. If the request prefers
    JSON, returns the body alone: the page's script sends such requests. Otherwise redirects to the page that has the
    form, and that page shows the body. Raises Refusal for an unknown action."""
    action = ACTIONS.get(visit.path["action"])
    if action is None:
        raise Refusal(Error.NOT_FOUND, input="action")
    if request.accept_mimetypes.best == "application/json":
        body = orjson.dumps(action.ask(request.form).body, option=orjson.OPT_INDENT_2)
        return Response(body, headers=HEADERS, content_type="application/json")
    return see_other(f"{follow(visit, visit.keep_form())}#preview", HEADERS)


def act(visit: ConsoleVisit) -> Response:
    """Handles the form of a button. Calls the button's control, and redirects to the page that the form names in
    `back`. That page shows a notice: what was done, or why the control refused the call.

    If the call would destroy something, or if the button asks a question, first returns a page that asks whether the
    tester is sure. The yes on that page sends the form again, with the field SURE. If the control refuses a change of
    settings, returns the page of settings instead of a redirect. Raises Refusal for an unknown action.
    """
    form, action = request.form, ACTIONS.get(visit.path["action"])
    if action is None:
        raise Refusal(Error.NOT_FOUND, input="action")
    name = action.button.action
    loss = action.button.asks or action.row.describe_loss({"world": visit.world.name, **form})
    began, is_frozen = visit.world.ask(lambda bank: bank.clock.now), visit.world.clock.pace.frozen
    if loss and SURE not in form:
        # A yes sends the same form once more. A no leads back to the form as it was typed.
        no = follow(visit, visit.keep_form())
        facts: Facts = {"loss": loss, "sure": SURE, "typed": list(form.items(multi=True)), "no": no}
        return draw(visit, "sure", action=name, can_undo=name in UNDOABLE and not is_frozen, **facts)
    call = action.ask(form)
    code = make_api_call(visit, "What was just done", call)
    try:
        outcome = call_control(visit, call)
    except Refusal as refusal:
        if name == "settings":
            return pages.draw_refused_settings(visit, call, refusal)
        number, notice = visit.keep_form(refusal), Notice(visit.session, refusal.text, code, refused=True)
    else:
        callback = outcome.get("redirect") if isinstance(outcome, dict) else None
        callback_text = f" The TPP is called back at {callback.partition('?')[0]}." if callback else ""
        # A rewind keeps the acts of its own moment. So it undoes an act only if the clock went on since then.
        is_later = not is_frozen or visit.world.ask(lambda bank: bank.clock.now) > began
        undo = began if name in UNDOABLE and is_later else None
        text = write_notice(action, form) + callback_text
        number, notice = str(next(visit.state.numbers)), Notice(visit.session, text, code, undo=undo)
    visit.state.notices.keep(number, notice)
    return see_other(follow(visit, number), HEADERS)


def follow(visit: ConsoleVisit, number: str) -> str:
    """Returns the address of the page that the form names in `back`, with `number` as the query parameter `notice`. The
    page belongs to the world of the visit, or to the default world if the visit's world was dropped."""
    is_there = visit.state.worlds.get_or_default(visit.world.name).name == visit.world.name
    path = resolve_address(visit.root if is_there else f"{visit.prefix}/_sandbox", request.form.get("back", "/"))
    return f"{path}{'&' if '?' in path else '?'}notice={number}"


def resolve_address(root: str, back: str) -> str:
    """Returns `root` with the path `back` behind it. If `back` is not a valid path, returns the address of the
    console's first page."""
    path = back if back.startswith("/") and back.isprintable() and len(back) < 2_000 else "/"
    return root + path


def live(visit: ConsoleVisit) -> Response:
    """Returns JSON for an open page, which requests it each second: the bank's time, how many calls and lines of the
    journal there are, and as `mark` the text of compute_mark. The page loads itself again when `mark` has changed."""
    world = visit.world
    now, mark, moves = world.ask(lambda bank: (bank.clock.now, compute_mark(bank, world), len(bank.journal)))
    content = {
        "mark": mark,
        "now": clock_text(now),
        "machine": write_instant(now),
        "calls": world.calls.made,
        "moves": moves,
    }
    return Response(orjson.dumps(content), headers=HEADERS, content_type="application/json")
