"""Answers the calls of the bank's screens: finds the view, and where it is refused says why the visit ends."""

from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Response, request
from werkzeug.exceptions import HTTPException

from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.lazy import load
from sandbox.web.api.app import here
from sandbox.web.api.faults import answered
from sandbox.web.html.pages import content_of, serve
from sandbox.web.psu.sights import kind_of, likely_customer, tpp_name
from sandbox.web.psu.visits import Lost, SigningVisit, draw, headers
from sandbox.worlds.registry import WorldRegistry

FORM_BYTES_MAX = 20_000
FILES = ("bank.css", "mark.svg", "countdown.js")
WEB = ("http", "https")  # a link of another kind might run something


class Ending(NamedTuple):
    """A page that ends a visit: its words and its number."""

    words: str
    status: int


class Whose(NamedTuple):
    """Facts about a signing or consent address; they remain after it has expired or was used."""

    language: str | None = None
    tpp: str = "TPP"
    kind: str = ""
    reason: str | None = None
    path: str = ""  # where its pages begin
    redirect_uri: str = ""


# What became of an address that was answered.
OVER: dict[str, str] = {
    Status.PATC: "cosigned",
    Status.CANC: "cancelled",
    Status.RJCT: "rejected",
    "refused": "cancelled",
}


def end(visit: SigningVisit, why: Ending | Refusal) -> Response:
    """A page that ends the visit (choice 1, choice 5, choice 8)."""
    whose = visit.world.ask(whose_address, visit.path.get("token", ""))
    ending = ending_of(why, whose) if isinstance(why, Refusal) else why
    page = draw(
        visit,
        visit.language(whose.language),
        "ending",
        status=ending.status,
        kind=whose.kind,
        words=ending.words,
        onward=onward(visit, ending, whose),
        tpp=whose.tpp,
    )
    if isinstance(why, Refusal) and why.error is Error.UNAVAILABLE:
        page.headers["Retry-After"] = str(why.facts["seconds"])
    return page


def ending_of(refusal: Refusal, whose: Whose) -> Ending:
    match refusal.error:
        case Error.ADDRESS_OUTDATED:
            return Ending("outdated", 410)
        case Error.ALREADY_OVER if whose.reason == Reason.CONTRACT_ENDED.code:
            return Ending("ended", 409)
        case Error.ALREADY_OVER:
            return Ending(OVER.get(str(refusal.facts["status"]), "signed"), 409)
        case Error.CONSENT_ENDED:
            return Ending("withdrawn", 409)
        case Error.NOT_FOUND if refusal.facts["input"] == "session":
            return Ending("lost", 403)
        case Error.NOT_FOUND:
            return Ending("unknown", 404)
        case _:
            return Ending("failed", refusal.error.value.status)


def whose_address(bank: Bank, token: str) -> Whose:
    asked = bank.consent_addresses.get(token)
    if asked is not None:
        tpp = tpp_name(bank, asked.client_id)
        return Whose(asked.language, tpp, kind_of(asked), None, f"/consent/{token}", asked.redirect_uri)
    address = bank.sca_addresses.get(token)
    if address is None:
        return Whose()
    found = bank.initiation(address.subject_id)
    assert found is not None
    tpp, origin = tpp_name(bank, found.origin.client_id), found.origin
    likely = bank.customers.get(likely_customer(bank, found) or "")
    language = origin.language or (likely.language if likely else None)
    return Whose(language, tpp, kind_of(found), found.reason, f"/sign/{token}", origin.redirect_uri)


def onward(visit: SigningVisit, ending: Ending, whose: Whose) -> tuple[str, str]:
    """The link that leads on, and its words: to the channel, to the start, or back to the TPP.

    The TPP's address comes without code, error or state: a link answers nothing, and the outcome was sent before.
    """
    if ending.words == "cosigned" or visit.request.path.startswith("/psu/channel"):
        return visit.to("/channel"), "cosigned.link"
    if ending.words in ("lost", "failed") and whose.path:
        return visit.to(whose.path), "lost.link"
    if urlsplit(whose.redirect_uri).scheme in WEB:
        return whose.redirect_uri, "ending.link"
    return visit.to("/channel"), "channel.title"


def nowhere(visit: SigningVisit) -> Response:
    raise Refusal(Error.NOT_FOUND, input="page")


def see_file(visit: SigningVisit) -> Response:
    """The pages' own files."""
    name = visit.path["name"]
    if name not in FILES:
        raise Refusal(Error.NOT_FOUND, input="file")
    return serve(content_of("sandbox.web.psu", name), name, visit.request)


def answer(worlds: WorldRegistry, name: str, path: dict[str, str]) -> Response:
    request.max_content_length = FORM_BYTES_MAX
    visit, view = SigningVisit(here(worlds), request, path), load(name)
    fault = None if view is see_file else visit.world.fault_for("psu_page", None)
    try:
        response: Response = view(visit) if fault is None else answered(fault, lambda: view(visit))
    except Lost:
        response = end(visit, Ending("lost", 403))
    except Refusal as refusal:
        response = end(visit, refusal)
    except HTTPException as refused:
        response = end(visit, Ending("failed", refused.code or 400))
    if response.status_code == 303:
        response.headers.update(headers())
    return response
