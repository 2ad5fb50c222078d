"""Rows of the controls that list, make and change a bank's customers, clients, accounts and initiations."""

import re
from typing import Any

from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.contract.reasons import CODE_FORM
from sandbox.web.api.body_schemas import DateField
from sandbox.web.controls.body_fields import (
    FunctionField,
    TextFunctionField,
    body,
    currency,
    matching,
    read_text,
    status,
    text,
    text_that,
)
from sandbox.web.controls.control_row import Button, Command, Control, create, get, patch, post, put
from sandbox.web.controls.people_fields import ACCOUNT, CLIENT, CUSTOMER, NEW_ACCOUNT, NEW_CLIENT, NEW_CUSTOMER

COUNTERPARTY = body(
    "Counterparty",
    iban=text_that(is_iban, "it is no valid IBAN", allow_none=True),
    name=text(allow_none=True),
)
REASON = re.compile(rf"{CODE_FORM}\Z")
WHY_REASON, SUCH = "it is a reason code such as AC04", "Such as AC04."
NAME_OR_ACCOUNT = {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Counterparty"}]}


def _counterparty(value: Any) -> tuple[str | None, str | None]:
    """An IBAN and a name, of a name or of an object of iban and name."""
    if not isinstance(value, dict):
        return None, read_text(value)
    if not set(value) <= set(COUNTERPARTY.fields):
        raise ValueError("it is a name, or an object of iban and name")
    found = COUNTERPARTY.load(value)
    return found.get("iban"), found.get("name")


def _communication(value: Any) -> tuple[str, bool]:
    """The text, and whether it is a structured one."""
    text = read_text(value)
    structured = read_structured(text) if text.startswith("+++") else None
    if structured is None and not is_free_text(text):
        raise ValueError("it must be 1 to 140 characters without control characters")
    return structured or text, structured is not None


BANK_ROWS: tuple[Control, ...] = (
    get(
        "/customers",
        "people_views.customers",
        "The customers and their accounts.",
        command=Command("customers", "Shows who the bank knows.", columns="customer name kind language accounts"),
        reply=["Customer"],
    ),
    get(
        "/clients",
        "people_views.clients",
        "The registered third parties, without their secrets.",
        command=Command("clients", "Shows the registered TPPs.", columns="client_id name roles active"),
        reply=["Client"],
    ),
    create(
        "/clients",
        "people_views.add_client",
        "Registers a third party; its secret and keys never come out again.",
        body("NewClient", **NEW_CLIENT),
        {
            "client_id": "my-tpp",
            "secret": "my-secret",
            "name": "My TPP",
            "roles": ["PIS", "AIS"],
            "redirect_uris": ["http://127.0.0.1:*/*"],
        },
        buttons=(Button("register", "{client_id} is a TPP now."),),
        reply="Client",
    ),
    put(
        "/clients/<client_id>",
        "people_views.change_client",
        "Changes what is named of a third party.",
        body("ClientChange", **CLIENT),
        {"active": False},
        buttons=(Button("amend", "{client_id} was changed."),),
        reply="Client",
    ),
    get(
        "/accounts",
        "people_views.accounts",
        "The accounts with their balances.",
        command=Command("accounts", "Shows the accounts and their balances.", columns="iban type customer balances"),
        reply=["Account"],
    ),
    create(
        "/accounts/<iban>/transactions",
        "people_views.book",
        "Books a transaction by hand: a salary that comes in, or, below 0, money that goes.",
        body(
            "Booking",
            amount=text(required=True, about="A decimal text; below 0, money that goes."),
            currency=currency(allow_none=True, about="EUR where left out."),
            date=DateField(metadata={"description": "Today where left out."}),
            counterparty=FunctionField(_counterparty, allow_none=True, shape=NAME_OR_ACCOUNT),
            communication=TextFunctionField(_communication, allow_none=True),
        ),
        {"amount": "2500.00", "counterparty": "An employer", "communication": "Salary"},
        buttons=(Button("book", "Booked {amount}."),),
        reply="TransactionRow",
    ),
    get(
        "/payments",
        "initiations.every",
        "The payments, each with its way through the statuses and its order.",
        command=Command(
            "payments",
            "Shows the single payments.",
            columns="payment_id product status reason customer order.instructed_amount.amount "
            "order.instructed_amount.currency order.creditor_name",
        ),
        reply=["Payment"],
    ),
    get("/payments/<payment_id>", "initiations.one", "One payment.", reply="Payment"),
    post(
        "/payments/<payment_id>/move",
        "psu.move",
        "Forces a legal move of a payment, standing order or file; an illegal one is refused with 409.",
        body(
            "Move",
            status=status(required=True),
            reason=text(allow_none=True, about="An ISO 20022 reason code.", option="Such as AC04."),
        ),
        {"status": "RJCT", "reason": "AC04"},
        command=Command(
            "move", "Forces a legal move of a payment, a standing order or a bulk file.", "{status} {reason}"
        ),
        buttons=(Button("move", "Moved to {status}."),),
        reply=("Payment", "StandingOrder", "BulkFile"),
    ),
    post(
        "/payments/<payment_id>/return",
        "psu.send_back",
        "Returns a settled payment now, on whatever day: the beneficiary's bank sends the money back. 409 where the "
        "payment is not settled, or came back before.",
        body("Return", reason=matching(REASON, WHY_REASON, allow_none=True, about="AC04 where left out.", option=SUCH)),
        {"reason": "AC04"},
        command=Command("return", "Returns a settled payment now.", "{payment_id} was returned"),
        buttons=(Button("return", "Returned."),),
        reply="Payment",
    ),
    post(
        "/payments/<payment_id>/recall",
        "psu.send_back",
        "Recalls a settled payment now, on whatever day: its sender asked for the money. 409 as for a return.",
        body("Recall", reason=matching(REASON, WHY_REASON, allow_none=True, about="FOCR where left out.", option=SUCH)),
        {"reason": "FOCR"},
        command=Command("recall", "Recalls a settled payment now.", "{payment_id} was recalled"),
        buttons=(Button("recall", "Recalled."),),
        reply="Payment",
    ),
    get(
        "/standing-orders",
        "initiations.every",
        "The standing orders.",
        command=Command(
            "standing-orders",
            "Shows the standing orders.",
            columns="payment_id status reason customer order.frequency order.start_date order.creditor_name",
        ),
        reply=["StandingOrder"],
    ),
    get(
        "/standing-orders/<payment_id>",
        "initiations.one",
        "One standing order: what was executed, and what comes on which day.",
        reply="StandingOrderWithDays",
    ),
    get(
        "/bulk-payments",
        "initiations.every",
        "The bulk files, each with its bulks.",
        command=Command(
            "bulk-payments", "Shows the bulk files.", columns="payment_file_id product status reason customer"
        ),
        reply=["BulkFile"],
    ),
    get("/bulk-payments/<payment_id>", "initiations.one", "One bulk file.", reply="BulkFile"),
    create(
        "/customers",
        "people_views.add_customer",
        "A new customer, still without an account.",
        body("NewCustomer", **NEW_CUSTOMER),
        {"customer": "zoe", "name": "Zoé Lambermont", "kind": "private", "language": "fr"},
        command=Command("customer add", "Adds the customer CUSTOMER.", "{customer} is a customer"),
        buttons=(Button("add customer", "{customer} is a customer now."),),
        reply="CustomerSettings",
    ),
    get(
        "/customers/<customer>",
        "people_views.customer_shown",
        "One customer, with all that may be changed.",
        reply="CustomerSettings",
    ),
    patch(
        "/customers/<customer>",
        "people_views.change_customer",
        "Changes a customer from now on. Limits and countries count for each account that the customer owns.",
        body("CustomerChange", **CUSTOMER),
        {"channel_blocked": True},
        command=Command("customer change", "Changes the customer CUSTOMER.", "{customer} is changed"),
        buttons=(Button("change customer", "{customer} was changed."),),
        reply="CustomerSettings",
    ),
    create(
        "/accounts",
        "people_views.add_account",
        "A new account of a customer.",
        body("NewAccount", **NEW_ACCOUNT),
        {"customer": "alice", "balance": "1000.00"},
        command=Command("account add", "Adds an account of CUSTOMER; prints its IBAN.", "{iban}"),
        buttons=(Button("add account", "{customer} has a new account."),),
        reply="AccountSettings",
    ),
    get(
        "/accounts/<iban>",
        "people_views.account_shown",
        "One account, with all that may be changed.",
        reply="AccountSettings",
    ),
    patch(
        "/accounts/<iban>",
        "people_views.change_account",
        "Changes an account from now on. A closed one pays nothing: payments from it are refused, waiting ones end as "
        "RJCT with `AC04`, and money for it returns. Its owner's habits stop.",
        body("AccountChange", **ACCOUNT),
        {"closed": True},
        command=Command("account change", "Changes the account IBAN.", "{iban} is changed"),
        buttons=(Button("change account", "{iban} was changed."),),
        reply="AccountSettings",
    ),
)
