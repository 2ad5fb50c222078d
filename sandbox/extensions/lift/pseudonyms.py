"""Other names, IBANs and communications: the same one for the same person, with valid check digits."""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from random import Random
from string import ascii_uppercase, digits
from typing import Any

from sandbox.banking.iban import BANK_CODE, is_iban, make_belgian
from sandbox.banking.remittance import make_structured, read_structured
from sandbox.people.fixtures import Fixtures
from sandbox.scenarios.reading import load

EXAMPLE = "BE68539007547034"  # of all textbooks, and of nobody
TRIES = 2_000  # some countries have check digits of their own
FIRST_NUMBER = 7_000_001  # of the accounts that a lifted scenario adds
NO_STRUCTURED = "+++000/0000/00000+++"  # its check digits are wrong
BASIC = re.compile(r"[A-Za-z0-9 ?:().,'+-]")  # signs that every scheme takes
SHAPE = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
LONG = (35, 70, 140)  # most characters of a reference, a name and a communication
NO_REFERENCE = "NOTPROVIDED"  # says that there is none
FREE = "x"
ELSEWHERE = "elsewhere-"  # an account that is none of the sandbox's, with its number


class Pseudonyms:
    """Names of the sandbox stay: its accounts, and the names that its rules look at."""

    def __init__(self, fixtures: Fixtures, patterns: tuple[str, ...] = ()) -> None:
        self.own = {iban: name for name, iban in fixtures.names.items()}
        self._owners = {name: fixtures.accounts[iban].owners for name, iban in fixtures.names.items()}
        rules = load("default").rules
        self._patterns = (*patterns, *(rule.when.creditor_name for rule in rules if rule.when.creditor_name))
        self._names: dict[str, str] = {}
        self._ibans: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._references: dict[str, str] = {}
        # Accounts that are none of the sandbox's: the account of the scenario that stands for each.
        self.debtors: dict[str, str] = {}
        self.payers: dict[str, str] = {}  # who owns each of these
        self.business: set[str] = set()  # those that sent a file

    def name(self, text: str) -> str:
        if any(fnmatchcase(text, pattern) for pattern in self._patterns):
            return text
        return self._names.setdefault(text, _shaped(text, f"Person {len(self._names) + 1}"))

    def iban(self, text: str) -> str:
        """A beneficiary's: one of the same country, from a seed that does not depend on it."""
        if text in self.own:
            return self.own[text]
        if text == EXAMPLE:
            return text
        if text in self.debtors:
            return self.debtors[text]
        if text not in self._ibans:
            number = len(self._ibans) + 1
            self._ibans[text] = _iban_like(text, number)
        return self._ibans[text]

    def iban_itself(self, text: str) -> str:
        """For a file, in which an account has no name."""
        if text in self.own:
            return text
        if text in self.debtors:
            return make_belgian(BANK_CODE, FIRST_NUMBER + int(self.debtors[text].removeprefix(ELSEWHERE)) - 1)
        return self.iban(text)

    def debtor(self, text: str, is_business: bool = False) -> str:
        """The account of the scenario that pays in its place."""
        if text in self.own:
            return self.own[text]
        name = self.debtors.setdefault(text, f"{ELSEWHERE}{len(self.debtors) + 1}")
        self.payers.setdefault(name, f"payer-{len(self.payers) + 1}")
        if is_business:
            self.business.add(name)
        return name

    def owner(self, accounts: Sequence[str]) -> str:
        """The customer whose accounts these are; those from elsewhere become accounts of one customer."""
        shared = [self._owners[name] for name in accounts if name in self._owners]
        if shared:
            return next((one for one in shared[0] if all(one in owners for owners in shared)), shared[0][0])
        owner, merged = self.payers[accounts[0]], {self.payers[name] for name in accounts}
        self.payers = {name: owner if payer in merged else payer for name, payer in self.payers.items()}
        return owner

    def structured(self, text: str) -> str:
        if read_structured(text) is None:
            return NO_STRUCTURED
        return self._texts.setdefault(text, make_structured(len(self._texts) + 1))

    def text(self, text: str) -> str:
        return self._texts.setdefault(text, _shaped(text, f"Communication {len(self._texts) + 1}"))

    def reference(self, text: str) -> str:
        if text == NO_REFERENCE:
            return text
        return self._references.setdefault(text, _shaped(text, f"REFERENCE-{len(self._references) + 1}"))

    def hide(self, word: str, value: Any) -> Any:
        """The value of a word of a step, with nobody's data in it."""
        if isinstance(value, dict):  # an address
            return {part: text if part == "country" else "Brussels" for part, text in value.items()}
        hides: dict[str, Callable[[str], str]] = {
            "debtor": self.debtor,
            "creditor_iban": self.iban,
            "creditor_name": self.name,
            "structured": self.structured,
            "unstructured": self.text,
            "endtoend_identification": self.reference,
            "creditor_bban": lambda text: "".join("1" if sign.isdigit() else sign for sign in text),
        }
        return hides[word](value) if word in hides else value


def _shaped(text: str, other: str) -> str:
    """With the signs that a bank may refuse, and as long where it may be too long: what was wrong stays wrong."""
    odd = "".join(dict.fromkeys(sign for sign in text if BASIC.fullmatch(sign) is None and sign != "/"))
    slashes = "//" if "//" in text else ""
    other = f"{'/' if text.startswith('/') else ''}{other}{slashes}{odd}{'/' if text.endswith('/') else ''}"
    longest = max((bound for bound in LONG if len(text) > bound), default=0)
    return other.ljust(longest + 1, FREE) if longest else other


def _iban_like(iban: str, number: int) -> str:
    """One of the same country and shape, as right or wrong; its seed does not depend on the original.

    Check digits of 00 are never right; what does not even look like an IBAN keeps its country alone."""
    if not is_iban(iban):
        return f"{iban[:2]}00{number:0{len(iban) - 4}}" if SHAPE.fullmatch(iban) else iban[:2]
    random = Random(number)
    for _ in range(TRIES):
        bban = "".join(random.choice(digits if sign.isdigit() else ascii_uppercase) for sign in iban[4:])
        moved = "".join(str(int(sign, 36)) for sign in f"{bban}{iban[:2]}00")
        other = f"{iban[:2]}{98 - int(moved) % 97:02}{bban}"
        if is_iban(other):
            return other
    return EXAMPLE
