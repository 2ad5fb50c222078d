"""The fixture file: what it names (choice 11), and what it refuses."""

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest

from sandbox.bank.records import Account
from sandbox.banking.iban import is_iban
from sandbox.banking.money import Money
from sandbox.people import load_fixtures
from sandbox.reader.tree import ScenarioErrors
from tests.people.living import fixtures_of

SMALL: dict[str, Any] = {
    "customers": {"ann": {"name": "Ann", "kind": "private", "language": "nl"}},
    "accounts": {"one": {"number": 1, "owners": ["ann"], "opening": {"EUR": "10.00"}}},
    "clients": {"tpp": {"secret": "s", "name": "T"}},
}


def changed(where: str, value: object) -> object:
    """SMALL with one place set, or taken away where the value is None."""
    content = deepcopy(SMALL)
    *path, last = where.split(".")
    row: dict[str, Any] = content
    for key in path:
        row = row[key]
    if value is None:
        del row[last]
    else:
        row[last] = value
    return content


def owned_by(customer: str) -> list[Account]:
    return [account for account in load_fixtures().accounts.values() if customer in account.owners]


def named(name: str) -> Account:
    fixtures = load_fixtures()
    return fixtures.accounts[fixtures.names[name]]


def test_the_customers_of_choice_11_are_there() -> None:
    customers = load_fixtures().customers
    assert {name: (row.kind, row.channel_blocked) for name, row in customers.items()} == {
        "alice": ("private", False),
        "bram": ("private", False),
        "bakkerij": ("business", False),
        "notaris": ("business", False),
        "griet": ("private", False),
        "blocked": ("private", True),
        "poor": ("private", False),
        "limited": ("private", False),
        "atelier": ("business", False),
    }
    assert (customers["alice"].language, customers["bram"].language) == ("fr", "nl")
    assert all(owned_by(name) for name in customers)


def test_their_accounts_are_as_choice_11_says() -> None:
    assert sorted(account.type for account in owned_by("alice")) == ["current-account", "savings-account"]
    assert named("bram-current").currencies == ("EUR", "USD", "GBP")
    assert [account.type for account in owned_by("bakkerij")] == ["current-account"] * 2
    assert (named("notaris-current").signatures_required, named("notaris-current").may_sign) == (
        2,
        ("notaris", "griet"),
    )
    limited = named("limited-current")
    assert (limited.limit_day, limited.limit_week) == (
        Money(Decimal("250.00"), "EUR"),
        Money(Decimal("500.00"), "EUR"),
    )
    assert (limited.countries, limited.non_sepa) == (("BE",), False)
    assert [account.online for account in owned_by("griet")] == [True, False]


def test_the_clients_of_choice_11_are_there() -> None:
    clients = load_fixtures().clients
    assert {name: (row.secret, row.active, row.roles) for name, row in clients.items()} == {
        "demo-tpp": ("demo-secret", True, ("PIS", "AIS")),
        "other-tpp": ("other-secret", True, ("PIS", "AIS")),
        "idle-tpp": ("idle-secret", False, ("PIS", "AIS")),
    }
    loopback = {"http://127.0.0.1:*/*", "http://localhost:*/*", "http://[::1]:*/*"}
    assert all(loopback < set(client.redirect_uris) for client in clients.values())


def test_every_iban_is_valid_and_of_no_real_bank() -> None:
    accounts = load_fixtures().accounts
    assert all(is_iban(iban) and iban[:2] == "BE" and iban[4:7] == "539" for iban in accounts)
    assert all(account.iban == iban for iban, account in accounts.items())


def test_fixtures_are_read_once() -> None:
    assert load_fixtures() is load_fixtures()
    assert hash(load_fixtures()) == hash(load_fixtures("default"))


def test_a_small_file_holds() -> None:
    fixtures = fixtures_of(SMALL, "x")
    (account,) = fixtures.accounts.values()
    assert (account.owners, account.currencies, account.online) == (("ann",), ("EUR",), True)
    assert fixtures.profiles[account.iban].life == "still"


