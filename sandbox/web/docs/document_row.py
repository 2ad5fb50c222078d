"""The type of the rows that declare pages of the documentation. The module imports no other module of the sandbox,
because extensions declare such rows, and these are read at every start."""

from collections.abc import Callable
from typing import NamedTuple


class Document(NamedTuple):
    slug: str  # the last part of its address
    group: str  # of the tree, such as `How to`
    after: str = ""  # the slug of the page before it; empty: it comes last in its group
    source: str = ""  # a function that gives its Markdown, as `package.module:name`; empty: docs/<slug>.md
    task: str = ""  # what a reader wants to do who opens it, on the first page; empty: the first page has no link to it
    about: str = ""  # the sentence beside the task


# Pages that the command line adds before the documentation is read, because this package does not know the commands.
ADDED_PAGES: dict[str, Callable[[], str]] = {}
