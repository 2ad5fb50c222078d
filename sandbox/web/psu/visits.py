"""A visit, which is one request to the bank's pages: its session, its language, its forms, its reply, and the page that
ends it.

A browser holds a session in a cookie, one cookie for each address. A form carries a proof that only the holder of the
session can know, so another site cannot send the form. `answer` calls the view of a path. A view that cannot go on
raises `SessionLostError` or a Refusal. The reply is then a page that says why, with a link to go on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache
from hmac import compare_digest
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from flask import Request, Response, request
from jinja2 import Environment
from werkzeug.exceptions import HTTPException

from sandbox.bank.state import Bank
from sandbox.banking.iban import group_iban
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import PAGES, SCREENS, Language
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.lazy import load
from sandbox.web.api.app import find_world_of_request
from sandbox.web.api.faults import apply_fault
from sandbox.web.api.headers import choose_screen_language, read_languages
from sandbox.web.html import pages
from sandbox.web.html.filled import fill_form
from sandbox.web.html.pages import (
    make_environment,
    make_page_headers,
    make_page_response,
    read_content,
    serve,
    write_policy,
)
from sandbox.web.psu.signing_pages import find_kind, find_tpp_name, guess_customer
from sandbox.web.psu.words import (
    count,
    name_country,
    say,
    say_refusal,
    spell_number,
    write_amount,
    write_count,
    write_long_date,
)
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World

WRONG = 422
FORM_BYTES_MAX = 20_000
FILES = ("bank.css", "mark.svg", "zelvo.svg", "countdown.js", "wait.js")
WEB = ("http", "https")  # a link of another scheme might run a program
COOKIE_SECONDS = 3600
QUERY_MARKS = "%&=+,;:@/?!$*-._~"  # kept in a query as they came; others are encoded
CHANNEL_COOKIE = "psu-channel"
PLAIN_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class SessionLostError(Exception):
    """Raised if the browser has no session, or if the sent form was made for another session."""


@dataclass(frozen=True, slots=True)
class SigningVisit:
    """One request for a page of the bank."""

    world: World
    request: Request
    path: Mapping[str, str]

    @property
    def root(self) -> str:
        """The path of this world's pages, to which the path of a page is appended."""
        return f"{self.request.script_root}/psu"

    @property
    def chosen(self) -> str | None:
        """The language that the PSU chose on the page. Links and forms carry it in their addresses."""
        code = self.request.args.get("lang")
        return code if code in self.languages else None

    @property
    def languages(self) -> Mapping[str, Language]:
        """The languages of this world's pages."""
        return PAGES if self.world.decisions.screens_in_english == "on" else SCREENS

    def choose_language(self, initiation: str | None = None, customer: str | None = None) -> str:
        """Returns the language of the page. It is the first of these that is known: the PSU's choice on the page,
        English if the browser prefers it and the pages have it, the language of the initiation, that of the browser,
        that of the customer, French. An initiation cannot ask for English."""
        browser = choose_screen_language(
            read_languages(self.request.headers.get("Accept-Language", "")), self.languages
        )
        english = browser if browser not in SCREENS else None
        return self.chosen or english or initiation or browser or customer or next(iter(SCREENS))

    def to(self, path: str, /, **query: str) -> str:
        """Returns the address of another page. The address keeps the language that the PSU chose."""
        if self.chosen:
            query["lang"] = self.chosen
        return f"{self.root}{path}?{urlencode(query)}" if query else f"{self.root}{path}"

    def in_language(self, code: str, path: str) -> str:
        """Returns the address of the shown page in another language, with the rest of the query. `path` is the path of
        the shown page. It is empty if that is the path of the request."""
        query = quote(self.request.query_string, safe=QUERY_MARKS)
        other_parameters = [part for part in query.split("&") if part and part.partition("=")[0] != "lang"]
        return f"{self.root + path if path else ''}?{'&'.join([*other_parameters, f'lang={code}'])}"

    @property
    def guards(self) -> dict[str, Any]:
        """The attributes of a cookie that is sent only to this world's pages and that no script can read."""
        return {"path": self.root, "secure": self.request.is_secure, "httponly": True, "samesite": "Lax"}

    def read_session_id(self, cookie: str) -> str:
        """Returns the session id in the browser's cookie, even if the bank does not know this session."""
        return self.request.cookies.get(cookie, "")

    def read_form(self, cookie: str) -> tuple[str, Mapping[str, str]]:
        """Returns the session id and the sent form. Raises SessionLostError if the form lacks the proof of this
        session."""
        session_id = self.read_session_id(cookie)
        form = self.request.form
        if not session_id or not compare_digest(form.get("proof", "").encode(), compute_proof(session_id).encode()):
            raise SessionLostError
        return session_id, form


