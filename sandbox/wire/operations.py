"""One row per operation of the service: read by routing, by the gate, by the reference page and by the tests."""

from dataclasses import dataclass
from enum import StrEnum


class Authorization(StrEnum):
    """service 5.6"""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"
    BASIC = "basic"


JSON = ("application/json",)
FORM = ("application/x-www-form-urlencoded",)
XML_OR_CSV = ("application/xml", "text/xml", "text/csv")

POST_ERRORS = (400, 401, 403, 404, 405, 406, 415, 429, 495, 500, 503)  # service 4.1
GET_ERRORS = (400, 401, 403, 404, 405, 406, 408, 409, 415, 429, 495, 500, 503)  # service 4.2
DELETE_ERRORS = (400, 401, 403, 404, 405, 406, 409, 429, 495, 500, 503)  # service 4.4; 409 is choice 5


@dataclass(frozen=True, slots=True)
class Operation:
    """What a call must bring and what it may be answered."""

    name: str
    method: str
    path: str
    versions: tuple[int, ...]  # newest first
    clause: str
    success: int = 200
    errors: tuple[int, ...] = GET_ERRORS
    role: str | None = "PIS"
    authorization: Authorization = Authorization.NONE
    scopes: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    redirect_uri: bool = False  # required
    pkce: bool = False  # required when no token is given
    bank_headers: bool = True  # Accept-Language and Client-ID; /token has neither
    only: tuple[tuple[int, tuple[str, ...]], ...] = ()  # versions that only some products have

    def versions_for(self, product: str | None) -> tuple[int, ...]:
        """The versions that this operation has for a product."""
        limits = dict(self.only)
        return tuple(version for version in self.versions if product in limits.get(version, (product,)))


PAYMENT = "/payments/<product>"
PERIODIC = "/periodic-payments/<product>"
BULK = "/bulk-payments/<product>"
NEEDS_TOKEN, MAY_HAVE_TOKEN = Authorization.REQUIRED, Authorization.OPTIONAL

OPERATIONS = (
    Operation(
        "payment_initiation", "POST", PAYMENT, (3, 1), "service 4.1", 201, POST_ERRORS, "PIS", MAY_HAVE_TOKEN, ("PIS",),
        JSON, redirect_uri=True, pkce=True, only=((1, ("sepa-credit-transfers",)),),
    ),
    Operation(
        "payment_details", "GET", PAYMENT + "/<payment_id>/details", (3, 2, 1), "service 4.2",
        authorization=NEEDS_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "payment_status", "GET", PAYMENT + "/<payment_id>/status", (3, 2, 1), "service 4.3",
        authorization=MAY_HAVE_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "payment_cancellation", "DELETE", PAYMENT + "/<payment_id>", (2,), "service 4.4", 204, DELETE_ERRORS,
        authorization=NEEDS_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "standing_order_initiation", "POST", PERIODIC, (2,), "service 4.5", 201, POST_ERRORS, "PIS", MAY_HAVE_TOKEN,
        ("PIS",), JSON, redirect_uri=True, pkce=True,
    ),
    Operation(
        "standing_order_details", "GET", PERIODIC + "/<payment_id>/details", (2, 1), "service 4.5",
        authorization=NEEDS_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "standing_order_status", "GET", PERIODIC + "/<payment_id>/status", (2, 1), "service 4.5",
        authorization=MAY_HAVE_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "standing_order_cancellation", "DELETE", PERIODIC + "/<payment_id>", (2, 1), "service 4.5", 204, DELETE_ERRORS,
        authorization=NEEDS_TOKEN, scopes=("PIS",),
    ),
    Operation(
        "bulk_initiation", "POST", BULK, (2, 1), "service 4.6", 201, POST_ERRORS, media=XML_OR_CSV, redirect_uri=True,
    ),
    Operation("bulk_status", "GET", BULK + "/<payment_file_id>/status", (2, 1), "service 4.6"),
    Operation(
        "bulk_cancellation", "DELETE", BULK + "/<payment_file_id>", (2, 1), "service 4.6", 204, DELETE_ERRORS,
    ),
    Operation(
        "consent_addresses", "GET", "/consent-uris", (4, 3), "service 4.7", role="AIS", redirect_uri=True, pkce=True,
    ),
    Operation(
        "token", "POST", "/token", (3, 2), "service 4.8", 200, POST_ERRORS, None, Authorization.BASIC, media=FORM,
        bank_headers=False,
    ),
    Operation(
        "accounts", "GET", "/accounts", (2,), "service 4.9", role="AIS", authorization=NEEDS_TOKEN, scopes=("AIS",),
    ),
    Operation(
        "account", "GET", "/accounts/<logical_id>", (2, 1), "service 4.9", role="AIS", authorization=NEEDS_TOKEN,
        scopes=("AIS", "CAF"),
    ),
    Operation(
        "transactions", "GET", "/accounts/<logical_id>/transactions", (2, 1), "service 4.10", role="AIS",
        authorization=NEEDS_TOKEN, scopes=("AIS",),
    ),
)  # fmt: skip

BY_NAME = {operation.name: operation for operation in OPERATIONS}
