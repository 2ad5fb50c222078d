"""Amounts, dates and account numbers as each language writes them."""

from datetime import date

from sandbox.banking.iban import grouped
from sandbox.banking.money import Money
from sandbox.banking.remittance import read_structured
from sandbox.contract.languages import PAGES
from sandbox.web.psu.initiation_views import Source
from sandbox.web.psu.words import say


def amount(language: str, money: Money) -> str:
    """`1 234,80 €`, `€ 1.234,80`; the blanks do not break."""
    from babel.numbers import format_currency

    return format_currency(money.number, money.currency, locale=PAGES[language].locale)


def long_date(language: str, day: date) -> str:
    """`lundi 1er mars 2027`, `maandag 1 maart 2027`."""
    text = _dated(language, day, "EEEE d MMMM y")
    return text.replace(" 1 ", " 1er ", 1) if language == "fr" else text


def country(language: str, code: str) -> str:
    """The country's name."""
    from babel import Locale

    return str(Locale.parse(PAGES[language].locale).territories.get(code, code))


def weekday(language: str, day: date) -> str:
    """`lundi`, `maandag`."""
    return _dated(language, day, "EEEE")


def day_of_month(language: str, day: date) -> str:
    """`1er`, `8`; `1e`, `8e`; `1st`, `8th`."""
    match language:
        case "fr":
            return f"{day.day}er" if day.day == 1 else str(day.day)
        case "en":
            tail = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
            return f"{day.day}{'th' if day.day in (11, 12, 13) else tail}"
        case _:
            return f"{day.day}e"


def day_of_year(language: str, day: date) -> str:
    """`1er mars`, `1 maart`."""
    text = _dated(language, day, "d MMMM")
    return text.replace("1 ", "1er ", 1) if language == "fr" and day.day == 1 else text


def count(language: str, number: int) -> str:
    """`12 345`, `12.345`."""
    from babel.numbers import format_decimal

    return format_decimal(number, locale=PAGES[language].locale)


def _dated(language: str, day: date, pattern: str) -> str:
    from babel.dates import format_date

    return format_date(day, pattern, locale=PAGES[language].locale)


Line = tuple[str, str]


def source(paying: Source | None) -> str:
    """The account that pays, and whose it is; nothing until one is known."""
    if paying is None:
        return ""
    compartment = "" if paying.debtor.currency == "EUR" else f" {paying.debtor.currency}"
    return f"{grouped(paying.debtor.iban)}{compartment}, {paying.owners}"


def communication(language: str, structured: str | None, unstructured: str | None) -> str:
    if structured:
        return read_structured(structured) or structured
    return unstructured or say(language, "review.none")


def counted(language: str, key: str, number: int) -> str:
    """`1 virement`, `2 virements`."""
    return say(language, key, "one" if number == 1 else "", count=count(language, number))
