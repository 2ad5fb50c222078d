"""The goods that the shop sells. The shop, its goods and its account number are invented."""

from dataclasses import dataclass
from decimal import Decimal

SHOP = "Marloquin"
SHOP_IBAN = "BE50539447120318"


@dataclass(frozen=True, slots=True)
class Good:
    """A thing that the shop sells. Its code is also the name of its drawing."""

    code: str
    name: str
    about: str
    price: Decimal


SHELF = (
    Good(
        "mug", "Stoneware mug", "Thrown by hand, glazed in plum. Holds a generous three decilitres.", Decimal("18.00")
    ),
    Good("tea", "Pear and linden tea", "A tin of twenty bags. Smells of a garden in late summer.", Decimal("11.20")),
    Good("book", "Dotted notebook", "One hundred and twenty pages that open flat, bound in linen.", Decimal("12.50")),
    Good("candle", "Beeswax candle", "Burns for thirty hours and does not hurry.", Decimal("9.80")),
    Good("honey", "Heather honey", "Two hundred and fifty grams from one stubborn hive.", Decimal("7.40")),
    Good("blanket", "Wool blanket", "Woven in two colours; long enough for tall readers.", Decimal("64.00")),
)
GOODS = {good.code: good for good in SHELF}
