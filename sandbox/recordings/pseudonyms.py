"""Pseudonyms, which replace the names, IBANs, communications, references and secrets of a recording.

The problem: a recording has the data of real people and the secrets of a client, and it becomes a file that others
read. None of this data may stay in the file, and the file must still say what happened. Three rules follow:

1. The same text has the same pseudonym everywhere, because two calls may name the same person, token or payment.
2. A right value gets a right pseudonym. A wrong value gets a pseudonym that is wrong in the same way, such as by its
   check digits, its length, a character that a scheme refuses, or a challenge that does not fit its verifier. Amounts,
   days and codes are not replaced.
3. A pseudonym depends on the order in which texts appear, and on the shape and country of the original, but on nothing
   else of it. In particular it is no hash of the original. There are so few IBANs that anybody could compute the hashes
   of all of them, and so find the original.
"""

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits

from sandbox.banking.iban import is_iban
from sandbox.banking.pkce import compute_challenge
from sandbox.banking.remittance import make_structured, read_structured

EXAMPLE = "BE68539007547034"  # an IBAN of textbooks, which no person has
TRIES = 2_000  # IBANs that are drawn until one is valid, because some countries have further check digits
SECRET_TRIES = 20
NO_STRUCTURED = "+++000/0000/00000+++"  # its check digits are wrong
BASIC = re.compile(r"[A-Za-z0-9 ?:().,'+-]")  # characters that every scheme accepts
SHAPE = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
LONG = (35, 70, 140)  # the most characters of a reference, a name and a communication
NO_REFERENCE = "NOTPROVIDED"  # means that a payment has no reference
FREE = "x"
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
UUID_KEPT = (14, 19)  # the characters that say which kind of UUID it is
HEX_LETTERS = "abcdef"
VERIFIER_LENGTH = 43
LATIN_END = 0x250
OWN_CLIENT = "demo-tpp"


