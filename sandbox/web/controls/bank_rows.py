"""Rows of the table of controls: customers, clients and accounts, initiations, acts of a customer (`/psu/...`), the
check of payees, OAuth, the journal, and the list of calls."""

import re
from typing import Any

from marshmallow import fields
from marshmallow.validate import Length

from sandbox.bank.records import METHODS
from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.contract.reasons import CODE_FORM
from sandbox.server_address import URL
from sandbox.web.api.body_schemas import DateField
from sandbox.web.controls.body_fields import (
    SINCE,
    FunctionField,
    TextFunctionField,
    TextListField,
    address,
    any_value,
    body,
    currency,
    make_one_of,
    make_pattern_field,
    make_text_field,
    query,
    read_text,
    reply,
    status,
    text,
)
from sandbox.web.controls.control_row import TEXT, Button, Command, Control, create, get, patch, post, put
from sandbox.web.controls.people_fields import ACCOUNT, CLIENT, CUSTOMER, NEW_ACCOUNT, NEW_CLIENT, NEW_CUSTOMER
from sandbox.web.controls.world_rows import AFTER

COUNTERPARTY = body(
    "Counterparty",
    iban=make_text_field(is_iban, "it is no valid IBAN", allow_none=True),
    name=text(allow_none=True),
)
PAYEE_NAME = re.compile(r"(?=.*\S)[^\x00-\x1f\x7f-\x9f]{1,70}\Z")
REASON = re.compile(rf"{CODE_FORM}\Z")
WHY_REASON, SUCH = "it is a reason code such as AC04", "Such as AC04."
NAME_OR_ACCOUNT = {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Counterparty"}]}


def _read_counterparty(value: Any) -> tuple[str | None, str | None]:
    """Returns the IBAN and the name of a counterparty. `value` is an object with `iban` and `name`, or the name alone.
    The IBAN or the name is None if it was not sent."""
    if not isinstance(value, dict):
        return None, read_text(value)
    if not set(value) <= set(COUNTERPARTY.fields):
        raise ValueError("it is a name, or an object of iban and name")
    counterparty = COUNTERPARTY.load(value)
    return counterparty.get("iban"), counterparty.get("name")


def _read_communication(value: Any) -> tuple[str, bool]:
    """Returns the text of a communication, and whether it is a structured one. Raises ValueError for a text that is
    neither a structured communication nor a valid free text."""
    text = read_text(value)
    structured = read_structured(text) if text.startswith("+++") else None
    if structured is None and not is_free_text(text):
        raise ValueError("it must be 1 to 140 characters without control characters")
    return structured or text, structured is not None


PSU = {"address": f"{URL}/psu/sign/...", "customer": "alice"}
METHOD = make_one_of(
    *METHODS,
    allow_none=True,
    about="How the customer signs; refused where it is not activated or too risky (service 5.7). Left out: one that is "
    "permitted.",
    option="How they sign: card_reader, app, biometrics or identity_app.",
)
APPROVAL = {
    "address": address(required=True, about="The SCA or consent address, with the state that the TPP appended."),
    "customer": text(
        allow_none=True,
        about="The first owner of the debtor account where left out.",
        option="Who; left out, the debtor account's first owner.",
    ),
    "account": text(
        allow_none=True,
        about="The IBAN of the debtor account that the customer picks.",
        option="The IBAN to pay from; left out, their first current account.",
    ),
    "accounts": TextListField(
        allow_none=True,
        validate=Length(min=1, error="it must name at least one account"),
        about="The IBANs that the customer lets the TPP read.",
        option="The IBANs of a consent; may be given several times.",
    ),
    "method": METHOD,
}
# The view asks for `address` or `payment_id`. The accounts are ignored, so that the body of an approval fits.
REFUSAL = APPROVAL | {"address": address(), "payment_id": text(), "account": any_value(), "accounts": any_value()}

BANK_ROWS: tuple[Control, ...] = (
    get(
        "/customers",
        "people_views.list_customers",
        "The customers and their accounts.",
        command=Command(
            "customers",
            "Shows who the bank knows.",
            columns="customer name kind language accounts",
            drops="language kind accounts",
        ),
        reply=["Customer"],
    ),
    get(
        "/clients",
        "people_views.list_clients",
        "The registered third parties, without their secrets.",
        command=Command(
            "clients", "Shows the registered TPPs.", columns="client_id name roles active", drops="active roles"
        ),
        reply=["Client"],
    ),
    create(
        "/clients",
        "people_views.add_client",
        "Registers a third party; its secret and keys never come out again.",
        body("ClientRegistration", **NEW_CLIENT),
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
        "people_views.list_accounts",
        "The accounts with their balances.",
        command=Command(
            "accounts",
            "Shows the accounts and their balances.",
            columns="iban type customer balances",
            drops="type customer",
        ),
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
            counterparty=FunctionField(_read_counterparty, allow_none=True, shape=NAME_OR_ACCOUNT),
            communication=TextFunctionField(_read_communication, allow_none=True),
        ),
        {"amount": "2500.00", "counterparty": "An employer", "communication": "Salary"},
        buttons=(Button("book", "Booked {amount}."),),
        reply="TransactionRow",
    ),
    get(
        "/payments",
        "initiation_views.list_initiations",
        "The payments, each with its way through the statuses and its order.",
        command=Command(
            "payments",
            "Shows the single payments.",
            columns="payment_id product status reason customer order.instructed_amount.amount "
            "order.instructed_amount.currency order.creditor_name",
            drops="product customer reason order.instructed_amount.currency",
        ),
        reply=["Payment"],
    ),
    get("/payments/<payment_id>", "initiation_views.show_initiation", "One payment.", reply="Payment"),
    post(
        "/payments/<payment_id>/move",
        "initiation_views.move",
        "Forces a legal move of a payment, standing order or file; an illegal one is refused with 409.",
        body(
            "Move",
            status=status(required=True),
            reason=text(allow_none=True, about="An ISO 20022 reason code.", option="Such as AC04."),
        ),
        {"status": "RJCT", "reason": "AC04"},
        command=Command(
            "move", "Forces a legal move of a payment, an order or a file.", "{status} {reason}", group="Break"
        ),
        buttons=(Button("move", "Moved to {status}."),),
        reply=("Payment", "StandingOrder", "BulkFile"),
    ),
    post(
        "/payments/<payment_id>/return",
        "initiation_views.send_back",
        "Returns a settled payment now, on whatever day: the beneficiary's bank sends the money back. 409 where the "
        "payment is not settled, or came back before.",
        body(
            "Return",
            reason=make_pattern_field(REASON, WHY_REASON, allow_none=True, about="AC04 where left out.", option=SUCH),
        ),
        {"reason": "AC04"},
        command=Command("return", "Returns a settled payment now.", "{payment_id} was returned", group="Break"),
        buttons=(Button("return", "Returned."),),
        reply="Payment",
    ),
    post(
        "/payments/<payment_id>/recall",
        "initiation_views.send_back",
        "Recalls a settled payment now, on whatever day: its sender asked for the money. 409 as for a return.",
        body(
            "Recall",
            reason=make_pattern_field(REASON, WHY_REASON, allow_none=True, about="FOCR where left out.", option=SUCH),
        ),
        {"reason": "FOCR"},
        command=Command("recall", "Recalls a settled payment now.", "{payment_id} was recalled", group="Break"),
        buttons=(Button("recall", "Recalled."),),
        reply="Payment",
    ),
    get(
        "/standing-orders",
        "initiation_views.list_initiations",
        "The standing orders.",
        command=Command(
            "standing-orders",
            "Shows the standing orders.",
            columns="payment_id status reason customer order.frequency order.start_date order.creditor_name",
            drops="customer reason order.start_date order.frequency",
        ),
        reply=["StandingOrder"],
    ),
    get(
        "/standing-orders/<payment_id>",
        "initiation_views.show_initiation",
        "One standing order: what was executed, and what comes on which day.",
        reply="StandingOrderWithDays",
    ),
    get(
        "/bulk-payments",
        "initiation_views.list_initiations",
        "The bulk files, each with its bulks.",
        command=Command(
            "bulk-payments",
            "Shows the bulk files.",
            columns="payment_file_id product status reason customer",
            drops="product reason",
        ),
        reply=["BulkFile"],
    ),
    get("/bulk-payments/<payment_id>", "initiation_views.show_initiation", "One bulk file.", reply="BulkFile"),
    get(
        "/bulk-payments/<payment_id>/report",
        "initiation_views.report",
        "The status report of a bulk file as it is now: pain.002.001.03 for a pain.001.001.03, pain.002.001.10 for a "
        "pain.001.001.09, and csv with the same facts for a csv. 409 while the file is not validated.",
        reply={"application/xml": TEXT, "text/csv": TEXT},
    ),
    create(
        "/customers",
        "people_views.add_customer",
        "A new customer, still without an account.",
        body("CustomerCreation", **NEW_CUSTOMER),
        {"customer": "zoe", "name": "Zoé Lambermont", "kind": "private", "language": "fr"},
        command=Command("customer add", "Adds the customer CUSTOMER.", "{customer} is a customer", group="Break"),
        buttons=(Button("add customer", "{customer} is a customer now."),),
        reply="CustomerSettings",
    ),
    get(
        "/customers/<customer>",
        "people_views.show_customer",
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
        body("AccountCreation", **NEW_ACCOUNT),
        {"customer": "alice", "balance": "1000.00"},
        command=Command("account add", "Adds an account of CUSTOMER; prints its IBAN.", "{iban}", group="Break"),
        buttons=(Button("add account", "{customer} has a new account."),),
        reply="AccountSettings",
    ),
    get(
        "/accounts/<iban>",
        "people_views.show_account",
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
    post(
        "/psu/approve",
        "psu_views.approve",
        "Acts as the customer without a browser: signs, or consents. Replies the callback address.",
        body("Approval", **APPROVAL),
        PSU,
        command=Command(
            "psu approve", "Signs or consents at ADDRESS; prints where the customer is sent back to.", "{redirect}"
        ),
        buttons=(Button("approve", "Approved, as the PSU.", ("address", "customer", "account", "method")),),
        reply="Redirection",
    ),
    post(
        "/psu/refuse",
        "psu_views.refuse_as_customer",
        "Acts as the customer, who refuses. Replies the callback address. With `payment_id` in place of `address`, a "
        "further signer refuses in the bank's own channel, and nobody is sent back: CANC, reason `PSU_REFUSED`.",
        body("Refusal", **REFUSAL),
        PSU,
        buttons=(
            Button(
                "refuse",
                "Refused, as the PSU.",
                ("address", "payment_id", "customer"),
                asks="The customer refuses for good: nobody can sign it, or consent at this address, any more.",
            ),
        ),
        reply=("Redirection", "RefusedPayment"),
    ),
    post(
        "/psu/sign",
        "psu_views.sign",
        "A further signature, in the bank's own channel.",
        body(
            "FurtherSignature",
            payment_id=text(required=True),
            customer=text(required=True, option="Who signs."),
            method=METHOD,
        ),
        {"payment_id": "...", "customer": "griet"},
        command=Command("psu sign", "A further signature, in the bank's own channel.", "{status}"),
        buttons=(Button("sign", "Signed by {customer}."),),
        reply="SignedPayment",
    ),
    post(
        "/psu/withdraw",
        "psu_views.withdraw",
        "Withdraws a consent.",
        body(
            "ConsentWithdrawal",
            client_id=text(required=True),
            customer=text(required=True),
            scope=make_one_of("AIS", "CAF", required=True),
        ),
        {"client_id": "demo-tpp", "customer": "alice", "scope": "AIS"},
        buttons=(Button("withdraw", "The consent was withdrawn."),),
        loses="The consent of {customer} to {client_id} ends. Only the customer can give a new one.",
        reply=reply("Withdrawal", withdrawn=fields.Integer()),
    ),
    post(
        "/payee-checks",
        "initiation_views.check_payee",
        "The verification of payee for a name and an IBAN: `match`, `close_match` with the name that the payee's bank "
        "knows, `no_match` or `not_possible`. Rules of the scenario that know the payee by name and IBAN alone count.",
        body(
            "PayeeName",
            iban=make_text_field(is_iban, "it is no valid IBAN", required=True),
            name=make_pattern_field(PAYEE_NAME, "it is 1 to 70 characters without control characters", required=True),
        ),
        {"iban": "BE55152410003144", "name": "E. Peeters"},
        command=Command("payee", "Says whether NAME is that of the holder of IBAN.", "{outcome}"),
        reply="PayeeOutcome",
    ),
    get(
        "/reference/countries",
        "initiation_views.countries",
        "The countries, currencies and purpose codes that cross-border payments may have.",
        reply="Countries",
    ),
    get(
        "/.well-known/oauth-authorization-server",
        "psu_views.oauth_metadata",
        "The OAuth endpoints (RFC 8414), to point a stock OAuth client at. The bank itself has no such page. Its "
        "/token wants Request-ID and Accept, which the client has to add.",
        reply="OauthMetadata",
    ),
    get(
        "/authorize",
        "psu_views.authorize",
        "The authorization endpoint of stock OAuth clients: leads the browser on to a consent address. Takes "
        "`response_type=code`, `client_id`, `redirect_uri`, `scope` (AIS, or CAF with `iban`), `code_challenge`, "
        "`code_challenge_method` and `state`.",
        query=query(
            client_id=text(required=True, about="The registered client."),
            redirect_uri=text(required=True, about="A callback that the client registered."),
            response_type=make_one_of("code", required=True, about="code"),
            scope=make_one_of("AIS", "CAF", about="AIS where left out."),
            iban=text(about="The account, for CAF only."),
            code_challenge=text(required=True, about="As RFC 7636 has it."),
            code_challenge_method=make_one_of("S256", "plain", about="plain where left out."),
            state=text(about="Comes back at the callback."),
        ),
        success=302,
    ),
    get(
        "/journal",
        "initiation_views.journal",
        f"Every change of a status, numbered. {AFTER}",
        query=SINCE,
        command=Command(
            "journal", "Shows what changed.", columns="seq at subject trigger from to reason", drops="reason seq from"
        ),
        reply=["JournalEntry"],
    ),
    get(
        "/requests",
        "call_views.requests",
        f"Every call of the bank's interface and its answer, numbered. {AFTER}",
        query=SINCE,
        reply=["ListedCall"],
    ),
)
