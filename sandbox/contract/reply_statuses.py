"""Which HTTP statuses an operation may refuse with (service part 4): for routing, the reference page and faults."""

from sandbox.contract.kinds import KINDS

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
INITIATES = {name: f"{name}_initiation" for name in KINDS} | {"consent": "consent_addresses"}


def answers_of(operation: str | None) -> tuple[int, ...]:
    """The statuses of an operation; without a name, those that every operation may give."""
    if operation is not None:
        return ANSWERS[operation]
    return tuple(sorted(set.intersection(*(set(statuses) for statuses in ANSWERS.values()))))