def redirect(address: str) -> Response:
    return Response(status=303, headers={"Location": address})


def name_address_cookie(token: str) -> str:
    """Returns the name of the cookie for one address. Each address has its own cookie, so two tabs with two addresses
    have two sessions."""
    return f"psu-{token[:16]}"


def compute_proof(session_id: str) -> str:
    return pages.compute_proof(session_id, "a form of the bank")


def with_session(visit: SigningVisit, response: Response, cookie: str, session_id: str) -> Response:
    """Returns the response with the session's cookie. Browsers obey Max-Age; Expires is in bank time, like all times of
    the bank."""
    expires = visit.world.ask(lambda bank: bank.clock.now) + timedelta(seconds=COOKIE_SECONDS)
    response.set_cookie(cookie, session_id, COOKIE_SECONDS, expires, **visit.guards)
    return response


def find_form_targets(callback: str) -> str:
    """Returns the source that the Content-Security-Policy must allow as target of forms, so that a form may redirect to
    `callback`.

    A callback on a loopback address often redirects to another port of that address, so all its ports are allowed. The
    policy cannot name an IPv6 address, so the whole scheme is allowed for it.
    """
    parts = urlsplit(callback)
    host = (parts.hostname or "").lower()
    if host in LOOPBACK:
        return f"{parts.scheme}:" if ":" in host else f"{parts.scheme}://127.0.0.1:* {parts.scheme}://localhost:*"
    if host and set(host) <= PLAIN_HOST:
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
    return f"{parts.scheme}:"


@cache
def load_templates() -> Environment:
    return make_environment("sandbox.web.psu")


def render(
    visit: SigningVisit,
    language: str,
    template: str,
    *,
    status: int = 200,
    session_id: str = "",
    wrong: str | Refusal = "",
    forms: str = "",
    kind: str = "",
    path: str = "",
    **facts: Any,
) -> Response:
    """Returns a page in one language. If the form of the page was refused, `wrong` is the reason, and the form keeps
    its values. `forms` are further addresses to which the forms of the page may redirect. `path` is the path of the
    page if the request was sent to another path, else empty."""
    text = (
        load_templates()
        .get_template(f"{template}.html")
        .render(
            facts,
            language=language,
            languages=[(code, row.name, visit.in_language(code, path)) for code, row in visit.languages.items()],
            proof=compute_proof(session_id) if session_id else "",
            say=lambda key, **facts: say(language, key, kind, **facts),
            spelled=lambda number: spell_number(language, number),
            amount=lambda money: write_amount(language, money),
            account=group_iban,
            day=lambda date: write_long_date(language, date),
            count=lambda number: count(language, number),
            counted=lambda key, number: write_count(language, key, number),
            to=visit.to,
            root=visit.root,
            problem=describe_problem(language, wrong),
        )
    )
    if wrong and visit.request.method == "POST":
        text = fill_form(text, visit.request.script_root + visit.request.path, visit.request.form)
    return make_page_response(text, make_headers(forms), status=WRONG if wrong else status, language=language)


def describe_problem(language: str, wrong: str | Refusal) -> str:
    """Returns the sentence that says why a form was refused. `wrong` is a key of the catalogue, or a refusal of the
    bank. If it is empty, returns an empty text."""
    if isinstance(wrong, str):
        return say(language, wrong) if wrong else ""
    facts = {"country": name_country(language, str(wrong.facts["country"]))} if "country" in wrong.facts else {}
    if "limit" in wrong.facts:
        facts["limit"] = count(language, int(str(wrong.facts["limit"] or 0)))
    return say_refusal(language, wrong, **facts)


@lru_cache(maxsize=64)
def make_headers(forms: str = "") -> dict[str, str]:
    """Returns the headers of a page. `forms` are addresses outside this bank to which the forms of the page may
    redirect. A TPP may open the page in a window and access that window."""
    policy = write_policy(f"'self' {forms}".strip(), style="'self'", img="'self'", script="'self'", connect="'self'")
    return make_page_headers(policy, opener="unsafe-none")


# How a visit ends


class Ending(NamedTuple):
    """A page that ends a visit. `words` is the part of the catalogue that has its sentences."""

    words: str
    status: int


class AddressFacts(NamedTuple):
    """Facts about a signing or consent address. The bank keeps them after the address expired or was used."""

    language: str | None = None
    tpp: str = "TPP"
    kind: str = ""
    reason: str | None = None
    path: str = ""  # of its pages
    redirect_uri: str = ""


