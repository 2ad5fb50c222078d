"""The documentation: which pages there are, in which order, and each as HTML, served or written to files."""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import orjson
from jinja2 import Environment
from markupsafe import Markup, escape

from sandbox.contract.errors import Error, Refusal
from sandbox.web.docs import generated
from sandbox.web.docs.added_pages import ADDED
from sandbox.web.docs.markdown import html_of, title_of
from sandbox.web.html.pages import environment_of

TREE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Tutorial", ("install", "first-payment", "first-test", "first-scenario")),
    (
        "How to",
        ("recipes", "bulk-files", "console", "controls", "client-faults", "vary", "demo", "keep", "certificates",
         "servers", "observe"),
    ),
    ("Reference", ("customers", "well-known-values", "commands", *generated.PAGES)),
    ("Explanation", ("time", "worlds", "scale", "choices")),
)  # fmt: skip
ADDRESS = "http://127.0.0.1:8080"  # in the texts; a server shows its own
PICTURES = ("payment.png", "referee.png", "shop.png", "signing.png")
ROOTS_KEPT = 64  # base addresses whose pages and documents are kept
INDEX_TEXT_MAX = 20_000  # characters of a page that are searched

CLAUSE = re.compile(r"\bchoice ([0-9]+)\b")
TITLES = {
    "operations": "Operations",
    "errors": "Errors",
    "moves": "Moves between statuses",
    "products": "Fields by product",
    "settings": "Settings",
    "variants": "Axes: how a bank could differ",
}

SLUGS = tuple(dict.fromkeys(slug for _, slugs in TREE for slug in slugs))


def folder() -> Traversable:
    """The installed package, or the folder of a checkout."""
    try:
        return resources.files("sandbox.handbook")
    except ModuleNotFoundError:
        return Path(__file__).parents[3] / "docs"


@cache
def text_of(slug: str) -> str:
    """The Markdown of a page."""
    if slug not in SLUGS:
        raise Refusal(Error.NOT_FOUND, input="page")
    if slug == "commands":
        return ADDED[slug]() if slug in ADDED else "# Commands\n\n`bank-sandbox --help` lists them.\n"
    made = generated.PAGES.get(slug)
    return made() if made else (folder() / f"{slug}.md").read_text(encoding="utf-8")


def picture(name: str) -> bytes:
    return (folder() / name).read_bytes()


def page_of(slug: str, base: str, suffix: str, bank: str, console: str) -> str:
    """A whole page. Links begin with `base` and end with `suffix`."""

    def link(target: str) -> str:
        path, mark, anchor = target.partition("#")
        if path in PICTURES:
            return f"{base}static/{path}"
        if path.endswith(".md") and path.removesuffix(".md") in SLUGS:
            return f"{base}{path.removesuffix('.md')}{suffix}{mark}{anchor}"
        return target

    body = html_of(text_of(slug), link).replace(str(escape(ADDRESS)), str(escape(bank)))
    tree = [(group, [(one, title_of(text_of(one))) for one in slugs]) for group, slugs in TREE]
    return templates().get_template("site.html").render(
        body=Markup(body), tree=tree, here=slug, title=title_of(text_of(slug)), base=base, suffix=suffix,
        console=console,
    )  # fmt: skip


@lru_cache(maxsize=4 * ROOTS_KEPT)
def served_page(slug: str, root: str, bank: str) -> str:
    return page_of(slug, f"{root}/_sandbox/docs/", "", bank, f"{root}/_sandbox/")


@cache
def search_index() -> bytes:
    """A script, so that it works from a file too: slug, title and text of each page."""
    rows = [(slug, title_of(text_of(slug)), _plain(text_of(slug))) for slug in SLUGS]
    return b"window.SEARCH_INDEX = " + orjson.dumps(rows) + b";\n"


def _plain(text: str) -> str:
    return re.sub(r"[`*|#\[\]\s-]+", " ", text)[:INDEX_TEXT_MAX]


def write_site(target: Path, assets: Callable[[str], bytes]) -> int:
    """Writes all pages as static files; gives their number."""
    (target / "static").mkdir(parents=True, exist_ok=True)
    for slug in SLUGS:
        (target / f"{slug}.html").write_text(page_of(slug, "", ".html", ADDRESS, ""), encoding="utf-8")
    (target / "index.html").write_text(page_of(SLUGS[0], "", ".html", ADDRESS, ""), encoding="utf-8")
    for name in ("site.css", "site.js", "search-index.js", *PICTURES):
        (target / "static" / name).write_bytes(assets(name))
    return len(SLUGS)


@cache
def templates() -> Environment:
    made = environment_of("sandbox.web.docs")
    made.filters["clauses"] = clauses
    return made


def clauses(text: str) -> Markup:
    """Every choice that is named leads to where it is explained."""
    return Markup(CLAUSE.sub(r'<a href="#choice-\1">choice \1</a>', str(escape(text))))


@lru_cache(maxsize=ROOTS_KEPT)
def reference(root: str, bank: str) -> str:
    tables = [(name, title, *generated.TABLES[name]()) for name, title in TITLES.items()]
    return (
        templates()
        .get_template("docs.html")
        .render(root=root, bank=bank, tables=tables, controls=generated.control_rows())
    )


@lru_cache(maxsize=ROOTS_KEPT)
def trial(root: str) -> str:
    return templates().get_template("try.html").render(root=root)
