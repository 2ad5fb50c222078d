"""Verification of payee: compares the name that a payer gives with the name of the account's holder, as the payee's
bank does (choice 14).

Both names are first normalised: lower case, without accents, punctuation, titles, legal forms and the word "and". Names
with the same words are a match, in any order and with the words joined or not. Names that differ a little are a close
match: by a typing error, an initial, a word that only one of them has, or another legal form. A close match reveals the
holder's name, but only to somebody who knows most of it.

For accounts at other banks, the file `payees.json` has a table of holders and a list of banks that are unreachable.
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

from sandbox.banking.countries import read_fixture

OUTCOMES = MATCH, CLOSE_MATCH, NO_MATCH, NOT_POSSIBLE = ("match", "close_match", "no_match", "not_possible")
# Letters that have no mark to take off.
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
JOINING = ("'", "’", "`", "´")  # of one word: d'Hondt
HOLDERS_MAX = 4  # of one account; the order of more is not tried
KNOWN_SHARE = 0.5  # the least part of the longer name's letters that a close match has in common


class PayeeCheck(NamedTuple):
    """The outcome of a check. For a close match, `name` is the name that the payee's bank has."""

    outcome: str  # one of OUTCOMES
    name: str | None = None


class ComparableName(NamedTuple):
    """The normalised words of a name, and the legal form if the name has one."""

    words: tuple[str, ...]
    form: str | None = None


def check_holders(name: str, holders: Iterable[str]) -> PayeeCheck:
    """Compares a name with each holder of an account, and with the names of all holders together in any order. Returns
    the best outcome. The names of more than HOLDERS_MAX holders are not put together."""
    names = tuple(holders)
    together = (" ".join(order) for order in permutations(names)) if 1 < len(names) <= HOLDERS_MAX else ()
    outcomes = {holder: compare_names(name, holder) for holder in (*names, *together)}
    for outcome in (MATCH, CLOSE_MATCH):
        for holder, of_holder in outcomes.items():
            if of_holder == outcome:
                return PayeeCheck(outcome, None if outcome == MATCH else holder)
    return PayeeCheck(NO_MATCH)


def check_foreign(iban: str, name: str) -> PayeeCheck:
    """Returns the outcome for an account at another bank. It is `not_possible` if the table of holders does not have
    the account."""
    holders = find_foreign_holders(iban)
    return check_holders(name, holders) if holders else PayeeCheck(NOT_POSSIBLE)


def compare_names(name: str, holder: str) -> str:
    """Compares the name that the payer gives with the name of a holder. Returns `match`, `close_match` or
    `no_match`."""
    ours, theirs = make_comparable(name), make_comparable(holder)
    if not ours.words or not theirs.words:
        return NO_MATCH
    same_form = ours.form is None or theirs.form is None or ours.form == theirs.form
    if sorted(ours.words) == sorted(theirs.words) or "".join(theirs.words) in _rotate(ours.words):
        return MATCH if same_form else CLOSE_MATCH
    return CLOSE_MATCH if same_form and _are_close(ours.words, theirs.words) else NO_MATCH


@lru_cache(maxsize=4096)  # a file pays the same people again and again
def make_comparable(name: str) -> ComparableName:
    tables = _load_tables()
    decomposed = unicodedata.normalize("NFKD", name.casefold().translate(LETTERS)).casefold()
    text = "".join(sign for sign in decomposed if not unicodedata.combining(sign) and sign not in JOINING)
    text = " ".join("".join(sign if sign.isalnum() or sign == "." else " " for sign in text).split())
    for phrase, short in tables["phrases"].items():
        text = f" {text} ".replace(f" {phrase} ", f" {short} ").strip()
    words = [tables["same_words"].get(word, word) for word in _remove_dots(text.split())]
    form = next((tables["legal_forms"][word] for word in words if word in tables["legal_forms"]), None)
    left_out = tables["left_out"] | tables["legal_forms"].keys()
    return ComparableName(tuple(word for word in words if word not in left_out) or tuple(words), form)


