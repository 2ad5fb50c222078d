"""A real browser signs a standing order and a file of three bulks (service 2.2, 2.3)."""

import pytest

from tests.browser.visit import Visit
from tests.psu.psu import file_address, file_id, order_address, row

CURRENT, RESERVE, OFFICE = "BE63539100004808", "BE83539100005515", "BE06539100006222"
ORDER = {
    "fr": ("Vérifiez l’ordre permanent", "Chaque mois, le 8", "Sans date de fin"),
    "nl": ("Controleer de doorlopende opdracht", "Elke maand op de 8e", "Zonder einddatum"),
}
FILE = {
    "fr": ("Vérifiez le fichier de virements", "1\u202f734,70\xa0€", "Lot BULK-3", "et 1 autre bénéficiaire"),
    "nl": (
        "Controleer het bestand met overschrijvingen",
        "€\xa01.734,70",
        "Batch BULK-3",
        "en nog 1 begunstigde",
    ),
}
THREE = (
    *(row(CURRENT, "2027-03-06", "Société anonyme " + "W" * 40, "50.00", f"A-{place}") for place in range(6)),
    row(CURRENT, "2027-03-02", "Maalderij", "200.00", "B-1"),
    row(RESERVE, "2027-03-02", "Verhuur", "1234.70", "C-1"),
)


@pytest.mark.parametrize("language", ORDER)
def test_a_psu_signs_a_standing_order(language: str, visit: Visit) -> None:
    address = order_address(visit.tpp, language, redirect_uri=visit.callback)
    visit.page.goto(f"{visit.bank}{address}?state=s-1")
    visit.log_in("alice")
    visit.demand_fits()
    visit.choose("account")
    text = visit.page.locator("main").inner_text()
    assert visit.heading() == ORDER[language][0] and all(part in text for part in ORDER[language])
    visit.demand_fits()
    assert set(visit.sign()) == {"own", "code", "state"}
    assert visit.tpp.listed("standing-orders")[0]["status"] == "PDNG"
    visit.demand_quiet()


@pytest.mark.parametrize("language", FILE)
def test_a_psu_signs_a_file_of_three_bulks(language: str, visit: Visit) -> None:
    found = file_id(visit.tpp, *THREE, language=language, redirect_uri=visit.callback)
    visit.page.goto(f"{visit.bank}{file_address(visit.tpp, found)}?state=s-1")
    visit.log_in("bakkerij")
    text = visit.page.locator("main").inner_text()
    assert visit.heading() == FILE[language][0] and all(part in text for part in FILE[language])
    assert visit.page.locator("article.bulk").count() == 3
    visit.demand_fits()
    assert visit.sign() == {"own": ["1"], "state": ["s-1"]}  # a file gives no code
    assert visit.tpp.listed("bulk-payments")[0]["status"] == "PDNG"
    visit.demand_quiet()


def test_a_file_of_two_signatures_ends_in_the_channel(visit: Visit) -> None:
    found = file_id(visit.tpp, row(OFFICE, "2027-03-02", "Ann", "250.00", "D-1"), redirect_uri=visit.callback)
    visit.page.goto(f"{visit.bank}{file_address(visit.tpp, found)}")
    visit.log_in("notaris")
    visit.sign()
    visit.page.goto(f"{visit.bank}/psu/channel?lang=nl")
    visit.log_in("griet")
    visit.page.locator("li a.primary").click()
    visit.demand_fits()
    visit.type_code()
    assert "U hebt ondertekend." in visit.page.get_by_role("status").inner_text()
    assert visit.tpp.listed("bulk-payments")[0]["status"] == "PDNG"
    visit.demand_quiet()
