"""The routes of the bank's own screens, and the pages that say why a visit ends (choice 1, choice 5)."""

from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from sandbox.bank.bulk_records import Part
from sandbox.bank.state import Bank
from sandbox.errors import Error, Refusal
from sandbox.pages import channel, sign
from sandbox.pages.drawing import draw, guard
from sandbox.pages.sights import tpp_name
from sandbox.pages.visits import Lost, Visit
from sandbox.rules.lifecycle import Status
from sandbox.wire.app import here
from sandbox.worlds import Worlds

FORM_BYTES_MAX = 20_000
FILES = {"bank.css": "text/css;charset=utf-8", "mark.svg": "image/svg+xml"}


def nowhere(visit: Visit) -> Response:
    raise Refusal(Error.NOT_FOUND, input="page")


def see_file(visit: Visit) -> Response:
    """The pages' own files; a browser asks each time whether it still has the newest."""
    name = visit.path["name"]
    if name not in FILES:
        raise Refusal(Error.NOT_FOUND, input="file")
    response = Response((files("sandbox.pages") / "static" / name).read_bytes(), content_type=FILES[name])
    response.headers["Cache-Control"] = "no-cache"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.add_etag()
    response.make_conditional(visit.request)
    return response


# Method, path below /psu, what it does.
PAGES: tuple[tuple[str, str, Callable[[Visit], Response]], ...] = (
    ("GET", "/sign/<token>", sign.open_address),
    ("GET", "/sign/<token>/<step>", sign.see_step),
    ("POST", "/sign/<token>/<step>", sign.take_step),
    ("GET", "/channel", channel.open_channel),
    ("GET", "/channel/login", channel.open_channel),
    ("POST", "/channel/login", channel.log_in),
    ("POST", "/channel/leave", channel.log_out),
    ("GET", "/channel/payments/<payment_id>", channel.see_payment),
    ("POST", "/channel/payments/<payment_id>", channel.sign_payment),
    ("GET", "/static/<name>", see_file),
    ("GET", "/", nowhere),
    ("GET", "/<path:rest>", nowhere),
    ("POST", "/<path:rest>", nowhere),
)


class Ending(NamedTuple):
    """A page that ends a visit: its words and its number."""

    words: str
    status: int


def route(app: Flask, worlds: Worlds) -> None:
    for method, path, view in PAGES:
        add(app, worlds, method, f"/psu{path}", view)


def add(app: Flask, worlds: Worlds, method: str, path: str, view: Callable[[Visit], Response]) -> None:
    name = f"page {method} {path}"
    app.add_url_rule(path, name, endpoint_of(view, worlds), methods=[method], provide_automatic_options=False)


def endpoint_of(view: Callable[[Visit], Response], worlds: Worlds) -> Callable[..., Response]:
    def endpoint(**path: str) -> Response:
        request.max_content_length = FORM_BYTES_MAX
        visit = Visit(here(worlds), request, path)
        try:
            response = view(visit)
        except Lost:
            response = end(visit, Ending("lost", 403))
        except Refusal as refusal:
            response = end(visit, ending_of(visit, refusal))
        except HTTPException as refused:
            response = end(visit, Ending("failed", refused.code or 400))
        if response.status_code == 303:
            guard(response)
        return response

    return endpoint


def ending_of(visit: Visit, refusal: Refusal) -> Ending:
    """Which page says this no."""
    match refusal.error:
        case Error.ADDRESS_OUTDATED:
            return Ending("outdated", 410)
        case Error.ALREADY_OVER if refusal.facts["status"] in (Status.CANC, Status.RJCT):
            return Ending("cancelled", 409)
        case Error.ALREADY_OVER if refusal.facts["status"] == Status.PATC:
            return Ending("cosigned", 409)
        case Error.ALREADY_OVER:
            return Ending("signed", 409)
        case Error.NOT_FOUND if refusal.facts["input"] == "session":
            return Ending("lost", 403)
        case Error.NOT_FOUND:
            return Ending("unknown", 404)
        case _:
            return Ending("failed", refusal.error.value.status)


def end(visit: Visit, ending: Ending) -> Response:
    origin_language, tpp = visit.world.ask(whose, visit.path.get("token", ""))
    language = visit.language(origin_language)
    to_channel = ending.words == "cosigned" or visit.request.path.startswith("/psu/channel")
    return draw(
        visit, language, "ending", status=ending.status, words=ending.words, to_channel=to_channel, tpp=tpp or "TPP"
    )


def whose(bank: Bank, token: str) -> tuple[str | None, str | None]:
    """The language and the TPP of an address, also of one that is over."""
    address = bank.sca_addresses.get(token)
    if address is None:
        return None, None
    payment = bank.subject(address.subject_id)
    assert not isinstance(payment, Part)
    return payment.origin.language, tpp_name(bank, payment)
