"""A file at its address and in the channel: what it would pay, what was refused, signed by one or two (choice 7)."""

import pytest
from flask import Flask

from tests.psu.psu import Psu, file_address, file_id, problem, row, shown, title
from tests.tpp import Tpp, version

CURRENT, RESERVE, OFFICE = "BE63539100004808", "BE83539100005515", "BE06539100006222"
TUESDAY, SATURDAY = "2027-03-02", "2027-03-06"
NAMES = ("Ann", "Bo", "Cas", "Dré", "Els", "Fay", "Guy")
THREE = (
    *(row(CURRENT, SATURDAY, name, "100.00", f"A-{place}") for place, name in enumerate(NAMES)),
    row(CURRENT, TUESDAY, "Maalderij", "845.30", "B-1"),
    row(RESERVE, TUESDAY, "Verhuur Oven", "1200.00", "C-1"),
    row(RESERVE, TUESDAY, "Verhuur Kar", "34.70", "C-2"),
)
FOREIGN = row("BE16539100001774", TUESDAY, "Niet van ons", "12.00", "D-1")
READ = {
    "fr": (
        "Vérifiez le fichier de virements",
        "2\u202f780,00\xa0€",
        "10 virements",
        "1\u202f545,30\xa0€",
        "1\u202f234,70\xa0€",
        "lundi 8 mars 2027 (jour de fermeture : samedi 6 mars 2027)",
        "mardi 2 mars 2027",
        "Lot BULK-1",
        "et 2 autres bénéficiaires",
        "Refuser le fichier",
        "Étape 2 sur 3",
    ),
    "nl": (
        "Controleer het bestand met overschrijvingen",
        "€\xa02.780,00",
        "10 overschrijvingen",
        "€\xa01.545,30",
        "€\xa01.234,70",
        "maandag 8 maart 2027 (sluitingsdag: zaterdag 6 maart 2027)",
        "dinsdag 2 maart 2027",
        "Batch BULK-1",
        "en nog 2 begunstigden",
        "Het bestand weigeren",
        "Stap 2 van 3",
    ),
}
REFUSED = {"fr": ("Lots refusés par la banque", "1 erreur"), "nl": ("Door de bank geweigerde batches", "1 fout")}


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def status_of(tpp: Tpp) -> str:
    return str(tpp.listed("bulk-payments")[0]["status"])


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_file_is_read_and_signed(language: str, tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *THREE, language=language))
    page = psu.log_in(f"{address}?state=s", "bakkerij")
    for text in (*READ[language], "BE63 5391 0000 4808", "BE83 5391 0000 5515", "Bakkerij Zonnegraan", "Demo TPP"):
        assert text in page.text
    assert "Els" in page.text and "Fay" not in page.text
    assert REFUSED[language][0] not in page.text
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert "code=" not in callback and "error" not in callback and callback.endswith("state=s")
    assert status_of(tpp) == "PDNG"


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_refused_bulks_are_told_apart(language: str, tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *THREE, FOREIGN, language=language))
    page = psu.log_in(address, "bakkerij")
    before, after = page.text.split(REFUSED[language][0])
    assert READ[language][1] in before and "BULK-4" not in before
    assert "BULK-4" in after and REFUSED[language][1] in after and "BULK-3" not in after


def test_of_many_bulks_the_first_are_shown(tpp: Tpp, psu: Psu) -> None:
    days = [f"2027-{month:02}-{day:02}" for month in (4, 5) for day in range(1, 15)]
    living = [row(CURRENT, day, "Ann", "1.00", f"E-{day}") for day in days]
    refused = [row(RESERVE, day, "Ann", "0.00", f"R-{day}") for day in days]
    page = psu.log_in(file_address(tpp, file_id(tpp, *living, *refused)), "bakkerij")
    assert page.text.count('class="bulk"') == page.text.count('class="bulk bulk-refused"') == 20
    assert page.text.count("et 8 autres lots") == 2 and "28 virements" in page.text


def test_a_file_of_somebody_else_is_not_for_this_customer_to_sign(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(file_address(tpp, file_id(tpp, *THREE)), "alice")
    assert problem(page) == "Vous n’êtes pas autorisé à signer ce fichier."
    assert "Refuser le fichier" in page.text


def test_nothing_is_picked_for_a_file(tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *THREE))
    psu.log_in(address, "bakkerij")
    assert title(psu.open(f"{address}/account")) == "Vérifiez le fichier de virements"
    assert psu.pick(address, f"{CURRENT} EUR").status_code == 422


ENDINGS = {
    "fr": ("Ce fichier est annulé", "Ce fichier est déjà signé", "Ce lien a expiré"),
    "nl": ("Dit bestand is geannuleerd", "Dit bestand is al ondertekend", "Deze link is verlopen"),
}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_refused_file_is_cancelled_and_says_so(language: str, tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *THREE, language=language))
    psu.open(f"{address}?state=s")
    assert "error=access_denied" in psu.refuse(address).headers["Location"]
    page = psu.open(address)
    assert (page.status_code, title(page), status_of(tpp)) == (409, ENDINGS[language][0], "CANC")


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_signed_file_says_so_until_the_end(language: str, tpp: Tpp, psu: Psu) -> None:
    address = file_address(tpp, file_id(tpp, *THREE, language=language))
    psu.sign(address, "bakkerij")
    assert (title(psu.open(address)), status_of(tpp)) == (ENDINGS[language][1], "PDNG")
    tpp.advance("10d")
    assert (title(psu.open(address)), status_of(tpp)) == (ENDINGS[language][1], "ACSC")


