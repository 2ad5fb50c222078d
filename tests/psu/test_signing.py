"""The SCA address as a PSU walks it (service 1, 4.1, 6.1; choice 5)."""

from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from flask import Flask

from tests.psu.psu import Psu, address_of, bare, problem, title, wrong
from tests.tpp import CALLBACK, ISCT, SCT, VERIFIER, XB, Tpp

BRITISH = {"iban": "GB29NWBK60161331926819", "bic": "NWBKGB2L"}
IN_LONDON = {"street": "High Street", "building_number": "2", "city": "London", "postcode": "E1 1AA", "country": "GB"}


@pytest.fixture
def psu(app: Flask) -> Psu:
    return Psu(app)


def status_of(tpp: Tpp) -> tuple[str, str | None]:
    (row,) = tpp.listed("payments")
    return row["status"], row["reason"]


def iban_of(tpp: Tpp, customer: str, place: int = 0) -> str:
    return next(str(row["accounts"][place]) for row in tpp.listed("customers") if row["customer"] == customer)


def test_a_payment_without_an_account_is_signed_in_four_steps(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, instructed_amount__amount="1234.80")
    assert title(psu.open(f"{address}?state=s-1")) == "Identifiez-vous"
    assert "Étape 1 sur 4" in psu.page.text
    assert title(psu.send(f"{address}/login", login="alice")) == "Choisissez le compte à débiter"
    assert title(psu.pick(address, f"{iban_of(tpp, 'alice')} EUR")) == "Vérifiez le virement"
    assert title(psu.open(f"{address}/code")) == "Signez avec votre lecteur de carte"
    reply = psu.type(address, psu.read_code(address))
    callback = urlsplit(reply.headers["Location"])
    query = parse_qs(callback.query)
    assert (reply.status_code, f"{callback.scheme}://{callback.netloc}{callback.path}") == (303, CALLBACK)
    assert set(query) == {"code", "state"} and query["state"] == ["s-1"]
    assert status_of(tpp) == ("PDNG", None)


def test_the_only_account_and_the_one_that_was_chosen_are_chosen_already(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, instructed_amount__amount="1.00")
    assert " checked" in psu.log_in(address, "poor").text
    assert " checked" not in psu.log_in(address, "bakkerij").text
    psu.pick(address, f"{iban_of(tpp, 'bakkerij', 1)} EUR")
    assert f'value="{iban_of(tpp, "bakkerij", 1)} EUR" checked' in psu.open(f"{address}/account").text