def _remove_dots(words: Iterable[str]) -> Iterator[str]:
    """Yields the words of a name without dots. Single letters that spell a legal form become one word: both `s.r.l.`
    and `s r l` give `srl`."""
    letters: list[str] = []
    for word in words:
        parts = [part for part in word.split(".") if part]
        if all(len(part) == 1 for part in parts):
            letters += parts
            continue
        yield from _join_letters(letters)
        letters = []
        yield from parts
    yield from _join_letters(letters)


def _join_letters(letters: list[str]) -> Iterable[str]:
    joined = "".join(letters)
    return (joined,) if joined in _load_tables()["legal_forms"] else letters


def _rotate(words: tuple[str, ...]) -> Iterator[str]:
    """Yields the joined words of a name, starting with each word in turn: `jan peeters` gives `janpeeters` and
    `peetersjan`."""
    for place in range(len(words)):
        yield "".join(words[place:] + words[:place])


def _are_close(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether each word of the shorter name is spelled like a word of the longer name, and these words have at least
    half of the longer name's letters. False if the shorter name has only initials."""
    shorter, longer = sorted((ours, theirs), key=lambda words: sum(map(len, words)))
    unmatched_words, matched_length = list(longer), 0
    for word in sorted(shorter, key=len, reverse=True):  # initials last: they fit many words
        fitting = next((other for other in unmatched_words if _is_spelled_alike(word, other)), None)
        if fitting is None:
            return False
        unmatched_words.remove(fitting)
        matched_length += len(fitting)
    whole = sum(map(len, longer))
    return matched_length >= whole * KNOWN_SHARE and any(len(word) > 1 for word in shorter)


def _is_spelled_alike(word: str, other: str) -> bool:
    """Whether two words are equal, one is the initial of the other, or they differ by a few typing errors. The length
    of the first word decides how many are permitted: 0, 1 or 2."""
    if 1 in (len(word), len(other)):
        return word[0] == other[0]
    allowed = 0 if len(word) < 4 else 1 if len(word) < 8 else 2
    return abs(len(word) - len(other)) <= allowed and _count_typing_errors(word, other) <= allowed


def _count_typing_errors(word: str, other: str) -> int:
    """Returns how many typing errors lead from one word to the other. An error is a letter that is left out, added,
    replaced, or swapped with the next letter (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(word, 1):
        earlier, before, row = before, row, [place]
        for column, target in enumerate(other, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != target))
            if place > 1 and column > 1 and letter == other[column - 2] and word[place - 2] == target:
                cost = min(cost, earlier[column - 2] + 1)
            row.append(cost)
    return row[-1]


def find_foreign_holders(iban: str) -> tuple[str, ...]:
    """Returns the names of the holders of an account at another bank. Returns an empty tuple if the table of holders
    does not have the account, as if the account's bank gave no answer."""
    return tuple(_load_content()["payees"].get(iban, ()))


def is_reachable(iban: str) -> bool:
    """Whether the bank of an account accepts instant payments. A bank does so unless it is in the list of unreachable
    banks in `payees.json`."""
    return not f"{iban[:2]}{iban[4:]}".startswith(tuple(_load_content()["unreachable"]))


@lru_cache(maxsize=1)
def _load_content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(read_fixture("payees.json"))
    return content


@lru_cache(maxsize=1)
def _load_tables() -> dict[str, Any]:
    """Returns the tables by which names are compared: the words that are left out, the words that count as equal, and
    the spellings of legal forms. The tables of legal forms give, for each spelling, the first spelling of the same
    form."""
    content = _load_content()
    forms = [(word, row[0]) for row in content["legal_forms"] for word in row]
    return {
        "left_out": frozenset(content["left_out"]),
        "legal_forms": {word: short for word, short in forms if " " not in word},
        "phrases": {word: short for word, short in forms if " " in word},
        "same_words": {word: row[0] for row in content["same_words"] for word in row},
    }
