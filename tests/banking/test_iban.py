import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import bic

from sandbox.banking.iban import BANK_BIC, bic_fits_iban, find_country, is_bic, is_iban, make_belgian


@pytest.mark.parametrize(
    "text",
    ["BE68539007547034", "NL91ABNA0417164300", "GB29NWBK60161331926819", "MT84MALT011000012345MTLCAST001S"],
)
def test_an_iban_holds(text: str) -> None:
    assert is_iban(text)
    assert find_country(text) == text[:2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "BE68539007547035",  # mod 97
        "BE6853900754703",  # length
        "BE685390075470344",
        "be68539007547034",  # service 2.1 rule 1: upper case
        "BE68 5390 0754 7034",
        "BE68-5390-0754-7034",
        "BE68539007547034\n",
        " BE68539007547034",
        "BE68\u00a0539007547034",
        "BE68539007547O34",
        "BE٦٨539007547034",
        "US64SVBKUS6S3300958879",  # no country of IBANs
        "68539007547034",
    ],
)
def test_what_is_no_iban_is_refused(text: str) -> None:
    assert not is_iban(text)


@pytest.mark.parametrize(("right", "twin"), [("97", "00"), ("98", "01"), ("02", "99")])
def test_check_digits_that_only_mod_97_likes_are_refused(right: str, twin: str) -> None:
    made = next(iban for number in range(1000) if (iban := make_belgian("539", number))[2:4] == right)
    forged = f"BE{twin}{made[4:]}"
    assert int(f"{forged[4:]}1114{twin}") % 97 == 1
    assert is_iban(made)
    assert not is_iban(forged)


@given(st.integers(0, 999), st.integers(0, 9_999_999))
def test_every_belgian_iban_that_is_made_holds(bank: int, number: int) -> None:
    made = make_belgian(f"{bank:03}", number)
    assert is_iban(made)
    assert len(made) == 16
    assert int(made[14:]) == (int(made[4:14]) % 97 or 97)


def test_a_known_account_is_made_and_one_of_eight_digits_is_not() -> None:
    assert make_belgian("539", 75470) == "BE68539007547034"
    with pytest.raises(AssertionError):
        make_belgian("539", 10_000_000)
    with pytest.raises(AssertionError):
        make_belgian("39", 1)


@pytest.mark.parametrize("text", ["GKCCBEBB", "GKCCBEBBXXX", "BPHKPLPK", "A1B2DEFF123"])
def test_a_bic_holds(text: str) -> None:
    assert is_bic(text)


@pytest.mark.parametrize(
    "text", ["", "GKCCBEB", "GKCCBEBBX", "gkccbebb", "GKCC1EBB", "GKCCBEBB\n", "GKCC BEBB", "GKCCBEBBXXXX"]
)
def test_what_is_no_bic_is_refused(text: str) -> None:
    assert not is_bic(text)


@pytest.mark.parametrize(
    ("bic", "iban"),
    [
        ("GKCCBEBB", "BE68539007547034"),
        ("BNPAREREXXX", "FR1420041010050500013M02606"),
        ("BARCJESH", "GB29NWBK60161331926819"),
    ],
)
def test_a_bic_belongs_to_the_country_of_the_iban_and_its_territories(bic: str, iban: str) -> None:
    assert bic_fits_iban(bic, iban)


@pytest.mark.parametrize(("bic", "iban"), [("ABNANL2A", "BE68539007547034"), ("AGRIFRPP", "GB29NWBK60161331926819")])
def test_a_bic_of_another_country_does_not_belong(bic: str, iban: str) -> None:
    assert not bic_fits_iban(bic, iban)


SWIFT = re.compile(r"[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")  # no digit in front, as SWIFT gives them


@pytest.mark.parametrize("text", [BANK_BIC, f"{BANK_BIC}XXX"])
def test_the_banks_own_bic_is_one_that_libraries_take(text: str) -> None:
    schema = resources.files("sepaxml").joinpath("schemas", "pain.001.001.03.xsd").read_text()
    (strictest,) = re.findall(r'name="BICIdentifier">\s*<xs:restriction[^>]*>\s*<xs:pattern value="([^"]+)"', schema)
    assert re.fullmatch(strictest, text) and SWIFT.fullmatch(text) and bic.is_valid(text)
    assert bic_fits_iban(text, make_belgian("539", 1))
    assert not set(BANK_BIC[6:]) & set("0123456789")  # no test BIC, no passive and no reverse-billing one


@pytest.mark.parametrize("page", ["docs/customers.md", "sandbox/web/docs/templates/choices.html"])
def test_the_documents_name_the_banks_own_bic(page: str) -> None:
    text = (Path(__file__).parents[2] / page).read_text()
    assert BANK_BIC in text and set(re.findall(r"SBX[A-Z]{3}[A-Z0-9]{2}", text)) == {BANK_BIC}
