"""The bank's app, in a tab of its own: compares a code, approves or refuses (service 5.7)."""

from hmac import compare_digest

from flask import Response

from sandbox.bank import confirmations
from sandbox.contract.errors import Error, Refusal
from sandbox.web.psu.sights import in_app
from sandbox.web.psu.steps import draw_sight
from sandbox.web.psu.templating import draw
from sandbox.web.psu.visits import Lost, Visit, go, proof_of

ANSWERS = {"approve": True, "refuse": False}


def see_approval(visit: Visit) -> Response:
    answered = visit.request.args.get("answered")
    if answered in ANSWERS:
        return draw(visit, visit.language(), "app_done", answered=answered)
    return show(visit)


def answer(visit: Visit) -> Response:
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
        return show(visit, refusal)
    return go(visit.to(f"/app/{approval}", answered=visit.path["answer"]))


def show(visit: Visit, wrong: str | Refusal = "") -> Response:
    approval = visit.path["approval"]
    sight = visit.world.ask(in_app, approval)
    return draw_sight(visit, visit.language(sight.language), "app", sight, approval, f"/app/{approval}", wrong)
