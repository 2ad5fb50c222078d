"""In the channel a customer sees who may read what, and takes it back (choice 8)."""

import re

import pytest
from flask import Flask

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.psu.psu import Psu, consent_address, title
from tests.tpp import Tpp

CURRENT, SAVINGS = "BE16539100001774", "BE36539100002481"
CONSENT = re.compile(r'href="(/psu/channel/consents/[^"?]+)')
SEEN = {
    "fr": ("Qui peut consulter vos comptes", "Solde et opérations", "lundi 1er mars 2027", "samedi 28 août 2027"),
    "nl": (
        "Wie uw rekeningen mag raadplegen",
        "Saldo en verrichtingen",
        "maandag 1 maart 2027",
        "zaterdag 28 augustus 2027",
    ),
}
GONE = {"fr": "L’autorisation est retirée.", "nl": "De toestemming is ingetrokken."}
NOBODY = {"fr": "Vous n’avez autorisé aucun prestataire", "nl": "U hebt geen enkele dienstverlener toestemming"}


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def enter(psu: Psu, customer: str = "alice", language: str = "fr") -> list[str]:
    """The channel; the answer is where each consent may be withdrawn."""
    psu.open(f"/psu/channel?lang={language}")
    psu.send(f"/psu/channel/login?lang={language}", login=customer)
    return CONSENT.findall(psu.page.text)


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_consent_is_seen_and_withdrawn(language: str, tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT, SAVINGS)
    (path,) = enter(psu, language=language)
    for text in (*SEEN[language], "Demo TPP", "BE16 5391 0000 1774", "BE36 5391 0000 2481"):
        assert text in psu.page.text
    page = psu.open(f"{path}?lang={language}")
    assert page.status_code == 200 and "Demo TPP" in page.text and "<h1>" in page.text
    page = psu.send(f"{path}?lang={language}")
    assert GONE[language] in page.text and NOBODY[language] in page.text and path not in page.text
    assert psu.open(path).status_code == 404


def test_nobody_has_access_before_a_consent(psu: Psu) -> None:
    assert enter(psu) == [] and NOBODY["fr"] in psu.page.text


def test_only_the_one_that_was_withdrawn_ends(
    app: Flask, tpp: Tpp, other: Tpp, psu: Psu, worlds: WorldRegistry
) -> None:
    for client, iban in ((tpp, None), (tpp, CURRENT), (tpp, SAVINGS), (other, None)):
        Psu(app).agree(consent_address(client, iban=iban), "alice", *(() if iban else (CURRENT,)))
    paths = enter(psu)
    assert len(paths) == 4 and "Other TPP" in psu.page.text and "Solde d’un compte" in psu.page.text
    psu.open(paths[1])
    psu.send(paths[1])
    ended = [one.ended for one in worlds.get("default").bank.consents.values()]
    assert ended == [None, "withdrawn", None, None]


def test_what_was_replaced_or_is_over_is_not_shown(tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT)
    psu.agree(consent_address(tpp), "alice", SAVINGS)
    assert len(enter(psu)) == 1 and psu.page.text.count("BE16") == 1  # among the balances alone
    tpp.advance("180d")
    assert enter(psu) == []


def test_another_customer_neither_sees_nor_withdraws_it(app: Flask, tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT)
    (path,) = enter(Psu(app))
    assert enter(psu, "bram") == []
    assert psu.open(path).status_code == 404
    psu.open("/psu/channel")
    assert psu.send(path).status_code == 404
    stranger = Psu(app)
    stranger.open("/psu/channel")
    assert stranger.open(path).status_code == 404
    assert len(enter(psu)) == 1


@pytest.mark.parametrize("proof", ["", "0" * 48])
def test_a_form_that_is_not_the_sessions_own_withdraws_nothing(proof: str, tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT)
    (path,) = enter(psu)
    psu.open(path)
    assert psu.send(path, proof=proof).status_code == 403
    assert title(psu.open(path)) == "Retirer cette autorisation ?"


def test_looking_withdraws_nothing(tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT)
    (path,) = enter(psu)
    psu.open(path)
    assert enter(psu) == [path]


def test_a_replayed_world_has_the_same_visits_and_consents(tpp: Tpp, psu: Psu, worlds: WorldRegistry) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT, SAVINGS)
    (path,) = enter(psu)
    psu.open(path)
    psu.send(path)
    world = worlds.get("default")
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)
