"""The pages of the reference, drawn on the server."""

import re
from functools import cache

from jinja2 import Environment
from markupsafe import Markup, escape

from sandbox.web.docs.controls import rows
from sandbox.web.docs.tables import TABLES
from sandbox.web.html.pages import environment_of

CLAUSE = re.compile(r"\bchoice ([0-9]+)\b")
TITLES = {
    "operations": "Operations",
    "errors": "Errors",
    "moves": "Moves between statuses",
    "products": "Fields by product",
    "settings": "Settings",
    "variants": "Axes: how a bank could differ",
}


@cache
def templates() -> Environment:
    made = environment_of("sandbox.web.docs")
    made.filters["clauses"] = clauses
    return made


def clauses(text: str) -> Markup:
    """Every choice that is named leads to where it is explained."""
    return Markup(CLAUSE.sub(r'<a href="#choice-\1">choice \1</a>', str(escape(text))))


def page(root: str, bank: str) -> str:
    tables = [(name, title, *TABLES[name]()) for name, title in TITLES.items()]
    return templates().get_template("docs.html").render(root=root, bank=bank, tables=tables, controls=rows())


def trial(root: str) -> str:
    return templates().get_template("try.html").render(root=root)
