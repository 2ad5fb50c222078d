"""Compares a recorded reply with that of the played bank: status, headers, the form of the JSON, fields and values.

A difference has a place, such as `status`, `Retry-After` or `body.balance (type)`, and says what the recording has
there and what the played bank has. Ids, tokens and addresses are compared by their form alone.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from sandbox.extensions.calibrate.played_bank import OwnReply
from sandbox.extensions.calibrate.variables import ADDRESSES, LINK, MADE, Variables, paired, plain

Differences = dict[str, str]  # by place
# Headers that the service or the sandbox speaks of; proxies and servers add others.
HEADERS = ("content-type", "location", "retry-after", "www-authenticate", "allow", "cache-control")
ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\/")
INSIDE = re.compile(r'"(?:[^"\\]|\\.)*"')
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)")
LONG = 200  # characters; a bank's ids and tokens are shorter, or much longer
SHOWN_MAX = 60  # characters of a value that a difference shows
ITEM = re.compile(r"\[\d+\]")
OF_LENGTH, OF_NONE = "(length)", "(items)"
PLACE = 1  # the weight of a difference that is not listed, by its place or by the word in brackets there
WEIGHTS = {"status": 1_000, "kind of body": 300, "body.error": 30, OF_LENGTH: 40, OF_NONE: 100}


class JsonNumber(NamedTuple):
    """A JSON number as it was written, such as `1.50`."""

    digits: str

    @property
    def value(self) -> float:
        return float(self.digits)


class ReplyFacts(NamedTuple):
    """The parts of a reply that are compared. `names` are its header names as they were written, if that is known."""

    status: int
    headers: Mapping[str, str]  # by their names in small letters
    names: tuple[str, ...]
    text: str
    body: Any
    base: str  # the address of the bank


def read_facts(status: int, headers: Mapping[str, str], names: tuple[str, ...], text: str, base: str) -> ReplyFacts:
    try:
        body = json.loads(text, parse_float=JsonNumber, parse_int=JsonNumber) if text else None
    except (ValueError, RecursionError):
        body = text
    return ReplyFacts(status, headers, names, text, body, base)


def own_facts(reply: OwnReply, base: str) -> ReplyFacts:
    headers = {name.lower(): value for name, value in reply.headers}
    return read_facts(reply.status, headers, tuple(name for name, _ in reply.headers), reply.body, base)


def general(place: str) -> str:
    """Returns the place without the numbers of items: `body.accounts[3].iban` becomes `body.accounts[].iban`."""
    return ITEM.sub("[]", place)


def weight_of(places: Collection[str]) -> int:
    """Returns how far a reply is from the recorded one: the sum of the weights of its differences. Another status
    weighs most, because it hides all that follows from it. Another length of a list hides its items. A field that
    differs in many items counts once."""
    return sum(
        WEIGHTS.get(place) or WEIGHTS.get(place[place.rfind("(") :], PLACE) for place in set(map(general, places))
    )


class Reading(NamedTuple):
    """The context of a comparison: the addresses of both banks, and the ids and tokens that are bound so far."""

    base: str  # the address of the recorded bank
    own_base: str
    variables: Variables

    def compare_identity(self, mine: str, other: str) -> str:
        """Returns an empty text if two ids are both new or were given together before, else how they differ."""
        known = self.variables.texts.get(mine)
        if known is not None and known != other:
            return "one that was given before instead of a new one"
        if known is None and other in self.variables.given:
            return "a new one instead of one that was given before"
        return ""


def compare(recorded: ReplyFacts, own: ReplyFacts, variables: Variables) -> Differences:
    if recorded.status != own.status:  # what else differs follows from it
        return {"status": f"{recorded.status} instead of {own.status}"}
    found: Differences = {}
    reading = Reading(recorded.base, own.base, variables)
    found |= compare_headers(recorded, own, reading)
    kinds = kind_of(recorded.body), kind_of(own.body)
    if kinds[0] != kinds[1]:
        found["kind of body"] = f"{kinds[0]} instead of {kinds[1]}"
    elif kinds[0] in ("an object", "a list"):
        found |= compare_json(recorded, own, reading)
    elif kinds[0] == "text" and recorded.text != own.text and plain_text(recorded.text) != plain_text(own.text):
        found["body"] = "another text"
    return found


def kind_of(body: Any) -> str:
    if body is None or body == "":
        return "nothing"
    return "an object" if isinstance(body, dict) else "a list" if isinstance(body, list) else kind_of_text(body)


def kind_of_text(body: Any) -> str:
    return "text" if isinstance(body, str) else "a value"


def plain_text(text: str) -> str:
    return " ".join(re.sub(r"[^a-zA-Z<>/]+", " ", text).split())


def compare_headers(recorded: ReplyFacts, own: ReplyFacts, reading: Reading) -> Differences:
    found: Differences = {}
    cases = case_of(recorded.names), case_of(own.names)
    if None not in cases and cases[0] != cases[1]:
        found["case of header names"] = f"{cases[0]} instead of {cases[1]}"
    for name in HEADERS:
        mine, other = recorded.headers.get(name), own.headers.get(name)
        title = name.title().replace("Www-", "WWW-")
        if (mine is None) != (other is None):
            found[title] = "not there" if mine is None else f"{shown(mine)}, which the nearest bank does not send"
        elif mine is not None and other is not None and mine != other:
            if name == "location":
                difference = compare_addresses(mine, other, reading)
                if difference:
                    found[title] = difference
            else:
                found[title] = f"{shown(mine)} instead of {shown(other)}"
    return found


def case_of(names: tuple[str, ...]) -> str | None:
    """Returns whether header names are written in small letters or with capitals; None if no compared header is there.
    Other headers are ignored, because servers add some by themselves."""
    names = tuple(name for name in names if name.lower() in HEADERS)
    if not names:
        return None
    return "small letters" if all(name == name.lower() for name in names) else "capitals"


def compare_json(recorded: ReplyFacts, own: ReplyFacts, reading: Reading) -> Differences:
    found: Differences = {}
    for place, look in (("white space of JSON", layout_of), ("escapes of JSON", escapes_of)):
        looks = look(recorded.text), look(own.text)
        if None not in looks and looks[0] != looks[1]:
            found[place] = f"{looks[0]} instead of {looks[1]}"
    for place, text in compare_values(recorded.body, own.body, "body", "", reading):
        found.setdefault(place, text)
    return found


def layout_of(text: str) -> str | None:
    bare = INSIDE.sub('""', text)
    return "lines and blanks" if "\n" in bare else "blanks" if ": " in bare or ", " in bare else "none"


def escapes_of(text: str) -> str | None:
    if ESCAPED.search(text):
        return "escapes"
    return "characters as they are" if "/" in text or not text.isascii() else None


def compare_values(mine: Any, other: Any, place: str, name: str, reading: Reading) -> Iterator[tuple[str, str]]:
    if isinstance(mine, dict) and isinstance(other, dict):
        yield from compare_objects(mine, other, place, reading)
    elif isinstance(mine, list) and isinstance(other, list):
        if len(mine) != len(other):
            word = OF_LENGTH if mine and other else OF_NONE
            yield f"{place} {word}", f"{len(mine)} instead of {len(other)} items"
        for number, (item, of_own) in enumerate(paired(mine, other)):
            yield from compare_values(item, of_own, f"{place}[{number}]", name, reading)
    elif type_of(mine) != type_of(other):
        yield f"{place} (type)", f"{type_of(mine)} instead of {type_of(other)}"
        if isinstance(mine, str | JsonNumber) and isinstance(other, str | JsonNumber):
            texts = [value.digits if isinstance(value, JsonNumber) else value for value in (mine, other)]
            if not is_same_amount(*texts):
                yield place, f"{shown(texts[0])} instead of {shown(texts[1])}"
    elif isinstance(mine, JsonNumber) and isinstance(other, JsonNumber):
        if mine.value != other.value:
            yield place, f"{mine.digits} instead of {other.digits}"
        if digits_differ(mine, other):
            yield f"{place} (digits)", f"{mine.digits} instead of {other.digits}"
    elif name == "errordescription" and without_instants(mine) == without_instants(other):
        return
    elif mine != other or (name in MADE and isinstance(mine, str)):
        difference = f"{shown(mine)} instead of {shown(other)}"
        if isinstance(mine, str) and isinstance(other, str):
            if name in ADDRESSES or (LINK.match(mine) and LINK.match(other)):
                difference = compare_addresses(mine, other, reading)
            elif name in MADE:
                difference = compare_forms(mine, other) or reading.compare_identity(mine, other)
        if difference:
            yield place, difference


def without_instants(value: Any) -> Any:
    return INSTANT.sub("", value) if isinstance(value, str) else value


def compare_objects(
    mine: dict[str, Any], other: dict[str, Any], place: str, reading: Reading
) -> Iterator[tuple[str, str]]:
    names = {plain(key): key for key in other}
    ours = {plain(key): key for key in mine}
    common = [key for key in ours if key in names]
    if len(common) > 1 and common != [key for key in names if key in ours]:
        yield "order of keys", f"{', '.join(ours[key] for key in common[:4])} in {place}"
    for key, spelled in ours.items():
        if key not in names:
            yield f"{place}.{spelled}", "a field that the nearest bank does not send"
        else:
            if spelled != names[key]:
                yield f"{place}.{names[key]} (name)", f"{spelled} instead of {names[key]}"
            yield from compare_values(mine[spelled], other[names[key]], f"{place}.{names[key]}", key, reading)
    for key, spelled in names.items():
        if key not in ours:
            yield f"{place}.{spelled} (missing)", "the field is not there"


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", JsonNumber: "a number", str: "a text", dict: "an object", list: "a list"}[type(value)]


def is_same_amount(mine: str, other: str) -> bool:
    try:
        return float(mine) == float(other)
    except ValueError:
        return mine == other


def digits_differ(mine: JsonNumber, other: JsonNumber) -> bool:
    """Whether two numbers are written in different ways. If their values differ, only an exponent counts."""
    if mine.value == other.value:
        return mine.digits != other.digits
    return ("e" in mine.digits.lower()) != ("e" in other.digits.lower())


def compare_forms(mine: str, other: str) -> str:
    """Returns how two ids or secrets differ in form: in being very long, or in having one of the characters `+/=`.
    Empty if they do not."""
    if (len(mine) > LONG) != (len(other) > LONG):
        return f"{len(mine)} characters instead of {len(other)}"
    odd = [not set(text).isdisjoint("+/=") for text in (mine, other)]
    if odd[0] != odd[1]:
        return "reserved characters" if odd[0] else "no reserved characters"
    return ""


def compare_addresses(mine: str, other: str, reading: Reading) -> str:
    """Returns how two addresses differ: in being whole, in the host, in having a query, or in being new. Empty if they
    do not. Their texts are not compared, because tokens are in them."""
    for texts in (
        ["a whole address" if "//" in text else "a path" for text in (mine, other)],
        [host_of(mine, reading.base), host_of(other, reading.own_base)],
        ["a query" if urlsplit(text).query else "no query" for text in (mine, other)],
    ):
        if texts[0] != texts[1]:
            return f"{texts[0]} instead of {texts[1]}"
    return reading.compare_identity(mine, other)


def host_of(address: str, base: str) -> str:
    host = urlsplit(address).hostname
    return "the host of the bank" if host in (None, urlsplit(base).hostname) else "another host"


def compare_callbacks(mine: str | None, other: str | None) -> Differences:
    """Returns the differences of two redirects to the client: their parameters, the order and the values of these, and
    how blanks are encoded. None stands for no redirect."""
    if mine is None or other is None:
        return {} if mine == other else {"callback": "none" if mine is None else "one, where the nearest bank has none"}
    found: Differences = {}
    pairs = [parse_qsl(urlsplit(address).query, keep_blank_values=True) for address in (mine, other)]
    names = [[name for name, _ in row] for row in pairs]
    if names[0] != names[1]:
        found["callback (parameters)"] = f"{', '.join(names[0])} instead of {', '.join(names[1])}"
    values = [dict(row) for row in pairs]
    for name in values[0].keys() & values[1].keys():
        texts = [row[name] for row in values]
        difference = compare_forms(*texts) if name in MADE - {"state"} or UUID.fullmatch(texts[0]) else ""
        if name not in MADE and texts[0] != texts[1] and name != "session_state":
            difference = f"{shown(texts[0])} instead of {shown(texts[1])}"
        if name == "state" and texts[0] != texts[1]:
            difference = "another state"
        if difference:
            found[f"callback.{name}"] = difference
    blanks = ["%20" in urlsplit(address).query for address in (mine, other)]
    if blanks[0] != blanks[1]:
        found["callback (encoding)"] = "%20" if blanks[0] else "+"
    return found


def shown(value: Any) -> str:
    text = value.digits if isinstance(value, JsonNumber) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."
