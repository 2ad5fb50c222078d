"""The consent address as a PSU walks it (service 4.7; choice 8)."""

from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.payer import basic, post_form, refresh_form
from tests.psu.psu import HOST, Psu, bare, consent_address, problem, title, wrong
from tests.tpp import CALLBACK, VERIFIER, Tpp, version

CURRENT, SAVINGS, BRAM = "BE16539100001774", "BE36539100002481", "BE56539100003188"
STEPS = {
    "fr": (
        "Identifiez-vous",
        "Choisissez les comptes",
        "Vérifiez l’autorisation",
        "Confirmez avec votre lecteur de carte",
    ),
    "nl": ("Meld u aan", "Kies de rekeningen", "Controleer de toestemming", "Bevestig met uw kaartlezer"),
}
FOR_AIS = {
    "fr": ("le solde et les opérations de ces comptes", "180 jours, jusqu’au samedi 28 août 2027", "Après 90 jours"),
    "nl": ("het saldo en de verrichtingen van deze rekeningen", "180 dagen, tot zaterdag 28 augustus 2027", "90 dagen"),
}
FOR_CAF = {
    "fr": "Le type, le numéro et le solde de ce compte, mais pas ses opérations",
    "nl": "Het type, het nummer en het saldo van deze rekening, maar niet de verrichtingen",
}


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def query_of(callback: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(callback).query)


def tokens(tpp: Tpp, callback: str, number: int = 3) -> dict[str, str]:
    code = query_of(callback)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    reply = post_form(tpp, form, accept=version(number), authorization=basic("demo-tpp", "demo-secret"))
    assert reply.status_code == 200, reply.text
    found: dict[str, str] = reply.get_json()
    return found


def read(tpp: Tpp, path: str, pair: dict[str, str], **more: str | None) -> TestResponse:
    return tpp.call("GET", path, accept=version(2), authorization=f"Bearer {pair['access_token']}", **more)


def ibans_read(tpp: Tpp, pair: dict[str, str]) -> set[str]:
    return {account["iban"] for account in read(tpp, "/accounts", pair).get_json()["_embedded"]["accounts"]}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_a_customer_chooses_two_accounts_and_confirms(language: str, tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp, language)
    assert title(psu.open(f"{address}?state=s-1")) == STEPS[language][0] and "Demo TPP" in psu.page.text
    assert title(psu.send(f"{address}/login", login="alice")) == STEPS[language][1]
    assert title(psu.choose(address, CURRENT, SAVINGS)) == STEPS[language][2]
    for text in (*FOR_AIS[language], "BE16 5391 0000 1774", "BE36 5391 0000 2481", "Demo TPP"):
        assert text in psu.page.text
    code = psu.read_code(address)
    assert title(psu.page) == STEPS[language][3]
    reply = psu.type(address, code)
    assert reply.status_code == 303 and reply.headers["Location"].startswith(f"{CALLBACK}?code=")
    query = query_of(reply.headers["Location"])
    assert set(query) == {"code", "state"} and query["state"] == ["s-1"]
    pair = tokens(tpp, reply.headers["Location"])
    assert pair["scope"] == "AIS" and ibans_read(tpp, pair) == {CURRENT, SAVINGS}


def test_one_account_is_enough(tpp: Tpp, psu: Psu) -> None:
    assert ibans_read(tpp, tokens(tpp, psu.agree(consent_address(tpp), "alice", SAVINGS))) == {SAVINGS}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_caf_shows_the_account_that_was_named(language: str, tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp, language, CURRENT)
    psu.open(f"{address}?state=s")
    assert 'value="alice" checked' in psu.page.text
    assert title(psu.log_in(f"{address}?state=s", "alice")) == STEPS[language][2]
    assert FOR_CAF[language] in psu.page.text and "BE16 5391 0000 1774" in psu.page.text
    assert "BE36" not in psu.page.text and "2 " + {"fr": "sur", "nl": "van"}[language] + " 3" in psu.page.text
    assert title(psu.open(f"{address}/accounts")) == STEPS[language][2]
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert tokens(tpp, callback, 2)["scope"] == "CAF" and callback.endswith("state=s")


