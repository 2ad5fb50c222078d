"""The people of a new bank, read from a file: customers with their habits, accounts and clients (choices 11, 13)."""

import hashlib
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, NamedTuple

from sandbox.bank.records import (
    ACCOUNT_TYPES,
    BALANCES_SHOWN,
    CUSTOMER_KINDS,
    METHODS,
    ROLES,
    Account,
    Customer,
    RegisteredClient,
)
from sandbox.banking.countries import is_country, read_fixture
from sandbox.banking.iban import BANK_CODE, is_iban, make_belgian
from sandbox.banking.money import Money
from sandbox.banking.remittance import is_free_text, read_structured
from sandbox.contract.languages import SCREENS
from sandbox.people.habits import CARD, DEBIT, HOURS, LIVES, DayPattern, Habit
from sandbox.reader import shapes
from sandbox.reader.tree import Node, TreeEntry, Wrong, join_names, quote, read_shipped

FEES = ("urgent", "instant")
NUMBER_MAX = 9_999_999  # the largest account number
BY = {"transfer": "SEPA CREDIT TRANSFER", "direct_debit": DEBIT, "card": CARD}
DAYS = {"first": DayPattern.FIRST, "last": DayPattern.LAST}
DAY_MAX = 28  # the last day of the month that every month has
EVERY = (1, 2, 3, 4, 6, 12)  # months between two occurrences of a habit
A_WEEK_MAX = 20
HABITS_MAX = 50
NAME_MAX = 70
OWN = "own"  # the role of counterparties that a file names itself


class Profile(NamedTuple):
    """The parameters of an account's generated past."""

    life: str = "still"
    months: int = 1
    opening: tuple[Money, ...] = ()
    income: Money = Money.zero("EUR")
    keeps: Money | None = None  # the money that stays on the account when a habit saves the rest
    saves_to: str | None = None  # the IBAN of the savings account
    goes_on: bool = False  # whether its habits continue after the opening, if the setting `life` is on
    habits: tuple[Habit, ...] = ()  # its own habits, besides the habits of its life

    def list_possible_habits(self, account: Account) -> list[Habit]:
        """Returns the habits of the profile's life and its own habits. Leaves out habits in a currency that the account
        does not have."""
        return [habit for habit in (*LIVES[self.life], *self.habits) if habit.currency in account.currencies]


@dataclass(frozen=True)
class Fixtures:
    """The customers, accounts and clients of a new bank. Equal digests mean equal content."""

    digest: str
    customers: dict[str, Customer] = field(compare=False, repr=False)
    accounts: dict[str, Account] = field(compare=False, repr=False)  # by IBAN
    clients: dict[str, RegisteredClient] = field(compare=False, repr=False)
    profiles: dict[str, Profile] = field(compare=False, repr=False)  # by IBAN
    names: dict[str, str] = field(compare=False, repr=False)  # the IBANs of accounts, by their names in the file

    def find_iban(self, name: str) -> str | None:
        """Finds an account by its IBAN, by its name in the file, or by a customer's name in the file. A customer's name
        finds the first account that this customer owns. Returns the IBAN, or None if no account fits."""
        if name in self.accounts:
            return name
        owned = (iban for iban, account in self.accounts.items() if name in account.owners)
        return self.names.get(name) or next(owned, None)


# Habits that a file gives to its customers


class OwnHabit(NamedTuple):
    """A habit from a file, with the name of its account. If the name is None, the account is the customer's first
    current account."""

    account: str | None
    habit: Habit


def _make_own_habit(rows: dict[str, Any]) -> OwnHabit:
    remark, currency = BY[rows.get("by", "transfer")], rows.get("currency", "EUR")
    shapes.find_only_key(rows, ("day", "a_week"))
    low, high = _read_amounts(rows, remark, currency)
    habit = Habit(
        rows["what"],
        OWN,
        low,
        high,
        DAYS.get(rows["day"], rows["day"]) if "day" in rows else None,
        rows.get("a_week", 0),
        rows.get("every", 1),
        remark,
        currency=currency,
        fixed=True,
        hold=read_amount(rows["hold"], currency, "hold").minor if "hold" in rows else 0,
        party=(rows["name"], rows.get("iban")),
        text=rows.get("communication", ""),
    )
    if (fault := find_habit_fault(habit)) is not None:
        raise Wrong(fault[1], key=fault[0])
    return OwnHabit(rows.get("account"), habit)