class Pseudonyms:
    """The pseudonyms of one recording. The same text has the same pseudonym in every field."""

    def __init__(self, own_ibans: Collection[str] = (), patterns: tuple[str, ...] = ()) -> None:
        """`own_ibans`, and names that match one of the patterns, are the sandbox's own. They are not replaced."""
        self._own_ibans = own_ibans
        self._patterns = patterns
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()
        self._random = Random(1)  # any seed will do, because only the order of appearance counts
        self._verifiers: dict[str, str] = {}  # by challenge: the pseudonym of the verifier that a later call will have

    def find(self, text: str) -> str | None:
        """Returns the pseudonym that a text already has, or None."""
        return self._known.get(text)

    def name(self, text: str) -> str:
        if any(fnmatchcase(text, pattern) for pattern in self._patterns):
            return text
        return self._known.get(text) or self._add(text, copy_faults(text, f"Person {self._take_number('name')}"))

    def iban(self, text: str) -> str:
        """Returns the pseudonym of an IBAN, which is another IBAN of the same country. The sandbox's own IBANs and
        EXAMPLE stay."""
        if text in self._own_ibans or text == EXAMPLE:
            return text
        return self._known.get(text) or self._add(text, make_iban_like(text, self._take_number("iban")))

    def structured(self, text: str) -> str:
        """Returns the pseudonym of a structured communication, in the same form: with +++ or as twelve digits. A text
        that is not valid becomes NO_STRUCTURED, which is not valid either."""
        if read_structured(text) is None:
            return NO_STRUCTURED
        pseudonym = self._known.get(text)
        if pseudonym is not None:
            return pseudonym
        other = make_structured(self._take_number("text"))
        return self._add(text, keep_digits(other) if text.isdigit() else other)

    def text(self, text: str) -> str:
        return self._known.get(text) or self._add(text, copy_faults(text, f"Communication {self._take_number('text')}"))

    def reference(self, text: str) -> str:
        if text == NO_REFERENCE:
            return text
        return self._known.get(text) or self._add(
            text, copy_faults(text, f"REFERENCE-{self._take_number('reference')}")
        )

    def client(self, text: str) -> str:
        """Returns the pseudonym of a client id. The first client of a recording gets the id of the sandbox's demo
        client, so that a scenario that `lift` makes of the recording can be played."""
        if not text or text in self._known:
            return self._known.get(text, text)
        number = self._take_number("client")
        return self._add(text, OWN_CLIENT if number == 1 else f"{OWN_CLIENT}-{number}")

    def numbered(self, kind: str, text: str, form: str) -> str:
        """Returns the pseudonym of a text: `form`, such as `host-{}.example`, with the next number for texts of this
        kind."""
        return self._known.get(text) or self._add(text, form.format(self._take_number(kind)))

    def secret(self, text: str) -> str:
        """Returns the pseudonym of a secret. It has other letters and digits at the same places. A number is appended
        if no free pseudonym is found. A text without letters and digits stays."""
        pseudonym = self._known.get(text)
        if pseudonym is not None or not any(sign.isalnum() for sign in text):
            return text if pseudonym is None else pseudonym
        for _ in range(SECRET_TRIES):
            other = scramble(text, self._random)
            if other not in self._taken and other not in self._known:
                return self._add(text, other)
        return self._add(
            text, f"{scramble(text, self._random)}{self._take_number('secret')}"
        )  # a short text has few others

    def challenge(self, text: str, method: str) -> str:
        """Returns the pseudonym of a PKCE challenge. A challenge of the method `plain` gets the pseudonym of a secret.
        For any other method, the pseudonym is computed from a new verifier. When `self.verifier` later gets the
        original verifier, it returns the new one."""
        pseudonym = self._known.get(text)
        if pseudonym is not None:
            return pseudonym
        verifier = scramble("aA0" * (VERIFIER_LENGTH // 3) + "a", self._random)
        self._verifiers[text] = verifier
        return self._add(text, compute_challenge("S256", verifier) if method != "plain" else self.secret(text))

    def verifier(self, text: str) -> str:
        """Returns the pseudonym of a PKCE verifier. If the original fits a challenge that was masked before, the
        pseudonym fits that challenge's pseudonym."""
        pseudonym = self._known.get(text)
        if pseudonym is not None or not text.isascii():
            return pseudonym or self.secret(text)
        verifier = self._verifiers.get(compute_challenge("S256", text))
        return self.secret(text) if verifier is None else self._add(text, verifier)

    def _take_number(self, kind: str) -> int:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return self._counts[kind]

    def _add(self, text: str, other: str) -> str:
        self._known[text] = other
        self._taken.add(other)
        return other


def keep_digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit())


def copy_faults(text: str, other: str) -> str:
    """Returns `other`, changed to have the same faults as `text`: characters, slashes and a length that a bank may
    refuse."""
    odd = "".join(dict.fromkeys(find_odd_like(sign) for sign in text if BASIC.fullmatch(sign) is None and sign != "/"))
    slashes = "//" if "//" in text else ""
    other = f"{'/' if text.startswith('/') else ''}{other}{slashes}{odd}{'/' if text.endswith('/') else ''}"
    longest = max((bound for bound in LONG if len(text) > bound), default=0)
    return other.ljust(longest + 1, FREE) if longest else other


def find_odd_like(sign: str) -> str:
    """Returns a character that a bank refuses for the same reason as `sign`. A refused letter becomes another refused
    letter, because it may be part of a name. Any other character stays."""
    return sign if not sign.isalnum() else "é" if ord(sign) < LATIN_END else "Ж"


def make_iban_like(iban: str, number: int) -> str:
    """Returns an IBAN of the same country and shape. Wrong check digits become 00, which no IBAN has.

    If `iban` does not look like an IBAN, returns only its first two characters. Returns EXAMPLE if no drawn IBAN is
    valid.
    """
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


def scramble(text: str, random: Random) -> str:
    """Returns a text that has other letters and digits at the same places. UUIDs and hexadecimal numbers keep their
    form."""
    is_hex = all(sign in f"{digits}{HEX_LETTERS}-" for sign in text.lower())
    places = UUID_KEPT if UUID.fullmatch(text) else ()

    def other(at: int, sign: str) -> str:
        if at in places:
            return sign
        if sign in digits:
            return random.choice(digits)
        if sign.isascii() and sign.isalpha():
            letter = random.choice(HEX_LETTERS if is_hex else ascii_lowercase)
            return letter.upper() if sign.isupper() else letter
        return FREE if sign.isalnum() else sign

    return "".join(other(at, sign) for at, sign in enumerate(text))
