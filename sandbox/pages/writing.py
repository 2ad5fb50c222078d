"""Amounts, dates and account numbers as each language writes them."""

from datetime import date

from sandbox.rules.money import Money

LOCALES = {"fr": "fr_BE", "nl": "nl_BE"}


def amount(language: str, money: Money) -> str:
    """`1 234,80 €`, `€ 1.234,80`; the blanks do not break."""
    from babel.numbers import format_currency

    return format_currency(money.number, money.currency, locale=LOCALES[language])


def long_date(language: str, day: date) -> str:
    """`lundi 1er mars 2027`, `maandag 1 maart 2027`."""
    from babel.dates import format_date

    text = format_date(day, "EEEE d MMMM y", locale=LOCALES[language])
    return text.replace(" 1 ", " 1er ", 1) if language == "fr" else text


def country(language: str, code: str) -> str:
    """The country's name."""
    from babel import Locale

    return str(Locale.parse(LOCALES[language]).territories.get(code, code))


def account(number: str) -> str:
    """An IBAN in groups of four; another account number as it came."""
    grouped = number[:2].isalpha() and number[2:4].isdigit()
    return " ".join(number[place : place + 4] for place in range(0, len(number), 4)) if grouped else number
