"""Rows of the controls that make and change customers and accounts."""

from sandbox.bank.records import ACCOUNT_TYPES, BALANCES_SHOWN, CUSTOMER_KINDS
from sandbox.contract.languages import SCREENS
from sandbox.web.controls import people_readers as read
from sandbox.web.controls.body_readers import flag
from sandbox.web.controls.control_row import TEXTS, Button, Command, Control, Field

EUROS = {"type": ["string", "null"]}
COUNTRIES = {"type": ["array", "null"], **TEXTS}

CUSTOMER_FIELDS = (
    Field("channel_blocked", flag, "boolean", about="No digital channel.", option="Blocks the digital channel."),
    Field("language", words=tuple(SCREENS), option=f"{' or '.join(SCREENS)}."),
    Field(
        "limit_day",
        read.euros_or_none,
        "",
        about="In EUR, of each account of theirs; null: none.",
        shape=EUROS,
        option="EUR a day from each account, such as 250.00.",
    ),
    Field(
        "limit_week",
        read.euros_or_none,
        "",
        about="The same for today and the 6 days before.",
        shape=EUROS,
        option="EUR a week from each account.",
    ),
    Field(
        "countries",
        read.countries_or_all,
        "",
        about="Those to which they pay; null: all.",
        shape=COUNTRIES,
    ),
    Field(
        "methods",
        read.methods,
        "array",
        about="How they may sign, beside the card reader: `app`, `biometrics` (service 5.7).",
        shape=TEXTS,
        option="A way to sign: app or biometrics; may be given several times.",
    ),
)
NEW_CUSTOMER = (
    Field("customer", read.identifier, required=True, about="The id."),
    Field("name", read.name, about="The id where left out.", option="The name; left out, the id."),
    Field(
        "kind",
        words=CUSTOMER_KINDS,
        about="private where left out.",
        option="private (default) or business.",
    ),
    *CUSTOMER_FIELDS,
)
ACCOUNT_FIELDS = (
    Field(
        "closed",
        flag,
        "boolean",
        about="Nothing is paid from it or to it, and no consent shows it.",
        option="true closes the account, false opens it again.",
    ),
    Field(
        "overdraft",
        read.euros_or_none,
        "",
        about="How far its first compartment may go below 0; null: not at all.",
        shape=EUROS,
        option="EUR below 0, such as 500.00.",
    ),
    Field(
        "signatures_required",
        read.signatures,
        "integer",
        about="Of what is signed from now on, which then waits until that many of its signers have signed.",
        option="How many signatures.",
    ),
    Field(
        "signers",
        read.names,
        "array",
        about="The customers who may sign; its owners where never named.",
        shape=TEXTS,
        option="A customer who may sign; may be given several times.",
    ),
    Field(
        "balance_shown",
        words=BALANCES_SHOWN,
        about="What `balance` of account information is: the euro compartment, or all at the bank's rates.",
        option="compartment or globalised.",
    ),
)
NEW_ACCOUNT = (
    Field("customer", read.identifier, required=True, about="The owner."),
    Field("iban", read.own_iban, about="The next free one where left out.", option="Left out: the next free one."),
    Field(
        "type",
        words=ACCOUNT_TYPES,
        about="current-account where left out.",
        option="current-account (default) or savings-account.",
    ),
    Field("currencies", read.currencies, "array", about="EUR alone where left out.", shape=TEXTS),
    Field("balance", read.euros, about="In EUR; 0 where left out.", option="EUR at once, such as 1000.00."),
    *ACCOUNT_FIELDS,
)

PEOPLE_ROWS: tuple[Control, ...] = (
    Control(
        "POST",
        "/customers",
        "people_views.add_customer",
        "A new customer, still without an account.",
        NEW_CUSTOMER,
        {"customer": "zoe", "name": "Zoé Lambermont", "kind": "private", "language": "fr"},
        201,
        commands=(Command("customer add", "Adds the customer CUSTOMER.", ("customer",), "{customer} is a customer"),),
        buttons=(Button("add customer", "{customer} is a customer now."),),
        body_name="NewCustomer",
    ),
    Control("GET", "/customers/<customer>", "registers.customer", "One customer, with all that may be changed."),
    Control(
        "PATCH",
        "/customers/<customer>",
        "people_views.change_customer",
        "Changes a customer from now on. Limits and countries count for each account that the customer owns.",
        CUSTOMER_FIELDS,
        {"channel_blocked": True},
        commands=(
            Command("customer change", "Changes the customer CUSTOMER.", ("customer",), "{customer} is changed"),
        ),
        buttons=(Button("change customer", "{customer} was changed."),),
        body_name="CustomerChange",
    ),
    Control(
        "POST",
        "/accounts",
        "people_views.add_account",
        "A new account of a customer.",
        NEW_ACCOUNT,
        {"customer": "alice", "balance": "1000.00"},
        201,
        commands=(Command("account add", "Adds an account of CUSTOMER; prints its IBAN.", ("customer",), "{iban}"),),
        buttons=(Button("add account", "{customer} has a new account."),),
        body_name="NewAccount",
    ),
    Control("GET", "/accounts/<iban>", "registers.account", "One account, with all that may be changed."),
    Control(
        "PATCH",
        "/accounts/<iban>",
        "people_views.change_account",
        "Changes an account from now on. A closed one pays nothing: payments from it are refused, waiting ones end as "
        "RJCT with `AC04`, and money for it returns. Its owner's habits stop.",
        ACCOUNT_FIELDS,
        {"closed": True},
        commands=(Command("account change", "Changes the account IBAN.", ("iban",), "{iban} is changed"),),
        buttons=(Button("change account", "{iban} was changed."),),
        body_name="AccountChange",
    ),
)
