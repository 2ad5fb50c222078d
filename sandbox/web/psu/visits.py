"""A visit: whose session a browser holds, in which language, the proof that a form is ours, and the pages drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache
from hmac import compare_digest
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from flask import Request, Response
from jinja2 import Environment

from sandbox.banking.iban import grouped
from sandbox.contract.errors import Refusal
from sandbox.contract.languages import PAGES, SCREENS, Language
from sandbox.web.api.headers import languages_asked, screen_language
from sandbox.web.html import pages
from sandbox.web.html.filled import fill_form
from sandbox.web.html.pages import environment_of, page, page_headers, policy_of
from sandbox.web.psu.words import amount, counted, country, long_date, say, say_refusal, spelled
from sandbox.worlds.world import World

WRONG = 422
COOKIE_SECONDS = 3600
QUERY_MARKS = "%&=+,;:@/?!$*-._~"  # of a query as it came; other marks are written as a browser would
CHANNEL_COOKIE = "psu-channel"
PLAIN_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Lost(Exception):
    """No session of ours, or a form that is not of it."""


@dataclass(frozen=True, slots=True)
class SigningVisit:
    """One request of a page."""

    world: World
    request: Request
    path: Mapping[str, str]

    @property
    def root(self) -> str:
        """Where the pages of this world begin."""
        return f"{self.request.script_root}/psu"

    @property
    def chosen(self) -> str | None:
        """The language that the PSU chose on the page; the addresses of forms and links carry it on."""
        asked = self.request.args.get("lang")
        return asked if asked in self.languages else None

    @property
    def languages(self) -> Mapping[str, Language]:
        """Those in which this world's pages can be read."""
        return PAGES if self.world.decisions.screens_in_english == "on" else SCREENS

    def language(self, initiation: str | None = None, customer: str | None = None) -> str:
        """Chosen on the page, else of the initiation, the browser, the customer; in the end French.

        Where the pages are in English too, a browser that prefers English comes first: nobody else can ask for it.
        """
        browser = screen_language(languages_asked(self.request.headers.get("Accept-Language", "")), self.languages)
        english = browser if browser not in SCREENS else None
        return self.chosen or english or initiation or browser or customer or next(iter(SCREENS))

    def to(self, path: str, /, **query: str) -> str:
        """The address of another page, in the chosen language."""
        if self.chosen:
            query["lang"] = self.chosen
        return f"{self.root}{path}?{urlencode(query)}" if query else f"{self.root}{path}"

    def in_language(self, code: str, path: str) -> str:
        """The address of the same page in another language. The rest of its query stays: the TPP's state is part of it.

        `path` is where the page is read, if a form was sent to another path; else empty.
        """
        query = quote(self.request.query_string, safe=QUERY_MARKS)
        rest = [part for part in query.split("&") if part and part.partition("=")[0] != "lang"]
        return f"{self.root + path if path else ''}?{'&'.join([*rest, f'lang={code}'])}"

    @property
    def guards(self) -> dict[str, Any]:
        """Of a cookie: for this world's own pages; no script reads it."""
        return {"path": self.root, "secure": self.request.is_secure, "httponly": True, "samesite": "Lax"}

    def session_id(self, cookie: str) -> str:
        """The session that the browser holds, whether or not the bank knows it."""
        return self.request.cookies.get(cookie, "")

    def form(self, cookie: str) -> tuple[str, Mapping[str, str]]:
        """The session and what was sent under it; a form without the session's own proof is not ours."""
        session_id = self.session_id(cookie)
        form = self.request.form
        if not session_id or not compare_digest(form.get("proof", "").encode(), proof_of(session_id).encode()):
            raise Lost
        return session_id, form


def go(address: str) -> Response:
    return Response(status=303, headers={"Location": address})


def address_cookie(token: str) -> str:
    """One per address, so that two tabs at two addresses do not meet."""
    return f"psu-{token[:16]}"


def proof_of(session_id: str) -> str:
    return pages.proof_of(session_id, "a form of the bank")


def keep(visit: SigningVisit, response: Response, cookie: str, session_id: str) -> Response:
    """Gives the browser its session. Browsers go by Max-Age; Expires is the bank's time, as all its times."""
    expires = visit.world.ask(lambda bank: bank.clock.now) + timedelta(seconds=COOKIE_SECONDS)
    response.set_cookie(cookie, session_id, COOKIE_SECONDS, expires, **visit.guards)
    return response


def form_targets(callback: str) -> str:
    """Where a form may lead in the end, for the policy that browsers hold its redirections to.

    A callback on the machine itself often hands on to another port there. The policy's syntax has no IPv6.
    """
    parts = urlsplit(callback)
    host = (parts.hostname or "").lower()
    if host in LOOPBACK:
        return f"{parts.scheme}:" if ":" in host else f"{parts.scheme}://127.0.0.1:* {parts.scheme}://localhost:*"
    if host and set(host) <= PLAIN_HOST:
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
    return f"{parts.scheme}:"


@cache
def templates() -> Environment:
    return environment_of("sandbox.web.psu")


def draw(
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
    """A page in one language, with what was wrong with the form before it.

    `forms`: where its own may lead besides; `path`: where the page is read, if the form was sent to another path.
    """
    text = (
        templates()
        .get_template(f"{template}.html")
        .render(
            facts,
            language=language,
            languages=[(code, row.name, visit.in_language(code, path)) for code, row in visit.languages.items()],
            proof=proof_of(session_id) if session_id else "",
            say=lambda key, **facts: say(language, key, kind, **facts),
            spelled=lambda number: spelled(language, number),
            amount=lambda money: amount(language, money),
            account=grouped,
            day=lambda date: long_date(language, date),
            counted=lambda key, number: counted(language, key, number),
            to=visit.to,
            root=visit.root,
            problem=wording(language, wrong),
        )
    )
    if wrong and visit.request.method == "POST":
        text = fill_form(text, visit.request.script_root + visit.request.path, visit.request.form)
    return page(text, headers(forms), status=WRONG if wrong else status, language=language)


def wording(language: str, wrong: str | Refusal) -> str:
    """Why a form was not taken: a sentence of the catalogue, or the bank's no."""
    if isinstance(wrong, str):
        return say(language, wrong) if wrong else ""
    facts = {"country": country(language, str(wrong.facts["country"]))} if "country" in wrong.facts else {}
    return say_refusal(language, wrong, **facts)


@lru_cache(maxsize=64)
def headers(forms: str = "") -> dict[str, str]:
    """`forms`: where a form may lead besides this bank. A TPP may have opened the page in a window of its own."""
    policy = policy_of(f"'self' {forms}".strip(), style="'self'", img="'self'", script="'self'")
    return page_headers(policy, opener="unsafe-none")
