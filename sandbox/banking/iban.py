"""Checks IBANs and BICs, splits an IBAN into its parts, and makes Belgian IBANs."""

import re
from functools import cache, lru_cache

import stdnum.iban
from stdnum import numdb

# The library's own check cleans blanks, dashes and lower case away, which the service does not (service 2.1 rule 1),
# and looks the country up for every IBAN, which takes half the time of a large file. So its table alone is used.
# Check digits 00, 01 and 99 pass a bare mod 97, yet no IBAN has them.
SHAPE = re.compile(r"[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])[A-Z0-9]{11,30}")
BBAN_PART = re.compile(r"([0-9]+)!([nac])")
BBAN_SIGNS = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
VALUES = str.maketrans({chr(ord("A") + place): str(10 + place) for place in range(26)})
LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")
BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")

# This bank's own, which no bank of the BIC directory has. It is no test BIC (a location code that ends in 0, ISO 9362):
# libraries refuse those.
BANK_BIC = "SBXBBEBB"
BANK_CODE = "539"  # in the IBANs of its accounts; allocated to no bank (choice 11)

# Places with a country code of their own, whose banks issue the IBANs of a larger country.
TERRITORIES = {
    "FR": frozenset({"BL", "GF", "GP", "MF", "MQ", "NC", "PF", "PM", "RE", "TF", "WF", "YT"}),
    "GB": frozenset({"GG", "IM", "JE"}),
    "FI": frozenset({"AX"}),
}


@lru_cache(maxsize=4096)  # a bulk file names the same accounts again and again
def is_iban(text: str) -> bool:
    """Whether the text is an IBAN: its check digits are right, and it has the length and form of its country (choice
    5). The bank need not exist."""
    if not SHAPE.fullmatch(text):
        return False
    shape = find_bban_shape(find_country(text))
    if shape is None or not shape.fullmatch(text, 4):
        return False
    return int((text[4:] + text[:4]).translate(VALUES)) % 97 == 1


@cache  # by country code, so there are few
def find_bban_shape(country: str) -> re.Pattern[str] | None:
    """Returns the pattern of what follows the check digits in the IBANs of a country. Returns None if the country has
    no IBANs."""
    parts = numdb.get("iban").info(country)
    structure = parts[0][1].get("bban")
    if structure is None:
        return None
    return re.compile("".join(f"{BBAN_SIGNS[kind]}{{{length}}}" for length, kind in BBAN_PART.findall(structure)))


def find_country(iban: str) -> str:
    return iban[:2]


def group_iban(number: str) -> str:
    """Returns an IBAN in groups of four characters. Returns any other account number unchanged."""
    if not (number[:2].isalpha() and number[2:4].isdigit()):
        return number
    return " ".join(number[place : place + 4] for place in range(0, len(number), 4))


def make_belgian(bank_code: str, number: int) -> str:
    """Returns the IBAN of the account `number` (at most 7 digits) at the bank with a 3-digit code."""
    assert re.fullmatch(r"[0-9]{3}", bank_code), bank_code
    assert 0 <= number < 10_000_000, number
    account = f"{bank_code}{number:07}"
    bban = f"{account}{int(account) % 97 or 97:02}"
    return f"BE{stdnum.iban.calc_check_digits('BE00' + bban)}{bban}"


def is_bic(text: str) -> bool:
    """Whether the text has the form of ISO 9362, with 8 or 11 characters."""
    return BIC.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def find_bic(iban: str) -> str | None:
    """Returns the BIC of the bank of a Belgian IBAN. Returns None for a foreign or invalid IBAN. If no real bank has
    the IBAN's bank code, returns an invented BIC."""
    if find_country(iban) != "BE" or not is_iban(iban):
        return None
    code = iban[4:7]
    if code == BANK_CODE:
        return BANK_BIC
    from stdnum.be.iban import to_bic  # its table of banks is read here alone

    return to_bic(iban) or f"X{code.translate(LETTERS)}BEBB"


def bic_fits_iban(bic: str, iban: str) -> bool:
    """Whether the bank of a BIC is in the country of the IBAN, or in a territory that uses that country's IBANs."""
    place, country = bic[4:6], find_country(iban)
    return place == country or place in TERRITORIES.get(country, ())
