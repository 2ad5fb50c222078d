"""The languages of the bank's pages (service 4.0)."""

from typing import NamedTuple


class Language(NamedTuple):
    """A language of the pages. `web/psu/catalogues/<code>.po` has its sentences."""

    name: str
    locale: str  # how amounts and dates are written


# The languages of the service.
SCREENS = {
    "fr": Language("Français", "fr_BE"),
    "nl": Language("Nederlands", "nl_BE"),
}
# With the setting `screens_in_english`, pages can also be shown in English, for demos. The bank's interface does not
# offer it.
PAGES = SCREENS | {"en": Language("English", "en_GB")}
