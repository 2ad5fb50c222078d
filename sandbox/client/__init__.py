"""The reference TPP client. It uses only the bank's interface."""

from sandbox.client.bodies import earlier_payment_body, payment_body, standing_order_body
from sandbox.client.controls import ClockFace, Controls, NoCallback
from sandbox.client.flows import CallbackRefused, Flow, ForeignCallback, code_from, new_flow, returned
from sandbox.client.replies import (
    Account,
    AccountEntry,
    Bulk,
    Compartment,
    Consent,
    Initiation,
    Kind,
    Page,
    Reference,
    Status,
    Tokens,
    Transaction,
)
from sandbox.client.reply import Refused, Reply, Unreadable
from sandbox.client.signing import Signer
from sandbox.client.tpp import Client
from sandbox.client.transport import VERSIONS, Caller, Manual

__all__ = [
    "VERSIONS",
    "Account",
    "AccountEntry",
    "Bulk",
    "CallbackRefused",
    "Caller",
    "Client",
    "ClockFace",
    "Compartment",
    "Consent",
    "Controls",
    "Flow",
    "ForeignCallback",
    "Initiation",
    "Kind",
    "Manual",
    "NoCallback",
    "Page",
    "Reference",
    "Refused",
    "Reply",
    "Signer",
    "Status",
    "Tokens",
    "Transaction",
    "Unreadable",
    "code_from",
    "earlier_payment_body",
    "new_flow",
    "payment_body",
    "returned",
    "standing_order_body",
]
