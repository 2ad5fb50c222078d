"""The items on which `ready` gives a verdict. Says to which item each operation, axis, lie and rule of the referee
belongs.

Each operation, axis, lie and rule belongs to exactly one item, so that a mistake of the client fails only that item. A
rule that is not in the table, such as a rule that a company added, belongs to the item of the called operation.
"""

from typing import NamedTuple

from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.lies import BY_NAME as LIES


class Item(NamedTuple):
    """An item of the document. If no call of `operations` was made, the item is not covered. If `operations` is empty,
    other facts decide whether the item is covered, such as the axes and lies that the calls met."""

    name: str
    about: str
    operations: tuple[str, ...] = ()


ITEMS = (
    Item("initiation", "Payments are initiated, and their status and details are followed.",
         ("payment_initiation", "payment_status", "payment_details")),
    Item("signing", "Customers are sent to the bank, and callbacks are checked."),
    Item("cancellation", "Payments, orders and files are cancelled.",
         ("payment_cancellation", "standing_order_cancellation", "bulk_cancellation")),
    Item("orders", "Standing orders are initiated and followed.",
         ("standing_order_initiation", "standing_order_status", "standing_order_details")),
    Item("files", "Bulk files are sent and followed.", ("bulk_initiation", "bulk_status")),
    Item("consent", "Customers give access to their accounts, and renew it.", ("consent_addresses", "accounts")),
    Item("tokens", "Codes are exchanged, and tokens are renewed and kept secret.", ("token",)),
    Item("paging", "Accounts and their transactions are read, page by page.", ("account", "transactions")),
    Item("errors", "Refusals are understood, and replies of any form that the service allows."),
    Item("retries", "A failure on the way loses nothing, and does nothing twice."),
    Item("limits", "Limits of the bank are kept."),
    Item("time", "Days, cut-off times and nights at which clocks change are handled."),
)  # fmt: skip
OF_OPERATION = {operation: item.name for item in ITEMS for operation in item.operations}
# The names of the items without operations.
SIGNING, ERRORS, RETRIES, LIMITS, TIME = "signing", "errors", "retries", "limits", "time"

OF_TOPIC = {
    "headers": ERRORS,
    "initiation": "initiation",
    "settling": TIME,
    "standing orders": "orders",
    "files": "files",
    "tokens": "tokens",
    "accounts": "paging",
    "proof": SIGNING,
    "surprises": ERRORS,
    "callback": SIGNING,
}
# Axes whose item is not that of their topic.
AXES_OF = {
    "initiation": ("final_status", "fees", "fee_check", "instant_outcome"),
    SIGNING: ("sca_address_life", "sca_address_in", "sca_address_query", "sca_host", "no_state", "pkce_plain",
              "half_signed", "redirect_uri_elsewhere"),
    "cancellation": ("ambiguous_delete", "cancel_again", "xb_delete", "order_matrix", "cancel_cut_off", "after_debit"),
    "orders": ("unsigned_order",),
    "consent": ("sca_renewal_after", "consent_life", "consent_address_life", "new_consent", "renewal_extends_consent",
                "scope_in", "caf_account", "caf_role", "consent_languages", "caf_transactions", "consent_gone"),
    ERRORS: ("reason", "reason_codes", "href"),
    RETRIES: ("unavailable", "gateway", "connection", "request_id_reuse", "reinitiation", "duplicate_external",
              "ambiguous_external"),
    LIMITS: ("limits", "limits_count", "retry_after", "limit_week", "limits_day"),
    TIME: ("date_tolerance", "certificate_clock", "calendar", "day_31"),
}  # fmt: skip
BY_AXIS = {axis: item for item, axes in AXES_OF.items() for axis in axes}

LIES_OF = {
    "cancellation": ("cancelled_as_paid", "order_goes_on", "file_goes_on"),
    "orders": ("order_start", "order_end", "order_frequency", "order_ended"),
}
BY_LIE = {lie: item for item, lies in LIES_OF.items() for lie in lies}

# The beginnings of the names of rules. The longest beginning that fits decides the item of a rule.
RULES_OF = {
    "initiation": ("status-never-asked", "final-by-callback", "outcome-unseen", "payment-of-another-psu",
                   "reference-constant"),
    SIGNING: ("sca-lost", "pkce-", "state-", "code-", "redirect-", "sca-opened-late", "digest-", "signature-",
              "secret-on-redirection"),
    "cancellation": ("cancel-",),
    "files": ("bulk-file-", "bulk-address-"),
    "consent": ("consent-", "logical-id-stale", "account-of-another-psu", "history-without-sca", "sca-token-",
                "sca-required-"),
    "tokens": ("token-", "client-secret-", "credentials-", "scope-", "secret-in-address"),
    "paging": ("paging-",),
    ERRORS: ("version-", "language-", "not-found-again", "refused-"),
    RETRIES: ("request-id-", "retried-without-pause", "payment-again-", "initiation-doubled"),
    LIMITS: ("unattended-", "psu-involved-", "status-too-fast", "bulk-polled-fast", "status-polled-long",
             "status-after-final", "details-polled", "retry-after-"),
    TIME: ("status-before-its-day",),
}  # fmt: skip
BY_RULE = {beginning: item for item, beginnings in RULES_OF.items() for beginning in beginnings}


def find_item_of_axis(axis: str) -> str:
    return BY_AXIS.get(axis) or OF_TOPIC[AXES[axis].topic]


def find_item_of_lie(lie: str) -> str:
    operation = LIES[lie].operations[0]
    return BY_LIE.get(lie) or OF_OPERATION.get(operation, SIGNING)


def find_item_of_rule(rule: str, operation: str | None) -> str:
    beginnings = [beginning for beginning in BY_RULE if rule.startswith(beginning)]
    if beginnings:
        return BY_RULE[max(beginnings, key=len)]
    return OF_OPERATION.get(operation or "", ERRORS)
