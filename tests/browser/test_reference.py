"""The reference in a real browser: nothing from outside, nothing on the console, and a call that is tried out."""

import os
from collections.abc import Iterator
from threading import Thread

import pytest
from flask import Flask
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from werkzeug.serving import make_server

from tests.browser.watched import Watched

expect.set_options(timeout=20_000)  # the machine may be busy
# The colours of text and of panels that no token of the kit has.
UNLIKE_THE_KIT = """() => {
    const probe = document.body.appendChild(document.createElement("i"));
    const resolve = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
    const names = ["ink", "quiet", "accent", "accent-ink", "good", "wait", "bad", "gone", "move"];
    names.push("paper", "ground", "tint");
    const tints = ["good", "wait", "bad", "gone", "move"].map((name) => `${name}-tint`);
    const known = new Set([...names, ...tints].map(resolve).concat("rgba(0, 0, 0, 0)"));
    probe.remove();
    const all = [...document.querySelectorAll("#trial *")];
    const shown = all.filter((one) => one.checkVisibility() && one.textContent.trim());
    const wrong = new Set();
    for (const one of shown) {
        const style = getComputedStyle(one);
        for (const value of [style.color, style.backgroundColor]) {
            if (!known.has(value)) wrong.add(`${one.tagName}.${one.className}: ${value}`);
        }
    }
    return [...wrong];
}"""
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture
def bank(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Watch:
    """A page, with what it asked for and what it complained of."""

    def __init__(self, page: Page, bank: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.outside: list[str] = []
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "request",
            lambda asked: None if asked.url.startswith((bank, "data:")) else self.outside.append(asked.url),
        )

    def hear(self, line: ConsoleMessage) -> None:
        if line.type in ("error", "warning"):
            self.complaints.append(line.text)

    def is_clean(self) -> bool:
        assert (self.complaints, self.outside) == ([], [])
        return True


@pytest.fixture(params=[("light", WIDE), ("dark", PHONE)], ids=["light-wide", "dark-phone"])
def watch(chromium: Browser, bank: str, request: pytest.FixtureRequest) -> Iterator[Watch]:
    scheme, size = request.param
    context = chromium.new_context(color_scheme=scheme, viewport=size)
    context.set_default_timeout(20_000)
    yield Watch(context.new_page(), bank)
    context.close()


def keep(page: Page, name: str) -> None:
    """A picture for whoever asks for it."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        size = page.viewport_size
        assert size is not None
        page.screenshot(path=f"{folder}/{name}-{size['width']}.png")


def test_the_page_that_explains(watch: Watch, bank: str) -> None:
    watch.page.goto(f"{bank}/_sandbox/docs/reference")
    keep(watch.page, "docs")
    watch.page.get_by_role("navigation", name="This page").get_by_role("link", name="Errors").click()
    expect(watch.page.get_by_role("heading", name="Errors", exact=True)).to_be_in_viewport()
    keep(watch.page, "docs-errors")
    watch.page.locator("a[href='#choice-5']").first.click()
    expect(watch.page.locator("#choice-5 h3")).to_be_in_viewport()
    keep(watch.page, "docs-choice")
    wider = watch.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    assert not wider, "the page is wider than the screen"
    assert watch.is_clean()


def test_the_first_page_searches_folds_its_menu_and_leads_old_links_on(watch: Watch, bank: str) -> None:
    page = watch.page
    page.goto(f"{bank}/_sandbox/docs")
    Watched(page).demand_usable()
    menu = page.get_by_role("navigation", name="Pages")
    if page.viewport_size == PHONE:
        expect(menu).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
    expect(menu.get_by_role("link", name="The first payment")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("bulk file")
    expect(page.locator("#found a").first).to_have_text("Send a bulk file")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Send a bulk file")
    page.get_by_role("link", name="Next").click()
    page.goto(f"{bank}/_sandbox/docs#choice-5")
    expect(page.locator("#choice-5 h3")).to_be_in_viewport()
    assert page.url == f"{bank}/_sandbox/docs/reference#choice-5"
    assert watch.is_clean()


def test_swagger_ui_tries_out_a_call_of_a_world(watch: Watch, bank: str) -> None:
    page = watch.page
    page.goto(f"{bank}/worlds/b/_sandbox/docs/try")
    operation = page.locator("[id='operations-Single_payments-payment_initiation_sepa_credit_transfers']")
    expect(operation).to_be_visible()
    keep(page, "try")
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    keep(page, "try-open")
    Watched(page).demand_usable()
    with page.expect_response(lambda reply: reply.url.endswith("/payments/sepa-credit-transfers")) as heard:
        operation.get_by_role("button", name="Execute").click()
    sent = heard.value.request
    assert sent.url == f"{bank}/worlds/b/payments/sepa-credit-transfers"
    assert sent.headers["accept"] == "application/vnd.service.api+json; version=3"
    assert heard.value.status == 201, heard.value.text()
    expect(operation.locator(".live-responses-table")).to_contain_text("RCVD")
    operation.locator(".live-responses-table").scroll_into_view_if_needed()
    keep(page, "try-done")
    assert watch.is_clean()


def test_swagger_ui_has_the_looks_of_the_kit_and_fits_a_phone(watch: Watch, bank: str) -> None:
    page = watch.page
    page.goto(f"{bank}/_sandbox/docs/try")
    operation = page.locator("[id='operations-Single_payments-payment_initiation_sepa_credit_transfers']")
    operation.locator(".opblock-summary").click()
    expect(operation.locator(".responses-table")).to_be_visible()
    unlike = page.evaluate(UNLIKE_THE_KIT)
    assert unlike == []
    body = operation.locator(".opblock-body")
    assert body.evaluate("(one) => one.scrollWidth <= one.clientWidth"), "parameters or replies are cut"
    name, field = (
        operation.locator(f".parameters-col_{part}").nth(1).bounding_box() for part in ("name", "description")
    )
    assert name and field
    assert (field["y"] >= name["y"] + name["height"] - 1) == (page.viewport_size == PHONE)


def test_a_cancellation_is_tried_out_with_its_version(watch: Watch, bank: str) -> None:
    page = watch.page
    page.goto(f"{bank}/_sandbox/docs/try")
    operation = page.locator("[id='operations-Bulk_files-bulk_cancellation']")
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.locator("tr[data-param-name='payment-file-id'] input").fill("nothing-here")
    with page.expect_response(lambda reply: "/nothing-here" in reply.url) as heard:
        operation.get_by_role("button", name="Execute").click()
    assert heard.value.request.headers["accept"] == "application/vnd.service.api+json; version=2"
    assert heard.value.status == 404
    assert watch.outside == []


def test_the_controls_are_tried_out_too(watch: Watch, bank: str) -> None:
    watch.page.goto(f"{bank}/_sandbox/docs/try?controls")
    expect(watch.page.get_by_text("Moves the clock").first).to_be_visible()
    keep(watch.page, "try-controls")
    assert watch.is_clean()
