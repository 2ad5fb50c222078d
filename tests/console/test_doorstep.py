"""A browser at the bare address is led to the console; whoever asks for what the bank speaks meets the bank."""

import pytest
from flask import Flask

from tests.tpp import Tpp

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
PICTURE = "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8"


@pytest.mark.parametrize(("path", "accept"), [("/", BROWSER), ("/favicon.ico", PICTURE)])
def test_a_browser_is_led_on_and_leaves_no_call_behind(app: Flask, tpp: Tpp, path: str, accept: str) -> None:
    reply = tpp.http.get(path, headers={"Accept": accept})
    assert reply.status_code == 302 and tpp.http.get(reply.location).status_code == 200
    assert tpp.listed("requests") == []


@pytest.mark.parametrize("prefix", ["", "/worlds/other"])
@pytest.mark.parametrize("path", ["/_sandbox/console", "/_sandbox/console/"])
def test_the_address_above_all_pages_leads_to_the_overview_of_its_world(tpp: Tpp, prefix: str, path: str) -> None:
    reply = tpp.http.get(prefix + path, headers={"Accept": BROWSER}, follow_redirects=True)
    assert (reply.status_code, reply.request.path) == (200, f"{prefix}/_sandbox/")


@pytest.mark.parametrize("path", ["/", "/favicon.ico"])
@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/vnd.service.api+json; version=3"])
def test_a_program_hears_the_banks_404(tpp: Tpp, path: str, accept: str | None) -> None:
    reply = tpp.http.get(path, headers={"Accept": accept} if accept else {})
    assert (reply.status_code, reply.get_json()["error"]) == (404, "NOT_FOUND")
    assert reply.headers["Response-ID"]


@pytest.mark.parametrize("method", ["POST", "DELETE", "HEAD"])
def test_only_looking_is_led_on(tpp: Tpp, method: str) -> None:
    assert tpp.http.open("/", method=method, headers={"Accept": BROWSER}).status_code == 404
