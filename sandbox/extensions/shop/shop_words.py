"""The texts of the shop in English, French and Dutch. Translations are found by the English text."""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files

from sandbox.contract.languages import PAGES

LANGUAGES = ("en", "fr", "nl")
LOCALES = {code: PAGES[code].locale for code in LANGUAGES}


@cache
def read_catalogue(language: str) -> dict[str, str]:
    """Returns the translations into a language. The key of a translation is the English text."""
    from babel.messages.pofile import read_po

    content = (files("sandbox.extensions.shop") / "catalogues" / f"{language}.po").read_bytes()
    return {str(message.id): str(message.string) for message in read_po(content.splitlines(True)) if message.id}


def translate(language: str, text: str, **facts: object) -> str:
    """Returns the translation of an English text of the shop, with `facts` in place of its placeholders."""
    return (text if language == "en" else read_catalogue(language)[text]).format(**facts)


def write_money(language: str, amount: Decimal, currency: str, sign: bool = False) -> str:
    """Returns an amount such as `€ 1,234.50`, `€ 1.234,50` or `1 234,50 €`, with blanks that do not break. A negative
    amount begins with `−`. With `sign`, any other amount begins with `+`."""
    from babel.numbers import format_currency

    before = "−" if amount < 0 else "+" if sign else ""
    if language == "en":
        mark = "€" if currency == "EUR" else currency
        return f"{before}{mark}\N{NO-BREAK SPACE}{abs(amount):,.2f}"
    return before + format_currency(abs(amount), currency, locale=LOCALES[language])


def write_day(language: str, day: date) -> str:
    """Returns a day such as `20 Nov 2026` or `20 nov. 2026`."""
    from babel.dates import format_date

    return f"{day.day} {day:%b %Y}" if language == "en" else format_date(day, "d MMM y", locale=LOCALES[language])


def write_moment(language: str, at: datetime) -> str:
    """Returns a time such as `Mon 1 Mar 2027, 09:00` or `lun. 1 mars 2027, 09:00`."""
    from babel.dates import format_datetime

    if language == "en":
        return f"{at:%a %-d %b %Y, %H:%M}"
    return format_datetime(at, "EEE d MMM y, HH:mm", tzinfo=at.tzinfo, locale=LOCALES[language])