@pytest.mark.parametrize(
    "where, value, fault",
    [
        ("accounts", None, "fixtures:(top): 'accounts' is missing"),
        ("extra", {}, "fixtures:extra: an unknown key 'extra' (known: customers, accounts or clients)"),
        ("accounts", [], "fixtures:accounts: a mapping of names is expected (accounts by their names)"),
        ("customers.ann", "Ann", "fixtures:customers.ann: a mapping is expected (with name, kind, language, "),
        ("customers", {1: {}}, "fixtures:customers: a key must be a text"),
        ("customers.ann.name", None, "fixtures:customers.ann: 'name' is missing"),
        ("customers.ann.name", "", "fixtures:customers.ann.name: an empty text"),
        ("customers.ann.name", 7, "fixtures:customers.ann.name: a text is expected"),
        ("customers.ann.kind", "other", "'other' is no kind of customer (known: private or business)"),
        ("customers.ann.language", "de", "fixtures:customers.ann.language: 'de' is no language ("),
        ("customers.ann.age", 7, "fixtures:customers.ann.age: an unknown key 'age'"),
        ("customers.ann.channel_blocked", "yes", "true or false is expected"),
        ("customers.ann.methods", ["fax"], "'fax' is no way to sign"),
        ("accounts.one.number", None, "fixtures:accounts.one: 'number' is missing"),
        ("accounts.one.number", True, "fixtures:accounts.one.number: a whole number is expected"),
        ("accounts.one.number", 10_000_000, "fixtures:accounts.one.number: a number from 0 to 9999999 is expected"),
        ("accounts.two", SMALL["accounts"]["one"], "fixtures:accounts.two.number: another account has it"),
        ("accounts.one.owners", ["bob"], "fixtures:accounts.one.owners[0]: 'bob' is no customer of this bank"),
        ("accounts.one.owners", [], "fixtures:accounts.one.owners: an empty list"),
        ("accounts.one.owners", [3], "fixtures:accounts.one.owners[0]: a text is expected"),
        ("accounts.one.owners", "ann", "fixtures:accounts.one.owners: a list is expected"),
        ("accounts.one.signers", ["bob"], "fixtures:accounts.one.signers[0]: 'bob' is no customer of this bank"),
        ("accounts.one.signatures_required", 2, "one.signatures_required: more than there are to sign"),
        ("accounts.one.countries", ["QQ"], "fixtures:accounts.one.countries[0]: 'QQ' is no country"),
        ("accounts.one.currencies", ["ZZZ"], "fixtures:accounts.one.currencies[0]: 'ZZZ' is no currency"),
        ("accounts.one.opening", {"USD": "1.00"}, "one.opening.USD: the account has no such compartment (EUR)"),
        ("accounts.one.opening.EUR", 10.0, "fixtures:accounts.one.opening.EUR: a text is expected"),
        ("accounts.one.opening.EUR", "1.234", "fixtures:accounts.one.opening.EUR: '1.234' is no amount of EUR"),
        ("accounts.one.opening.EUR", "-1.00", "fixtures:accounts.one.opening.EUR: below zero"),
        ("accounts.one.life", "wild", "fixtures:accounts.one.life: 'wild' is no life"),
        ("accounts.one.months", 0, "fixtures:accounts.one.months: a number from 1 to 600 is expected"),
        ("accounts.one.saves_to", "two", "fixtures:accounts.one.saves_to: 'two' is no account of this bank"),
        ("clients.tpp.roles", ["XIS"], "fixtures:clients.tpp.roles[0]: 'XIS' is no role"),
        ("clients.tpp.colour", "red", "fixtures:clients.tpp.colour: an unknown key 'colour'"),
    ],
)
def test_a_fault_is_refused_by_its_place(where: str, value: object, fault: str) -> None:
    with pytest.raises(ValueError) as refused:
        fixtures_of(changed(where, value), "x")
    assert fault in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_no_yaml_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.people.fixtures.read_fixture", lambda name: b"customers: {a: 1, a: 2}")
    with pytest.raises(ValueError, match=r"twice\.yaml:1:19: the key 'a' stands here twice"):
        load_fixtures("twice")


def test_all_faults_of_a_file_are_found_at_once_each_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
customers:
  ann: {name: Ann, kind: other, language: nl, fees: {urgent: "-1.00"}}
accounts:
  one: {number: 1, owners: [bob], opening: {EUR: "10.00"}}
  two: {owners: [ann], opening: {}}
clients: {}
"""
    monkeypatch.setattr("sandbox.people.fixtures.read_fixture", lambda name: text.encode())
    with pytest.raises(ScenarioErrors) as refused:
        load_fixtures("faulty")
    assert [(error.line, error.column) for error in refused.value.errors] == [(2, 26), (2, 62), (4, 29), (5, 8)]
