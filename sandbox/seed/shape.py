"""Reading a mapping whose shape is known: every fault is a ValueError that names its place."""

from collections.abc import Collection
from enum import Enum
from typing import Any, Final, TypeVar

from sandbox.banking.money import Money, is_currency


class _Required(Enum):
    YES = "yes"


REQUIRED: Final = _Required.YES  # a default that is none

Default = TypeVar("Default")


class UnknownWord(ValueError):
    """A name that is none of the known ones."""

    def __init__(self, text: str, word: str, known: Collection[str]) -> None:
        super().__init__(text)
        self.word = word
        self.known = tuple(sorted(map(str, known)))


class Row:
    """One mapping of the file, with its keys that were not read yet."""

    def __init__(self, content: Any, where: str) -> None:
        self.where = where
        if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
            raise ValueError(f"{where}: a mapping of names is expected")
        self._content: dict[str, Any] = content
        self._unread = set(content)
        self._asked: set[str] = set()

    def fault(self, key: str, why: str) -> ValueError:
        """A fault at a key."""
        return ValueError(f"{self.where}.{key}: {why}")

    def unknown(self, key: str, why: str, word: str, known: Collection[str]) -> "UnknownWord":
        """A fault at a key, with the names that there are."""
        return UnknownWord(f"{self.where}.{key}: {why}", word, known)

    def finish(self) -> None:
        """Refuses keys that were not read."""
        for key in sorted(self._unread):
            raise self.unknown(key, "an unknown key", key, self._asked)

    def mapping(self, key: str) -> Any:
        """The mapping under a key."""
        return self._take(key, dict, "a mapping", REQUIRED)

    def text(self, key: str, default: str | _Required = REQUIRED) -> str:
        """Text that is not empty."""
        text: str = self._take(key, str, "text", default)
        if not text and default is REQUIRED:
            raise self.fault(key, "an empty text")
        return text

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return bool(self._take(key, bool, "true or false", default))

    def number(self, key: str, least: int, most: int, default: int | _Required = REQUIRED) -> int:
        """A whole number within bounds."""
        number: int = self._take(key, int, "a whole number", default)
        if not least <= number <= most:
            raise self.fault(key, f"a number from {least} to {most} is expected")
        return number

    def texts(self, key: str, default: Default | _Required = REQUIRED) -> tuple[str, ...] | Default:
        """A list of texts."""
        found = self._take(key, list, "a list", default)
        if found is default is not REQUIRED:
            return default
        if not found or not all(isinstance(item, str) and item for item in found):
            raise self.fault(key, "a list of texts is expected")
        return tuple(found)

    def rows(self, key: str) -> list["Row"]:
        """A list of mappings; nothing where the key is left out."""
        found = self._take(key, list, "a list", [])
        return [Row(item, f"{self.where}.{key}.{number}") for number, item in enumerate(found)]

    def has(self, key: str) -> bool:
        """Tells whether the key is present."""
        return key in self._content

    def holds_text(self, key: str) -> bool:
        """Tells whether the value is a text."""
        return isinstance(self._content.get(key), str)

    def fraction(self, key: str, most: float) -> float:
        """A number above 0."""
        found = self._take(key, int | float, "a number", REQUIRED)  # type: ignore[arg-type]
        if isinstance(found, bool) or not 0 < found <= most:
            raise self.fault(key, f"a number above 0 and up to {most:g} is expected")
        return float(found)

    def some_of(
        self, key: str, known: Collection[str], default: tuple[str, ...] | _Required = REQUIRED
    ) -> tuple[str, ...]:
        """A list of known names."""
        found: tuple[str, ...] = self.texts(key, default)
        for item in found:
            if item not in known:
                raise self.unknown(key, f"{item} is unknown", item, known)
        return found

    def one_of(self, key: str, known: Collection[str], default: Default | _Required = REQUIRED) -> str | Default:
        """One known name."""
        found = self._take(key, str, "text", default)
        if found is not default and found not in known:
            raise self.unknown(key, f"{found} is unknown", str(found), known)
        return found  # type: ignore[no-any-return]

    def money(self, key: str, default: Default | _Required = REQUIRED, currency: str = "EUR") -> Money | Default:
        """An amount in quotes, not below zero."""
        if not is_currency(currency):
            raise self.fault(key, "no currency")
        found = self._take(key, str, "an amount in quotes", default)
        if found is default is not REQUIRED:
            return default
        try:
            amount = Money.read(found, currency)
        except ValueError:
            raise self.fault(key, f"{found} is no amount of {currency}") from None
        if amount.number < 0:
            raise self.fault(key, "below zero")
        return amount

    def _take(self, key: str, kind: type, called: str, default: Any) -> Any:
        self._unread.discard(key)
        self._asked.add(key)
        if key not in self._content:
            if default is REQUIRED:
                raise self.fault(key, "missing")
            return default
        found = self._content[key]
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            raise self.fault(key, f"{called} is expected")
        return found


def table(content: Any, where: str) -> dict[str, Row]:
    """A mapping of names to rows."""
    rows = Row(content, where)
    return {key: Row(rows.mapping(key), f"{where}.{key}") for key in content}
