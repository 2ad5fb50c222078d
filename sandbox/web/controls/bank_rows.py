"""Rows of the controls that concern a bank's customers, clients, accounts and initiations."""

from sandbox.bank.records import ROLES
from sandbox.web.controls.body_readers import currency, status, text
from sandbox.web.controls.control_row import TEXTS, Button, Command, Control, Field

NAME_OR_ACCOUNT = {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Counterparty"}]}
SECRET = Field("secret", about="1 to 256 printable characters without blanks.")
CLIENT = (
    SECRET,
    Field("name"),
    Field("roles", type="array", shape={"items": {"type": "string", "enum": [*ROLES]}}),
    Field("active", type="boolean"),
    Field("redirect_uris", type="array", shape=TEXTS),
    Field("keys", type="array", about="Public JWKs, each with a kid.", shape={"items": {"type": "object"}}),
    Field("organisation", about="The organisation identifier of its certificates."),
)

BANK_ROWS: tuple[Control, ...] = (
    Control(
        "GET",
        "/customers",
        "registers.customers",
        "The customers and their accounts.",
        commands=(
            Command(
                "customers",
                "Shows who the bank knows.",
                columns=("customer", "name", "kind", "language", "accounts"),
            ),
        ),
    ),
    Control(
        "GET",
        "/clients",
        "registers.clients",
        "The registered third parties, without their secrets.",
        commands=(Command("clients", "Shows the registered TPPs.", columns=("client_id", "name", "roles", "active")),),
    ),
    Control(
        "POST",
        "/clients",
        "client_views.make",
        "Registers a third party; its secret and keys never come out again.",
        (Field("client_id", required=True), SECRET._replace(required=True), *CLIENT[1:]),
        {
            "client_id": "my-tpp",
            "secret": "my-secret",
            "name": "My TPP",
            "roles": ["PIS", "AIS"],
            "redirect_uris": ["http://127.0.0.1:*/*"],
        },
        201,
        buttons=(Button("register", "{client_id} is a TPP now."),),
        body_name="NewClient",
    ),
    Control(
        "PUT",
        "/clients/<client_id>",
        "client_views.change",
        "Changes what is named of a third party.",
        (Field("client_id"), *CLIENT),
        {"active": False},
        buttons=(Button("amend", "{client_id} was changed."),),
        body_name="ClientChange",
    ),
    Control(
        "GET",
        "/accounts",
        "registers.accounts",
        "The accounts with their balances.",
        commands=(
            Command(
                "accounts",
                "Shows the accounts and their balances.",
                columns=("iban", "type", "customer", "balances"),
            ),
        ),
    ),
    Control(
        "POST",
        "/accounts/<iban>/transactions",
        "bookings.book",
        "Books a transaction by hand: a salary that comes in, or, below 0, money that goes.",
        (
            Field("amount", text, required=True, about="A decimal text; below 0, money that goes."),
            Field("currency", currency, nullable=True, about="EUR where left out."),
            Field("date", about="Today where left out.", shape={"format": "date"}),
            Field("counterparty", type="", shape=NAME_OR_ACCOUNT),
            Field("communication"),
        ),
        {"amount": "2500.00", "counterparty": "An employer", "communication": "Salary"},
        201,
        buttons=(Button("book", "Booked {amount}."),),
        body_name="Booking",
    ),
    Control(
        "GET",
        "/payments",
        "initiations.list_payments",
        "The payments, each with its way through the statuses and its order.",
        commands=(
            Command(
                "payments",
                "Shows the single payments.",
                columns=(
                    "payment_id",
                    "product",
                    "status",
                    "reason",
                    "customer",
                    "order.instructed_amount.amount",
                    "order.instructed_amount.currency",
                    "order.creditor_name",
                ),
            ),
        ),
    ),
    Control("GET", "/payments/<payment_id>", "initiations.show_payment", "One payment."),
    Control(
        "POST",
        "/payments/<payment_id>/move",
        "psu.move",
        "Forces a legal move of a payment, standing order or file; an illegal one is refused with 409.",
        (
            Field("status", status, required=True),
            Field("reason", text, nullable=True, about="An ISO 20022 reason code.", option="Such as AC04."),
        ),
        {"status": "RJCT", "reason": "AC04"},
        commands=(Command("move"),),
        buttons=(Button("move", "Moved to {status}."),),
        body_name="Move",
    ),
    Control(
        "GET",
        "/standing-orders",
        "initiations.list_standing_orders",
        "The standing orders.",
        commands=(
            Command(
                "standing-orders",
                "Shows the standing orders.",
                columns=(
                    "payment_id",
                    "status",
                    "reason",
                    "customer",
                    "order.frequency",
                    "order.start_date",
                    "order.creditor_name",
                ),
            ),
        ),
    ),
    Control(
        "GET",
        "/standing-orders/<payment_id>",
        "initiations.show_standing_order",
        "One standing order: what was executed, and what comes on which day.",
    ),
    Control(
        "GET",
        "/bulk-payments",
        "initiations.list_files",
        "The bulk files, each with its bulks.",
        commands=(
            Command(
                "bulk-payments",
                "Shows the bulk files.",
                columns=("payment_file_id", "product", "status", "reason", "customer"),
            ),
        ),
    ),
    Control("GET", "/bulk-payments/<payment_id>", "initiations.show_file", "One bulk file."),
)
