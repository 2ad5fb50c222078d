"""The table of lies: what a bank could say that is not true, and that a correct program must notice or show.

A reply with a lie has the fields and types that the service prescribes, so every parser accepts it. A program can
notice a lie only if it compares the reply with what it knows, or if a test asserts the true value. A lie is a function
that changes the body of a reply, or the parameters of a callback, in place. If the function changes nothing, there was
no lie.

A bank that is wrong is wrong in the same way each time. So a lie depends only on the true value. Only a lie that
confuses two flows, such as two payments, also uses values of earlier replies.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import orjson
from orjson import Fragment

from sandbox.bank import statements
from sandbox.bank.state import Bank
from sandbox.web.api.accounts import make_item
from sandbox.web.api.call import Call

CALLBACK = "callback"  # in the place of an operation
INITIATIONS = ("payment_initiation", "standing_order_initiation")
DETAILS = ("payment_details", "standing_order_details")
PAYMENT, ORDER, FILE = ("payment_status",), ("standing_order_status",), ("bulk_status",)
TOKEN, ACCOUNTS, ACCOUNT, LINES = ("token",), ("accounts",), ("account",), ("transactions",)
ITEMS = "_embedded.transactions"  # where a reply has them

OTHER_IBANS = ("BE71096123456769", "BE62510007547061")
OTHER_NAMES = ("Marie Dubois", "Pieter Claes")
OTHER_TEXTS = ("Invoice 2026/0815", "Invoice 2026/0816")
OTHER_CURRENCIES = ("USD", "EUR")
OTHER_REASONS = ("AC04", "AM04")
OTHER_SCOPES = ("AIS", "PIS")
OTHER_FREQUENCIES = ("WEEKLY", "MONTHLY")
TEN_YEARS = 315_360_000  # seconds
OPEN = ("RCVD", "PATC", "PDNG", "ACSP")
FLOWS_MAX = 100  # that a world remembers, so that a long run does not make it grow

T = TypeVar("T")
Body = Any
Tell = Callable[[Body, "Telling"], None]


@dataclass
class Memory:
    """The payment ids and callbacks that a world gave earlier. A lie that confuses two flows, such as two payments,
    takes its values from here."""

    payments: list[str] = field(default_factory=list)
    callbacks: list[dict[str, str]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)  # of pages that were repeated

    def note_payment(self, payment_id: str) -> None:
        self.payments = [*self.payments, payment_id][-FLOWS_MAX:]

    def note_callback(self, parameters: Mapping[str, str]) -> None:
        self.callbacks = [*self.callbacks, dict(parameters)][-FLOWS_MAX:]


class Telling(NamedTuple):
    """The facts that a lie may use in addition to the body: values that the world gave earlier, and the call. `call` is
    None for a callback."""

    memory: Memory
    call: Call | None = None
    is_told: bool = True  # False where it is only asked what the lie would change

    def ask(self, question: Callable[..., T], *args: Any) -> T:
        assert self.call is not None
        return self.call.world.ask(question, *args)

    def read_query(self, name: str) -> str | None:
        assert self.call is not None
        return self.call.read_query(name)

    @property
    def logical_id(self) -> str:
        assert self.call is not None
        return self.call.path["logical_id"]


@dataclass(frozen=True)
class Lie:
    """A row of the table: a lie, and the operations whose replies it changes. `harm` says what goes wrong in a program
    that believes the lie."""

    name: str
    operations: tuple[str, ...]
    clause: str
    says: str
    harm: str
    tell: Tell


def change(path: str, make_value: Callable[[Any], Any]) -> Tell:
    """Returns the function of a lie that changes the value at a path such as `creditor_account.iban`. If the path leads
    through a list, the function changes the value in each entry of the list. It changes nothing where a part of the
    path is missing or null."""
    *outer, name = path.split(".")

    def tell(body: Body, about: Telling) -> None:
        rows = [body]
        for part in outer:
            values = [row[part] for row in rows if row.get(part) is not None]
            rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
        for row in rows:
            if row.get(name) is not None:
                row[name] = make_value(row[name])

    return tell


def choose_other(values: tuple[str, ...]) -> Callable[[object], str]:
    """Returns a function that returns the first of these values that differs from its argument."""
    return lambda value: next(other for other in values if other != value)


def make_other_id(value: str) -> str:
    """Returns another id of the same form, whose last character differs."""
    return value[:-1] + ("0" if value[-1] != "0" else "1")


def add_days(days: int) -> Callable[[date | str], date]:
    return lambda day: (date.fromisoformat(day) if isinstance(day, str) else day) + timedelta(days)


def scale(factor: int) -> Callable[[Fragment], Fragment]:
    """Returns a function that multiplies a JSON number and keeps the number of its decimals."""

    def multiply(number: Fragment) -> Fragment:
        text = orjson.dumps(number).decode()
        places = len(text.partition(".")[2])
        return Fragment(f"{Decimal(text) * factor:.{places}f}")

    return multiply


def lose_last(rows: list[Any]) -> list[Any]:
    return rows[:-1]


def replace_status(false_status: str, *true: str) -> Tell:
    """Returns the function of a lie that replaces each of the statuses `true` by `false_status`, and then also removes
    the reason and the errors. It does so in the body, which is about a payment, an order or a file, and in each bulk of
    a file."""

    def tell(body: Body, about: Telling) -> None:
        for row in (body, *body.get("bulks", ())):
            if row["status"] in true:
                row["status"] = false_status
                for name in ("reason", "errors", "number_of_errors"):
                    row.pop(name, None)

    return tell


# Initiations


def give_payment_before(body: Body, about: Telling) -> None:
    before = [payment_id for payment_id in about.memory.payments if payment_id != body["payment_id"]]
    body["payment_id"] = before[-1] if before else make_other_id(body["payment_id"])


# Details


def change_amount(body: Body, about: Telling) -> None:
    """Multiplies the amount by 10, as if the decimal point had moved."""
    amounts = body["instructed_amount"]
    for name in amounts.keys() - {"currency"}:
        amounts[name] = f"{Decimal(amounts[name]) * 10:.2f}"


def change_debtor_iban(body: Body, about: Telling) -> None:
    if "debtor_account" in body:
        body["debtor_account"]["iban"] = find_other_iban(about, body["debtor_account"]["iban"])


def find_other_iban(about: Telling, iban: str) -> str:
    """Returns the IBAN of another customer's account at this bank, or a foreign IBAN if there is no such account."""

    def find(bank: Bank) -> str:
        owners = bank.accounts[iban].owners if iban in bank.accounts else ()
        other_ibans = (row.iban for row in bank.accounts.values() if not set(row.owners) & set(owners))
        return next(other_ibans, choose_other(OTHER_IBANS)(iban))

    return about.ask(find)


