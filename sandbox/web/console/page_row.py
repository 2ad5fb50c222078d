"""The types of the rows that list the console's pages and menu entries. A row names a function as text:
`package.module:function`."""

from typing import NamedTuple


class ConsolePage(NamedTuple):
    """A page of the console, or a call that a form of the console makes.

    `view` names the function that answers. The function returns a whole response, or facts: the values for the template
    of the page. The template has the name of the function. It is in the folder `templates` of the console, or of the
    package that has the function.
    """

    method: str
    path: str  # below /_sandbox
    view: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


class MenuEntry(NamedTuple):
    path: str  # below /_sandbox
    called: str
    after: str = ""  # the path of the entry before it; empty: it comes last
    number: str = ""  # a function of a world: the number beside the entry
    unit: str = ""  # what is counted, such as `findings`
    mark: str = ""  # a function of a world: a number that changes with what the page shows
    section: str = ""  # the heading above this entry, if a section of the menu begins with it
