"""French and Dutch, and English for demos: every word in each, chosen as the contract says (service 4.0)."""

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from string import Formatter

import pytest
from flask import Flask

from sandbox.banking.iban import group_iban
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.languages import PAGES, SCREENS
from sandbox.web.psu import words as formats
from sandbox.web.psu.words import LANGUAGES, read_catalogue, say, say_refusal, spell_number
from tests.psu.psu import Psu, address_of, bare
from tests.tpp import Tpp, version

ROOM = Path(__file__).parents[2] / "sandbox" / "web" / "psu"
KEYS = sorted(read_catalogue("fr"))
SAME = {"code.shown", "kind.private", "number 6"}  # written alike in French and Dutch
ALIKE_IN_ENGLISH = {"file.bulk", "urgent"}  # and in Dutch
# Keys that a template or a view puts together from what it shows.
MADE = re.compile(
    r"kind\.|method\.|(app|identity_app)\.|status\.|review\.|consent\.(sees|life|again)|channel\.(signed|waiting|refused|withdrawn|undone|sees|(no_)?(payments|orders)$)|"
    r"(outdated|signed|cosigned|cancelled|ended|rejected|withdrawn|unknown|lost|failed)\.|"
    r"(current|savings)-account|.*-credit-transfers|SHAR|DEBT|CRED|[A-Z_]+LY$|.* (order|bulk|consent|renewal|one)$|"
    r"number |refusal |payee\.(match|close_match|no_match|not_possible)"
)


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_catalogue_has_every_sentence_with_the_same_facts(language: str) -> None:
    assert sorted(read_catalogue(language)) == KEYS
    for key, text in read_catalogue(language).items():
        assert text.strip(), key
        assert names_in(text) == names_in(read_catalogue("fr")[key]), key
        assert "'" not in text, key  # the typographic apostrophe


def test_no_sentence_was_left_in_the_other_language() -> None:
    french, dutch, english = read_catalogue("fr"), read_catalogue("nl"), read_catalogue("en")
    assert {key for key in KEYS if french[key] == dutch[key]} <= SAME
    assert {key for key in KEYS if english[key] in (french[key], dutch[key])} <= SAME | ALIKE_IN_ENGLISH


def test_each_language_has_a_catalogue_and_each_catalogue_a_language() -> None:
    assert {file.stem for file in (ROOM / "catalogues").iterdir()} == set(PAGES) > set(SCREENS)


def test_a_key_that_no_catalogue_has_is_our_mistake() -> None:
    with pytest.raises(KeyError):
        say("fr", "no.such.sentence")


def test_small_numbers_are_words_and_large_ones_are_digits() -> None:
    assert (spell_number("fr", 2), spell_number("nl", 3), spell_number("nl", 12)) == ("deux", "drie", "12")


def test_every_sentence_is_used() -> None:
    files = [*ROOM.glob("*.py"), *(ROOM / "templates").glob("*.html")]
    used = "".join(file.read_text() for file in files if file.name != "words.py")
    assert [key for key in KEYS if not MADE.match(key) and f'"{key}"' not in used and f"'{key}'" not in used] == []


def test_french_has_a_blank_before_double_punctuation() -> None:
    for french in read_catalogue("fr").values():
        assert not re.search(r"[^\s][:;!?](\s|$)", french), french


def test_every_no_of_the_domain_has_its_sentence() -> None:
    for language in LANGUAGES:
        found = say_refusal(language, Refusal(Error.FUNDS_MISSING, input="x"))
        assert found == read_catalogue(language)["refusal FUNDS_MISSING"]
    unknown = Refusal(Error.INTERNAL)
    assert say_refusal("fr", unknown) == "Votre demande n’a pas pu être acceptée."


AMOUNTS = (
    ("1234.80", "EUR", "1\u202f234,80\xa0€", "€\xa01.234,80"),
    ("0.50", "EUR", "0,50\xa0€", "€\xa00,50"),
    ("1234", "JPY", "1\u202f234\xa0JPY", "JP¥\xa01.234"),
)


@pytest.mark.parametrize("number, currency, french, dutch", AMOUNTS)
def test_amounts_are_written_as_each_language_does(number: str, currency: str, french: str, dutch: str) -> None:
    money = Money(Decimal(number), currency)
    assert (formats.write_amount("fr", money), formats.write_amount("nl", money)) == (french, dutch)


DATES = (
    (date(2027, 3, 1), "lundi 1er mars 2027", "maandag 1 maart 2027"),
    (date(2027, 3, 11), "jeudi 11 mars 2027", "donderdag 11 maart 2027"),
)


@pytest.mark.parametrize("day, french, dutch", DATES)
def test_dates_are_written_as_each_language_does(day: date, french: str, dutch: str) -> None:
    assert (formats.write_long_date("fr", day), formats.write_long_date("nl", day)) == (french, dutch)


def test_an_iban_is_grouped_and_another_number_is_not() -> None:
    assert group_iban("BE16539100001774") == "BE16 5391 0000 1774"
    assert group_iban("021000021/55") == "021000021/55"


def language_of(text: str) -> str:
    found = re.search(r'<html lang="(..)">', text)
    assert found
    return found[1]


