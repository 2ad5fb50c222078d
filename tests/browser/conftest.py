"""A real browser, the bank on a port, and a TPP's callback.

Where Chromium is missing these tests are reported as not run; with BROWSER_REQUIRED=1 that is a failure.
"""

import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from werkzeug.serving import make_server

from tests.browser.chromium import find_chromium, launch_chromium
from tests.browser.visit import Visit
from tests.tpp import Tpp

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 860}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if find_chromium() is None:
        assert os.environ.get("BROWSER_REQUIRED") != "1", "a browser is required, and there is no chromium"
        pytest.skip("not run: there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()


class Back(BaseHTTPRequestHandler):
    """The TPP's callback: a page that says nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>back</title>')

    def log_message(self, format: str, *args: Any) -> None:
        """A test does not talk."""


@pytest.fixture
def callback() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Back) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/back?own=1"
        server.shutdown()


@pytest.fixture
def bank(app: Flask) -> Iterator[str]:
    """The same bank, on a port."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def context(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport=request.param)
    yield made
    made.close()


@pytest.fixture
def visit(context: BrowserContext, bank: str, callback: str, tpp: Tpp) -> Visit:
    return Visit(context.new_page(), bank, callback, tpp)
