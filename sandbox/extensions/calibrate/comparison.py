"""Compares a recorded reply with the reply of the played bank, to which the same call was sent: status, headers, the
form of the JSON, fields and values.

A difference is a text at a place, such as `status`, `Retry-After` or `body.balance (type)`. The text says what the real
bank sent there and what the played bank sent. Each bank makes its own ids, tokens and addresses. Of these, only their
forms are compared, and whether they are new or repeat an earlier text.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from sandbox.extensions.calibrate.played_bank import OwnReply
from sandbox.extensions.calibrate.variables import ADDRESSES, LINK, MADE, Variables, pair_items, simplify_name

Differences = dict[str, str]  # by place
# The headers that are compared. The service or the sandbox defines them. Proxies and servers add others.
HEADERS = ("content-type", "location", "retry-after", "www-authenticate", "allow", "cache-control")
ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}|\\/")
INSIDE = re.compile(r'"(?:[^"\\]|\\.)*"')
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
VARIABLE_PART = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)|https?://\S+")  # an instant, or an address
LONG = 200  # characters; the ids and tokens of a bank are either shorter or much longer
SHOWN_MAX = 60  # characters of a value that a difference shows
ITEM = re.compile(r"\[\d+\]")
OF_LENGTH, OF_NONE = "(length)", "(items)"
PLACE = 1  # the weight of a difference, unless WEIGHTS has its place or the word in brackets in its place
WEIGHTS = {"status": 1_000, "kind of body": 300, "body.error": 30, OF_LENGTH: 40, OF_NONE: 100}


class JsonNumber(NamedTuple):
    """A JSON number as it was written, such as `1.50`."""

    digits: str

    @property
    def value(self) -> float:
        return float(self.digits)


class ReplyFacts(NamedTuple):
    """The parts of a reply that are compared. `names` are the header names as they were written, or empty if that is
    unknown."""

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


def read_own_facts(reply: OwnReply, base: str) -> ReplyFacts:
    headers = {name.lower(): value for name, value in reply.headers}
    return read_facts(reply.status, headers, tuple(name for name, _ in reply.headers), reply.body, base)


@lru_cache(10_000)
def generalize_place(place: str) -> str:
    """Returns the place without the numbers of list items: `body.accounts[].iban` for `body.accounts[3].iban`."""
    return ITEM.sub("[]", place)


def weigh_places(places: Collection[str]) -> int:
    """Returns the sum of the weights of the differences at these places. A different status weighs most, because it
    hides all other differences. A different length of a list weighs more than a field. A field that differs in several
    items of a list counts once."""
    return sum(
        WEIGHTS.get(place) or WEIGHTS.get(place[place.rfind("(") :], PLACE)
        for place in set(map(generalize_place, places))
    )


class ComparisonContext(NamedTuple):
    """What is needed to compare ids, tokens and addresses, which each bank makes itself: the addresses of both banks,
    and the texts that earlier replies gave."""

    base: str  # the address of the recorded bank
    played_base: str
    variables: Variables

    def compare_identity(self, real: str, played: str) -> str:
        """Compares two ids that the banks gave at the same place. Returns a description of the difference if one id is
        new and the other repeats an earlier id, or if they repeat different ids. Otherwise returns an empty text."""
        known = self.variables.texts.get(real)
        if known is not None and known != played:
            return "one that was given before instead of a new one"
        if known is None and played in self.variables.given:
            return "a new one instead of one that was given before"
        return ""


def compare(recorded: ReplyFacts, replayed: ReplyFacts, variables: Variables) -> Differences:
    if recorded.status != replayed.status:  # the bodies of two statuses are not comparable
        return {"status": f"{recorded.status} instead of {replayed.status}"}
    differences: Differences = {}
    context = ComparisonContext(recorded.base, replayed.base, variables)
    differences |= compare_headers(recorded, replayed, context)
    kinds = name_kind(recorded.body), name_kind(replayed.body)
    if kinds[0] != kinds[1]:
        differences["kind of body"] = f"{kinds[0]} instead of {kinds[1]}"
    elif kinds[0] in ("an object", "a list"):
        differences |= compare_json(recorded, replayed, context)
    elif (
        kinds[0] == "text"
        and recorded.text != replayed.text
        and simplify_text(recorded.text) != simplify_text(replayed.text)
    ):
        differences["body"] = "another text"
    return differences


def name_kind(body: Any) -> str:
    if body is None or body == "":
        return "nothing"
    return "an object" if isinstance(body, dict) else "a list" if isinstance(body, list) else name_kind_of_text(body)


def name_kind_of_text(body: Any) -> str:
    return "text" if isinstance(body, str) else "a value"


def simplify_text(text: str) -> str:
    return " ".join(re.sub(r"[^a-zA-Z<>/]+", " ", text).split())


def compare_headers(recorded: ReplyFacts, replayed: ReplyFacts, context: ComparisonContext) -> Differences:
    differences: Differences = {}
    cases = name_case(recorded.names), name_case(replayed.names)
    if None not in cases and cases[0] != cases[1]:
        differences["case of header names"] = f"{cases[0]} instead of {cases[1]}"
    for name in HEADERS:
        real, played = recorded.headers.get(name), replayed.headers.get(name)
        title = name.title().replace("Www-", "WWW-")
        if (real is None) != (played is None):
            differences[title] = (
                "not there" if real is None else f"{show_value(real)}, which the nearest bank does not send"
            )
        elif real is not None and played is not None and real != played:
            if name == "location":
                differences |= compare_addresses(real, played, title, context)
            else:
                differences[title] = f"{show_value(real)} instead of {show_value(played)}"
    return differences


def name_case(names: tuple[str, ...]) -> str | None:
    """Returns how the names of the headers are written: `small letters` or `capitals`. Looks only at headers that are
    compared, because servers add others. Returns None if the reply has none of these headers."""
    names = tuple(name for name in names if name.lower() in HEADERS)
    if not names:
        return None
    return "small letters" if all(name == name.lower() for name in names) else "capitals"


def compare_json(recorded: ReplyFacts, replayed: ReplyFacts, context: ComparisonContext) -> Differences:
    differences: Differences = {}
    for place, look in (("white space of JSON", name_layout), ("escapes of JSON", name_escapes)):
        looks = look(recorded.text), look(replayed.text)
        if None not in looks and looks[0] != looks[1]:
            differences[place] = f"{looks[0]} instead of {looks[1]}"
    for place, text in compare_values(recorded.body, replayed.body, "body", "", context):
        differences.setdefault(place, text)
    return differences


def name_layout(text: str) -> str | None:
    bare = INSIDE.sub('""', text)
    return "lines and blanks" if "\n" in bare else "blanks" if ": " in bare or ", " in bare else "none"


def name_escapes(text: str) -> str | None:
    if ESCAPED.search(text):
        return "escapes"
    return "characters as they are" if "/" in text or not text.isascii() else None


def compare_values(
    real: Any, played: Any, place: str, name: str, context: ComparisonContext
) -> Iterator[tuple[str, str]]:
    if isinstance(real, dict) and isinstance(played, dict):
        yield from compare_objects(real, played, place, context)
    elif isinstance(real, list) and isinstance(played, list):
        if len(real) != len(played):
            word = OF_LENGTH if real and played else OF_NONE
            yield f"{place} {word}", f"{len(real)} instead of {len(played)} items"
        for number, (item, played_item) in enumerate(pair_items(real, played)):
            yield from compare_values(item, played_item, f"{place}[{number}]", name, context)
    elif name_type(real) != name_type(played):
        yield f"{place} (type)", f"{name_type(real)} instead of {name_type(played)}"
        if isinstance(real, str | JsonNumber) and isinstance(played, str | JsonNumber):
            texts = [value.digits if isinstance(value, JsonNumber) else value for value in (real, played)]
            if not is_same_amount(*texts):
                yield place, f"{show_value(texts[0])} instead of {show_value(texts[1])}"
    elif isinstance(real, JsonNumber) and isinstance(played, JsonNumber):
        if real.value != played.value:
            yield place, f"{real.digits} instead of {played.digits}"
        if are_digits_different(real, played):
            yield f"{place} (digits)", f"{real.digits} instead of {played.digits}"
    elif name == "errordescription" and without_variable_parts(real) == without_variable_parts(played):
        return
    elif real != played or (name in MADE and isinstance(real, str)):
        difference = f"{show_value(real)} instead of {show_value(played)}"
        if isinstance(real, str) and isinstance(played, str):
            if name in ADDRESSES or (LINK.match(real) and LINK.match(played)):
                yield from compare_addresses(real, played, place, context).items()
                return
            if name in MADE:
                difference = compare_forms(real, played) or context.compare_identity(real, played)
        if difference:
            yield place, difference


def without_variable_parts(value: Any) -> Any:
    """Returns an error description without its instants and addresses. Each bank makes its own."""
    return VARIABLE_PART.sub("", value) if isinstance(value, str) else value


def compare_objects(
    real: dict[str, Any], played: dict[str, Any], place: str, context: ComparisonContext
) -> Iterator[tuple[str, str]]:
    played_names = {simplify_name(key): key for key in played}
    real_names = {simplify_name(key): key for key in real}
    common = [key for key in real_names if key in played_names]
    if len(common) > 1 and common != [key for key in played_names if key in real_names]:
        yield "order of keys", f"{', '.join(real_names[key] for key in common[:4])} in {place}"
    for key, spelled in real_names.items():
        if key not in played_names:
            yield f"{place}.{spelled}", "a field that the nearest bank does not send"
        else:
            if spelled != played_names[key]:
                yield f"{place}.{played_names[key]} (name)", f"{spelled} instead of {played_names[key]}"
            yield from compare_values(
                real[spelled], played[played_names[key]], f"{place}.{played_names[key]}", key, context
            )
    for key, spelled in played_names.items():
        if key not in real_names:
            yield f"{place}.{spelled} (missing)", "the field is not there"


def name_type(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", JsonNumber: "a number", str: "a text", dict: "an object", list: "a list"}[type(value)]


def is_same_amount(real: str, played: str) -> bool:
    try:
        return float(real) == float(played)
    except ValueError:
        return real == played


def are_digits_different(real: JsonNumber, played: JsonNumber) -> bool:
    """Whether two numbers are written in different ways. If their values differ too, only the use of an exponent
    counts."""
    if real.value == played.value:
        return real.digits != played.digits
    return ("e" in real.digits.lower()) != ("e" in played.digits.lower())


def compare_forms(real: str, played: str) -> str:
    """Returns how two ids or secrets differ in form: only one of them is very long, or only one has one of the
    characters `+/=`. Returns an empty text if their forms are alike."""
    if (len(real) > LONG) != (len(played) > LONG):
        return f"{len(real)} characters instead of {len(played)}"
    odd = [not set(text).isdisjoint("+/=") for text in (real, played)]
    if odd[0] != odd[1]:
        return "reserved characters" if odd[0] else "no reserved characters"
    return ""


def compare_addresses(real: str, played: str, place: str, context: ComparisonContext) -> Differences:
    """Compares four facts about two addresses: whether each is whole or only a path, whether it has the host of its
    bank, whether it has a query, and whether it is new or repeats an earlier address. Each fact has a place of its own,
    because different axes decide it. The rest of the addresses is not compared, because it contains tokens."""
    differences: Differences = {}
    for fact, texts in (
        ("form", ["a whole address" if "//" in text else "a path" for text in (real, played)]),
        ("host", [name_host(real, context.base), name_host(played, context.played_base)]),
        ("query", ["a query" if urlsplit(text).query else "no query" for text in (real, played)]),
    ):
        if texts[0] != texts[1]:
            differences[f"{place} ({fact})"] = f"{texts[0]} instead of {texts[1]}"
    repeated = context.compare_identity(real, played)
    if repeated:
        differences[place] = repeated
    return differences


def name_host(address: str, base: str) -> str:
    host = urlsplit(address).hostname
    return "the host of the bank" if host in (None, urlsplit(base).hostname) else "another host"


def compare_callbacks(real: str | None, played: str | None) -> Differences:
    """Returns the differences of two redirects to the client: the names, order and values of their parameters, and how
    blanks are encoded. `real` or `played` is None if that bank did not redirect."""
    if real is None or played is None:
        return (
            {} if real == played else {"callback": "none" if real is None else "one, where the nearest bank has none"}
        )
    differences: Differences = {}
    pairs = [parse_qsl(urlsplit(address).query, keep_blank_values=True) for address in (real, played)]
    names = [[name for name, _ in row] for row in pairs]
    if names[0] != names[1]:
        differences["callback (parameters)"] = f"{', '.join(names[0])} instead of {', '.join(names[1])}"
    values = [dict(row) for row in pairs]
    for name in values[0].keys() & values[1].keys():
        texts = [row[name] for row in values]
        difference = compare_forms(*texts) if name in MADE - {"state"} or UUID.fullmatch(texts[0]) else ""
        if name not in MADE and texts[0] != texts[1] and name != "session_state":
            difference = f"{show_value(texts[0])} instead of {show_value(texts[1])}"
        if name == "state" and texts[0] != texts[1]:
            difference = "another state"
        if difference:
            differences[f"callback.{name}"] = difference
    blanks = ["%20" in urlsplit(address).query for address in (real, played)]
    if blanks[0] != blanks[1]:
        differences["callback (encoding)"] = "%20" if blanks[0] else "+"
    return differences


def show_value(value: Any) -> str:
    text = value.digits if isinstance(value, JsonNumber) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."
