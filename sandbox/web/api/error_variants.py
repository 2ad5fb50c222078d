"""How a world's axes change a refusal: its status, its code, its word and its text (contract/axes_headers)."""

from datetime import timedelta
from functools import cache

from werkzeug.http import http_date

from sandbox.contract.errors import Error, Refusal, Row
from sandbox.web.api.error_words import WORDS
from sandbox.web.api.negotiation import languages_asked, screen_language
from sandbox.world.world import World

# The axis that decides a status, its value, and the status.
STATUSES = {Error.FUNDS_MISSING: "insufficient_funds", Error.CONSENT_ENDED: "consent_gone"}


@cache
def other_codes() -> dict[str, str]:
    """Another table of codes: as many, in the order of the catalogue."""
    codes = dict.fromkeys(error.value.code for error in Error)
    return {code: f"E{number:02d}" for number, code in enumerate(codes, 1)}


def varied(world: World, refusal: Refusal, accept_language: str) -> tuple[Row, str]:
    """The row of a refusal and its text, as this bank gives them."""
    row, text = refusal.error.value, refusal.text
    if refusal.error in STATUSES:
        row = row._replace(status=int(world.variant(STATUSES[refusal.error])))
    if world.variant("error_description") == "callers_language":
        text = in_language(refusal, accept_language) or text
    if world.variant("error_codes") == "other":
        row = row._replace(code=other_codes()[row.code])
    if world.variant("error_words") == "lower":
        row = row._replace(error=row.error.lower())
    return row, text


def in_language(refusal: Refusal, accept_language: str) -> str | None:
    """A sentence in French or Dutch that names the input at fault; None for other languages."""
    language = screen_language(languages_asked(accept_language))
    if language is None:
        return None
    named = refusal.facts.get("input")
    sentence = WORDS[refusal.error.value.error][language == "nl"]
    return f"{sentence} ({named})" if named else sentence


def retry_after(world: World, seconds: int) -> str | None:
    """What Retry-After says; None leaves it away."""
    match world.variant("retry_after"):
        case "date":
            return http_date(world.ask(lambda bank: bank.clock.now) + timedelta(seconds=seconds))
        case "absent":
            return None
        case _:
            return str(seconds)
