from decimal import Decimal

import pytest
from stdnum import numdb

from sandbox.banking import countries
from sandbox.banking.money import is_currency

PUBLISHED = countries.copy_published()
ROWS = {row["code"]: row for row in PUBLISHED["countries"]}


@pytest.mark.parametrize(
    "code", ["BE", "GB", "CH", "AD", "MC", "SM", "VA", "AL", "ME", "MD", "MK", "RS", "RE", "GI", "JE"]
)
def test_sepa_reaches_beyond_the_union(code: str) -> None:
    assert code in countries.SEPA


@pytest.mark.parametrize("code", ["US", "TR", "XK", "NC", "BA", "be"])
def test_sepa_ends_somewhere(code: str) -> None:
    assert code not in countries.SEPA


def test_the_eea_is_thirty_states_with_their_territories_inside_sepa() -> None:
    assert {"BE", "IS", "LI", "NO", "HR"} <= countries.EEA < countries.SEPA
    assert not {"CH", "GB", "MC", "RS"} & countries.EEA


def test_a_name_that_the_room_lacks_is_refused() -> None:
    with pytest.raises(AttributeError):
        countries.__getattr__("OECD")


def test_iso_3166_knows_countries_and_kosovo() -> None:
    assert all(countries.is_country(code) for code in ("BE", "US", "KP", "XK", "AQ"))
    assert not any(countries.is_country(code) for code in ("EU", "UK", "XX", "be", "", "BEL"))


def test_every_country_of_sepa_and_many_beyond_are_accepted() -> None:
    assert all(countries.accepts_country(code) for code in countries.SEPA | {"US", "JP", "CN", "AE", "BR"})
    assert len(ROWS.keys() - countries.SEPA) >= 60


@pytest.mark.parametrize("code", ["KP", "IR", "SY", "RU", "BY", "CU", "MM", "XX", "us"])
def test_countries_under_sanctions_and_unknown_ones_are_not_accepted(code: str) -> None:
    assert not countries.accepts_country(code)


def test_each_accepted_country_is_one_of_iso_3166() -> None:
    assert [code for code in ROWS if not countries.is_country(code)] == []


def test_ibans_are_expected_where_the_registry_has_them() -> None:
    registry = numdb.get("iban")
    of_their_own = {code for code in ROWS if registry.info(code + "0" * 30)[0][1]}
    territories = {"AX", "BL", "GF", "GG", "GP", "IM", "JE", "MF", "MQ", "NC", "PF", "PM", "RE", "YT"}
    assert {code for code, row in ROWS.items() if row["iban"]} == of_their_own | territories & ROWS.keys()


def test_each_accepted_currency_is_money_with_a_rate() -> None:
    codes = [row["code"] for row in PUBLISHED["currencies"]]
    assert len(codes) >= 25
    assert all(is_currency(code) and countries.accepts_currency(code) for code in codes)
    assert all(countries.rate(code) > 0 for code in codes)
    assert countries.rate("EUR") == Decimal(1)


@pytest.mark.parametrize("code", ["RUB", "KPW", "XAU", "BGN", "usd", ""])
def test_other_currencies_are_not_accepted(code: str) -> None:
    assert not countries.accepts_currency(code)


@pytest.mark.parametrize("country", ["AE", "IN", "CN", "JO", "BH"])
def test_some_countries_require_a_purpose_from_a_list_of_their_own(country: str) -> None:
    assert countries.needs_purpose(country)
    assert all(countries.accepts_purpose(country, code) for code in ROWS[country]["purpose_codes"])
    assert countries.accepts_purpose(country, "GDDS")
    assert not countries.accepts_purpose(country, "WTER")
    assert not countries.accepts_purpose(country, "QQQQ")


@pytest.mark.parametrize("country", ["US", "FR", "KP"])
def test_elsewhere_a_purpose_is_optional_and_any_of_the_list(country: str) -> None:
    assert not countries.needs_purpose(country)
    assert countries.accepts_purpose(country, "WTER")
    assert not countries.accepts_purpose(country, "QQQQ")
    assert not countries.accepts_purpose(country, "wter")


def test_purposes_are_four_upper_case_letters_each_once() -> None:
    codes = PUBLISHED["purpose_codes"]
    assert len(codes) == len(set(codes)) >= 300
    assert all(len(code) == 4 and code.isascii() and code.isalpha() and code.isupper() for code in codes)
    assert [row["code"] for row in ROWS.values() if not set(row["purpose_codes"]) <= set(codes)] == []


def test_what_is_published_is_a_copy() -> None:
    countries.copy_published()["sepa"].clear()
    assert "BE" in countries.copy_published()["sepa"]


def test_a_fixture_is_read_and_a_missing_one_is_not() -> None:
    assert countries.read_fixture("countries.json").startswith(b"{")
    with pytest.raises(FileNotFoundError):
        countries.read_fixture("nothing.json")