def change_message(body: Body, about: Telling) -> None:
    for name in ("remittance_information_unstructured", "remittance_information_structured"):
        if isinstance(body.get(name), str):
            body[name] = choose_other(OTHER_TEXTS)(body[name])


# Files


def lose_errors(body: Body, about: Telling) -> None:
    for row in (body, *body["bulks"]):
        row.pop("errors", None)
        row.pop("number_of_errors", None)


# Tokens and accounts


def give_spent_token(body: Body, about: Telling) -> None:
    """Replaces the new refresh token by the old refresh token, which this call has used up. Changes nothing if the call
    sent no refresh token."""
    assert about.call is not None
    spent = about.call.request.form.get("refresh_token")
    if spent:
        body["refresh_token"] = spent


def add_foreign_account(body: Body, about: Telling) -> None:
    rows = body["_embedded"]["accounts"]
    if rows:
        first = rows[0]
        foreign = {"iban": find_other_iban(about, first["iban"]), "logical_id": make_other_id(first["logical_id"])}
        rows.append(first | foreign)


def change_iban_of_account(body: Body, about: Telling) -> None:
    body["iban"] = find_other_iban(about, body["iban"])


def change_iban_of_accounts(body: Body, about: Telling) -> None:
    for row in body["_embedded"]["accounts"]:
        row["iban"] = find_other_iban(about, row["iban"])