# The ending of an address that is over, by the status of its initiation.
OVER: dict[str, str] = {
    Status.PATC: "cosigned",
    Status.CANC: "cancelled",
    Status.RJCT: "rejected",
    "refused": "cancelled",
}


def render_ending(visit: SigningVisit, cause: Ending | Refusal) -> Response:
    """Returns the page that ends the visit (choice 1, choice 5, choice 8). `cause` is the ending, or a refusal that
    decides the ending. After the refusal UNAVAILABLE, the response has Retry-After."""
    facts = visit.world.ask(read_address_facts, visit.path.get("token", ""))
    ending = find_ending(cause, facts) if isinstance(cause, Refusal) else cause
    page = render(
        visit,
        visit.choose_language(facts.language),
        "ending",
        status=ending.status,
        kind=facts.kind,
        words=ending.words,
        onward=link_onward(visit, ending, facts),
        tpp=facts.tpp,
    )
    if isinstance(cause, Refusal) and cause.error is Error.UNAVAILABLE:
        page.headers["Retry-After"] = str(cause.facts["seconds"])
    return page


def find_ending(refusal: Refusal, facts: AddressFacts) -> Ending:
    match refusal.error:
        case Error.ADDRESS_OUTDATED:
            return Ending("outdated", 410)
        case Error.ALREADY_OVER if facts.reason == Reason.CONTRACT_ENDED.code:
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


def read_address_facts(bank: Bank, token: str) -> AddressFacts:
    consent = bank.consent_addresses.get(token)
    if consent is not None:
        tpp = find_tpp_name(bank, consent.client_id)
        return AddressFacts(consent.language, tpp, find_kind(consent), None, f"/consent/{token}", consent.redirect_uri)
    address = bank.sca_addresses.get(token)
    if address is None:
        return AddressFacts()
    initiation = bank.find_initiation(address.subject_id)
    assert initiation is not None
    tpp, origin = find_tpp_name(bank, initiation.origin.client_id), initiation.origin
    likely = bank.customers.get(guess_customer(bank, initiation) or "")
    language = origin.language or (likely.language if likely else None)
    return AddressFacts(language, tpp, find_kind(initiation), initiation.reason, f"/sign/{token}", origin.redirect_uri)


def link_onward(visit: SigningVisit, ending: Ending, facts: AddressFacts) -> tuple[str, str]:
    """Returns the link on the last page, and the key of its text. On a page of the channel, or if a further signature
    is missing, the link leads to the channel. If the session was lost or the visit failed, it leads to the first page
    of the address, if the visit was at one. In all other cases it leads to the TPP, or to the channel if the TPP has no
    web address. A link to the TPP has no code, error or state, because the callback has already told the outcome."""
    if ending.words == "cosigned" or visit.request.path.startswith("/psu/channel"):
        return visit.to("/channel"), "cosigned.link"
    if ending.words in ("lost", "failed") and facts.path:
        return visit.to(facts.path), "lost.link"
    if urlsplit(facts.redirect_uri).scheme in WEB:
        return facts.redirect_uri, "ending.link"
    return visit.to("/channel"), "channel.title"


def refuse_unknown_page(visit: SigningVisit) -> Response:
    raise Refusal(Error.NOT_FOUND, input="page")


def see_file(visit: SigningVisit) -> Response:
    """Serves a static file of the pages."""
    name = visit.path["name"]
    if name not in FILES:
        raise Refusal(Error.NOT_FOUND, input="file")
    return serve(read_content("sandbox.web.psu", name), name, visit.request)


def answer(worlds: WorldRegistry, name: str, path: dict[str, str]) -> Response:
    """Calls the view `name` with the values in its path, and returns its response. If the view raises a Refusal,
    SessionLostError or an error of the framework, returns the page that ends the visit. Fault rules also apply to these
    pages, but not to their static files."""
    request.max_content_length = FORM_BYTES_MAX
    visit, view = SigningVisit(find_world_of_request(worlds), request, path), load(name)
    fault = None if view is see_file else visit.world.faults.find_for_call("psu_page", None)
    try:
        response: Response = view(visit) if fault is None else apply_fault(fault, lambda: view(visit))
    except SessionLostError:
        response = render_ending(visit, Ending("lost", 403))
    except Refusal as refusal:
        response = render_ending(visit, refusal)
    except HTTPException as refused:
        response = render_ending(visit, Ending("failed", refused.code or 400))
    if response.status_code == 303:
        response.headers.update(make_headers())
    return response
