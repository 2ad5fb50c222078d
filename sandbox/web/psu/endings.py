"""Pages that end a visit: why, in which words, and with which number (choice 1, choice 5, choice 8)."""

from typing import NamedTuple

from flask import Response

from sandbox.bank.standing_orders import CONTRACT_ENDED
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.web.psu.shared_views import tpp_name
from sandbox.web.psu.templating import draw
from sandbox.web.psu.visits import Visit


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
        return Whose(asked.language, tpp_name(bank, asked.client_id), kind)
    address = bank.sca_addresses.get(token)
    if address is None:
        return Whose()
    found = bank.initiation(address.subject_id)
    assert found is not None
    return Whose(found.origin.language, tpp_name(bank, found.origin.client_id), found.kind.words, found.reason)


def _draw(visit: Visit, ending: Ending, whose: Whose) -> Response:
    to_channel = ending.words == "cosigned" or visit.request.path.startswith("/psu/channel")
    return draw(
        visit,
        visit.language(whose.language),
        "ending",
        status=ending.status,
        kind=whose.kind,
        words=ending.words,
        to_channel=to_channel,
        tpp=whose.tpp,
    )
