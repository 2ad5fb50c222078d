"""The fixture file: customers, accounts and clients of a new bank (choice 11)."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sandbox.bank.records import Account, Client, Customer
from sandbox.bank.signing_methods import METHODS
from sandbox.banking.countries import fixture_bytes, is_country
from sandbox.banking.iban import BANK_CODE, make_belgian
from sandbox.banking.money import Money
from sandbox.contract.languages import SCREENS
from sandbox.seed.habits import LIVES, Habit
from sandbox.seed.own_habits import OwnHabit, read_habits
from sandbox.seed.shape import Row, table

FEES = ("urgent", "instant")

Record = TypeVar("Record")


class Profile(NamedTuple):
    """The parameters of an account's generated past."""

    life: str
    months: int
    opening: tuple[Money, ...]
    income: Money
    keeps: Money | None
    saves_to: str | None  # an IBAN
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
    clients: dict[str, Client] = field(compare=False, repr=False)
    profiles: dict[str, Profile] = field(compare=False, repr=False)  # by IBAN
    names: dict[str, str] = field(compare=False, repr=False)  # what the file calls an account, to its IBAN


@lru_cache(maxsize=8)
def load_fixtures(name: str = "default") -> Fixtures:
    """The fixtures of that name; a ValueError names the place of a fault."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    content = fixture_bytes(f"{name}.yaml")
    try:
        return read_fixtures(YAML(typ="safe", pure=True).load(content), hashlib.sha256(content).hexdigest())
    except YAMLError as fault:
        raise ValueError(f"{name}.yaml: {fault}") from fault


def read_fixtures(content: Any, digest: str) -> Fixtures:
    """Fixtures from the content of a file; the digest stands for that content."""
    top = Row(content, "fixtures")
    own: dict[str, tuple[OwnHabit, ...]] = {}
    customers = _each(top, "customers", lambda name, row: _customer(name, row, own))
    rows = table(top.mapping("accounts"), "accounts")
    clients = _each(top, "clients", _client)
    top.finish()
    names = {name: make_belgian(BANK_CODE, row.number("number", 0, 9_999_999)) for name, row in rows.items()}
    accounts: dict[str, Account] = {}
    profiles: dict[str, Profile] = {}
    for name, row in rows.items():
        iban = names[name]
        if iban in accounts:
            raise row.fault("number", "another account has it")
        accounts[iban] = _account(row, iban, customers)
        profiles[iban] = _profile(row, accounts[iban], names)
        row.finish()
    _give_habits(own, profiles, accounts, names)
    return Fixtures(digest, customers, accounts, clients, profiles, names)


def _each(top: Row, key: str, read: Callable[[str, Row], Record]) -> dict[str, Record]:
    def records() -> Iterator[tuple[str, Record]]:
        for name, row in table(top.mapping(key), key).items():
            yield name, read(name, row)
            row.finish()

    return dict(records())


def _customer(name: str, row: Row, own: dict[str, tuple[OwnHabit, ...]]) -> Customer:
    own[name] = read_habits(row)
    return Customer(
        name,
        row.text("name"),
        row.one_of("kind", ("private", "business")),
        row.one_of("language", tuple(SCREENS)),
        row.flag("channel_blocked", False),
        _fees(row),
        (METHODS[0], *row.some_of("methods", METHODS[1:], ())),
    )


def _fees(row: Row) -> tuple[tuple[str, Money], ...]:
    """The tariff of a customer; a service without a fee is free."""
    if not row.has("fees"):
        return ()
    fees = Row(row.mapping("fees"), f"{row.where}.fees")
    found = tuple((name, fee) for name in FEES if (fee := fees.money(name, None)) is not None)
    fees.finish()
    return found


def _give_habits(
    own: dict[str, tuple[OwnHabit, ...]],
    profiles: dict[str, Profile],
    accounts: dict[str, Account],
    names: dict[str, str],
) -> None:
    """Each habit to its account, where life then goes on."""
    for customer, habits in own.items():
        owned = [account for account in accounts.values() if customer in account.owners]
        current = [account.iban for account in owned if not account.is_savings]
        for number, (name, habit) in enumerate(habits):
            where = f"customers.{customer}.habits.{number}"
            iban = next(iter(current), None) if name is None else names.get(name)
            if iban is None or iban not in [account.iban for account in owned]:
                raise ValueError(f"{where}.account: {name or 'a current account'} is none of {customer}'s")
            if habit.currency not in accounts[iban].currencies:
                raise ValueError(f"{where}.currency: the account has no such compartment")
            if habit.party is not None and habit.party[1] in accounts:
                raise ValueError(f"{where}.iban: it is an account of this bank")
            profile = profiles[iban]
            profiles[iban] = profile._replace(goes_on=True, habits=(*profile.habits, habit))


def _client(name: str, row: Row) -> Client:
    return Client(
        name,
        row.text("secret"),
        row.text("name"),
        row.some_of("roles", ("PIS", "AIS"), ("PIS", "AIS")),
        row.flag("active", True),
        row.texts("redirect_uris", ()),
        row.text("organisation", ""),
    )


def _account(row: Row, iban: str, customers: dict[str, Customer]) -> Account:
    account = Account(
        iban,
        row.one_of("type", ("current-account", "savings-account"), "current-account"),
        row.some_of("owners", customers),
        row.texts("currencies", ("EUR",)),
        row.number("signatures_required", 1, 9, 1),
        row.some_of("signers", customers, ()),
        row.flag("online", True),
        row.flag("non_sepa", True),
        row.money("limit_day", None),
        row.money("limit_week", None),
        row.texts("countries", None),
        row.money("overdraft", None),
        row.one_of("balance_shown", ("compartment", "globalised"), "compartment"),
    )
    for code in account.countries or ():
        if not is_country(code):
            raise row.fault("countries", f"{code} is no country")
    if account.signatures_required > len(account.may_sign):
        raise row.fault("signatures_required", "more than there are to sign")
    return account


def _profile(row: Row, account: Account, names: dict[str, str]) -> Profile:
    opening = Row(row.mapping("opening"), f"{row.where}.opening")
    amounts = [opening.money(currency, Money.zero(currency), currency) for currency in account.currencies]
    opening.finish()
    saves_to = row.one_of("saves_to", names, None)
    return Profile(
        row.one_of("life", LIVES, "still"),
        row.number("months", 1, 600, 1),
        tuple(amounts),
        row.money("income", Money.zero("EUR")),
        row.money("keeps", None),
        names[saves_to] if saves_to else None,
        row.flag("goes_on", False),
    )
