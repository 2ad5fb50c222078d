"""The languages of the bank's pages (service 4.0)."""

from typing import NamedTuple


class Language(NamedTuple):
    """A language of the pages; its sentences stand in `web/psu/catalogues/<code>.po`."""

    name: str
    locale: str  # how amounts and dates are written


SCREENS = {
    "fr": Language("Français", "fr_BE"),
    "nl": Language("Nederlands", "nl_BE"),
}
