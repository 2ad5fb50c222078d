"""A standing order at its address: what it is, signed, refused, over (service 2.2, 3.2; choice 6)."""

from typing import Any

import pytest
from flask import Flask

from tests.psu.psu import Psu, order_address, problem, title
from tests.tpp import Tpp

ALICE, OFFICE = "BE16539100001774 EUR", "BE06539100006222 EUR"
SAVINGS = "BE36539100002481"


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def reviewed(tpp: Tpp, psu: Psu, language: str = "fr", **changes: Any) -> str:
    address = order_address(tpp, language, **changes)
    psu.log_in(address, "alice")
    return psu.pick(address, ALICE).text


def variable(**bounds: str) -> dict[str, Any]:
    return {
        "periodic_payment_type": "VARIABLE",
        "creditor_account": {"iban": SAVINGS},
        "instructed_amount": {"currency": "EUR", **bounds},
    }


def status_of(tpp: Tpp) -> str:
    return str(tpp.listed("standing-orders")[0]["status"])


READ = {
    "fr": (
        "Vérifiez l’ordre permanent",
        "650,00\xa0€",
        "Jan Peeters",
        "Chaque mois, le 8",
        "lundi 8 mars 2027",
        "Sans date de fin",
        "BE16 5391 0000 1774, Alice Delvigne",
        "Le loyer",
        "RENT-1",
        "Demo TPP",
        "le jour ouvrable bancaire suivant",
        "Refuser l’ordre permanent",
    ),
    "nl": (
        "Controleer de doorlopende opdracht",
        "€\xa0650,00",
        "Jan Peeters",
        "Elke maand op de 8e",
        "maandag 8 maart 2027",
        "Zonder einddatum",
        "BE16 5391 0000 1774, Alice Delvigne",
        "Le loyer",
        "RENT-1",
        "Demo TPP",
        "de volgende bankwerkdag",
        "De doorlopende opdracht weigeren",
    ),
}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_standing_order_is_read_and_signed(language: str, tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, language, remittance_information_unstructured="Le loyer")
    psu.log_in(f"{address}?state=s", "alice")
    page = psu.pick(address, ALICE)
    for text in READ[language]:
        assert text in page.text
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert "code=" in callback and callback.endswith("state=s")
    assert status_of(tpp) == "PDNG"


RHYTHMS = (
    ("fr", {"frequency": "WEEKLY", "execution_date": "2027-03-11"}, "Chaque semaine, le jeudi"),
    ("nl", {"frequency": "WEEKLY", "execution_date": "2027-03-11"}, "Elke week, op donderdag"),
    ("fr", {"frequency": "TWO_MONTHLY", "start_date": "2027-04-01"}, "Tous les deux mois, le 1er"),
    ("nl", {"frequency": "QUARTERLY"}, "Om de drie maanden op de 8e"),
    ("fr", {"frequency": "HALF_YEARLY"}, "Tous les six mois, le 8"),
    ("fr", {"frequency": "YEARLY", "start_date": "2027-06-01"}, "Chaque année, le 1er juin"),
    ("nl", {"frequency": "YEARLY"}, "Elk jaar, op 8 maart"),
    ("fr", {"start_date": "2027-03-31"}, "le 31 (ou le dernier jour du mois)"),
    ("nl", {"start_date": "2027-03-31"}, "op de 31e (of de laatste dag van de maand)"),
)


@pytest.mark.parametrize("language, fields, text", RHYTHMS)
def test_how_often_and_on_which_day(language: str, fields: dict[str, str], text: str, tpp: Tpp, psu: Psu) -> None:
    assert text in reviewed(tpp, psu, language, **fields)


Row = tuple[str, dict[str, Any], str]
SHIFTED: tuple[Row, ...] = (
    ("fr", {}, "lundi 8 mars 2027 (jour de fermeture : samedi 6 mars 2027)"),
    ("nl", {}, "maandag 8 maart 2027 (sluitingsdag: zaterdag 6 maart 2027)"),
    ("fr", variable(), "vendredi 5 mars 2027 (jour de fermeture : samedi 6 mars 2027)"),
)


