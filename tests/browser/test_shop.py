"""The demo shop in Chromium, light and dark, wide and on a phone: bought, signed, settled, and accounts looked at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser.shopping import standing
from tests.browser.watched import Watched
from tests.tpp import Tpp

WIDE: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 360, "height": 740}
# What axe is asked for, as it is slow: names, roles and order once, colours in both schemes.
ALL: dict[str, object] = {"resultTypes": ["violations"]}
COLOURS = ALL | {"runOnly": ["color-contrast"]}
Look = tuple[ViewportSize, Literal["light", "dark"], dict[str, object] | None]
LOOKS: tuple[Look, ...] = ((WIDE, "light", ALL), (WIDE, "dark", COLOURS), (PHONE, "light", None), (PHONE, "dark", None))


@dataclass
class Tour(Watched):
    """The shop."""

    home: str
    bank: str

    def look(self, heading: str) -> None:
        """Nothing stands outside the screen, wide or narrow; names, roles, order and contrast suit all."""
        expect(self.page.locator("h1")).to_have_text(heading)
        for size, scheme, asked in LOOKS:
            self.page.set_viewport_size(size)
            self.page.emulate_media(color_scheme=scheme)
            self.demand_fits()
            tour = self.page.locator(".tour").bounding_box()
            assert tour is None or size is WIDE or tour["height"] <= size["height"] / 3, "the tour leaves room"
            if asked is not None:
                self.demand_usable(asked)

    def press(self, name: str) -> None:
        """By keyboard."""
        button = self.page.get_by_role("button", name=name)
        button.focus()
        self.page.keyboard.press("Enter")

    def go(self) -> None:
        self.page.locator("main :is(.go, .primary)").first.click()

    def log_in(self, customer: str) -> None:
        self.page.locator(f"input[value={customer}]").check()
        self.go()

    def choose(self) -> None:
        """Every account that may be chosen, or the first."""
        boxes = self.page.locator("input[name=account]")
        for place in range(boxes.count() if boxes.first.get_attribute("type") == "checkbox" else 1):
            boxes.nth(place).check()
        self.go()

    def sign(self) -> None:
        """From the bank's review back to the shop."""
        self.go()
        self.page.fill("#code", self.page.locator("#shown").inner_text())
        self.go()
        self.page.wait_for_url(f"{self.home}/**")

    def demand_quiet(self) -> None:
        self.demand_nobody_but(f"{self.home}/", f"{self.bank}/psu/")


@pytest.fixture
def home(bank: str) -> Iterator[str]:
    with standing(bank) as address:
        yield address


@pytest.fixture(params=[True, False], ids=["with scripts", "without"])
def tour(request: pytest.FixtureRequest, chromium: Browser, bank: str, home: str) -> Iterator[Tour]:
    context = chromium.new_context(viewport=WIDE, locale="en-GB", java_script_enabled=request.param)
    yield Tour(context.new_page(), home, bank)
    context.close()


def findings(tpp: Tpp) -> list[str]:
    return [row["rule"] for row in tpp.control("GET", "/referee").get_json()["findings"]]


@pytest.mark.parametrize("tour", [True], indirect=True, ids=["with scripts"])
def test_a_customer_buys_and_looks_at_accounts(tour: Tour, tpp: Tpp) -> None:
    page = tour.page
    page.goto(tour.home)
    tour.look("Tea, paper and small comforts")
    for name in ("Stoneware mug", "Heather honey"):
        tour.press(f"Add to basket: {name}")
        expect(page.get_by_role("status")).to_have_text(f"{name} lies in your basket.")
    page.get_by_role("link", name="Basket").click()
    page.get_by_text("Choose the account already here").click()
    tour.look("Your basket")
    tour.press("Pay € 25.40")
    page.wait_for_url(f"{tour.bank}/psu/**")
    assert page.locator("html").get_attribute("lang") == "fr"
    page.goto(f"{tour.home}/orders")
    tour.look("Your orders")
    page.locator(".list a").click()
    number = page.locator("h1").inner_text()
    expect(page.locator("#state h2")).to_have_text("Waiting for your signature")
    tour.look(number)
    tour.go()
    tour.log_in("alice")
    tour.choose()
    tour.sign()
    expect(page.locator("#state h2")).to_have_text("Signed, and not settled yet")
    tour.look(number)
    tpp.advance("1m")
    expect(page.locator("#state h2")).to_have_text("Paid")  # by the page's own script
    tour.look(number)
    tour.press("Send it back for a refund")
    expect(page.locator("#state h2")).to_have_text("Refunded")
    tour.look(number)

    page.get_by_role("navigation", name="Shop").get_by_role("link", name="Accounts").click()
    tour.look("See your accounts here")
    tour.go()
    tour.log_in("alice")
    tour.choose()
    tour.sign()
    tour.look("Your accounts")
    page.get_by_role("link", name="Current account").click()
    expect(page.locator("tbody tr").first).to_contain_text("Marloquin")
    tour.look("Current account")
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newer")).to_be_visible()
    tour.press("+ 91 days at the bank")
    expect(page.get_by_role("status")).to_have_text("91 days went by at the bank.")
    tour.look("Current account")
    tour.press("Authenticate at your bank")
    tour.log_in("alice")
    tour.sign()
    page.get_by_role("link", name="A year").click()
    expect(page.locator("tbody tr").first).to_contain_text("Marloquin")
    expect(page.locator(".tour .next")).to_have_text("Open the console")
    page.get_by_role("navigation", name="Shop").get_by_role("link", name="Accounts").click()
    tour.press("Disconnect")
    expect(page.get_by_role("status")).to_contain_text("We have forgotten your accounts")
    tour.demand_quiet()
    assert findings(tpp) == []


