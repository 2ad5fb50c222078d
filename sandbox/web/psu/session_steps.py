"""What the steps at an address and in the channel share."""

from collections.abc import Callable, Mapping

from flask import Response

from sandbox.bank import signing_sessions
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.web.psu.formats import country
from sandbox.web.psu.refusals import say_refusal
from sandbox.web.psu.shared_views import session_at
from sandbox.web.psu.visits import Visit, address_cookie, drop, go, keep
from sandbox.web.psu.words import say

# After these there is nothing left to do at the address; the rest is told on the page itself.
ENDS = (Error.NOT_FOUND, Error.ALREADY_OVER, Error.ADDRESS_OUTDATED, Error.CONSENT_ENDED)
WRONG = 422
STATE_MAX = 4_000  # ours: characters of a state, which is kept until the PSU is done

Show = Callable[..., Response]  # the page of a step; `problem` or `refusal` say what was wrong with the form before
Take = Callable[[Visit, str, str], Response]  # the visit, its session and the address's token


def open_at(visit: Visit, enter: Callable[[Bank, str, str | None], str], show: Show) -> Response:
    """Where the TPP sends the PSU, with its state."""
    token = visit.path["token"]
    session_id, same, state = goes_on(visit)
    if not same:
        session_id = visit.world.act(enter, token, state)
    response = show(visit, session_id, "review")
    return keep(visit, response, address_cookie(token), session_id)


def take_at(visit: Visit, waiting: Callable[[Bank, str], object], takes: Mapping[str, Take]) -> Response:
    """A form of one of the steps."""
    token = visit.path["token"]
    visit.world.ask(waiting, token)  # that it is over is told first
    session_id, _ = visit.form(address_cookie(token))
    take = takes.get(visit.path["step"])
    if take is None:
        raise Refusal(Error.NOT_FOUND, input="step")
    return take(visit, session_id, token)


def again(show: Show, visit: Visit, session_id: str, step: str, refusal: Refusal) -> Response:
    """The bank's no on the page where something else may be chosen."""
    if refusal.error in ENDS:
        raise refusal
    return show(visit, session_id, step, refusal=refusal)


def goes_on(visit: Visit) -> tuple[str, bool, str | None]:
    """The browser's session, whether it is one of this address and state, and the state that came along.

    A second visit goes on where the first was; another state begins anew.
    """
    token = visit.path["token"]
    states = visit.request.args.getlist("state")
    if states and len(states[-1]) > STATE_MAX:
        raise Refusal(Error.INPUT_INVALID, input="state", why=f"it is longer than {STATE_MAX} characters")
    session_id = visit.session_id(address_cookie(token))
    session = visit.world.ask(session_at, session_id, token)
    same = session is not None and not (states and states[-1] != session.state)
    return session_id, same, states[-1] if states else None


def code_typed(text: str) -> str | None:
    """The six digits; what has not the shape of a code is none, and costs no try."""
    code = "".join(text.split())
    return code if len(code) == signing_sessions.CODE_DIGITS and code.isascii() and code.isdigit() else None


def leave(visit: Visit, callback: str) -> Response:
    """Back to the TPP, and nowhere else."""
    response = go(callback)
    drop(visit, response, address_cookie(visit.path["token"]))
    return response


def wording(language: str, problem: str | None, refusal: Refusal | None) -> str:
    if refusal is not None:
        facts = {"country": country(language, str(refusal.facts["country"]))} if "country" in refusal.facts else {}
        return say_refusal(language, refusal, **facts)
    return say(language, problem) if problem else ""
