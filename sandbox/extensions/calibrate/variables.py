"""Variables of a recording: ids, tokens, codes and addresses, each bound to the text that the played bank gave instead.

The recorded bank and the played bank give different texts. So before a recorded call is sent to the played bank, each
text that came from an earlier reply is replaced by the text that the played bank gave in that reply. Other texts are
sent as they are.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

# Fields whose values a bank makes itself, by their names in small letters without underscores.
MADE = frozenset(
    {"paymentid", "paymentfileid", "transactionref", "logicalid", "nextpagekey"}
    | {"accesstoken", "refreshtoken", "scatoken", "code", "state"}
)
ADDRESSES = frozenset(["href", "consenturi", "redirect", "location"])


@lru_cache(10_000)
def simplify_name(name: str) -> str:
    """Returns the name of a field in small letters without underscores: `paymentid` for both `payment_id` and
    `paymentId`."""
    return name.replace("_", "").lower()


class Variables:
    """Maps each text of the recording to the text of the played bank that replaces it."""

    def __init__(self, texts: Mapping[str, str] = {}) -> None:
        self.texts = dict(texts)
        self.given = set(self.texts.values())  # what the played bank gave

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variables) and (self.texts, self.given) == (other.texts, other.given)

    def copy(self) -> "Variables":
        copied = Variables(self.texts)
        copied.given |= self.given
        return copied

    def bind(self, recorded: str, own: str) -> None:
        if recorded and own:
            self.texts[recorded] = own
            self.given.add(own)

    def translate(self, recorded: str) -> str:
        return self.texts.get(recorded, recorded)

    def translate_address(self, recorded: str) -> str:
        """Returns the address of the played bank that takes the place of a recorded address. Appends again what the
        client appended to the recorded address, such as its state. Returns an unknown address as it is."""
        head = recorded
        while head not in self.texts:
            head, mark, _ = head.rpartition("&") if "&" in head else head.rpartition("?")
            if not mark:
                return recorded
        own, appended = self.texts[head], recorded[len(head) + 1 :]
        return f"{own}{'&' if '?' in own else '?'}{appended}" if appended else own

    def translate_path(self, path: tuple[str, ...]) -> str:
        return "".join(f"/{quote(self.translate(unquote(part)), safe='')}" for part in path)

    def translate_pairs(self, text: str) -> str:
        """Returns a query or a form in which each recorded value with a variable is replaced by the text of the played
        bank."""
        return urlencode([(name, self.translate(value)) for name, value in parse_qsl(text, keep_blank_values=True)])

    def translate_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        translated = {}
        for name, value in headers.items():
            scheme, mark, token = value.partition(" ")
            is_bearer = name == "authorization" and scheme.lower() == "bearer"
            translated[name] = f"{scheme}{mark}{self.translate(token.strip())}" if is_bearer else self.translate(value)
        return translated

    def bind_reply(self, recorded: Any, own: Any, name: str = "") -> None:
        """Walks through the recorded reply to a call and the played bank's reply. Binds each recorded id, token and
        address to the text that the played bank's reply has at the same place. If the played bank has a field under
        another name, binds its value too."""
        if isinstance(recorded, dict) and isinstance(own, dict):
            others = {simplify_name(key): value for key, value in own.items()}
            ours = {simplify_name(key) for key in recorded}
            for key, value in recorded.items():
                if simplify_name(key) in others:
                    self.bind_reply(value, others[simplify_name(key)], simplify_name(key))
                elif isinstance(value, str):  # a field that was renamed
                    for made, other in others.items():
                        if made in MADE and made not in ours and isinstance(other, str) and value not in self.texts:
                            self.bind(value, other)
        elif isinstance(recorded, list) and isinstance(own, list):
            for mine, other in pair_items(recorded, own):
                self.bind_reply(mine, other, name)
        elif isinstance(recorded, str) and isinstance(own, str) and (name in MADE or name in ADDRESSES):
            self.bind(recorded, own)


def pair_items(recorded: list[Any], own: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yields pairs of items from two lists. Pairs items with the same IBAN, language or payment id. If the items have
    none of these, pairs those with the same index."""
    for key in ("iban", "language", "payment_information_id"):
        names = [item.get(key) for item in recorded if isinstance(item, dict)]
        others = {item.get(key): item for item in own if isinstance(item, dict)}
        if names and None not in names and None not in others and len(names) == len(recorded):
            yield from ((item, others[item[key]]) for item in recorded if item[key] in others)
            return
    yield from zip(recorded, own, strict=False)


LINK = re.compile(r"(?:[a-z]+:)?//|/")


def find_address(headers: Mapping[str, str], body: Any) -> str | None:
    """Returns the address at which the customer signs: the link `scaRedirect` of the body, in any spelling, else the
    header Location. Returns None if there is neither."""
    links = {simplify_name(key): value for key, value in body.items()} if isinstance(body, dict) else {}
    rows = links.get("links")
    for key, link in rows.items() if isinstance(rows, dict) else ():
        if simplify_name(key) == "scaredirect" and isinstance(link, dict) and isinstance(link.get("href"), str):
            return str(link["href"])
    return headers.get("location")


def read_callback_pairs(address: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(address).query, keep_blank_values=True)
