"""A real browser consents, refuses, and takes a consent back, in both languages (service 4.7, choice 8)."""

import pytest

from tests.browser.visit import Visit

LANGUAGES = {
    "fr": ("Identifiez-vous", "Choisissez les comptes", "Vérifiez l’autorisation", "180 jours", "est retirée"),
    "nl": ("Meld u aan", "Kies de rekeningen", "Controleer de toestemming", "180 dagen", "is ingetrokken"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_psu_consents_for_two_accounts_and_withdraws(language: str, visit: Visit) -> None:
    login, accounts, review, days, withdrawn = LANGUAGES[language]
    page = visit.page
    page.goto(visit.consent(language))
    assert visit.heading() == login and page.locator("html").get_attribute("lang") == language
    visit.demand_fits()
    visit.log_in("alice")
    assert visit.heading() == accounts
    visit.demand_fits()
    page.locator("input[name=account]").nth(0).check()
    visit.choose("account", 1)
    assert visit.heading() == review
    text = page.locator("main").inner_text()
    assert all(part in text for part in ("Demo TPP", days, "BE16 5391 0000 1774", "BE36 5391 0000 2481"))
    visit.demand_fits()
    query = visit.sign()
    assert set(query) == {"own", "code", "state"} and query["state"] == ["s-1"]

    page.goto(f"{visit.bank}/psu/channel?lang={language}")
    visit.log_in("alice")
    assert "BE36 5391 0000 2481" in page.locator("main").inner_text()
    visit.demand_fits()
    page.locator("li a.button").click()
    visit.demand_fits()
    page.locator("button.primary").click()
    assert withdrawn in page.get_by_role("status").inner_text()
    visit.demand_quiet()


def test_a_psu_refuses_to_consent(visit: Visit) -> None:
    visit.page.goto(visit.consent("nl", "BE16539100001774"))
    visit.log_in("alice")
    visit.page.locator("summary.danger").click()
    visit.demand_fits()
    visit.page.locator("button.danger").click()
    assert visit.query()["error"] == ["access_denied"]
    visit.demand_quiet()


def test_no_account_chosen_is_told_on_the_page(visit: Visit) -> None:
    visit.page.goto(visit.consent("fr"))
    visit.log_in("alice")
    visit.page.locator("button.primary").click()
    assert "Choisissez au moins un compte." in visit.page.get_by_role("alert").inner_text()
    visit.page.get_by_role("link", name="Nederlands").click()
    assert visit.heading() == "Kies de rekeningen"
    visit.choose("account")
    assert visit.sign()["state"] == ["s-1"]
    visit.demand_quiet()


def test_a_consent_is_given_by_keyboard(visit: Visit) -> None:
    visit.page.goto(visit.consent("fr"))
    visit.page.locator("input[value=alice]").focus()
    for heading in LANGUAGES["fr"][1:3]:  # the customer, then an account
        visit.page.keyboard.press("Space")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_function("title => document.querySelector('h1').innerText === title", arg=heading)
        if visit.page.locator("input[name=account]").count():
            visit.page.locator("input[name=account]").first.focus()
    assert "code" in visit.sign()
    visit.demand_quiet()
