"""Amounts: exact decimals in one currency."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import total_ordering
from sys import intern
from typing import Self

from iso4217 import Currency

AMOUNT = re.compile(r"-?[0-9]{1,13}(?:\.([0-9]{1,2}))?")  # service 2.1 rule 4
DECIMALS_SENT = 2  # the most decimals of such an amount

# Codes without minor units (gold, drawing rights, test codes) are no money that an account can hold.
DECIMALS: dict[str, int] = {row.code: row.exponent for row in Currency if row.exponent is not None}
UNITS = {places: Decimal(1).scaleb(-places) for places in set(DECIMALS.values())}


def is_currency(code: str) -> bool:
    """Whether the code is a currency of ISO 4217 in which an account can be held."""
    return code in DECIMALS


def count_decimals(currency: str) -> int:
    """Returns the number of decimals of a currency. Raises ValueError for an unknown currency."""
    try:
        return DECIMALS[currency]
    except KeyError:
        raise ValueError(currency) from None


@total_ordering
@dataclass(frozen=True, slots=True)
class Money:
    """An amount in a currency. It may be negative."""

    number: Decimal
    currency: str

    @classmethod
    def read(cls, text: str, currency: str) -> Self:
        """Reads an amount in the form of service 2.1 rule 4. Raises ValueError for any other text, and if the text has
        more decimals than the currency."""
        match = AMOUNT.fullmatch(text)
        if match is None:
            raise ValueError(text)
        fraction = match[1]
        if count_decimals(currency) < (len(fraction) if fraction else 0):
            raise ValueError(text)
        return cls(Decimal(text), intern(currency))

    @classmethod
    def of_minor(cls, units: int, currency: str) -> Self:
        return cls(Decimal(units).scaleb(-count_decimals(currency)), currency)

    @classmethod
    def zero(cls, currency: str) -> Self:
        return cls(Decimal(0), currency)

    def __add__(self, other: "Money") -> "Money":
        self._demand_same(other)
        return Money(self.number + other.number, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._demand_same(other)
        return Money(self.number - other.number, self.currency)

    def __neg__(self) -> "Money":
        return Money(-self.number, self.currency)

    def __lt__(self, other: "Money") -> bool:
        self._demand_same(other)
        return self.number < other.number

    @property
    def is_positive(self) -> bool:
        return self.number > 0

    @property
    def minor(self) -> int:
        """The amount in minor units, such as cents."""
        return int(self.number.scaleb(count_decimals(self.currency)))

    def text(self) -> str:
        """Returns the number with the decimals of the currency and without an exponent. If all decimals after the
        second are 0, leaves them out, because an amount of a TPP has at most two (service 2.1). Zero never has a
        minus."""
        text, places = str(self.number), count_decimals(self.currency)
        if places > DECIMALS_SENT and self.number == self.number.quantize(UNITS[DECIMALS_SENT]):
            places = DECIMALS_SENT
        if text[-places - 1 : -places] == "." and text[-places:].isdigit() and self.number:
            return text  # as nearly every amount is kept
        return f"{self.number + 0:.{places}f}"

    def convert(self, rate: Decimal, currency: str) -> "Money":
        """Returns this amount in `currency`, rounded half up. `rate` is the price of one unit of the amount's own
        currency, in `currency`."""
        unit = UNITS[count_decimals(currency)]
        return Money((self.number * rate).quantize(unit, rounding=ROUND_HALF_UP), currency)

    def _demand_same(self, other: "Money") -> None:
        assert self.currency == other.currency, f"{self.currency} meets {other.currency}"
