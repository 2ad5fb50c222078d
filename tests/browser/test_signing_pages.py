"""A real browser signs, refuses and picks another account, in both languages (service 1, choice 5)."""

import pytest
from playwright.sync_api import Browser

from tests.browser.visit import Visit
from tests.tpp import Tpp

LANGUAGES = {
    "fr": ("Identifiez-vous", "Vérifiez le virement", "1\u202f234,80\xa0€", "Les fonds disponibles sur ce compte"),
    "nl": ("Meld u aan", "Controleer de overschrijving", "€\xa01.234,80", "Op deze rekening staat niet genoeg"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_signs(language: str, visit: Visit) -> None:
    login, review, amount, _ = LANGUAGES[language]
    long_name = "Société anonyme des établissements réunis " + "W" * 28
    visit.page.goto(visit.address(language, instructed_amount__amount="1234.80", creditor_name=long_name))
    assert visit.heading() == login
    assert visit.page.locator("html").get_attribute("lang") == language
    visit.demand_fits()
    visit.log_in("alice")
    visit.demand_fits()
    visit.choose("account")
    assert visit.heading() == review and amount in visit.page.locator("main").inner_text()
    visit.demand_fits()
    query = visit.sign()
    assert set(query) == {"own", "code", "state"} and query["state"] == ["s-1"]
    assert visit.tpp.listed("payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_refuses(language: str, visit: Visit) -> None:
    visit.page.goto(visit.address(language))
    visit.page.locator("summary.danger").click()
    visit.demand_fits()
    visit.page.locator("button.danger").click()
    query = visit.query()
    assert query["error"] == ["access_denied"] and query["state"] == ["s-1"] and query["own"] == ["1"]
    assert visit.tpp.listed("payments")[0]["reason"] == "PSU_REFUSED"
    visit.demand_quiet()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_picks_another_account_when_funds_are_missing(language: str, visit: Visit) -> None:
    visit.page.goto(visit.address(language, instructed_amount__amount="28000.00"))
    visit.log_in("bakkerij")
    visit.choose("account", 1)
    assert LANGUAGES[language][3] in visit.page.get_by_role("alert").inner_text()
    visit.choose("account", 0)
    assert "code" in visit.sign()
    visit.demand_quiet()


def test_three_wrong_codes_refuse(visit: Visit) -> None:
    visit.page.goto(visit.address("fr"))
    visit.log_in("alice")
    visit.choose("account")
    visit.page.locator("a.primary").click()
    shown = int(visit.page.locator("#shown").inner_text().replace(" ", ""))
    for _ in range(3):
        visit.page.fill("#code", f"{(shown + 1) % 1_000_000:06}")
        visit.page.locator("button.primary").click()
    assert visit.query()["error"] == ["access_denied"]
    visit.demand_quiet()


def test_the_language_is_changed_on_the_page(visit: Visit) -> None:
    visit.page.goto(visit.address("fr"))
    visit.page.get_by_role("link", name="Nederlands").click()
    assert visit.heading() == "Meld u aan" and "state=s-1" in visit.page.url
    assert visit.page.locator("html").get_attribute("lang") == "nl"
    visit.log_in("alice")
    assert visit.heading() == "Kies de te debiteren rekening"
    visit.choose("account")
    assert visit.sign()["state"] == ["s-1"]
    visit.demand_quiet()


def test_a_keyboard_is_enough(visit: Visit) -> None:
    keyboard = visit.page.keyboard
    visit.page.goto(visit.address("fr"))
    for field in ("login", "account"):  # the first has the focus
        title = visit.heading()
        visit.page.locator(f"input[name={field}]:focus").wait_for()
        keyboard.press("Space")
        keyboard.press("Enter")
        visit.page.wait_for_function("title => document.querySelector('h1').innerText !== title", arg=title)
    keyboard.press("Tab")
    assert visit.page.locator(":focus").inner_text() == "Aller au contenu"
    skip(visit)
    for key in ("Tab", "Enter"):  # on to the card reader
        keyboard.press(key)
    visit.page.locator("#code:focus").wait_for()
    keyboard.type(visit.page.locator("#shown").inner_text())
    keyboard.press("Enter")
    assert "code" in visit.query()
    visit.demand_quiet()


def skip(visit: Visit) -> None:
    """By the link that has the focus; the browser goes there a moment later."""
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("location.hash !== ''")


def test_a_second_signature_is_given_in_the_channel(visit: Visit) -> None:
    visit.page.goto(visit.address("nl"))
    visit.log_in("notaris")
    visit.choose("account")
    assert "code" in visit.sign()
    assert visit.tpp.listed("payments")[0]["status"] == "PATC"
    visit.page.goto(f"{visit.bank}/psu/channel?lang=nl")
    visit.log_in("griet")
    visit.page.locator("a.primary").click()
    visit.demand_fits()
    visit.page.fill("#code", visit.page.locator("#shown").inner_text())
    visit.page.locator("button.primary").click()
    assert visit.page.get_by_role("status").inner_text() == "U hebt ondertekend. De verrichting wordt uitgevoerd."
    assert visit.tpp.listed("payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


def test_a_row_of_the_channel_has_its_amount_at_the_right_and_buttons_as_wide_as_the_screen_needs(visit: Visit) -> None:
    """On a wide screen a button is less than half as wide as the page, on a phone as wide as its row."""
    visit.page.goto(visit.address("nl"))
    visit.log_in("notaris")
    visit.choose("account")
    visit.sign()
    visit.page.goto(f"{visit.bank}/psu/channel?lang=nl")
    visit.log_in("griet")
    visit.demand_fits()
    title = visit.page.locator(".row-title").first
    whom, amount = title.locator("b").bounding_box(), title.locator(".waiting-amount").bounding_box()
    assert whom and amount and whom["x"] + whom["width"] < amount["x"] and abs(whom["y"] - amount["y"]) < 4
    row, page = visit.page.locator(".waiting > li").first.bounding_box(), visit.page.locator("main").bounding_box()
    buttons = visit.page.locator("main :is(button, .button, .primary)").all()
    widths = [box["width"] for box in (button.bounding_box() for button in buttons) if box]
    assert row and page and len(widths) >= 3
    if page["width"] > 500:
        assert all(width < page["width"] / 2 for width in widths)
    else:
        assert all(width > 0.8 * row["width"] for width in widths)
    visit.demand_quiet()


def test_the_pages_work_without_javascript(chromium: Browser, bank: str, callback: str, tpp: Tpp) -> None:
    context = chromium.new_context(java_script_enabled=False)
    visit = Visit(context.new_page(), bank, callback, tpp)
    visit.page.goto(visit.address("fr"))
    visit.log_in("alice")
    visit.choose("account")
    assert "code" in visit.sign()
    visit.demand_quiet()
    context.close()
