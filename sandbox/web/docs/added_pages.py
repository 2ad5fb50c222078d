"""Pages of the documentation that only an outer room can make, such as the commands."""

from collections.abc import Callable

ADDED: dict[str, Callable[[], str]] = {}


def add_page(slug: str, page: Callable[[], str]) -> None:
    ADDED[slug] = page
