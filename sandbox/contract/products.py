"""The products of single payments, and their properties."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Product:
    """A product of service 2.1. Its column in contract/fields says how it uses each field."""

    name: str
    sepa: bool
    deletable: bool
    instant: bool = False
    clause: str = "service 2.1"
    remark: str = ""  # the remark of its transactions in account statements
    short: str = ""  # its name in the lists of the console


SCT = Product("sepa-credit-transfers", sepa=True, deletable=True, remark="SEPA CREDIT TRANSFER", short="SEPA")
ISCT = Product(
    "instant-sepa-credit-transfers",
    sepa=True,
    deletable=True,
    instant=True,
    remark="INSTANT CREDIT TRANSFER",
    short="instant",
)
XB = Product(
    "cross-border-credit-transfers",
    sepa=False,
    deletable=False,  # service 3.4
    remark="CROSS-BORDER TRANSFER",
    short="cross-border",
)

PRODUCTS = {product.name: product for product in (SCT, ISCT, XB)}
