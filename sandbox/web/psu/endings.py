"""Pages that end a visit: why, in which words, and with which number (choice 1, choice 5, choice 8)."""

from typing import NamedTuple
from urllib.parse import urlsplit

from flask import Response

from sandbox.bank.standing_orders import CONTRACT_ENDED
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.psu.page_views import likely_signer
from sandbox.web.psu.shared_views import language_of, tpp_name
from sandbox.web.psu.templating import draw
from sandbox.web.psu.visits import Visit

WEB = ("http", "https")  # a link of another kind might run something


class Ending(NamedTuple):
    """A page that ends a visit: its words and its number."""

    words: str
    status: int


class Whose(NamedTuple):
    """What an address is about, also one that is over."""

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


def end_refused(visit: Visit, refusal: Refusal) -> Response:
    """The page that says this no."""
    whose = visit.world.ask(whose_address, visit.path.get("token", ""))
    return _draw(visit, ending_of(refusal, whose), whose)


def end(visit: Visit, ending: Ending) -> Response:
    return _draw(visit, ending, visit.world.ask(whose_address, visit.path.get("token", "")))


def ending_of(refusal: Refusal, whose: Whose) -> Ending:
    match refusal.error:
        case Error.ADDRESS_OUTDATED:
            return Ending("outdated", 410)
        case Error.ALREADY_OVER if whose.reason == CONTRACT_ENDED:
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
        kind = "consent" if asked.renews is None else "renewal"
        tpp = tpp_name(bank, asked.client_id)
        return Whose(asked.language, tpp, kind, None, f"/consent/{token}", asked.redirect_uri)
    address = bank.sca_addresses.get(token)
    if address is None:
        return Whose()
    found = bank.initiation(address.subject_id)
    assert found is not None
    tpp, origin = tpp_name(bank, found.origin.client_id), found.origin
    language = origin.language or language_of(bank, likely_signer(bank, found))
    return Whose(language, tpp, found.kind.words, found.reason, f"/sign/{token}", origin.redirect_uri)


def onward(visit: Visit, ending: Ending, whose: Whose) -> tuple[str, str]:
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


def _draw(visit: Visit, ending: Ending, whose: Whose) -> Response:
    return draw(
        visit,
        visit.language(whose.language),
        "ending",
        status=ending.status,
        kind=whose.kind,
        words=ending.words,
        onward=onward(visit, ending, whose),
        tpp=whose.tpp,
    )
