"""The fixture file: customers, accounts and clients of a new bank (choice 11)."""

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
from sandbox.banking.countries import fixture_bytes, is_country
from sandbox.banking.iban import BANK_CODE, make_belgian
from sandbox.banking.money import Money
from sandbox.contract.languages import SCREENS
from sandbox.people.habits import LIVES, Habit
from sandbox.people.own_habits import OWN_HABITS, OwnHabit, read_amount
from sandbox.reader.scalars import CURRENCY, CUSTOMER, FLAG, TEXT, name_of, number, one_of, text_of, text_that
from sandbox.reader.shapes import ByName, Each, Leaf, Notes, Table
from sandbox.reader.tree import Node, TreeEntry, Wrong, join_names
from sandbox.reader.yaml_text import read_shipped

FEES = ("urgent", "instant")
NUMBER_MAX = 9_999_999  # of an account


class Profile(NamedTuple):
    """The parameters of an account's generated past."""

    life: str = "still"
    months: int = 1
    opening: tuple[Money, ...] = ()
    income: Money = Money.zero("EUR")
    keeps: Money | None = None
    saves_to: str | None = None  # an IBAN
    goes_on: bool = False  # under the clock, in a bank whose setting `life` is on
    habits: tuple[Habit, ...] = ()  # of its own, beside those of its life

    def possible_habits(self, account: Account) -> list[Habit]:
        """The habits for which the account has a compartment."""
        return [habit for habit in (*LIVES[self.life], *self.habits) if habit.currency in account.currencies]


@dataclass(frozen=True)
class Fixtures:
    """The customers, accounts and clients of a new bank; equal digests mean equal content."""

    digest: str
    customers: dict[str, Customer] = field(compare=False, repr=False)
    accounts: dict[str, Account] = field(compare=False, repr=False)  # by IBAN
    clients: dict[str, RegisteredClient] = field(compare=False, repr=False)
    profiles: dict[str, Profile] = field(compare=False, repr=False)  # by IBAN
    names: dict[str, str] = field(compare=False, repr=False)  # what the file calls an account, to its IBAN

    def iban_of(self, name: str) -> str | None:
        """The IBAN of an account that is named by its IBAN, its name, or its owner's."""
        if name in self.accounts:
            return name
        owned = (iban for iban, account in self.accounts.items() if name in account.owners)
        return self.names.get(name) or next(owned, None)


def _check_habits(rows: dict[str, Any]) -> dict[str, Any]:
    words = [own.habit.word for own in rows.get("habits", ())]
    for at, word in enumerate(words):
        if word in words[:at]:
            raise Wrong(f"another habit is called {word}", key=f"habits.{at}.what")
    return rows


def _account(rows: dict[str, Any]) -> tuple[Account, Profile]:
    given = {row.name: rows[row.name] for row in fields(Account) if row.name in rows}
    account = Account(**{"iban": make_belgian(BANK_CODE, rows["number"]), "type": "current-account"} | given)
    if account.signatures_required > len(account.may_sign):
        raise Wrong("more than there are to sign", key="signatures_required")
    for code in rows["opening"]:
        if code not in account.currencies:
            raise Wrong("the account has no such compartment", join_names(account.currencies, "and"), f"opening.{code}")
    opening = {code: read_amount(text, code, f"opening.{code}", signed=False) for code, text in rows["opening"].items()}
    balances = tuple(opening.get(code, Money.zero(code)) for code in account.currencies)
    given = {name: rows[name] for name in Profile._fields if name in rows}
    return account, Profile(**given | {"opening": balances})


MONEY = Leaf(lambda node, notes: read_amount(text_of(node), "EUR", signed=False), TEXT.described)
CUSTOMERS = Each(CUSTOMER, least=1)
CUSTOMER_ROW = Table(
    {
        "name": TEXT,
        "kind": one_of(CUSTOMER_KINDS, "kind of customer"),
        "language": one_of(SCREENS, "language"),
        "channel_blocked": FLAG,
        "fees": Table(dict.fromkeys(FEES, MONEY), called="a tariff"),
        "methods": Each(one_of(METHODS[1:], "way to sign")),
        "habits": OWN_HABITS,
    },
    _check_habits,
    required=("name", "kind", "language"),
)
ACCOUNT_ROW = Table(
    {
        "number": number(0, NUMBER_MAX),
        "type": one_of(ACCOUNT_TYPES, "type of account"),
        "owners": CUSTOMERS,
        "currencies": Each(CURRENCY, least=1),
        "signatures_required": number(1, 9),
        "signers": CUSTOMERS,
        "online": FLAG,
        "non_sepa": FLAG,
        "limit_day": MONEY,
        "limit_week": MONEY,
        "countries": Each(text_that(is_country, "country"), least=1),
        "overdraft": MONEY,
        "balance_shown": one_of(BALANCES_SHOWN, "balance"),
        "opening": ByName(TEXT),
        "life": one_of(LIVES, "life"),
        "months": number(1, 600),
        "income": MONEY,
        "keeps": MONEY,
        "saves_to": name_of("account", lambda people: people.names),
        "goes_on": FLAG,
    },
    _account,
    required=("number", "owners", "opening"),
)
CLIENT_ROW = Table(
    {
        "secret": TEXT,
        "name": TEXT,
        "roles": Each(one_of(ROLES, "role"), least=1),
        "active": FLAG,
        "redirect_uris": Each(TEXT, least=1),
        "organisation": TEXT,
    },
    required=("secret", "name"),
)
PEOPLE = Table(
    {
        "customers": ByName(CUSTOMER_ROW, "customers by their names"),
        "accounts": ByName(ACCOUNT_ROW, "accounts by their names"),
        "clients": ByName(CLIENT_ROW, "clients by their names"),
    },
    required=("customers", "accounts", "clients"),
    called="a bank",
)


