"""A word of the query that a page does not know is ignored, whatever it is called."""

from keyword import kwlist

import pytest
from flask import Flask

from tests.pki.spelling import routes
from tests.tpp import Tpp

# Names of parameters in the program, of attributes, and of what pages know, with values that they do not expect.
WORDS = (
    "path", "self", "query", "visit", "request", "world", "worlds", "name", "number", "page", "more", "notice", "back",
    "after", "from", "until", "status", "q", "range", "currency", "rule", "text", "client", "operation", "lang",
    "state", "code", "v", "news", "answered", "__class__", "", "%00", "a b", "é", *kwlist,
)  # fmt: skip
VALUES = ("x", "", "-1", "9" * 40, "%00", "%ff", "../..", "<b>")
PSU = ("/channel", "/channel/app", "/sign/x", "/consent/x", "/sign/x/accounts")


def pages(app: Flask) -> list[str]:
    found = {f"/_sandbox{path}" for _, method, path in routes(app) if method == "GET"}
    return sorted(found | {f"/psu{path}" for path in PSU})


@pytest.mark.parametrize("value", VALUES)
def test_no_word_of_the_query_breaks_a_page(app: Flask, tpp: Tpp, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "testing", False)  # as it is served
    tpp.initiated()
    query = "&".join(f"{word}={value}&{word}=again" for word in WORDS)
    faults = []
    for path in pages(app):
        reply = tpp.http.get(f"{path}?{query}")
        faults += [(path, reply.text[-500:])] if reply.status_code >= 500 else []
        reply.close()
    assert faults == []


@pytest.mark.parametrize(
    "path", ["/_sandbox/", "/_sandbox/console/payments", "/_sandbox/console/calls", "/_sandbox/callback"]
)
@pytest.mark.parametrize("word", ["path", "self", "unknown"])
def test_a_page_is_shown_as_without_the_word(tpp: Tpp, path: str, word: str) -> None:
    assert tpp.http.get(f"{path}?{word}=x").status_code == tpp.http.get(path).status_code == 200