def _read_amounts(rows: dict[str, Any], remark: str, currency: str) -> tuple[int, int]:
    """Returns the smallest and the largest amount of a habit, in minor units. The file has two amounts under the key
    `between`, or one amount for both under the key `amount`. Raises Wrong if the amounts may be 0, and for an income
    that is not a transfer."""
    key = shapes.find_only_key(rows, ("amount", "between"))
    texts = rows["between"] if key == "between" else (rows["amount"],) * 2
    if len(texts) != 2:
        raise Wrong("two amounts are expected", key=key)
    low, high = sorted(read_amount(text, currency, key).minor for text in texts)
    if low <= 0 <= high:
        raise Wrong("0 moves nothing", key=key)
    if remark != BY["transfer"] and high > 0:
        raise Wrong("what comes in is a transfer", key="by")
    return low, high


def read_amount(text: str, currency: str, key: str | None = None, signed: bool = True) -> Money:
    try:
        amount = Money.read(text, currency)
    except ValueError:
        raise Wrong(f"{quote(text)} is no amount of {currency}", key=key) from None
    if amount.number < 0 and not signed:
        raise Wrong("below zero", key=key)
    return amount


def find_habit_fault(habit: Habit) -> tuple[str, str] | None:
    """Returns the first wrong field of a habit and the reason. Returns None if the habit is right. This function also
    checks the habits of imported worlds."""
    name, iban = habit.party or ("", None)
    checks: tuple[tuple[Any, str, str], ...] = (
        (habit.party is not None and 0 < len(name) <= NAME_MAX, "name", f"1 to {NAME_MAX} characters"),
        (name.isprintable(), "name", "it has control characters"),
        (iban is None or is_iban(iban), "iban", "no valid IBAN"),
        (habit.every in EVERY, "every", f"one of {', '.join(map(str, EVERY))} months"),
        (habit.hour in HOURS, "hour", "no hour at which habits are booked"),
        ((habit.due is None) == (habit.a_week > 0), "day", "one of day and a_week is expected"),
        (not isinstance(habit.due, int) or 1 <= habit.due <= DAY_MAX, "day", f"1 to {DAY_MAX}"),
        (0 <= habit.a_week <= A_WEEK_MAX, "a_week", f"above 0, and {A_WEEK_MAX} at most"),
        (habit.low <= habit.high and (habit.low > 0 or habit.high < 0), "amount", "0 moves nothing"),
        (habit.fixed and not (habit.sweep or habit.each or habit.steady), "what", "no habit of a file"),
        (habit.role == OWN and habit.unit == 1 and not habit.structured, "what", "no habit of a file"),
        (habit.hold >= 0 and (not habit.hold or habit.remark == CARD), "hold", "only cards are held, by 0 or more"),
        (not habit.hold or habit.a_week > 0, "hold", "only what has no day of its own is held"),
        (habit.hold == 0 or habit.hold >= -habit.low, "hold", "less than what is booked"),
        (habit.remark in BY.values(), "by", f"one of {', '.join(BY)}"),
        (_is_communication(habit.text), "communication", "1 to 140 characters, or +++ with check digits"),
        (0 < len(habit.word) <= NAME_MAX and habit.word.isprintable(), "what", f"1 to {NAME_MAX} characters"),
    )
    return next(((field, reason) for is_right, field, reason in checks if not is_right), None)


def _is_communication(text: str | None) -> bool:
    if not text:
        return text == ""
    return read_structured(text) is not None if text.startswith("+++") else is_free_text(text)


DAY_NUMBER = shapes.make_number(1, DAY_MAX)
DAY_NAME = shapes.make_one_of(DAYS, "day of the month")
HABIT = shapes.Table(
    {
        "what": shapes.TEXT,
        "account": shapes.TEXT,
        "amount": shapes.TEXT,
        "between": shapes.Each(shapes.TEXT),
        "currency": shapes.CURRENCY,
        "day": shapes.Leaf(
            lambda node, notes: (DAY_NAME if isinstance(node.value, str) else DAY_NUMBER).read(node, notes),
            {"anyOf": [DAY_NAME.make_schema(), DAY_NUMBER.make_schema()]},
        ),
        "a_week": shapes.make_fraction(0, A_WEEK_MAX, open_below=True),
        "every": shapes.make_number(1, 12),
        "by": shapes.make_one_of(BY, "way to pay"),
        "hold": shapes.TEXT,
        "name": shapes.TEXT,
        "iban": shapes.TEXT,
        "communication": shapes.TEXT,
    },
    _make_own_habit,
    required=("what", "name"),
    called="a habit",
)