@pytest.mark.parametrize("language, fields, text", SHIFTED)
def test_a_first_day_that_is_closed_is_told_with_the_banking_day(
    language: str, fields: dict[str, Any], text: str, tpp: Tpp, psu: Psu
) -> None:
    assert text in reviewed(tpp, psu, language, start_date="2027-03-06", **fields)


def test_an_end_is_told_with_the_last_execution(tpp: Tpp, psu: Psu) -> None:
    text = reviewed(tpp, psu, end_date="2027-08-02")
    assert "lundi 2 août 2027 ; dernière exécution : lundi 9 août 2027" in text


FORMULAS: tuple[Row, ...] = (
    ("fr", {}, "Tout le solde disponible du compte"),
    ("nl", {}, "Het volledige beschikbare saldo van de rekening"),
    ("fr", {"minimal_amount": "1500.00"}, "Ce qui dépasse 1\u202f500,00\xa0€ sur le compte"),
    ("nl", {"minimal_amount": "1500.00"}, "Wat er boven €\xa01.500,00 op de rekening staat"),
    ("fr", {"maximal_amount": "500.00"}, "Le solde disponible du compte, avec un maximum de 500,00\xa0€"),
    (
        "nl",
        {"minimal_amount": "1500.00", "maximal_amount": "500.00"},
        "Wat er boven €\xa01.500,00 op de rekening staat, met een maximum van €\xa0500,00",
    ),
    (
        "fr",
        {"minimal_amount": "1500.00", "maximal_amount": "500.00"},
        "Ce qui dépasse 1\u202f500,00\xa0€ sur le compte, avec un maximum de 500,00\xa0€",
    ),
)


@pytest.mark.parametrize("language, bounds, text", FORMULAS)
def test_a_variable_amount_is_told_as_a_formula(
    language: str, bounds: dict[str, str], text: str, tpp: Tpp, psu: Psu
) -> None:
    page = reviewed(tpp, psu, language, **variable(**bounds))
    assert text in page and {"fr": "Montant variable", "nl": "Variabel bedrag"}[language] in page


def test_a_named_account_is_not_picked(tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, debtor_account={"iban": ALICE.split()[0]})
    assert title(psu.log_in(address, "alice")) == "Vérifiez l’ordre permanent"
    assert "Étape 2 sur 3" in psu.page.text


def test_a_standing_order_cannot_leave_an_account_of_two_signatures(tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, "nl")
    psu.log_in(address, "notaris")
    why = "Een doorlopende opdracht kan niet vanaf een rekening die twee handtekeningen vraagt."
    assert problem(psu.pick(address, OFFICE)) == why


def test_a_refused_one_is_cancelled_and_says_so(tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp)
    psu.log_in(f"{address}?state=s", "alice")
    assert "error=access_denied" in psu.refuse(address).headers["Location"]
    assert status_of(tpp) == "CANC"
    page = psu.open(address)
    assert (page.status_code, title(page)) == (409, "Cet ordre permanent est annulé")


ENDINGS = {
    "fr": (
        "Cet ordre permanent est déjà signé",
        "Cet ordre permanent a pris fin",
        "Ce lien a expiré",
        "L’ordre permanent n’a pas été créé.",
    ),
    "nl": (
        "Deze doorlopende opdracht is al ondertekend",
        "Deze doorlopende opdracht is afgelopen",
        "Deze link is verlopen",
        "De doorlopende opdracht is niet aangemaakt.",
    ),
}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_signed_one_says_what_became_of_it(language: str, tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, language, end_date="2027-04-08")
    psu.sign(address, "alice", ALICE)
    for status in ("PDNG", "ACWP"):
        page = psu.open(address)
        assert (page.status_code, title(page), status_of(tpp)) == (409, ENDINGS[language][0], status)
        tpp.advance("1s")
    tpp.advance("60d")
    assert (title(psu.open(address)), status_of(tpp)) == (ENDINGS[language][1], "CANC")


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_an_outdated_address_means_initiating_again(language: str, tpp: Tpp, psu: Psu) -> None:
    address = order_address(tpp, language)
    psu.log_in(address, "alice")
    tpp.advance("5m")
    for page in (psu.open(address), psu.pick(address, ALICE)):
        assert (page.status_code, title(page)) == (410, ENDINGS[language][2])
        assert ENDINGS[language][3] in page.text
