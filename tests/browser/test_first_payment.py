"""A first payment by what the screen says alone, from the console to its settlement; and the documentation, for all."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.watched import Watched
from tests.tpp import Tpp

PHONE, WIDE = {"width": 390, "height": 800}, {"width": 1280, "height": 860}


@dataclass
class Visit(Watched):
    bank: str

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name).first.click()


@pytest.fixture(params=[("light", WIDE), ("dark", PHONE)], ids=["light", "dark-phone"])
def visit(request: pytest.FixtureRequest, chromium: Browser, bank: str) -> Iterator[Visit]:
    scheme, size = request.param
    context = chromium.new_context(color_scheme=scheme, viewport=size)
    yield Visit(context.new_page(), bank)
    context.close()


def test_a_first_payment_is_settled_without_copying_anything(visit: Visit) -> None:
    page = visit.page
    page.goto(visit.bank)
    page.get_by_role("link", name="Make a payment").click()
    visit.demand_usable()
    visit.press("Initiate the payment")
    visit.demand_usable()
    page.get_by_role("link", name="Sign as the customer").click()
    page.locator("input[value=alice]").check()
    page.locator("button.primary").click()
    page.locator("input[name=account]").first.check()
    page.locator("button.primary").click()
    page.locator("a.primary").click()
    page.fill("#code", page.locator("#shown").inner_text())
    page.locator("button.primary").click()
    expect(page.get_by_role("heading", name="The customer is back")).to_be_visible()
    visit.demand_usable()
    visit.demand_fits()
    visit.press("Exchange the code for tokens")
    visit.press("Read the details")
    expect(page.locator("pre.body")).to_contain_text("psu_name")
    visit.press("Wait until it is ACSC")
    page.goto(f"{visit.bank}/_sandbox/console/payments")
    expect(page.locator("tbody .badge")).to_have_text("ACSC")
    visit.demand_nobody_but(visit.bank)


def test_the_documentation_is_good_for_all_and_its_search_finds(visit: Visit, tpp: Tpp) -> None:
    page = visit.page
    page.goto(f"{visit.bank}/_sandbox/docs/first-payment")
    visit.demand_fits()
    visit.demand_usable()
    page.locator(".tab-list label", has_text="JavaScript").first.click()
    expect(page.get_by_text("const bank =")).to_be_visible()
    expect(page.get_by_text("const exchanged =")).to_be_visible()  # the choice holds for each sample
    page.reload()
    expect(page.get_by_text("const bank =")).to_be_visible()  # and for the next page
    page.keyboard.press("Tab")
    page.get_by_role("radio", name="JavaScript").first.press("ArrowLeft")
    expect(page.get_by_role("radio", name="Python", checked=True).first).to_be_focused()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").locator("visible=true").first.click()
    expect(page.locator(".toast")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith("from sandbox.client import Client")
    page.fill("#q", "control sum of a bulk 61m")
    expect(page.get_by_text("Nothing found.")).to_be_visible()
    page.fill("#q", "exactly one of IBAN and BBAN")
    expect(page.locator("#found a").first).to_have_text("Choice 5: Single payments")
    page.fill("#q", "well-known")
    page.locator("#found a").first.click()
    expect(page.get_by_role("heading", name="Well-known values")).to_be_visible()
    visit.demand_usable()
    visit.demand_fits()
    visit.demand_nobody_but(visit.bank)
