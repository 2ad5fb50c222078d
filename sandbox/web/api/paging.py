"""The key of a next page: it carries the whole query, and nobody else can make one (choice 8)."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import date

import orjson

from sandbox.bank.mint import Mint
from sandbox.bank.statements import Query
from sandbox.contract.errors import Error, Refusal

SEAL = 16  # bytes


def _sealed(mint: Mint, consent_id: str | None, content: bytes) -> bytes:
    return hmac.digest(mint.key("pages"), f"{consent_id}/".encode() + content, "sha256")[:SEAL]


def write_key(mint: Mint, consent_id: str | None, query: Query) -> str:
    assert query.before is not None
    row = (query.iban, query.currency, query.date_from, query.date_to, query.page_size, *query.before, query.newest)
    content = orjson.dumps(row)
    return _text(_sealed(mint, consent_id, content) + content)


def _text(key: bytes) -> str:
    return urlsafe_b64encode(key).decode().rstrip("=")


def read_key(mint: Mint, consent_id: str | None, iban: str, text: str) -> Query:
    """A forged key, or one of another consent or account, is refused."""
    try:
        given = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise _refused() from None
    seal, content = given[:SEAL], given[SEAL:]
    if _text(given) != text:  # base64 reads past letters that it does not know
        raise _refused()
    if not hmac.compare_digest(seal, _sealed(mint, consent_id, content)):
        raise _refused()
    owner, currency, date_from, date_to, page_size, on, number, newest = orjson.loads(content)
    if owner != iban:
        raise _refused()
    return Query(iban, currency, _day(date_from), _day(date_to), page_size, (date.fromisoformat(on), number), newest)


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _refused() -> Refusal:
    return Refusal(Error.INPUT_INVALID, input="next", why="it is no key of this list")
