"""The countries, currencies and purpose codes that payments may name (service 2.1 rule 8, choice 5)."""

import json
from copy import deepcopy
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

SEPA: frozenset[str]
EEA: frozenset[str]

if not TYPE_CHECKING:  # hidden from the type checker, which would else believe in any name

    def __getattr__(name: str) -> frozenset[str]:
        """Reads SEPA or EEA at its first use, so that importing this module stays fast."""
        if name in ("SEPA", "EEA"):
            globals()[name] = codes = _load_codes(name.lower())
            return codes
        raise AttributeError(name)


def read_fixture(name: str) -> bytes:
    """Returns the content of a fixture file, from the installed package or from the folder of a checkout."""
    try:
        return resources.files("sandbox.fixtures").joinpath(name).read_bytes()
    except ModuleNotFoundError:
        return (Path(__file__).parents[2] / "fixtures" / name).read_bytes()


def is_country(code: str) -> bool:
    """Whether the text is a two-letter country code of ISO 3166, or XK for Kosovo."""
    return code in _load_codes("iso")


def accepts_country(code: str) -> bool:
    """Whether the bank accepts cross-border payments to the country."""
    return code in _load_countries()


def accepts_currency(code: str) -> bool:
    """Whether the bank accepts cross-border payments in the currency."""
    return code in _load_rates()


def rate(currency: str) -> Decimal:
    """Returns the price in euros of one unit of an accepted currency."""
    return _load_rates()[currency]


def needs_purpose(country: str) -> bool:
    """Whether payments to that country must have a purpose code."""
    return bool(_load_countries().get(country, {}).get("purpose_required"))


def accepts_purpose(country: str, code: str) -> bool:
    """Whether payments to a country may have this purpose code. It must be in the country's list, or in the list of ISO
    20022 if the country has no list."""
    own = _load_countries().get(country, {}).get("purpose_codes")
    return code in (own or _load_codes("purpose_codes"))


def copy_published() -> dict[str, Any]:
    """Returns a new copy of the content that GET /_sandbox/reference/countries publishes."""
    return deepcopy({name: rows for name, rows in _load_content().items() if name != "iso"})


@lru_cache(maxsize=1)
def _load_content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(read_fixture("countries.json"))
    return content


@lru_cache(maxsize=8)
def _load_codes(name: str) -> frozenset[str]:
    return frozenset(_load_content()[name])


@lru_cache(maxsize=1)
def _load_countries() -> dict[str, dict[str, Any]]:
    return {row["code"]: row for row in _load_content()["countries"]}


@lru_cache(maxsize=1)
def _load_rates() -> dict[str, Decimal]:
    return {row["code"]: Decimal(row["rate"]) for row in _load_content()["currencies"]}
