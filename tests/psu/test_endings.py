"""Pages that end a visit: outdated, signed, cancelled, unknown (choice 5)."""

import pytest
from flask import Flask

from tests.psu.psu import Psu, address_of, bare, title
from tests.tpp import Tpp

ALICE, OFFICE = "BE16539100001774 EUR", "BE06539100006222 EUR"
OUTDATED = {"fr": "Ce lien a expiré", "nl": "Deze link is verlopen"}
SIGNED = {"fr": "Cette opération est déjà signée", "nl": "Deze verrichting is al ondertekend"}
CANCELLED = {"fr": "Cette opération est annulée", "nl": "Deze verrichting is geannuleerd"}
UNKNOWN = {"fr": "Cette page n’existe pas", "nl": "Deze pagina bestaat niet"}
LOST = {"fr": "Votre session est introuvable", "nl": "Uw sessie is niet gevonden"}
COSIGNED = {
    "fr": "Cette opération attend une autre signature",
    "nl": "Deze verrichting wacht op een andere handtekening",
}


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_an_address_lives_five_minutes(language: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language=language)
    tpp.advance("299s")
    assert psu.open(address).status_code == 200
    tpp.advance("1s")
    page = psu.open(address)
    assert (page.status_code, title(page)) == (410, OUTDATED[language])
    assert "Demo TPP" in page.text


def test_an_address_that_runs_out_under_way_is_outdated_too(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(address, "alice")
    tpp.advance("5m")
    assert psu.pick(address, ALICE).status_code == 410


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_signed_address_says_so(language: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language=language)
    psu.sign(address, "alice", ALICE)
    for again in (psu.open(address), psu.open(f"{address}/code"), psu.type(address, "123456")):
        assert (again.status_code, title(again)) == (409, SIGNED[language])


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_refused_address_says_that_it_is_cancelled(language: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language=language)
    psu.open(address)
    psu.refuse(address)
    page = psu.open(address)
    assert (page.status_code, title(page)) == (409, CANCELLED[language])


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_half_signed_address_leads_to_the_channel(language: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language=language)
    psu.sign(address, "notaris", OFFICE)
    page = psu.open(address)
    assert (page.status_code, title(page)) == (409, COSIGNED[language])
    assert 'href="/psu/channel"' in page.text


@pytest.mark.parametrize("path", ["/psu/sign/unknown", "/psu/sign/unknown/code", "/psu/sign/é", "/psu/", "/psu/x/y"])
@pytest.mark.parametrize("language", ["fr", "nl"])
def test_an_unknown_address_has_its_page(path: str, language: str, app: Flask) -> None:
    page = Psu(app, language).open(path)
    assert (page.status_code, title(page)) == (404, UNKNOWN[language])


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_step_without_a_session_is_lost(language: str, tpp: Tpp, psu: Psu) -> None:
    page = psu.open(f"{address_of(tpp, language=language)}/code")
    assert (page.status_code, title(page)) == (403, LOST[language])


def test_a_step_that_is_none_is_unknown(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    assert psu.send(f"{bare(address)}/elsewhere").status_code == 404


def test_a_form_that_is_too_long_is_not_read(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    page = psu.send(f"{address}/login", login="a" * 50_000)
    assert (page.status_code, title(page)) == (413, "Cette demande ne peut être traitée")