def test_the_language_of_the_initiation_comes_before_the_browsers(app: Flask, tpp: Tpp) -> None:
    psu = Psu(app, "nl")
    page = psu.open(address_of(tpp, language="en, fr;q=0.5"))
    assert language_of(page.text) == page.headers["Content-Language"] == "fr"


def test_an_initiation_without_a_screen_language_takes_the_browsers(app: Flask, tpp: Tpp) -> None:
    address = address_of(tpp, language="en")
    assert language_of(Psu(app, "de, nl-BE;q=0.8, fr;q=0.2").open(address).text) == "nl"
    assert language_of(Psu(app, "nl;q=0, fr-CA").open(address).text) == "fr"


def test_else_it_is_french_until_the_customer_is_known(app: Flask, tpp: Tpp) -> None:
    address = address_of(tpp, language="en")
    psu = Psu(app, "de")
    assert language_of(psu.open(address).text) == "fr"
    assert language_of(psu.log_in(address, "bram").text) == "nl"


def test_the_language_chosen_on_the_page_is_kept_to_the_end(app: Flask, tpp: Tpp) -> None:
    address = address_of(tpp, language="fr")
    psu = Psu(app, "fr")
    psu.open(f"{address}?state=s")
    page = psu.open(f"{bare(address)}?lang=nl")
    assert language_of(page.text) == "nl" and f'action="{address}/login?lang=nl"' in page.text
    page = psu.send(f"{address}/login?lang=nl", login="alice")
    assert language_of(page.text) == "nl" and page.request.args["lang"] == "nl"
    assert f'action="{address}/account?lang=nl"' in page.text
    assert psu.send(f"{address}/refuse?lang=nl").headers["Location"].endswith("state=s")
    assert language_of(psu.open(f"{address}?lang=xx").text) == "fr"


def test_english_is_a_language_of_the_pages_where_the_setting_says_so(app: Flask, tpp: Tpp) -> None:
    address = address_of(tpp, language="en")
    psu = Psu(app, "en-GB, fr;q=0.5")
    assert language_of(psu.open(address).text) == "fr" and "lang=en" not in psu.open(address).text
    assert language_of(psu.open(f"{bare(address)}?lang=en").text) == "fr"
    tpp.control("PATCH", "/settings", screens_in_english="on")
    page = psu.open(address)
    assert language_of(page.text) == page.headers["Content-Language"] == "en" and "Identify yourself" in page.text
    assert "lang=fr" in page.text and "lang=nl" in page.text
    page = psu.log_in(address, "alice")
    assert "Choose the account to be debited" in page.text and "€12.50" in page.text
    assert language_of(psu.open(bare(address_of(tpp, language="nl"))).text) == "en"
    assert language_of(Psu(app, "de").open(bare(address_of(tpp, language="nl"))).text) == "nl"


def test_the_interface_knows_nothing_of_english(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", screens_in_english="on")
    reply = tpp.call("GET", "/consent-uris?scope=AIS", accept=version(4), accept_language="en")
    assert {row["language"] for row in reply.get_json()} <= set(SCREENS)


@pytest.mark.parametrize("value", ["yes", "en", "", 1])
def test_the_setting_of_english_is_on_or_off(tpp: Tpp, value: object) -> None:
    assert tpp.control("PATCH", "/settings", screens_in_english=value).status_code == 400


def test_english_says_days_as_people_do() -> None:
    days = [formats.write_day_of_month("en", date(2027, 3, day)) for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31)]
    assert days == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "31st"]
    assert formats.write_long_date("en", date(2027, 3, 1)) == "Monday 1 March 2027"


def test_the_bank_is_nobodys() -> None:
    assert (say("fr", "bank"), say("nl", "bank")) == ("La Banque d’essai", "De Testbank")


@pytest.mark.parametrize("customer, language", [("alice", "fr"), ("bram", "nl")])
@pytest.mark.parametrize("browser", (None, "en-US,en", "nl,fr", "fr,nl"))
def test_where_the_tpp_names_no_language_of_the_screens_the_customers_own_decides(
    app: Flask, tpp: Tpp, customer: str, language: str, browser: str | None
) -> None:
    address = address_of(tpp, language="en", debtor_account__iban=tpp.iban_of(customer))
    psu = Psu(app, browser)
    assert f'<html lang="{language}"' in psu.open(address).text
    tpp.advance("5m")
    assert f'<html lang="{language}"' in psu.open(address).text
    assert f'<html lang="{language}"' not in psu.open(f"{address}?lang={'fr' if language == 'nl' else 'nl'}").text


def test_a_language_that_the_tpp_names_goes_before_the_customers_and_the_browser(app: Flask, tpp: Tpp) -> None:
    address = address_of(tpp, language="en, nl;q=0.5", debtor_account__iban=tpp.iban_of("alice"))
    assert '<html lang="nl"' in Psu(app, "fr").open(address).text


def test_until_a_customer_is_known_the_browser_decides(app: Flask, tpp: Tpp) -> None:
    address, psu = address_of(tpp, language="en"), Psu(app, "nl")
    assert '<html lang="nl"' in psu.open(address).text
    assert '<html lang="fr"' in psu.log_in(address, "alice").text