# Customers, accounts and clients


def _make_customer_row(rows: dict[str, Any]) -> dict[str, Any]:
    if rows["kind"] != "business" and not rows.get("payee_check_of_files", True):
        raise Wrong("only a business customer may opt out", key="payee_check_of_files")
    return _check_habit_names(rows)


def _check_habit_names(rows: dict[str, Any]) -> dict[str, Any]:
    names = [own.habit.word for own in rows.get("habits", ())]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise Wrong(f"another habit is called {name}", key=f"habits.{index}.what")
    return rows


def _make_account(rows: dict[str, Any]) -> tuple[Account, Profile]:
    values = {row.name: rows[row.name] for row in fields(Account) if row.name in rows}
    account = Account(**{"iban": make_belgian(BANK_CODE, rows["number"]), "type": "current-account"} | values)
    if account.signatures_required > len(account.may_sign):
        raise Wrong("more than there are to sign", key="signatures_required")
    for code in rows["opening"]:
        if code not in account.currencies:
            raise Wrong("the account has no such compartment", join_names(account.currencies, "and"), f"opening.{code}")
    opening = {code: read_amount(text, code, f"opening.{code}", signed=False) for code, text in rows["opening"].items()}
    balances = tuple(opening.get(code, Money.zero(code)) for code in account.currencies)
    profile = {name: rows[name] for name in Profile._fields if name in rows}
    return account, Profile(**profile | {"opening": balances})


MONEY = shapes.Leaf(lambda node, notes: read_amount(shapes.read_text(node), "EUR", signed=False), shapes.TEXT.described)
CUSTOMERS = shapes.Each(shapes.CUSTOMER, least=1)
CUSTOMER_ROW = shapes.Table(
    {
        "name": shapes.TEXT,
        "kind": shapes.make_one_of(CUSTOMER_KINDS, "kind of customer"),
        "language": shapes.make_one_of(SCREENS, "language"),
        "channel_blocked": shapes.FLAG,
        "fees": shapes.Table(dict.fromkeys(FEES, MONEY), called="a tariff"),
        "methods": shapes.Each(shapes.make_one_of(METHODS[1:], "way to sign")),
        "habits": shapes.Each(HABIT, most=HABITS_MAX),
        "payee_check_of_files": shapes.FLAG,
    },
    _make_customer_row,
    required=("name", "kind", "language"),
)
ACCOUNT_ROW = shapes.Table(
    {
        "number": shapes.make_number(0, NUMBER_MAX),
        "type": shapes.make_one_of(ACCOUNT_TYPES, "type of account"),
        "owners": CUSTOMERS,
        "currencies": shapes.Each(shapes.CURRENCY, least=1),
        "signatures_required": shapes.make_number(1, 9),
        "signers": CUSTOMERS,
        "online": shapes.FLAG,
        "non_sepa": shapes.FLAG,
        "limit_day": MONEY,
        "limit_week": MONEY,
        "countries": shapes.Each(shapes.make_text_that(is_country, "country"), least=1),
        "overdraft": MONEY,
        "balance_shown": shapes.make_one_of(BALANCES_SHOWN, "balance"),
        "opening": shapes.ByName(shapes.TEXT),
        "life": shapes.make_one_of(LIVES, "life"),
        "months": shapes.make_number(1, 600),
        "income": MONEY,
        "keeps": MONEY,
        "saves_to": shapes.make_name("account", lambda people: people.names),
        "goes_on": shapes.FLAG,
    },
    _make_account,
    required=("number", "owners", "opening"),
)
CLIENT_ROW = shapes.Table(
    {
        "secret": shapes.TEXT,
        "name": shapes.TEXT,
        "roles": shapes.Each(shapes.make_one_of(ROLES, "role"), least=1),
        "active": shapes.FLAG,
        "redirect_uris": shapes.Each(shapes.TEXT, least=1),
        "organisation": shapes.TEXT,
    },
    required=("secret", "name"),
)
PEOPLE = shapes.Table(
    {
        "customers": shapes.ByName(CUSTOMER_ROW, "customers by their names"),
        "accounts": shapes.ByName(ACCOUNT_ROW, "accounts by their names"),
        "clients": shapes.ByName(CLIENT_ROW, "clients by their names"),
    },
    required=("customers", "accounts", "clients"),
    called="a bank",
)


