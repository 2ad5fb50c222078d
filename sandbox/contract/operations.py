"""The table of the service's operations. The routes, the checks that come before each call, the reference and fault
rules read it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.contract import kinds
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.products import SCT


class Authorization(StrEnum):
    """How an operation uses the header Authorization (service 5.6)."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"
    BASIC = "basic"


_POST = (400, 401, 403, 404, 405, 406, 415, 429, 495, 500, 503)  # service 4.1
_GET = (400, 401, 403, 404, 405, 406, 408, 409, 415, 429, 495, 500, 503)  # service 4.2
_DELETE = (400, 401, 403, 404, 405, 406, 429, 495, 500, 503)  # service 4.4
# service 4.7, 4.9 and 4.10 list no errors, so this list is the sandbox's own.
_READ = (400, 401, 403, 404, 405, 406, 408, 415, 429, 495, 500, 503)

# Statuses that a gateway in front of the bank may answer for any operation. Only fault rules answer with them (choice
# 13).
GATEWAY = (502, 504)

JSON = ("application/json",)
FORM = ("application/x-www-form-urlencoded",)
XML, CSV = ("application/xml", "text/xml"), ("text/csv", "application/csv")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: the headers, parameters and body that it takes, and the statuses of its replies."""

    name: str
    method: str
    path: str
    versions: tuple[int, ...]  # newest first
    clause: str
    errors: tuple[int, ...]  # the statuses of its refusals
    success: int = 200
    role: str | None = "PIS"
    authorization: Authorization = Authorization.NONE
    scopes: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    media_of: tuple[tuple[str, tuple[str, ...]], ...] = ()  # media types by product, if they depend on it
    redirect_uri: bool = False  # whether the header Redirect-URI is required
    pkce: bool = False  # whether a PKCE challenge is required if no token is given
    bank_headers: bool = True  # whether it takes Accept-Language and Client-ID, which /token does not
    kind: InitiationKind | None = None  # the kind of the initiations that it creates or reads
    query: tuple[str, ...] = ()  # the query parameters that it accepts
    only: tuple[tuple[int, tuple[str, ...]], ...] = ()  # versions that only some products have, with these products
    is_version_named: bool = False  # whether the service names its versions (service 9.2 and 9.4)

    @property
    def products(self) -> tuple[str, ...]:
        """The products that its path may name."""
        return self.kind.products if self.kind else ()

    @property
    def silent(self) -> bool:
        """Whether the operation has several versions, and the service's text does not say which one it describes."""
        return not self.is_version_named and len(self.versions) > 1

    def list_versions(self, product: str | None) -> tuple[int, ...]:
        """Returns the versions that this operation has for a product. If `product` is None, leaves out the versions
        that only some products have."""
        limits = dict(self.only)
        return tuple(version for version in self.versions if product in limits.get(version, (product,)))

    def list_media(self, product: str | None) -> tuple[str, ...]:
        """Returns the media types that the body of a request may have. They may depend on the product. Returns an empty
        tuple if the operation takes no body."""
        return dict(self.media_of).get(product or "", self.media)


PAYMENT, PERIODIC, BULK = (f"/{kind.path}/<product>" for kind in kinds.KINDS.values())
NEEDS_TOKEN: dict[str, Any] = {"authorization": Authorization.REQUIRED, "scopes": ("PIS",)}
MAY_HAVE_TOKEN: dict[str, Any] = {"authorization": Authorization.OPTIONAL, "scopes": ("PIS",)}
READS: dict[str, Any] = {"errors": _READ, "authorization": Authorization.REQUIRED, "scopes": ("AIS",), "role": "AIS"}
CREATES: dict[str, Any] = {"errors": _POST, "success": 201, "redirect_uri": True}
CANCELS: dict[str, Any] = {"errors": _DELETE, "success": 204}
SINGLE: dict[str, Any] = {"kind": kinds.PAYMENT}
ORDERS: dict[str, Any] = {"kind": kinds.STANDING_ORDER}
FILES: dict[str, Any] = {"kind": kinds.BULK}
BY_PAYMENT: dict[str, Any] = {"query": (kinds.PAYMENT.id_type,)}
BY_FILE: dict[str, Any] = {"query": (kinds.BULK.id_type,)}
PERIOD = ("date_from", "date_to", "psu_involved", "pagesize", "next", "currency")