def test_the_code_of_the_callback_gives_tokens(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    code = parse_qs(urlsplit(psu.sign(address, "alice", f"{iban_of(tpp, 'alice')} EUR")).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    reply = tpp.call("POST", "/token", data=form, authorization="Basic ZGVtby10cHA6ZGVtby1zZWNyZXQ=")
    assert reply.get_json()["scope"] == "PIS"


def test_a_payment_with_an_account_has_no_step_to_pick_one(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, debtor_account={"iban": iban_of(tpp, "alice")})
    psu.open(address)
    assert "Étape 1 sur 3" in psu.page.text and 'value="alice" checked' in psu.page.text
    assert title(psu.log_in(address, "alice")) == "Vérifiez le virement"
    assert "Choisir un autre compte" not in psu.page.text
    assert title(psu.open(f"{address}/account")) == "Vérifiez le virement"
    assert psu.sign(address, "alice").startswith(CALLBACK)


def test_a_savings_account_is_not_offered(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(address_of(tpp), "alice")
    assert page.text.count('name="account"') == 1 and "BE36 5391 0000 2481" not in page.text.replace("\xa0", " ")


def test_the_callback_keeps_its_own_query(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, callback=f"{CALLBACK}?shop=7&next=%2Fa%3Fb%3D1")
    callback = psu.sign(f"{address}?state=a%26b%20c", "alice", f"{iban_of(tpp, 'alice')} EUR")
    assert callback.startswith(f"{CALLBACK}?shop=7&next=%2Fa%3Fb%3D1&code=")
    assert parse_qsl(urlsplit(callback).query)[-1] == ("state", "a&b c")


def test_what_oauth_libraries_append_is_ignored_and_the_last_state_counts(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(f"{address}?response_type=code&client_id=x&state=one&state=two&redirect_uri=https://evil.example/")
    callback = psu.refuse(address).headers["Location"]
    assert callback.startswith(f"{CALLBACK}?error=access_denied") and callback.endswith("&state=two")


def test_a_psu_refuses_and_goes_back_with_the_state(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(f"{address}?state=s", "alice")
    query = parse_qs(urlsplit(psu.refuse(address).headers["Location"]).query)
    assert query == {
        "error": ["access_denied"],
        "error_description": ["The customer refused."],
        "state": ["s"],
    }
    assert status_of(tpp) == ("CANC", "PSU_REFUSED")


def test_a_wrong_code_is_told_with_the_tries_that_are_left(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, debtor_account={"iban": iban_of(tpp, "alice")})
    psu.log_in(address, "alice")
    code = psu.read_code(address)
    assert problem(psu.type(address, wrong(code))) == "Le code est erroné. Il vous reste 2 essais."
    assert (psu.page.status_code, 'aria-invalid="true"' in psu.page.text) == (422, True)
    assert problem(psu.type(address, wrong(code))) == "Le code est erroné. Il vous reste un seul essai."
    reply = psu.type(address, wrong(code))
    told = parse_qs(urlsplit(reply.headers["Location"]).query)
    assert reply.status_code == 303 and told["error"] == ["access_denied"]
    assert told["error_description"] == ["The customer typed a wrong code 3 times."]
    assert status_of(tpp) == ("CANC", "PSU_REFUSED")


def test_two_wrong_codes_leave_room_for_a_right_one(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, debtor_account={"iban": iban_of(tpp, "alice")})
    psu.log_in(address, "alice")
    code = psu.read_code(address)
    psu.type(address, wrong(code))
    psu.type(address, wrong(code))
    assert "code=" in psu.type(address, code.replace(" ", "")).headers["Location"]


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "12345a", "١٢٣٤٥٦"])
def test_what_has_not_the_shape_of_a_code_costs_no_try(typed: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, debtor_account={"iban": iban_of(tpp, "alice")})
    psu.log_in(address, "alice")
    psu.open(f"{address}/code")
    for _ in range(4):
        assert problem(psu.type(address, typed)) == "Introduisez les six chiffres affichés par le lecteur."


def test_after_insufficient_funds_another_account_is_picked(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, instructed_amount__amount="8000.00")
    psu.log_in(address, "bakkerij")
    reserve, current = iban_of(tpp, "bakkerij", 1), iban_of(tpp, "bakkerij")
    tpp.control("POST", f"/accounts/{reserve}/transactions", amount="-25000.00", counterparty="An oven")
    page = psu.pick(address, f"{reserve} EUR")
    assert problem(page) == "Les fonds disponibles sur ce compte sont insuffisants pour ce virement."
    assert title(page) == "Choisissez le compte à débiter"
    assert title(psu.pick(address, f"{current} EUR")) == "Vérifiez le virement"
    assert "code=" in psu.type(address, psu.read_code(address)).headers["Location"]


def test_funds_that_left_before_the_signature_are_told_too(app: Flask, tpp: Tpp, psu: Psu) -> None:
    account = f"{iban_of(tpp, 'alice')} EUR"
    first, second = (address_of(tpp, instructed_amount__amount="4000.00") for _ in range(2))
    psu.log_in(first, "alice")
    psu.pick(first, account)
    Psu(app).sign(second, "alice", account)
    page = psu.type(first, psu.read_code(first))
    assert (page.status_code, title(page)) == (422, "Choisissez le compte à débiter")
    assert problem(page).startswith("Les fonds disponibles")


REFUSED = (
    ("limited", "300.00", "Ce virement dépasserait la limite journalière de ce compte."),
    ("blocked", "1.00", "L’accès à nos canaux électroniques est bloqué pour ce client."),
    ("poor", "999.00", "Les fonds disponibles sur ce compte sont insuffisants pour ce virement."),
)


@pytest.mark.parametrize("customer, amount, why", REFUSED)
def test_a_refused_account_says_why(customer: str, amount: str, why: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, instructed_amount__amount=amount)
    psu.log_in(address, customer)
    assert problem(psu.pick(address, f"{iban_of(tpp, customer)} EUR")) == why
    assert status_of(tpp) == ("PATC", None)


def test_the_weekly_limit_is_told_once_the_daily_ones_are_used(tpp: Tpp, psu: Psu) -> None:
    account = f"{iban_of(tpp, 'limited')} EUR"
    for _ in range(2):
        psu.sign(address_of(tpp, instructed_amount__amount="240.00"), "limited", account)
        tpp.advance("1d")
    address = address_of(tpp, instructed_amount__amount="240.00")
    psu.log_in(address, "limited")
    assert problem(psu.pick(address, account)) == "Ce virement dépasserait la limite hebdomadaire de ce compte."


def test_a_country_that_the_customer_does_not_accept_is_named(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, language="nl", creditor_account__iban="FR7630006000011234567890189")
    psu.log_in(address, "limited")
    page = psu.pick(address, f"{iban_of(tpp, 'limited')} EUR")
    assert problem(page) == "Uw veiligheidsinstellingen laten geen overschrijvingen naar dit land toe (Frankrijk)."


def test_an_urgent_transfer_from_a_private_account_is_refused(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, instruction_priority="HIGH")
    psu.log_in(address, "alice")
    page = psu.pick(address, f"{iban_of(tpp, 'alice')} EUR")
    assert problem(page) == "Un virement urgent n’est possible que depuis un compte professionnel."
    psu.log_in(address, "bakkerij")
    assert "Virement européen (SEPA), urgent" in psu.pick(address, f"{iban_of(tpp, 'bakkerij')} EUR").text


def test_a_payment_outside_sepa_may_be_barred(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, XB, creditor_account=BRITISH, creditor_address=IN_LONDON)
    psu.log_in(address, "limited")
    page = psu.pick(address, f"{iban_of(tpp, 'limited')} EUR")
    assert problem(page) == "Ce compte ne permet pas de virements hors de la zone SEPA."


def test_an_account_of_somebody_else_is_not_for_this_customer_to_sign(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, debtor_account={"iban": iban_of(tpp, "alice")})
    page = psu.log_in(address, "bram")
    assert (page.status_code, title(page)) == (422, "Identifiez-vous")
    assert problem(page) == "Vous n’êtes pas autorisé à signer pour ce compte."


@pytest.mark.parametrize("value", ["", "nonsense", "BE16539100001774 USD", "BE56539100003188 EUR"])
def test_only_what_the_list_offers_can_be_picked(value: str, tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(address, "alice")
    assert problem(psu.pick(address, value)) == "Choisissez un compte dans la liste."


@pytest.mark.parametrize("customer", ["", "nobody"])
def test_a_customer_must_be_chosen_from_the_list(customer: str, tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(address_of(tpp), customer)
    assert page.status_code == 422 and problem(page)


def test_within_sepa_only_euro_compartments_are_offered(tpp: Tpp, psu: Psu) -> None:
    iban = iban_of(tpp, "bram")
    page = psu.log_in(address_of(tpp, language="nl"), "bram")
    assert f'value="{iban} EUR"' in page.text and f'value="{iban} USD"' not in page.text


def test_a_cross_border_payment_shows_what_leaves_the_account(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, XB, "nl", creditor_account=BRITISH, creditor_address=IN_LONDON)
    page = psu.log_in(address, "bram")
    assert f'value="{iban_of(tpp, "bram")} USD"' in page.text
    page = psu.pick(address, f"{iban_of(tpp, 'bram')} EUR")
    for text in ("US$\xa012,50", "Te debiteren bedrag", "High Street 2, E1 1AA London, Verenigd Koninkrijk", "Gedeeld"):
        assert text in page.text


def test_an_account_that_only_the_counter_knows_is_not_offered(tpp: Tpp, psu: Psu) -> None:
    page = psu.log_in(address_of(tpp), "griet")
    assert page.text.count('name="account"') == 2  # her own, and the one of the office that she may sign for


def test_balance_and_available_funds_are_shown_apart(tpp: Tpp, psu: Psu) -> None:
    psu.sign(address_of(tpp, instructed_amount__amount="1000.00"), "alice", f"{iban_of(tpp, 'alice')} EUR")
    page = psu.log_in(address_of(tpp), "alice")
    (row,) = [row for row in tpp.listed("accounts") if row["iban"] == iban_of(tpp, "alice")]
    balance = float(row["balances"][0]["balance"])
    for amount in (balance, balance - 1000):
        assert f"{amount:,.2f}\xa0€".replace(",", "\u202f").replace(".", ",") in page.text


def test_a_date_ahead_is_read_before_signing(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, requested_execution_date="2027-04-02", remittance_information_structured="090933755493")
    psu.log_in(address, "alice")
    page = psu.pick(address, f"{iban_of(tpp, 'alice')} EUR")
    assert "Le vendredi 2 avril 2027" in page.text and "+++090/9337/55493+++" in page.text


def test_an_instant_payment_says_so(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp, ISCT, "nl")
    psu.log_in(address, "bram")
    page = psu.pick(address, f"{iban_of(tpp, 'bram')} EUR")
    assert "Instantoverschrijving (SEPA)" in page.text and "Onmiddellijk, binnen 10 seconden" in page.text


def test_two_addresses_in_one_browser_do_not_meet(tpp: Tpp, psu: Psu) -> None:
    first, second = address_of(tpp), address_of(tpp)
    psu.log_in(f"{first}?state=1", "alice")
    psu.log_in(f"{second}?state=2", "bram")
    assert "BE16" in psu.open(f"{first}/account").text
    assert psu.refuse(first).headers["Location"].endswith("state=1")
    psu.open(second)
    assert psu.refuse(second).headers["Location"].endswith("state=2")


def test_a_second_look_goes_on_and_a_new_state_begins_anew(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.log_in(f"{address}?state=1", "alice")
    assert title(psu.open(f"{address}?state=1")) == title(psu.open(address)) == "Choisissez le compte à débiter"
    assert title(psu.open(f"{address}?state=2")) == "Identifiez-vous"
    assert psu.refuse(address).headers["Location"].endswith("state=2")


def test_no_step_is_jumped_over(tpp: Tpp, psu: Psu) -> None:
    address = address_of(tpp)
    psu.open(address)
    assert title(psu.open(f"{address}/code")) == "Identifiez-vous"
    psu.log_in(address, "alice")
    assert title(psu.open(f"{address}/code")) == "Choisissez le compte à débiter"
    assert psu.type(address, "123456").status_code == 422
    assert status_of(tpp) == ("PATC", None)


def test_a_world_has_its_pages_below_its_prefix(app: Flask, psu: Psu) -> None:
    tpp = Tpp(app, world="shop")
    address = address_of(tpp)
    assert address.startswith("/worlds/shop/psu/sign/")
    page = psu.open(f"{address}?state=s")
    assert 'href="/worlds/shop/psu/static/bank.css"' in page.text
    assert "Path=/worlds/shop/psu;" in page.headers["Set-Cookie"]
    assert psu.sign(f"{address}?state=s", "alice", f"{iban_of(tpp, 'alice')} EUR").endswith("state=s")
    assert psu.open(bare(address).removeprefix("/worlds/shop")).status_code == 404


def test_a_payment_after_the_cut_off_shows_the_day_of_its_execution(tpp: Tpp, psu: Psu) -> None:
    tpp.control("PATCH", "/settings", cut_off="15:00")
    tpp.control("POST", "/clock", set="2027-03-05T15:00:00+01:00")
    address = address_of(tpp)
    psu.log_in(address, "alice")
    page = psu.pick(address, f"{iban_of(tpp, 'alice')} EUR")
    assert "Le lundi 8 mars 2027" in page.text
    assert "L’heure limite d’aujourd’hui est passée" in page.text and "vous pouvez l’annuler" in page.text


@pytest.mark.parametrize(
    "product, at, late", [(XB, "15:00", True), (ISCT, "15:00", False), (SCT, "14:59", False)], ids=["XB", "ISCT", "SCT"]
)
def test_the_page_speaks_of_the_cut_off_where_it_delays_the_payment(
    tpp: Tpp, psu: Psu, product: str, at: str, late: bool
) -> None:
    tpp.control("PATCH", "/settings", cut_off="15:00")
    tpp.control("POST", "/clock", set=f"2027-03-05T{at}:00+01:00")
    address = address_of(tpp, product, debtor_account__iban=iban_of(tpp, "alice"))
    psu.log_in(address, "alice")
    assert ("L’heure limite d’aujourd’hui est passée" in psu.page.text) == late
    assert "vous pouvez l’annuler" not in psu.page.text  # a cross-border payment cannot be cancelled
