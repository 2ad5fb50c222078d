"""Clients whose credentials are hard to carry in HTTP Basic."""

from tests.tpp import Tpp

PRINTABLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))
HARD = {
    "every_printable-1.tpp": PRINTABLE,
    "escaped-tpp": "a%41%2Bb%3a%zz%",  # reads as another secret when form-decoded
    "plus-tpp": "+plus+and%20blank+",
    "colon-tpp": ":colon:colon:",
    "utf-8-tpp": "%ff%C3%28-secret",  # no UTF-8 when form-decoded
}


def register(tpp: Tpp, client_id: str, secret: str | None = None) -> str:
    """A client of both roles; what comes back is its secret."""
    known = HARD[client_id] if secret is None else secret
    uris = ["http://127.0.0.1:*/*"]
    reply = tpp.control(
        "POST", "/clients", client_id=client_id, secret=known, name=client_id, roles=["PIS", "AIS"], redirect_uris=uris
    )
    assert reply.status_code == 201, reply.text
    return known
