"""A film in a browser: from its first event on, at a pace that can be read, for all to use."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from sandbox.client import Controls
from sandbox.extensions.film.page import render_film
from tests.browser.watched import Watched
from tests.tpp import Tpp, payment


def test_a_film_begins_at_its_first_event_and_plays_to_the_last(
    chromium: Browser, tpp: Tpp, controls: Controls, tmp_path: Path
) -> None:
    begun = tpp.initiate()
    tpp.signed(begun, "alice")
    tpp.initiate(body=payment(instructed_amount__amount="0"))
    film = tmp_path / "film.html"
    film.write_text(render_film(controls, "World default"))
    page = chromium.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
    page.clock.install()
    visit = Watched(page)
    page.goto(film.as_uri())
    caption, screen = page.locator("#caption"), page.locator("#customer")
    expect(caption).to_contain_text("1 of 5")
    expect(page.locator(".legend")).to_contain_text("a call that was refused")
    for scheme in ("light", "dark"):
        visit.resize((1280, 860), scheme)
        visit.demand_usable()
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "one screen shows it all"
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1_000)
    expect(caption).to_contain_text("1 of 5")
    page.clock.run_for(20_000)
    expect(caption).to_contain_text("5 of 5")
    expect(caption).to_contain_text("400 B14821ZZ-1231-000000")
    expect(screen).to_have_text("The customer is not needed for this call")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.get_by_role("button", name="One event back").click()
    expect(screen).to_contain_text("Signed. Back to the shop")
    visit.resize((390, 844), "dark")
    visit.demand_fits()
    visit.demand_nobody_but("file:")
    page.close()
