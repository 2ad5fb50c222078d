"""A real browser, the bank on a port, and a TPP's callback.

Where Chromium is missing these tests are reported as not run; with BROWSER_REQUIRED=1 that is a failure.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from tests.browser.visit import Visit
from tests.tpp import Tpp

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PageOf = Callable[..., Page]
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 860}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        assert os.environ.get("BROWSER_REQUIRED") != "1", "a browser is required, and there is no chromium"
        pytest.skip("not run: there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
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


class Device:
    """A context of the browser. Tests take it one after the other, as a new context for each costs a second."""

    def __init__(self, chromium: Browser, options: dict[str, Any]) -> None:
        self.context = chromium.new_context(**options)
        self._hosts: set[str] = set()
        self.context.on("request", lambda request: self._hosts.add(urlsplit(request.url).netloc))

    def open(self) -> Page:
        return self.context.new_page()

    def forget(self) -> None:
        """Makes it as it was when it was new. A later bank may have the port of this one."""
        page, *others = self.context.pages or [self.context.new_page()]
        for other in others:
            other.close()
        page.goto("about:blank")
        line = self.context.new_cdp_session(page)
        line.send("Network.clearBrowserCache")
        for host in self._hosts - {""}:
            line.send("Storage.clearDataForOrigin", {"origin": f"http://{host}", "storageTypes": "all"})
        self._hosts.clear()
        self.context.clear_cookies()
        self.context.clear_permissions()
        page.close()


@pytest.fixture(scope="session")
def devices() -> dict[str, list[Device]]:
    """Those that no test has now, by their options."""
    return {}


@pytest.fixture
def page_of(chromium: Browser, devices: dict[str, list[Device]]) -> Iterator[PageOf]:
    """Opens a page with options of a context. Two pages of a test share nothing."""
    taken = []

    def opened(**options: Any) -> Page:
        free = devices.setdefault(repr(sorted(options.items())), [])
        device = free.pop() if free else Device(chromium, options)
        taken.append((free, device))
        return device.open()

    yield opened
    for free, device in taken:
        device.forget()
        free.append(device)


@pytest.fixture(params=[PHONE, DESKTOP], ids=["phone", "desktop"])
def visit(request: pytest.FixtureRequest, page_of: PageOf, bank: str, callback: str, tpp: Tpp) -> Visit:
    return Visit(page_of(viewport=request.param), bank, callback, tpp)
