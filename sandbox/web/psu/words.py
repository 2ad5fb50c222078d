"""The sentences, amounts and dates of the bank's pages. Each language has a catalogue of sentences (service 4.0)."""

from datetime import date
from functools import cache
from importlib.resources import files

from sandbox.banking.money import Money
from sandbox.contract.errors import Refusal
from sandbox.contract.languages import PAGES

LANGUAGES = tuple(PAGES)


@cache
def read_catalogue(language: str) -> dict[str, str]:
    """Returns the sentences of a language by their keys. They are read when the first page needs them."""
    from babel.messages.pofile import read_po

    content = files("sandbox.web.psu").joinpath("catalogues", f"{language}.po").read_bytes()
    return {str(message.id): str(message.string) for message in read_po(content.splitlines(True)) if message.id}


def say(language: str, key: str, kind: str = "", **facts: object) -> str:
    """Returns a sentence in that language. `kind` chooses a variant of the sentence, such as that for a file or a
    consent."""
    words = read_catalogue(language)
    text = words.get(f"{key} {kind}") or words[key]
    return text.format(**facts)


def spell_number(language: str, number: int) -> str:
    """Returns a small number as a word, or in digits if the catalogue has no word for it."""
    return read_catalogue(language).get(f"number {number}", str(number))


def say_refusal(language: str, refusal: Refusal, **facts: object) -> str:
    """Returns the sentence about a refusal. `facts` are translated facts, which replace the refusal's own. Uses the
    sentence for the error and its cause, else the sentence for the error, else a general one."""
    values = {**refusal.facts, **facts}
    name = refusal.error.name
    cause = values.get("which", values.get("left"))
    words = read_catalogue(language)
    text = words.get(f"refusal {name} {cause}") or words.get(f"refusal {name}") or words["refusal OTHER"]
    return text.format(**values)


def write_count(language: str, key: str, number: int) -> str:
    """Returns a number with its noun: `1 virement`, `2 virements`."""
    return say(language, key, "one" if number == 1 else "", count=count(language, number))


def write_amount(language: str, money: Money) -> str:
    """Returns an amount as `1 234,80 €` or `€ 1.234,80`, with non-breaking spaces."""
    from babel.numbers import format_currency

    return format_currency(money.number, money.currency, locale=PAGES[language].locale)


def write_long_date(language: str, day: date) -> str:
    """Returns a date as `lundi 1er mars 2027` or `maandag 1 maart 2027`."""
    text = _write_date(language, day, "EEEE d MMMM y")
    return text.replace(" 1 ", " 1er ", 1) if language == "fr" else text


def name_country(language: str, code: str) -> str:
    from babel import Locale

    return str(Locale.parse(PAGES[language].locale).territories.get(code, code))


def name_weekday(language: str, day: date) -> str:
    """Returns the name of the weekday: `lundi`, `maandag`."""
    return _write_date(language, day, "EEEE")


def write_day_of_month(language: str, day: date) -> str:
    """Returns the day of the month: `1er`, `8` in French, `1e`, `8e` in Dutch, `1st`, `8th` in English."""
    match language:
        case "fr":
            return f"{day.day}er" if day.day == 1 else str(day.day)
        case "en":
            tail = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
            return f"{day.day}{'th' if day.day in (11, 12, 13) else tail}"
        case _:
            return f"{day.day}e"


def write_day_of_year(language: str, day: date) -> str:
    """Returns day and month: `1er mars`, `1 maart`."""
    text = _write_date(language, day, "d MMMM")
    return text.replace("1 ", "1er ", 1) if language == "fr" and day.day == 1 else text


def count(language: str, number: int) -> str:
    """Returns a whole number with its separators: `12 345`, `12.345`."""
    from babel.numbers import format_decimal

    return format_decimal(number, locale=PAGES[language].locale)


def _write_date(language: str, day: date, pattern: str) -> str:
    from babel.dates import format_date

    return format_date(day, pattern, locale=PAGES[language].locale)