@pytest.mark.parametrize("tour", [True], indirect=True, ids=["with scripts"])
def test_the_switch_changes_shop_card_and_bank(tour: Tour, tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", screens_in_english="on")
    page = tour.page
    page.goto(tour.home)
    for name, title, card, bank in (
        ("Français", "Thé, papier et petites douceurs", "Fiche du présentateur", "fr"),
        ("Nederlands", "Thee, papier en kleine geneugten", "Fiche voor wie presenteert", "nl"),
        ("English", "Tea, paper and small comforts", "Presenter’s card", "en"),
    ):
        tour.press(name)
        tour.look(title)
        page.goto(f"{tour.home}/demo/card")
        tour.look(card)
        page.goto(f"{tour.home}/accounts")
        tour.go()
        page.wait_for_url("**/psu/**")
        assert page.locator("html").get_attribute("lang") == bank
        page.goto(tour.home)
    tour.demand_quiet()


@pytest.mark.parametrize("tour", [False], indirect=True, ids=["without"])
def test_without_scripts_the_order_still_tells_when_it_is_paid(tour: Tour, tpp: Tpp) -> None:
    page = tour.page
    page.goto(tour.home)
    tour.press("Add to basket: Wool blanket")
    page.get_by_role("link", name="Basket").click()
    with page.expect_request(lambda request: "/psu/sign/" in request.url) as sent:
        tour.press("Pay € 64.00")
    page.wait_for_url("**/psu/sign/**")  # one journey ends before the next begins
    page.goto(tpp.control("POST", "/psu/approve", address=sent.value.url, customer="alice").get_json()["redirect"])
    expect(page.locator("#state h2")).to_have_text("Signed, and not settled yet")
    tpp.advance("1m")
    expect(page.locator("#state h2")).to_have_text("Paid")
    tour.demand_quiet()


@pytest.mark.parametrize("tour", [False], indirect=True, ids=["without"])
def test_a_browser_that_comes_back_twice_ends_at_its_order(tour: Tour, tpp: Tpp) -> None:
    """Once in a frame of the bank's page and once by itself; one code is exchanged."""
    ways = {"callback_arrival": "twice", "callback_parameters": "more", "callback_encoding": "percent"}
    assert tpp.control("PATCH", "/settings", variants=ways).status_code == 200
    page = tour.page
    page.goto(tour.home)
    tour.press("Add to basket: Stoneware mug")
    page.get_by_role("link", name="Basket").click()
    tour.press("Pay € 18.00")
    tour.log_in("alice")
    tour.choose()
    tour.sign()
    expect(page.locator("#state h2")).to_have_text("Signed, and not settled yet")
    assert len([url for url in tour.asked if url.startswith(f"{tour.home}/callback?")]) == 2
    assert [row["operation"] for row in tpp.listed("requests")].count("token") == 1


@pytest.mark.parametrize("tour", [True], indirect=True, ids=["with scripts"])
def test_what_goes_wrong_has_pages_too(tour: Tour, tpp: Tpp) -> None:
    page = tour.page
    page.goto(f"{tour.home}/nowhere")
    tour.look("There is nothing here")
    page.goto(f"{tour.home}/callback?code=x&state=y")
    tour.look("This return is not yours")
    page.goto(f"{tour.home}/accounts")
    tpp.control("POST", "/faults", when={"operation": "consent_addresses"}, answer={"status": 503, "retry_after": 7})
    tour.go()
    tour.look("The bank is busy")
    assert "Try again in 7 seconds" in page.locator("main").inner_text()
    assert all("the server responded with a status of" in text for text in tour.complaints)  # these were no good
