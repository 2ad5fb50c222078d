"""Other names, IBANs and communications: the same one for the same person, with valid check digits."""

from fnmatch import fnmatchcase
from random import Random
from string import ascii_uppercase, digits

from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import make_structured
from sandbox.scenario.reading import load
from sandbox.seed.fixtures import Fixtures

EXAMPLE = "BE68539007547034"  # of all textbooks, and of nobody
TRIES = 2_000  # some countries have check digits of their own


class Pseudonyms:
    """What is the sandbox's own stays: its accounts, and the names that its rules look at."""

    def __init__(self, fixtures: Fixtures, patterns: tuple[str, ...] = ()) -> None:
        self._own = {iban: name for name, iban in fixtures.names.items()}
        rules = load("default").rules
        self._patterns = (*patterns, *(rule.when.creditor_name for rule in rules if rule.when.creditor_name))
        self._names: dict[str, str] = {}
        self._ibans: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self.debtors: dict[
            str, str
        ] = {}  # IBANs of accounts elsewhere, by the name of the account that stands for each

    def add_own(self, iban: str, name: str) -> None:
        """An account that a step of the scenario adds."""
        self._own[iban] = name

    def name(self, text: str) -> str:
        if any(fnmatchcase(text, pattern) for pattern in self._patterns):
            return text
        return self._names.setdefault(text, f"Person {len(self._names) + 1}")

    def iban(self, text: str) -> str:
        """A beneficiary's: one of the same country, from a seed that does not depend on it."""
        if text in self._own:
            return self._own[text]
        if text == EXAMPLE:
            return text
        if text in self.debtors:
            return self.debtors[text]
        if text not in self._ibans:
            self._ibans[text] = _iban_like(text, len(self._ibans) + 1) if is_iban(text) else text[:2]
        return self._ibans[text]

    def debtor(self, text: str) -> str:
        """The account of the scenario that pays in its place."""
        if text in self._own:
            return self._own[text]
        return self.debtors.setdefault(text, f"account-{len(self.debtors) + 1}")

    def structured(self, text: str) -> str:
        return self._texts.setdefault(text, make_structured(len(self._texts) + 1))

    def text(self, text: str) -> str:
        return self._texts.setdefault(text, f"Communication {len(self._texts) + 1}")

    def reference(self, text: str) -> str:
        return self._references.setdefault(text, f"REFERENCE-{len(self._references) + 1}")


def _iban_like(iban: str, number: int) -> str:
    """An IBAN of the same country and shape, with valid check digits; its seed does not depend on the original."""
    random = Random(number)
    for _ in range(TRIES):
        signs = (choice_of(sign, random) for sign in iban[4:])
        bban = "".join(signs)
        moved = "".join(str(int(sign, 36)) for sign in f"{bban}{iban[:2]}00")
        made = f"{iban[:2]}{98 - int(moved) % 97:02}{bban}"
        if is_iban(made):
            return made
    return EXAMPLE


def choice_of(sign: str, random: Random) -> str:
    return random.choice(digits if sign.isdigit() else ascii_uppercase)