OPERATIONS = (
    Operation(
        "payment_initiation", "POST", PAYMENT, (3, 1), "service 4.1", **SINGLE, **MAY_HAVE_TOKEN, **CREATES,
        media=JSON, pkce=True, only=((1, (SCT.name,)),), is_version_named=True,
    ),
    Operation(
        "payment_details", "GET", f"{PAYMENT}/<payment_id>/details", (3, 2, 1), "service 4.2", **SINGLE, **NEEDS_TOKEN,
        **BY_PAYMENT, errors=_GET,
    ),
    Operation(
        "payment_status", "GET", f"{PAYMENT}/<payment_id>/status", (3, 2, 1), "service 4.3", **SINGLE, **MAY_HAVE_TOKEN,
        **BY_PAYMENT, errors=_GET,
    ),
    Operation(
        "payment_cancellation", "DELETE", f"{PAYMENT}/<payment_id>", (2,), "service 4.4", **SINGLE, **NEEDS_TOKEN,
        **BY_PAYMENT, **CANCELS, is_version_named=True,
    ),
    Operation(
        "standing_order_initiation", "POST", PERIODIC, (2,), "service 4.5", **MAY_HAVE_TOKEN, **CREATES,
        **ORDERS, media=JSON, pkce=True, is_version_named=True,
    ),
    Operation(
        "standing_order_details", "GET", f"{PERIODIC}/<payment_id>/details", (2, 1), "service 4.5", **NEEDS_TOKEN,
        **BY_PAYMENT, errors=_GET, **ORDERS,
    ),
    Operation(
        "standing_order_status", "GET", f"{PERIODIC}/<payment_id>/status", (2, 1), "service 4.5", **MAY_HAVE_TOKEN,
        **BY_PAYMENT, errors=_GET, **ORDERS,
    ),
    Operation(
        "standing_order_cancellation", "DELETE", f"{PERIODIC}/<payment_id>", (2, 1), "service 4.5", **NEEDS_TOKEN,
        **BY_PAYMENT, **CANCELS, **ORDERS,
    ),
    Operation(
        "bulk_initiation", "POST", BULK, (2, 1), "service 4.6", **FILES, **CREATES, media=(*XML, *CSV),
        media_of=(("pain.001", XML), ("csv", CSV)),
    ),
    Operation(
        "bulk_status", "GET", f"{BULK}/<payment_file_id>/status", (2, 1), "service 4.6", **FILES, **BY_FILE,
        errors=_GET,
    ),
    Operation(
        "bulk_cancellation", "DELETE", f"{BULK}/<payment_file_id>", (2, 1), "service 4.6", **FILES, **BY_FILE,
        **CANCELS,
    ),
    Operation(
        "consent_addresses", "GET", "/consent-uris", (4, 3), "service 4.7", errors=_READ, role="AIS",
        redirect_uri=True, pkce=True, query=("scope", "iban"), is_version_named=True,
    ),
    Operation(
        "token", "POST", "/token", (3, 2), "service 4.8", errors=_POST, role=None,
        authorization=Authorization.BASIC, media=FORM, bank_headers=False, is_version_named=True,
    ),
    Operation("accounts", "GET", "/accounts", (2,), "service 4.9", **READS),
    Operation("account", "GET", "/accounts/<logical_id>", (2, 1), "service 4.9", **READS | {"scopes": ("AIS", "CAF")}),
    Operation(
        "transactions", "GET", "/accounts/<logical_id>/transactions", (2, 1), "service 4.10", **READS, query=PERIOD,
    ),
)  # fmt: skip

BY_NAME = {operation.name: operation for operation in OPERATIONS}

# The operation that creates an initiation of each kind (choice 13).
INITIATES = {name: f"{name}_initiation" for name in kinds.KINDS} | {"consent": "consent_addresses"}


def list_error_statuses(operation: str | None) -> tuple[int, ...]:
    """Returns the statuses with which an operation may refuse. For None, returns the statuses that all operations
    have."""
    if operation is not None:
        return BY_NAME[operation].errors
    return tuple(sorted(set.intersection(*(set(row.errors) for row in OPERATIONS))))