def test_nothing_can_be_chosen_where_the_account_is_given(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp, iban=CURRENT)
    psu.log_in(address, "alice")
    assert psu.choose(address, SAVINGS).status_code == 422
    assert "BE16" in psu.open(f"{address}/review").text and "BE36" not in psu.page.text


@pytest.mark.parametrize("customer", ["bram", "griet"])
def test_caf_is_for_the_accounts_owner_alone(customer: str, tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(consent_address(tpp, iban=CURRENT), customer)
    assert (page.status_code, title(page)) == (422, "Identifiez-vous")
    assert problem(page) == "Cette demande concerne les comptes d’un autre client."


def test_who_blocked_the_channel_cannot_consent(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(consent_address(tpp, "nl"), "blocked")
    assert problem(page) == "De toegang tot onze elektronische kanalen is voor deze klant geblokkeerd."


@pytest.mark.parametrize("customer", ["", "nobody"])
def test_a_customer_must_be_chosen_from_the_list(customer: str, tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(consent_address(tpp), customer)
    assert page.status_code == 422 and problem(page)


@pytest.mark.parametrize("chosen", [(), ("nonsense",), (BRAM,), (CURRENT, BRAM)])
def test_only_what_the_list_offers_can_be_chosen(chosen: tuple[str, ...], tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    page = psu.choose(address, *chosen)
    assert (page.status_code, problem(page)) == (422, "Choisissez au moins un compte.")


def test_an_account_that_only_the_counter_knows_is_not_offered(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(consent_address(tpp), "griet")
    assert page.text.count('name="account"') == 1


def test_every_compartment_shows_its_balance(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(consent_address(tpp, "nl"), "bram")
    assert page.text.count('name="account"') == 1
    assert all(sign in page.text for sign in ("€\xa0", "US$\xa0", "£\xa0"))


@pytest.mark.parametrize("step", ["login", "accounts", "review", "code"])
def test_a_customer_refuses_at_any_step(step: str, tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.open(f"{address}?state=s")
    if step != "login":
        psu.send(f"{address}/login", login="alice")
        psu.choose(address, CURRENT)
        psu.open(f"{address}/{step}")
    query = query_of(psu.refuse(address).headers["Location"])
    assert query == {"error": ["access_denied"], "error_description": ["The customer refused."], "state": ["s"]}


def test_three_wrong_codes_refuse(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    psu.choose(address, CURRENT)
    code = psu.read_code(address)
    assert problem(psu.type(address, "12")).startswith("Introduisez les six chiffres")
    assert "2 essais" in problem(psu.type(address, wrong(code)))
    assert "un seul essai" in problem(psu.type(address, wrong(code)))
    told = query_of(psu.type(address, wrong(code)).headers["Location"])
    assert told["error_description"] == ["The customer typed a wrong code 3 times."]
    assert psu.open(address).status_code == 409


def test_no_step_is_jumped_over(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.open(address)
    assert title(psu.open(f"{address}/code")) == "Identifiez-vous"
    assert psu.choose(address, CURRENT).status_code == 422
    psu.log_in(address, "alice")
    assert title(psu.open(f"{address}/code")) == "Choisissez les comptes"
    assert psu.type(address, "123456").status_code == 422


def test_what_oauth_libraries_append_is_ignored_and_the_last_state_counts(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp, redirect_uri=f"{CALLBACK}?shop=7")
    appended = "response_type=code&client_id=x&scope=AIS&code_challenge=y&redirect_uri=https://evil.example/"
    psu.open(f"{address}?{appended}&state=one&state=two")
    callback = psu.agree(f"{address}?{appended}&state=two", "alice", CURRENT)
    assert callback.startswith(f"{CALLBACK}?shop=7&code=")
    assert parse_qsl(urlsplit(callback).query)[-1] == ("state", "two")


def test_the_language_is_the_addresses_own_and_can_be_changed(app: Flask, tpp: Tpp) -> None:
    psu = Psu(app, "nl")
    address = consent_address(tpp, "fr")
    assert title(psu.open(f"{address}?state=s")) == "Identifiez-vous"
    assert title(psu.open(f"{address}?lang=nl")) == "Meld u aan"
    page = psu.send(f"{address}/login?lang=nl", login="alice")
    assert title(page) == "Kies de rekeningen" and f'action="{address}/accounts?lang=nl"' in page.text
    assert psu.send(f"{address}/refuse?lang=nl").headers["Location"].endswith("state=s")


def test_a_tpp_without_a_screen_language_gets_an_address_of_each(app: Flask, tpp: Tpp) -> None:
    reply = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4), accept_language="en")
    for entry in reply.get_json():
        page = Psu(app).open(entry["consent_uri"].removeprefix(HOST))
        assert title(page) == STEPS[entry["language"]][0]


def test_a_new_consent_says_that_it_replaces_the_earlier_one(tpp: Tpp, psu: Psu) -> None:
    psu.agree(consent_address(tpp), "alice", CURRENT)
    tpp.advance("1d")
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    page = psu.choose(address, SAVINGS)
    assert "Elle remplacera l’autorisation que vous avez donnée le lundi 1er mars 2027." in page.text
    psu.log_in(address, "bram")
    assert "remplacera" not in psu.choose(address, BRAM).text


def test_the_code_of_the_reader_is_needed_once_more_after_logging_in_anew(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    psu.log_in(address, "alice")
    psu.choose(address, CURRENT)
    psu.log_in(address, "bram")
    assert title(psu.open(f"{address}/code")) == "Choisissez les comptes" and "BE56" in psu.page.text


@pytest.fixture
def renewal(tpp: Tpp, app: Flask) -> tuple[dict[str, str], str]:
    """Tokens of a consent whose last authentication is too old, and where the customer authenticates again."""
    pair = tokens(tpp, Psu(app).agree(consent_address(tpp), "alice", CURRENT))
    tpp.advance("91d")
    pair = post_form(tpp, refresh_form(pair["refresh_token"])).get_json()
    path = read(tpp, "/accounts", pair).get_json()["_embedded"]["accounts"][0]["_links"]["self"]["href"]
    path = f"{urlsplit(path).path}/transactions"
    reply = read(tpp, path, pair)
    assert reply.status_code == 401, reply.text
    return {**pair, "path": path}, str(reply.get_json()["_links"]["sca_redirect"]["href"]).removeprefix(HOST)


@pytest.mark.parametrize("language, heading", [("fr", "Prolongez l’accès"), ("nl", "Verleng de toegang")])
def test_a_renewal_shows_the_consents_own_accounts(
    language: str, heading: str, renewal: tuple[dict[str, str], str], tpp: Tpp, psu: Psu
) -> None:
    pair, address = renewal
    query = f"?state=s&lang={language}"
    psu.open(address + query)
    assert 'value="alice" checked' in psu.page.text
    page = psu.send(f"{address}/login?lang={language}", login="alice")
    assert title(page) == heading
    assert "BE16" in page.text and "BE36" not in page.text and " 28 " in page.text
    assert "accounts" not in page.text.split("<main")[1].split("</main")[0]
    callback = psu.type(address, psu.read_code(address)).headers["Location"]
    assert callback == f"{CALLBACK}?state=s"
    assert read(tpp, pair["path"], pair).status_code == 200
    assert title(psu.open(f"{address}?lang=fr")) == "Vous avez déjà confirmé"


def test_a_renewal_is_for_the_consents_customer_alone(renewal: tuple[dict[str, str], str], psu: Psu) -> None:
    page = psu.log_in(renewal[1], "bram")
    assert problem(page) == "Cette demande concerne les comptes d’un autre client."


def test_a_renewal_that_is_refused_leaves_the_consent(renewal: tuple[dict[str, str], str], tpp: Tpp, psu: Psu) -> None:
    pair, address = renewal
    psu.log_in(address, "alice")
    assert "error=access_denied" in psu.refuse(address).headers["Location"]
    assert title(psu.open(address)) == "Vous n’avez pas confirmé"
    assert read(tpp, "/accounts", pair).status_code == 200


@pytest.mark.parametrize("language, heading", [("fr", "a pris fin"), ("nl", "is afgelopen")])
def test_a_renewal_of_what_was_withdrawn_has_its_page(
    language: str, heading: str, renewal: tuple[dict[str, str], str], tpp: Tpp, psu: Psu
) -> None:
    _, address = renewal
    psu.log_in(address, "alice")
    tpp.control("POST", "/psu/withdraw", client_id="demo-tpp", customer="alice", scope="AIS")
    for again in (psu.open(f"{address}?lang={language}"), psu.open(f"{bare(address)}/code?lang={language}")):
        assert again.status_code == 409 and title(again).endswith(heading)
    assert psu.type(address, "123456").status_code == 409


OVER = {
    "fr": ("Ce lien a expiré", "Vous avez déjà donné", "Vous avez refusé"),
    "nl": (
        "Deze link is verlopen",
        "U hebt deze toestemming al gegeven",
        "U hebt deze toestemming geweigerd",
    ),
}


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_an_address_lives_fifteen_minutes(language: str, tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp, language)
    psu.log_in(address, "alice")
    tpp.advance("899s")
    assert psu.open(address).status_code == 200
    tpp.advance("1s")
    for page in (psu.open(address), psu.choose(address, CURRENT), psu.refuse(address)):
        assert (page.status_code, title(page)) == (410, OVER[language][0])
    assert "Demo TPP" in page.text


@pytest.mark.parametrize("language", ["fr", "nl"])
def test_an_answered_address_says_how(language: str, tpp: Tpp, psu: Psu) -> None:
    given, refused = consent_address(tpp, language), consent_address(tpp, language)
    psu.agree(given, "alice", CURRENT)
    psu.open(refused)
    psu.refuse(refused)
    for address, heading in ((given, OVER[language][1]), (refused, OVER[language][2])):
        for page in (psu.open(address), psu.open(f"{address}/code"), psu.type(address, "123456")):
            assert page.status_code == 409 and title(page).startswith(heading)


@pytest.mark.parametrize("path", ["/psu/consent/unknown", "/psu/consent/unknown/code", "/psu/consent/é"])
@pytest.mark.parametrize("language, heading", [("fr", "Cette page n’existe pas"), ("nl", "Deze pagina bestaat niet")])
def test_an_unknown_address_has_its_page(path: str, language: str, heading: str, app: Flask) -> None:
    page = Psu(app, language).open(path)
    assert (page.status_code, title(page)) == (404, heading)


def test_addresses_to_sign_and_to_consent_do_not_stand_in_for_each_other(tpp: Tpp, psu: Psu) -> None:
    address = consent_address(tpp)
    assert psu.open(address.replace("/consent/", "/sign/")).status_code == 404
    assert psu.open(f"{address}/code").status_code == 403  # no session yet
    psu.open(address)
    assert psu.send(f"{address}/elsewhere").status_code == 404


def test_a_world_has_its_consent_pages_below_its_prefix(app: Flask, psu: Psu) -> None:
    tpp = Tpp(app, world="shop")
    address = consent_address(tpp)
    assert address.startswith("/worlds/shop/psu/consent/")
    assert "code=" in psu.agree(f"{address}?state=s", "alice", CURRENT)