def give_balance_before(body: Body, about: Telling) -> None:
    """Replaces the balance by the balance before the bookings of the last day that has bookings."""

    def booked_last(bank: Bank) -> Decimal:
        lines = bank.ledger.list_lines(body["iban"], body["currency"])
        last = lines[-1].on if lines else None
        return sum((line.posting.amount.number for line in reversed(lines) if line.on == last), Decimal(0))

    body["balance"] = Fragment(f"{Decimal(orjson.dumps(body['balance']).decode()) - about.ask(booked_last):.2f}")


# Transactions


def list_items(body: Body) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = body["_embedded"]["transactions"]
    return rows


def lose_line(body: Body, about: Telling) -> None:
    items = list_items(body)
    del items[len(items) // 2 : len(items) // 2 + 1]


def double_line(body: Body, about: Telling) -> None:
    items = list_items(body)
    items[:0] = items[:1]


def add_foreign_line(body: Body, about: Telling) -> None:
    """Replaces the first transaction in the list by a transaction of another customer's account. Changes nothing if the
    list is empty or no other customer has a transaction."""

    def find(bank: Bank) -> dict[str, Any] | None:
        assert about.call is not None
        own = statements.demand_granted_account(bank, about.call.token_grant, about.logical_id)
        for account in bank.accounts.values():
            lines = bank.ledger.list_lines(account.iban, account.first_currency)
            if lines and not set(account.owners) & set(own.owners):
                return make_item(lines[-1])
        return None

    items = list_items(body)
    foreign = about.ask(find) if items else None
    if foreign is not None:
        items[0] = foreign


def give_one_reference(body: Body, about: Telling) -> None:
    for item in list_items(body)[1:]:
        item["transaction_ref"] = list_items(body)[0]["transaction_ref"]


def book_pending(body: Body, about: Telling) -> None:
    for item in list_items(body):
        item.pop("status", None)


def repeat_page(body: Body, about: Telling) -> None:
    """Changes the link to the next page, so that it leads to the present page again. Does this only on pages after the
    first, and only once for each page."""
    key = about.read_query("next")
    if key is None or key in about.memory.keys:
        return
    if about.is_told:
        about.memory.keys.add(key)
    body["_embedded"]["next_page_key"] = key
    address = f"/accounts/{about.logical_id}/transactions?next={key}"
    body["_links"]["next"] = {"href": address, "templated": False}


def end_early(body: Body, about: Telling) -> None:
    body["_embedded"].pop("next_page_key", None)
    body["_links"].pop("next", None)


# Callbacks, whose body has the parameters


def mix_up(name: str) -> Tell:
    """Returns the function of a lie that replaces the parameter `name` of a callback by the value from an earlier flow.
    If no earlier flow has another value, the function reverses the text of the parameter."""

    def tell(body: Body, about: Telling) -> None:
        if name in body:
            before = [flow[name] for flow in about.memory.callbacks if flow.get(name, body[name]) != body[name]]
            body[name] = before[-1] if before else body[name][::-1]

    return tell


def accept_refusal(body: Body, about: Telling) -> None:
    if "error" in body:
        code = f"{'0' * 8}-{body.get('state', 'none')}"[:43]
        del body["error"]
        body.pop("error_description", None)
        body["code"] = code


def refuse_signature(body: Body, about: Telling) -> None:
    if "code" in body:
        del body["code"]
        body["error"] = "access_denied"


LIES: tuple[Lie, ...] = (
    Lie("initiation_payment", INITIATIONS, "service 2.4", "The id is that of another payment.",
        "The order follows another payment, and is never known to be paid.", give_payment_before),
    Lie("initiation_reference", INITIATIONS, "service 2.4", "The end-to-end identification is another one.",
        "The payment is not found again by its reference.", change("endtoend_identification", make_other_id)),
    Lie("initiation_settled", INITIATIONS, "service 3.1", "The payment is settled although nobody signed it.",
        "Goods are delivered before anybody paid.", replace_status("ACSC", *OPEN)),
    Lie("details_amount", DETAILS, "service 2.4", "The amount is 10 times what was ordered.",
        "The customer's books show an amount that was not paid.", change_amount),
    Lie("details_currency", DETAILS, "service 2.4", "The currency is another one.",
        "An amount is booked in the wrong currency.",
        change("instructed_amount.currency", choose_other(OTHER_CURRENCIES))),
    Lie("details_creditor_iban", DETAILS, "service 2.4", "The beneficiary's account is another one.",
        "Money that went to a stranger looks as if it arrived.",
        change("creditor_account.iban", choose_other(OTHER_IBANS))),
    Lie("details_creditor_name", DETAILS, "service 2.4", "The beneficiary is somebody else.",
        "Money that went to a stranger looks as if it arrived.", change("creditor_name", choose_other(OTHER_NAMES))),
    Lie("details_debtor_iban", DETAILS, "service 2.4", "The account that pays belongs to another customer.",
        "A refund goes to a stranger.", change_debtor_iban),
    Lie("details_message", DETAILS, "service 2.4", "The message to the beneficiary is another one.",
        "The payment is booked to another invoice.", change_message),
    Lie("details_reference", DETAILS, "service 2.4", "The end-to-end identification is another one.",
        "The payment is booked to another order.", change("endtoend_identification", make_other_id)),
    Lie("details_customer", DETAILS, "service 2.4", "The name of the customer is another customer's.",
        "A customer sees, or is taken for, somebody else.", change("psu_name", choose_other(OTHER_NAMES))),
    Lie("details_date", DETAILS, "service 2.4", "The requested execution date is a week later.",
        "An instalment looks paid in time, and is late.", change("requested_execution_date", add_days(7))),
    Lie("details_payment", DETAILS, "service 2.4", "The id is that of another payment.",
        "The details of one payment are kept as those of another.", change("payment_id", make_other_id)),
    Lie("details_status", DETAILS, "service 3.1", "The status is settled while it is not, or pending once it is.",
        "Goods are delivered before they are paid, or never.",
        change("status", lambda status: "PDNG" if status == "ACSC" else "ACSC")),
    Lie("order_start", ("standing_order_details",), "service 2.4", "The first execution is a week later.",
        "A rent looks as if it was paid in time.", change("start_date", add_days(7))),
    Lie("order_end", ("standing_order_details",), "service 2.4", "The last execution is a year later.",
        "A customer is told to pay on after the end of a contract.", change("end_date", add_days(365))),
    Lie("order_frequency", ("standing_order_details",), "service 2.4", "It executes at another frequency.",
        "A customer pays each week what is due each month.", change("frequency", choose_other(OTHER_FREQUENCIES))),
    Lie("order_ended", ORDER, "service 3.2", "An active standing order is cancelled.",
        "The customer orders it again, and pays twice.", replace_status("CANC", "PDNG", "ACWP")),
    Lie("order_goes_on", ORDER, "service 3.2", "A cancelled standing order is active.",
        "The next rent is taken for paid, and no money comes.", replace_status("ACWP", "CANC", "RJCT")),
    Lie("status_too_early", PAYMENT, "service 3.1", "A payment that is not settled yet is settled.",
        "Goods are delivered before they are paid.", replace_status("ACSC", *OPEN)),
    Lie("status_too_late", PAYMENT, "service 3.1", "A settled payment stays pending.",
        "A customer who paid waits for ever.", replace_status("PDNG", "ACSC")),
    Lie("refused_as_paid", PAYMENT, "service 3.1", "A refused payment is settled.",
        "Goods are delivered that are never paid.", replace_status("ACSC", "RJCT")),
    Lie("paid_as_refused", PAYMENT, "service 3.1", "A settled payment is refused.",
        "The customer pays again.", replace_status("RJCT", "ACSC")),
    Lie("cancelled_as_paid", PAYMENT, "service 3.1", "A cancelled payment is settled.",
        "Goods are delivered that are never paid.", replace_status("ACSC", "CANC")),
    Lie("paid_as_cancelled", PAYMENT, "service 3.1", "A settled payment is cancelled.",
        "The customer pays again.", replace_status("CANC", "ACSC")),
    Lie("status_reason", PAYMENT + ORDER, "service 3.3", "The reason of a refusal is another one.",
        "The customer is told to mend what was not wrong.", change("reason", choose_other(OTHER_REASONS))),
    Lie("status_payment", PAYMENT + ORDER, "service 2.4", "The status is that of another payment.",
        "One order is marked with the outcome of another.", change("payment_id", make_other_id)),
    Lie("file_too_early", FILE, "service 3.2", "A file that is not executed yet is settled.",
        "Wages are taken for paid before they are.", replace_status("ACSC", *OPEN)),
    Lie("file_refused_as_paid", FILE, "service 3.2", "A refused file or bulk is settled.",
        "Wages are taken for paid and never are.", replace_status("ACSC", "RJCT")),
    Lie("file_paid_as_refused", FILE, "service 3.2", "A settled file is refused.",
        "Wages are paid twice.", replace_status("RJCT", "ACSC", "ACSP")),
    Lie("file_goes_on", FILE, "service 3.2", "A cancelled file is waiting for its execution.",
        "Wages are expected that never come.", replace_status("PDNG", "CANC")),
    Lie("file_bulk_lost", FILE, "service 4.6", "The last bulk of the file is missing.",
        "Nobody sees that a part of the file was not taken.", change("bulks", lose_last)),
    Lie("file_count", FILE, "service 4.6", "Each bulk has one more transaction than was sent.",
        "Nobody sees that somebody else's payment is in the file.",
        change("bulks.number_of_transactions", lambda count: count + 1)),
    Lie("file_sum", FILE, "service 4.6", "The control sum of each bulk is 10 times what was sent.",
        "Nobody sees that amounts were misread.", change("bulks.control_sum", scale(10))),
    Lie("file_errors_lost", FILE, "service 4.6", "The errors of the file are missing.",
        "Nobody mends a file that was refused.", lose_errors),
    Lie("token_scope", TOKEN, "service 2.6", "The token is of another scope.",
        "A program believes in access that the customer did not give.", change("scope", choose_other(OTHER_SCOPES))),
    Lie("token_lasts", TOKEN, "service 2.6", "The token lasts for 10 years.",
        "The program never refreshes, and stands still after an hour.",
        change("expires_in", lambda seconds: TEN_YEARS)),
    Lie("token_spent", TOKEN, "service 4.8", "The refresh token is the one that was just used up.",
        "The next refresh is refused, and the customer must consent again.", give_spent_token),
    Lie("token_account", TOKEN, "service 2.6", "The account of the token is another one.",
        "Funds are asked of an account that is not the customer's.", change("logical_id", make_other_id)),
    Lie("accounts_lost", ACCOUNTS, "service 4.9", "The last account of the consent is missing.",
        "A customer's account disappears without a word.", change("_embedded.accounts", lose_last)),
    Lie("accounts_foreign", ACCOUNTS, "service 4.9", "An account of another customer is in the list.",
        "A customer sees a stranger's account.", add_foreign_account),
    Lie("accounts_iban", ACCOUNTS, "service 4.9", "The IBANs are those of another customer.",
        "Money is sent to a stranger as if to oneself.", change_iban_of_accounts),
    Lie("account_iban", ACCOUNT, "service 2.7", "The IBAN is that of another customer's account.",
        "The balance of one account is shown for another.", change_iban_of_account),
    Lie("account_currency", ACCOUNT, "service 2.7", "The currency is another one.",
        "A balance is worth more or less than is shown.", change("currency", choose_other(OTHER_CURRENCIES))),
    Lie("balance_of_yesterday", ACCOUNT, "service 2.7", "The balance is without the last day that has bookings.",
        "Money is spent twice.", give_balance_before),
    Lie("balance_sign", ACCOUNT, "service 2.7", "The balance has the other sign.",
        "A debt is shown as money.", change("balance", scale(-1))),
    Lie("compartment_lost", ACCOUNT, "service 2.7", "The last compartment is missing.",
        "Money in another currency disappears without a word.", change("other_compartments", lose_last)),
    Lie("line_lost", LINES, "service 4.10", "A line of the page is missing.",
        "The books lack a payment, and nobody sees it.", lose_line),
    Lie("line_doubled", LINES, "service 4.10", "The first line of the page comes twice.",
        "A payment is booked twice.", double_line),
    Lie("line_foreign", LINES, "service 4.10", "The first line is of another customer's account.",
        "A customer sees what a stranger pays.", add_foreign_line),
    Lie("line_reference", LINES, "service 2.8", "All lines have the same reference.",
        "Lines are taken for the same one, and are dropped.", give_one_reference),
    Lie("line_amount", LINES, "service 2.8", "The amounts are 10 times what was booked.",
        "The books are wrong.", change(f"{ITEMS}.amount", scale(10))),
    Lie("line_sign", LINES, "service 2.8", "Debits are credits, and credits debits.",
        "An expense is booked as income.", change(f"{ITEMS}.amount", scale(-1))),
    Lie("line_currency", LINES, "service 2.8", "The currency is another one.",
        "The books are wrong by the rate.", change(f"{ITEMS}.currency", choose_other(OTHER_CURRENCIES))),
    Lie("line_date", LINES, "service 2.8", "The execution dates are a week later.",
        "A payment counts for the wrong month.", change(f"{ITEMS}.execution_date", add_days(7))),
    Lie("line_counterparty", LINES, "service 2.8", "The counterparties are other ones.",
        "A payment is booked to the wrong customer.", change(f"{ITEMS}.counterparty_info", choose_other(OTHER_NAMES))),
    Lie("line_message", LINES, "service 2.8", "The messages are other ones.",
        "A payment is booked to the wrong invoice.", change(f"{ITEMS}.communication", choose_other(OTHER_TEXTS))),
    Lie("page_repeats", LINES, "service 4.10", "The key of the next page leads to the same page, once.",
        "Lines are booked twice, or the program reads without end.", repeat_page),
    Lie("page_ends_early", LINES, "service 4.10", "A page that is not the last has no key.",
        "The books lack the older lines, and nobody sees it.", end_early),
    Lie("pending_as_booked", LINES, "service 2.8", "Pending lines look booked.",
        "Money is counted that may never move.", book_pending),
    Lie("callback_state", (CALLBACK,), "service 6.1", "The state is that of another flow.",
        "One customer gets what another one signed.", mix_up("state")),
    Lie("callback_code", (CALLBACK,), "service 6.1", "The code is that of another flow.",
        "One customer gets access to another one's accounts.", mix_up("code")),
    Lie("callback_accepted", (CALLBACK,), "service 6.1", "A refusal comes back as if it was signed.",
        "Goods are delivered although the customer refused.", accept_refusal),
    Lie("callback_refused", (CALLBACK,), "service 6.1", "A signature comes back as a refusal.",
        "The customer pays again.", refuse_signature),
)  # fmt: skip
BY_NAME = {lie.name: lie for lie in LIES}