@pytest.mark.parametrize("language, heading", [("fr", "a été rejetée"), ("nl", "is verworpen")])
def test_a_file_that_could_not_be_paid_says_so(language: str, heading: str, tpp: Tpp, psu: Psu) -> None:
    rows = [row(CURRENT, TUESDAY, "Ann", "900000.00", "F-1")]
    address = file_address(tpp, file_id(tpp, *rows, language=language))
    psu.sign(address, "bakkerij")
    tpp.advance("20d")
    page = psu.open(address)
    assert page.status_code == 409 and title(page).endswith(heading) and status_of(tpp) == "RJCT"


@pytest.mark.parametrize("language, told", [("fr", "sont insuffisants"), ("nl", "niet genoeg beschikbaar geld")])
def test_a_file_of_today_without_funds_says_so_and_may_be_refused(language: str, told: str, tpp: Tpp, psu: Psu) -> None:
    rows = [row(CURRENT, "2027-03-01", "Ann", "900000.00", "F-1")]
    address = file_address(tpp, file_id(tpp, *rows, language=language))
    psu.log_in(address, "bakkerij")
    page = psu.type(address, psu.read_code(address))
    assert page.status_code == 422 and told in page.text and CURRENT in page.text and status_of(tpp) == "PATC"
    assert psu.send(f"{address}/refuse").status_code == 303 and status_of(tpp) == "CANC"


def test_an_outdated_address_is_followed_by_a_fresh_one(tpp: Tpp, psu: Psu) -> None:
    found = file_id(tpp, *THREE)
    address = file_address(tpp, found)
    psu.log_in(address, "bakkerij")
    tpp.advance("5m")
    page = psu.open(address)
    assert (page.status_code, title(page)) == (410, ENDINGS["fr"][2])
    assert "une nouvelle adresse vous y attend" in page.text
    assert psu.sign(file_address(tpp, found), "bakkerij") and status_of(tpp) == "PDNG"


def test_a_file_that_was_called_off_is_cancelled(tpp: Tpp, psu: Psu) -> None:
    found = file_id(tpp, *THREE)
    address = file_address(tpp, found)
    assert tpp.call("DELETE", f"/bulk-payments/csv/{found}", accept=version(2)).status_code == 204
    assert title(psu.open(address)) == ENDINGS["fr"][0]


OF_THE_OFFICE = (row(OFFICE, TUESDAY, "Ann", "250.00", "G-1"), row(OFFICE, SATURDAY, "Bo", "50.00", "G-2"))
COSIGNED = {
    "fr": ("Ce fichier attend une autre signature", "300,00\xa0€", "2 virements", "Vérifiez le fichier"),
    "nl": ("Dit bestand wacht op een andere handtekening", "€\xa0300,00", "2 overschrijvingen", "Controleer het"),
}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_second_signature_is_given_in_the_channel(language: str, app: Flask, tpp: Tpp, psu: Psu) -> None:
    found = file_id(tpp, *OF_THE_OFFICE, language=language)
    address = file_address(tpp, found)
    psu.log_in(address, "notaris")
    assert "deux signatures" in psu.page.text or "twee handtekeningen" in psu.page.text
    psu.type(address, psu.read_code(address))
    page = psu.open(address)
    assert (page.status_code, title(page), status_of(tpp)) == (409, COSIGNED[language][0], "PATC")

    second, query = Psu(app), f"?lang={language}"
    second.open(f"/psu/channel{query}")
    page = second.send(f"/psu/channel/login{query}", login="griet")
    for text in (*COSIGNED[language][1:3], "BE06 5391 0000 6222", "Demo TPP", found):
        assert text in page.text
    page = second.open(f"/psu/channel/payments/{found}{query}")
    assert title(page).startswith(COSIGNED[language][3]) and "BULK-2" in page.text
    assert "Notariskantoor Van Hoevelaer" in page.text
    page = second.send(f"/psu/channel/payments/{found}{query}", code=shown(page))
    assert 'role="status"' in page.text and f"payments/{found}?" not in page.text and status_of(tpp) == "PDNG"


def test_an_unknown_number_of_a_file_is_not_found_in_the_channel(tpp: Tpp, psu: Psu) -> None:
    found = file_id(tpp, *THREE)
    psu.open("/psu/channel")
    psu.send("/psu/channel/login", login="bakkerij")
    for name in (found, f"{found}/1", "x"):
        assert psu.open(f"/psu/channel/payments/{name}").status_code == 404


@pytest.mark.parametrize("language, button", [("fr", "Refuser le fichier"), ("nl", "Het bestand weigeren")])
def test_a_second_signer_refuses_a_file_in_the_channel(language: str, button: str, tpp: Tpp, psu: Psu) -> None:
    found = file_id(tpp, *OF_THE_OFFICE, language=language)
    psu.sign(file_address(tpp, found), "notaris")
    query = f"?lang={language}"
    psu.open(f"/psu/channel{query}")
    assert found in psu.send(f"/psu/channel/login{query}", login="griet").text
    assert button in psu.open(f"/psu/channel/payments/{found}{query}").text
    page = psu.send(f"/psu/channel/payments/{found}/refuse{query}")
    assert 'role="status"' in page.text and found not in page.text
    file = tpp.listed("bulk-payments")[0]
    assert (file["status"], file["reason"]) == ("CANC", "PSU_REFUSED")
    assert {part["status"] for part in file["bulks"]} == {"CANC"}
