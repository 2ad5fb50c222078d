"""Single payment products: which fields belong to which, and what the product may do."""

from dataclasses import dataclass
from enum import StrEnum


class Use(StrEnum):
    """A cell of the field table."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    ABSENT = "n/a"


@dataclass(frozen=True, slots=True)
class Product:
    """A column of the field table, and what sets the product apart."""

    name: str
    sepa: bool
    deletable: bool
    instant: bool = False
    clause: str = "service 2.1"


SCT = Product("sepa-credit-transfers", sepa=True, deletable=True)
ISCT = Product("instant-sepa-credit-transfers", sepa=True, deletable=True, instant=True)
XB = Product("cross-border-credit-transfers", sepa=False, deletable=False)  # service 3.4

PRODUCTS = {product.name: product for product in (SCT, ISCT, XB)}
PLACES = {name: place for place, name in enumerate(PRODUCTS)}  # of the columns below

_R, _O, _N = Use.REQUIRED, Use.OPTIONAL, Use.ABSENT

# service 2.1, its rows in its order; "default" and "conditional" are optional here, their rules stand in order_rules.
FIELDS: dict[str, tuple[Use, Use, Use]] = {
    "debtor_account.iban": (_O, _O, _O),
    "debtor_account.currency": (_O, _O, _O),
    "charge_bearer": (_N, _N, _R),
    "creditor_account.iban": (_R, _R, _O),
    "creditor_account.bban": (_N, _N, _O),
    "creditor_account.bic": (_O, _O, _O),
    "creditor_account.bank_national_id": (_N, _N, _O),
    "creditor_account.country": (_O, _O, _O),
    "creditor_account.currency": (_N, _N, _O),
    "creditor_name": (_R, _R, _R),
    "creditor_address": (_N, _N, _O),
    "endtoend_identification": (_R, _R, _R),
    "instructed_amount.amount": (_R, _R, _R),
    "instructed_amount.currency": (_O, _O, _R),
    "instruction_priority": (_O, _N, _O),
    "purpose_code": (_N, _N, _O),
    "remittance_information_structured": (_O, _O, _N),
    "remittance_information_unstructured": (_O, _O, _O),
    "requested_execution_date": (_O, _N, _O),
}


def use_of(field: str, product: Product) -> Use:
    """The cell for a field and a product."""
    return FIELDS[field][PLACES[product.name]]
