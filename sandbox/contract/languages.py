"""The languages of the bank's pages (service 4.0)."""

from typing import NamedTuple


class Language(NamedTuple):
    """A language of the pages. `web/psu/catalogues/<code>.po` has its sentences."""

    name: str
    locale: str  # how amounts and dates are written


# Those of the service.
SCREENS = {
    "fr": Language("Français", "fr_BE"),
    "nl": Language("Nederlands", "nl_BE"),
}
# For demos: with the setting `screens_in_english` a page can be read in English too; the interface knows nothing of it.
PAGES = SCREENS | {"en": Language("English", "en_GB")}
