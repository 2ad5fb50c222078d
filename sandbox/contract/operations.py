"""One row per operation of the service: read by routing, by the gate, by the reference page and by the tests.

And with which HTTP statuses each may refuse (service part 4): for routing, the reference page and faults.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sandbox.contract import kinds
from sandbox.contract.kinds import InitiationKind


class Authorization(StrEnum):
    """service 5.6"""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"
    BASIC = "basic"


_POST = (400, 401, 403, 404, 405, 406, 415, 429, 495, 500, 503)  # service 4.1
_GET = (400, 401, 403, 404, 405, 406, 408, 409, 415, 429, 495, 500, 503)  # service 4.2
_DELETE = (400, 401, 403, 404, 405, 406, 429, 495, 500, 503)  # service 4.4
_READ = (400, 401, 403, 404, 405, 406, 408, 415, 429, 495, 500, 503)  # service 4.7, 4.9 and 4.10 list none: ours

ANSWERS: dict[str, tuple[int, ...]] = {
    "payment_initiation": _POST,
    "payment_status": _GET,
    "payment_details": _GET,
    "payment_cancellation": _DELETE,
    "standing_order_initiation": _POST,
    "standing_order_status": _GET,
    "standing_order_details": _GET,
    "standing_order_cancellation": _DELETE,
    "bulk_initiation": _POST,
    "bulk_status": _GET,
    "bulk_cancellation": _DELETE,
    "consent_addresses": _READ,
    "token": _POST,
    "accounts": _READ,
    "account": _READ,
    "transactions": _READ,
}

# What a gateway in front of the bank answers for any operation; only a fault rule gives them (choice 13).
GATEWAY = (502, 504)

# The operation that an initiation of each kind begins with (choice 13).
INITIATES = {name: f"{name}_initiation" for name in kinds.KINDS} | {"consent": "consent_addresses"}


def answers_of(operation: str | None) -> tuple[int, ...]:
    """The statuses of an operation; without a name, those that every operation may give."""
    if operation is not None:
        return ANSWERS[operation]
    return tuple(sorted(set.intersection(*(set(statuses) for statuses in ANSWERS.values()))))


JSON = ("application/json",)
FORM = ("application/x-www-form-urlencoded",)
XML, CSV = ("application/xml", "text/xml"), ("text/csv", "application/csv")


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call must bring and what it may be answered."""

    name: str
    method: str
    path: str
    versions: tuple[int, ...]  # newest first
    clause: str
    success: int = 200
    role: str | None = "PIS"
    authorization: Authorization = Authorization.NONE
    scopes: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    media_of: tuple[tuple[str, tuple[str, ...]], ...] = ()  # where it follows the product
    redirect_uri: bool = False  # required
    pkce: bool = False  # required when no token is given
    bank_headers: bool = True  # Accept-Language and Client-ID; /token has neither
    kind: InitiationKind | None = None  # of the initiations that it is about
    query: tuple[str, ...] = ()  # the parameters it knows
    only: tuple[tuple[int, tuple[str, ...]], ...] = ()  # versions that only some products have

    @property
    def products(self) -> tuple[str, ...]:
        """The products that stand in its path."""
        return self.kind.products if self.kind else ()

    @property
    def silent(self) -> bool:
        """Whether the service names no version of it (service 9.2 and 9.4)."""
        return self.name not in VERSION_NAMED and len(self.versions) > 1

    @property
    def errors(self) -> tuple[int, ...]:
        """The statuses that it may refuse with."""
        return ANSWERS[self.name]

    def versions_for(self, product: str | None) -> tuple[int, ...]:
        """The versions that this operation has for a product."""
        return self.versions if not self.only else versions_among(self.versions, self.only, product)

    def media_for(self, product: str | None) -> tuple[str, ...]:
        """The media types of its body for a product."""
        return dict(self.media_of).get(product or "", self.media)


VERSION_NAMED = (
    "payment_initiation",
    "payment_cancellation",
    "standing_order_initiation",
    "consent_addresses",
    "token",
)


@lru_cache(maxsize=64)
def versions_among(
    versions: tuple[int, ...], only: tuple[tuple[int, tuple[str, ...]], ...], product: str | None
) -> tuple[int, ...]:
    limits = dict(only)
    return tuple(version for version in versions if product in limits.get(version, (product,)))