@lru_cache(maxsize=8)
def load_fixtures(name: str = "default") -> Fixtures:
    """Returns the shipped fixtures of that name. Raises ScenarioErrors if they have errors."""
    content = read_fixture(f"{name}.yaml")
    tree = read_shipped(content.decode(), f"{name}.yaml")
    return read_fixtures(tree, hashlib.sha256(content).hexdigest(), shapes.Notes(f"{name}.yaml"))


def read_fixtures(tree: Node, digest: str, notes: shapes.Notes) -> Fixtures:
    """Returns the fixtures in a tree. `digest` identifies the content of the tree. Adds each error to `notes`, and
    raises ScenarioErrors if there are any."""
    rows: dict[str, dict[str, Any]] = {kind: tree.find(kind).rows for kind in PEOPLE.fields}
    names = dict.fromkeys(rows["accounts"], "")  # the IBANs are not known yet, but rows may refer to the names
    notes = replace(notes, fixtures=Fixtures(digest, rows["customers"], {}, rows["clients"], {}, names))
    people = notes.read_whole(PEOPLE, tree)
    names = {name: account.iban for name, (account, _) in people["accounts"].items()}
    fixtures = Fixtures(
        digest,
        {name: _make_customer(name, row) for name, row in people["customers"].items()},
        {account.iban: account for account, _ in people["accounts"].values()},
        {name: RegisteredClient(id=name, **row) for name, row in people["clients"].items()},
        {
            account.iban: profile._replace(saves_to=names.get(profile.saves_to or ""))
            for account, profile in people["accounts"].values()
        },
        names,
    )
    _check_numbers(names, rows["accounts"], notes)
    for customer, row in people["customers"].items():
        for index, own in enumerate(row.get("habits", ())):
            try:
                _give_habit(fixtures, customer, own)
            except Wrong as wrong:
                notes.add(rows["customers"][customer].value.find(f"habits.{index}.{wrong.key}"), wrong.text)
    notes.finish()
    return fixtures


def _check_numbers(names: dict[str, str], rows: dict[str, TreeEntry], notes: shapes.Notes) -> None:
    """Adds an error for each account number that two accounts have.

    The error points to the second account, unless only the first account has a line in the file. Then it points to the
    first account.
    """
    places: dict[str, Node] = {}
    for name, iban in names.items():
        place = rows[name].value
        first = places.setdefault(iban, place)
        if first is not place:
            notes.add((first if first.line and not place.line else place).find("number"), "another account has it")


def _give_habit(fixtures: Fixtures, customer: str, own: OwnHabit) -> None:
    """Adds a habit to an account of the customer, and makes all habits of the account continue after the opening.

    Raises Wrong if the customer does not own the account, or has no current account and names none. Also raises it if
    the account lacks the habit's currency, or if the counterparty has an account of this bank.
    """
    name, habit = own
    owned = {iban: account for iban, account in fixtures.accounts.items() if customer in account.owners}
    current = [iban for iban, account in owned.items() if not account.is_savings]
    iban = next(iter(current), None) if name is None else fixtures.names.get(name)
    if iban not in owned:
        raise Wrong(f"{name or 'a current account'} is none of {customer}'s", key="account")
    if habit.currency not in owned[iban].currencies:
        raise Wrong("the account has no such compartment", key="currency")
    if habit.party is not None and habit.party[1] in fixtures.accounts:
        raise Wrong("it is an account of this bank", key="iban")
    profile = fixtures.profiles[iban]
    fixtures.profiles[iban] = profile._replace(goes_on=True, habits=(*profile.habits, habit))


def _make_customer(name: str, row: dict[str, Any]) -> Customer:
    tariff = row.get("fees", {})
    # a service for which the file gives no fee is free
    fees = tuple((fee, tariff[fee]) for fee in FEES if fee in tariff)
    values = {field: value for field, value in row.items() if field != "habits"}
    return Customer(**values | {"id": name, "fees": fees, "methods": (METHODS[0], *row.get("methods", ()))})
