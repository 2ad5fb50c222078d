"""What one row of the tree of the documentation holds."""

from typing import NamedTuple


class Document(NamedTuple):
    slug: str  # the last part of its address
    group: str  # of the tree, such as `How to`
    after: str = ""  # the slug of the page before it; empty: it comes last in its group
    source: str = ""  # a function that gives its Markdown, as `package.module:name`; empty: docs/<slug>.md
