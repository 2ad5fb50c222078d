"""A real browser signs in the identity app: in place, and on a second device (service 5.7)."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route

from tests.browser.conftest import PHONE
from tests.browser.visit import Visit
from tests.browser.watched import Watched
from tests.tpp import Tpp

PAGES = {
    "fr": ("Confirmez avec Zelvo", "Confirmez cette demande", "Il vous reste 2 essais."),
    "nl": ("Bevestig met Zelvo", "Bevestig deze aanvraag", "U hebt nog 2 pogingen."),
    "en": ("Confirm with Zelvo", "Confirm this request", "You have 2 attempts left."),
}
SCHEMES = ("light", "dark")


@pytest.fixture(autouse=True)
def _english(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", screens_in_english="on")


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Watched]:
    """A second device."""
    context = chromium.new_context(viewport=PHONE)  # type: ignore[arg-type]
    yield Watched(context.new_page())
    context.close()


def begin(visit: Visit, address: str, customer: str = "alice") -> None:
    """To the last step, at which the customer asks for a number."""
    visit.page.goto(address)
    visit.log_in(customer)
    visit.choose("account")
    visit.page.locator("a.primary").click()
    visit.page.locator("button[value=identity_app]").click()


def demand_good(watched: Watched) -> None:
    watched.demand_fits()
    watched.demand_unclipped()
    for scheme in SCHEMES:
        watched.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        watched.demand_usable()


@pytest.mark.parametrize("language", PAGES)
def test_a_psu_signs_in_place_after_a_wrong_number(language: str, visit: Visit) -> None:
    wait, confirm, wrong = PAGES[language]
    begin(visit, f"{visit.address('fr')}&lang={language}")
    assert visit.heading() == wait
    demand_good(visit)
    number = visit.page.locator("#compare").inner_text()
    visit.page.locator("a.primary").click()
    assert visit.heading() == confirm and "/psu/identity-app/" in visit.page.url
    assert visit.page.locator("html").get_attribute("lang") == language
    demand_good(visit)
    visit.page.locator(f"button[name=number]:not([value='{number}'])").first.click()
    assert wrong in visit.page.get_by_role("alert").inner_text() and visit.heading() == wait
    demand_good(visit)
    visit.page.locator("button.primary").click()
    number = visit.page.locator("#compare").inner_text()
    visit.page.locator("a.primary").click()
    visit.page.locator(f"button[value='{number}']").click()
    assert set(visit.query()) == {"own", "code", "state"}
    assert visit.tpp.listed("payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


def test_a_psu_refuses_in_place(visit: Visit) -> None:
    begin(visit, visit.address("nl"))
    visit.page.locator("a.primary").click()
    visit.page.locator("summary.danger").click()
    visit.page.locator("button.danger").click()
    assert visit.query()["error"] == ["access_denied"]
    visit.demand_quiet()


def test_the_code_is_for_a_second_device_and_not_shown_on_the_phone_itself(visit: Visit) -> None:
    begin(visit, visit.address("nl"))
    size = visit.page.viewport_size
    assert size is not None
    visit.page.wait_for_load_state()  # with the style sheet, which hides the code on a narrow screen
    assert visit.page.locator(".qr svg").is_visible() == (size["width"] > PHONE["width"])
    visit.demand_quiet()


def test_the_banks_page_continues_when_the_psu_confirms_on_a_second_device(visit: Visit, phone: Watched) -> None:
    begin(visit, visit.address("nl"))
    link = visit.page.locator("a.primary").get_attribute("href")
    number = visit.page.locator("#compare").inner_text()
    phone.page.goto(f"{visit.bank}{link}")
    phone.page.locator(f"button[value='{number}']").click()
    assert "You have confirmed." in phone.page.get_by_role("status").inner_text()
    demand_good(phone)
    assert set(visit.query()) == {"own", "code", "state"}  # by itself
    visit.demand_quiet()


def test_a_consent_is_given_in_place(visit: Visit) -> None:
    begin(visit, visit.consent("nl"))
    number = visit.page.locator("#compare").inner_text()
    visit.page.locator("a.primary").click()
    demand_good(visit)
    visit.page.locator(f"button[value='{number}']").click()
    assert set(visit.query()) == {"own", "code", "state"}
    visit.demand_quiet()


def test_a_tpps_app_intercepts_the_link_to_the_identity_app(visit: Visit, phone: Watched) -> None:
    """As an app does that shows the bank's pages itself, and opens the other app for such a link."""
    links: list[str] = []

    def intercept(route: Route) -> None:
        links.append(route.request.url)
        route.fulfill(status=204)  # the bank's page stays

    visit.page.route(lambda url: "/psu/identity-app/" in url and not url.endswith("/waits"), intercept)
    begin(visit, visit.address("nl"))
    number = visit.page.locator("#compare").inner_text()
    with visit.page.expect_response(lambda reply: reply.status == 204):
        visit.page.locator("a.primary").click(no_wait_after=True)
    phone.page.goto(links[0])
    phone.page.locator(f"button[value='{number}']").click()
    assert "You have confirmed." in phone.page.get_by_role("status").inner_text()
    assert set(visit.query()) == {"own", "code", "state"}
