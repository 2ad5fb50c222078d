"""A real browser sees the verification of payee, on a phone and a desktop, in three languages (choice 14)."""

import pytest

from tests.browser.visit import Visit
from tests.psu.psu import file_address, file_id, row
from tests.spec.bodies import ALICE, BAKKERIJ
from tests.tpp import Tpp

OUTCOMES = {
    "fr": (
        "Le nom correspond",
        "Le nom correspond presque",
        "Le nom ne correspond pas",
        "La vérification n’est pas possible",
    ),
    "nl": (
        "De naam komt overeen",
        "De naam komt bijna overeen",
        "De naam komt niet overeen",
        "De controle is niet mogelijk",
    ),
    "en": ("The name matches", "The name nearly matches", "The name does not match", "The check is not possible"),
}
NAMES = tuple(f"Test VoP {name}" for name in ("match", "close", "none", "impossible"))


@pytest.fixture(autouse=True)
def checking(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", payee_check="page", screens_in_english="on")


def open_check(visit: Visit, name: str, language: str) -> None:
    """Goes to the page between the review and the signature."""
    address = visit.address("nl" if language == "nl" else "fr", creditor_name=name, debtor_account={"iban": ALICE})
    visit.page.goto(f"{address}&lang={language}")
    visit.log_in("alice")
    visit.page.locator("a.primary").click()


def demand_good(visit: Visit) -> None:
    visit.demand_fits()
    visit.demand_unclipped()
    visit.demand_usable()


@pytest.mark.parametrize("language", OUTCOMES)
def test_each_outcome_is_seen_and_the_customer_signs(language: str, visit: Visit) -> None:
    for name, expected in zip(NAMES, OUTCOMES[language], strict=True):
        open_check(visit, name, language)
        assert visit.page.locator(".payee h2").inner_text() == expected
        demand_good(visit)
    visit.page.locator("button.primary").click()
    visit.type_code()
    assert "code" in visit.query()
    assert [payment["status"] for payment in visit.tpp.listed("payments")] == ["PATC", "PATC", "PATC", "PDNG"]
    visit.demand_quiet()


def test_a_bank_that_stops_leaves_only_the_refusal(visit: Visit) -> None:
    visit.tpp.control("PATCH", "/settings", payee_close="stops")
    open_check(visit, "Test VoP close", "nl")
    demand_good(visit)
    assert visit.page.locator(".primary").count() == 0
    visit.page.locator("summary.danger").click()
    visit.page.locator("button.danger").click()
    assert visit.query()["error"] == ["access_denied"]
    visit.demand_quiet()


def test_the_outcomes_of_a_file_are_seen(visit: Visit) -> None:
    rows = [row(BAKKERIJ, "2027-03-08", name, "10.00", f"R-{place}") for place, name in enumerate(NAMES)]
    found = file_id(visit.tpp, *rows, redirect_uri=visit.callback)
    visit.page.goto(f"{visit.bank}{file_address(visit.tpp, found)}?state=s-1&lang=fr")
    visit.log_in("bakkerij")
    visit.page.locator("a.primary").click()
    demand_good(visit)
    text = visit.page.locator("main").inner_text()
    assert all(outcome in text for outcome in OUTCOMES["fr"])
    assert visit.page.locator("article.payee").count() == 3
    visit.page.locator("button.primary").click()
    visit.type_code()
    assert visit.query()["state"] == ["s-1"]
    visit.demand_quiet()
