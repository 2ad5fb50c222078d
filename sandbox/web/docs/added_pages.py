"""Pages of the documentation that only an outer room can make, such as the commands."""

from collections.abc import Callable

ADDED: dict[str, Callable[[], str]] = {}