PAYMENT, PERIODIC, BULK = (f"/{kind.path}/<product>" for kind in kinds.KINDS.values())
NEEDS_TOKEN: dict[str, Any] = {"authorization": Authorization.REQUIRED, "scopes": ("PIS",)}
MAY_HAVE_TOKEN: dict[str, Any] = {"authorization": Authorization.OPTIONAL, "scopes": ("PIS",)}
READS: dict[str, Any] = {"authorization": Authorization.REQUIRED, "scopes": ("AIS",), "role": "AIS"}
CREATES: dict[str, Any] = {"success": 201, "redirect_uri": True}
CANCELS: dict[str, Any] = {"success": 204}
SINGLE: dict[str, Any] = {"kind": kinds.PAYMENT}
ORDERS: dict[str, Any] = {"kind": kinds.STANDING_ORDER}
FILES: dict[str, Any] = {"kind": kinds.BULK}
BY_PAYMENT: dict[str, Any] = {"query": (kinds.PAYMENT.id_type,)}
BY_FILE: dict[str, Any] = {"query": (kinds.BULK.id_type,)}
PERIOD = ("date_from", "date_to", "psu_involved", "pagesize", "next", "currency")

OPERATIONS = (
    Operation(
        "payment_initiation", "POST", PAYMENT, (3, 1), "service 4.1", **SINGLE, **MAY_HAVE_TOKEN, **CREATES,
        media=JSON, pkce=True, only=((1, ("sepa-credit-transfers",)),),
    ),
    Operation(
        "payment_details", "GET", f"{PAYMENT}/<payment_id>/details", (3, 2, 1), "service 4.2", **SINGLE, **NEEDS_TOKEN,
        **BY_PAYMENT,
    ),
    Operation(
        "payment_status", "GET", f"{PAYMENT}/<payment_id>/status", (3, 2, 1), "service 4.3", **SINGLE, **MAY_HAVE_TOKEN,
        **BY_PAYMENT,
    ),
    Operation(
        "payment_cancellation", "DELETE", f"{PAYMENT}/<payment_id>", (2,), "service 4.4", **SINGLE, **NEEDS_TOKEN,
        **BY_PAYMENT, **CANCELS,
    ),
    Operation(
        "standing_order_initiation", "POST", PERIODIC, (2,), "service 4.5", **MAY_HAVE_TOKEN, **CREATES,
        **ORDERS, media=JSON, pkce=True,
    ),
    Operation(
        "standing_order_details", "GET", f"{PERIODIC}/<payment_id>/details", (2, 1), "service 4.5", **NEEDS_TOKEN,
        **BY_PAYMENT, **ORDERS,
    ),
    Operation(
        "standing_order_status", "GET", f"{PERIODIC}/<payment_id>/status", (2, 1), "service 4.5", **MAY_HAVE_TOKEN,
        **BY_PAYMENT, **ORDERS,
    ),
    Operation(
        "standing_order_cancellation", "DELETE", f"{PERIODIC}/<payment_id>", (2, 1), "service 4.5", **NEEDS_TOKEN,
        **BY_PAYMENT, **CANCELS, **ORDERS,
    ),
    Operation(
        "bulk_initiation", "POST", BULK, (2, 1), "service 4.6", **FILES, **CREATES, media=(*XML, *CSV),
        media_of=(("pain.001", XML), ("csv", CSV)),
    ),
    Operation("bulk_status", "GET", f"{BULK}/<payment_file_id>/status", (2, 1), "service 4.6", **FILES, **BY_FILE),
    Operation(
        "bulk_cancellation", "DELETE", f"{BULK}/<payment_file_id>", (2, 1), "service 4.6", **FILES, **BY_FILE,
        **CANCELS,
    ),
    Operation(
        "consent_addresses", "GET", "/consent-uris", (4, 3), "service 4.7", role="AIS", redirect_uri=True, pkce=True,
        query=("scope", "iban"),
    ),
    Operation(
        "token", "POST", "/token", (3, 2), "service 4.8", role=None,
        authorization=Authorization.BASIC, media=FORM, bank_headers=False,
    ),
    Operation("accounts", "GET", "/accounts", (2,), "service 4.9", **READS),
    Operation("account", "GET", "/accounts/<logical_id>", (2, 1), "service 4.9", **READS | {"scopes": ("AIS", "CAF")}),
    Operation(
        "transactions", "GET", "/accounts/<logical_id>/transactions", (2, 1), "service 4.10", **READS, query=PERIOD,
    ),
)  # fmt: skip

BY_NAME = {operation.name: operation for operation in OPERATIONS}
