"""Banks whose customers go on living, for tests: opened, moved, and looked at line by line."""

from datetime import datetime
from functools import lru_cache

from sandbox.bank import timeline
from sandbox.bank.ledger import AccountLine
from sandbox.bank.state import Bank
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions
from sandbox.people import load_fixtures, open_bank
from sandbox.people.fixtures import Fixtures, read_fixtures
from sandbox.reader.shapes import Notes
from sandbox.reader.tree import make_tree

MONDAY = "2027-03-01T09:00:00+01:00"
ON = Decisions(life="on")
LIVING = ("alice-current", "alice-savings", "bram-current", "bakkerij-current", "bakkerij-reserve", "poor-current")
QUIET = ("notaris-current", "griet-current", "griet-book", "blocked-current", "limited-current")


def fixtures_of(content: object, digest: str) -> Fixtures:
    """The fixtures that a file of that content gives."""
    return read_fixtures(make_tree(content, "fixtures"), digest, Notes("fixtures"))


def opened(at: str = MONDAY, seed: int = 7, settings: Decisions = ON) -> Bank:
    return open_bank(load_fixtures(), seed, read_instant(at).astimezone(), settings)


def lived_until(until: str, at: str = MONDAY, seed: int = 7) -> Bank:
    bank = opened(at, seed)
    timeline.advance(bank, read_instant(until))
    return bank


@lru_cache(maxsize=1)
def ten_years() -> Bank:
    """Made once; nobody changes it."""
    return lived_until("2037-03-01T09:00:00+01:00")


def iban_of(name: str) -> str:
    return load_fixtures().names[name]


def lines_of(bank: Bank, name: str, currency: str = "EUR") -> list[AccountLine]:
    return list(bank.ledger.list_lines(iban_of(name), currency))


def new_lines(bank: Bank, name: str, currency: str = "EUR") -> list[AccountLine]:
    """Those since the opening."""
    return [line for line in lines_of(bank, name, currency) if line.number > bank.ledger.past.count]


def instant(text: str) -> datetime:
    return read_instant(text)
