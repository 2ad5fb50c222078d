"""Pages out of templates, with the headers that keep them to themselves."""

from functools import cache, lru_cache
from typing import Any

from flask import Response
from jinja2 import Environment

from sandbox.banking.iban import grouped
from sandbox.contract.errors import Refusal
from sandbox.web.html.pages import environment_of, page, page_headers, policy_of
from sandbox.web.psu.visits import Visit, proof_of
from sandbox.web.psu.words import amount, counted, country, long_date, say, say_refusal, spelled

WRONG = 422


@cache
def templates() -> Environment:
    return environment_of("sandbox.web.psu")


def draw(
    visit: Visit,
    language: str,
    template: str,
    *,
    status: int = 200,
    session_id: str = "",
    wrong: str | Refusal = "",
    forms: str = "",
    kind: str = "",
    **facts: Any,
) -> Response:
    """A page in one language, with what was wrong with the form before it; `forms`: where its own may lead besides."""
    text = (
        templates()
        .get_template(f"{template}.html")
        .render(
            facts,
            language=language,
            languages=[(code, row.name) for code, row in visit.languages.items()],
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