@lru_cache(maxsize=8)
def load_fixtures(name: str = "default") -> Fixtures:
    """The fixtures of that name; raises ScenarioErrors."""
    content = fixture_bytes(f"{name}.yaml")
    tree = read_shipped(content.decode(), f"{name}.yaml")
    return read_fixtures(tree, hashlib.sha256(content).hexdigest(), Notes(f"{name}.yaml"))


def read_fixtures(tree: Node, digest: str, notes: Notes) -> Fixtures:
    """The fixtures of a tree; the digest stands for its content. Raises ScenarioErrors."""
    rows: dict[str, dict[str, Any]] = {kind: tree.find(kind).rows for kind in PEOPLE.fields}
    names = dict.fromkeys(rows["accounts"], "")  # that is all that rows may ask of each other
    notes = replace(notes, fixtures=Fixtures(digest, rows["customers"], {}, rows["clients"], {}, names))
    found = notes.read_whole(PEOPLE, tree)
    names = {name: account.iban for name, (account, _) in found["accounts"].items()}
    fixtures = Fixtures(
        digest,
        {name: _customer(name, row) for name, row in found["customers"].items()},
        {account.iban: account for account, _ in found["accounts"].values()},
        {name: RegisteredClient(id=name, **row) for name, row in found["clients"].items()},
        {
            account.iban: profile._replace(saves_to=names.get(profile.saves_to or ""))
            for account, profile in found["accounts"].values()
        },
        names,
    )
    _check_numbers(names, rows["accounts"], notes)
    for customer, row in found["customers"].items():
        for at, own in enumerate(row.get("habits", ())):
            try:
                _give_habit(fixtures, customer, own)
            except Wrong as wrong:
                notes.add(rows["customers"][customer].value.find(f"habits.{at}.{wrong.key}"), wrong.text)
    notes.finish()
    return fixtures


def _check_numbers(names: dict[str, str], rows: dict[str, TreeEntry], notes: Notes) -> None:
    """No two accounts have one number. Inherited accounts have no line: then the file's own is at fault."""
    places: dict[str, Node] = {}
    for name, iban in names.items():
        place = rows[name].value
        first = places.setdefault(iban, place)
        if first is not place:
            notes.add((first if first.line and not place.line else place).find("number"), "another account has it")


def _give_habit(fixtures: Fixtures, customer: str, own: OwnHabit) -> None:
    """Gives a habit to its account, where life then goes on."""
    name, habit = own
    owned = [account for account in fixtures.accounts.values() if customer in account.owners]
    current = [account.iban for account in owned if not account.is_savings]
    iban = next(iter(current), None) if name is None else fixtures.names.get(name)
    if iban is None or iban not in [account.iban for account in owned]:
        raise Wrong(f"{name or 'a current account'} is none of {customer}'s", key="account")
    if habit.currency not in fixtures.accounts[iban].currencies:
        raise Wrong("the account has no such compartment", key="currency")
    if habit.party is not None and habit.party[1] in fixtures.accounts:
        raise Wrong("it is an account of this bank", key="iban")
    profile = fixtures.profiles[iban]
    fixtures.profiles[iban] = profile._replace(goes_on=True, habits=(*profile.habits, habit))


def _customer(name: str, row: dict[str, Any]) -> Customer:
    tariff = row.get("fees", {})
    fees = tuple((fee, tariff[fee]) for fee in FEES if fee in tariff)  # a service without a fee is free
    given = {field: value for field, value in row.items() if field != "habits"}
    return Customer(**given | {"id": name, "fees": fees, "methods": (METHODS[0], *row.get("methods", ()))})
