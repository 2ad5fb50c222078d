"""The documentation: which pages there are, in which order, and each as HTML, served or written to files."""

import html
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from jinja2 import Environment
from markupsafe import Markup, escape

from sandbox.contract.errors import Error, Refusal
from sandbox.extension_registry import with_rows
from sandbox.lazy import load
from sandbox.web.docs import generated
from sandbox.web.docs.added_pages import ADDED
from sandbox.web.docs.document_row import Document
from sandbox.web.html.pages import environment_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TREE_OF_CORE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Tutorial", ("install", "first-payment", "first-test", "first-scenario")),
    (
        "How to",
        ("recipes", "bulk-files", "console", "controls", "keep", "certificates", "servers", "operate", "observe",
         "extend"),
    ),
    ("Reference", ("customers", "well-known-values", "commands", *generated.PAGES)),
    ("Explanation", ("time", "worlds", "storage", "scale", "choices")),
)  # fmt: skip
DOCUMENTS = with_rows(
    [Document(slug, group) for group, slugs in TREE_OF_CORE for slug in slugs], "documents", lambda row: row.slug
)
TREE = tuple((group, tuple(row.slug for row in DOCUMENTS if row.group == group)) for group, _ in TREE_OF_CORE)
SOURCES = {row.slug: row.source for row in DOCUMENTS if row.source}
ADDRESS = "http://127.0.0.1:8080"  # in the texts; a server shows its own
PICTURES = ("payment.png", "referee.png", "shop.png", "signing.png")
ROOTS_KEPT = 64  # base addresses whose pages and documents are kept
INDEX_TEXT_MAX = 20_000  # characters of a page that are searched

MARKUP = re.compile(r"[`*|#\[\]\s-]+")
ELSEWHERE = re.compile(r"https?:|#")  # a link that is an address by itself, or leads within the page
# Files that the repository has and the documentation does not: a server and a folder of pages cannot show them.
IN_REPOSITORY = "A file of the source repository"
CLAUSE = re.compile(r"\bchoice ([0-9]+)\b")
TITLES = {
    "operations": "Operations",
    "errors": "Errors",
    "reasons": "Reasons",
    "moves": "Moves between statuses",
    "products": "Fields by product",
    "settings": "Settings",
    "variants": "Axes: how a bank could differ",
}

LANGUAGES = {"sh": "curl", "python": "Python", "js": "JavaScript", "yaml": "YAML", "": "text"}
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
    made = load(SOURCES[slug]) if slug in SOURCES else generated.PAGES.get(slug)
    return made() if made else (folder() / f"{slug}.md").read_text(encoding="utf-8")


def page_of(slug: str, base: str, suffix: str, bank: str, console: str) -> str:
    """A whole page. Links begin with `base` and end with `suffix`."""

    def link(target: str) -> str | None:
        path, mark, anchor = target.partition("#")
        if path in PICTURES:
            return f"{base}static/{path}"
        if path.endswith(".md") and path.removesuffix(".md") in SLUGS:
            return f"{base}{path.removesuffix('.md')}{suffix}{mark}{anchor}"
        return target if ELSEWHERE.match(target) else None

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
    texts = [(slug, text_of(slug)) for slug in SLUGS]
    rows = [(slug, title_of(text), MARKUP.sub(" ", text)[:INDEX_TEXT_MAX]) for slug, text in texts]
    return b"window.SEARCH_INDEX = " + orjson.dumps(rows) + b";\n"


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


@cache
def reader() -> "MarkdownIt":
    """CommonMark and tables; HTML in a text is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def anchor_of(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def html_of(text: str, link: Callable[[str], str | None]) -> str:
    """A page's HTML; `link` gives the address of what the text links to. Without an address the link is text."""
    tokens = reader().parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(tokens[at + 1].content))
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        _set_links(token.children or [], link)
    made = reader()
    return str(made.renderer.render(_with_tabs(tokens), made.options, {}))


def _set_links(tokens: "list[Token]", link: Callable[[str], str | None]) -> None:
    for at, token in enumerate(tokens):
        for name in {"href", "src"} & token.attrs.keys():
            address = link(str(token.attrs[name]))
            if address is not None:
                token.attrSet(name, address)
                continue
            assert token.type == "link_open", f"{token.attrs[name]} is no picture of the documentation"
            end = next(one for one in tokens[at:] if one.type == "link_close")
            token.tag = end.tag = "span"
            token.attrs = {"title": IN_REPOSITORY}


def _with_tabs(tokens: "list[Token]") -> "list[Token]":
    """Blocks of code that follow each other in other languages are tabs of one box."""
    from markdown_it.token import Token

    groups: list[list[Token]] = []
    for token in tokens:
        taken = {one.info for one in groups[-1]} if groups and groups[-1][0].type == "fence" else {token.info}
        if token.type == "fence" and token.info not in taken:
            groups[-1].append(token)
        else:
            groups.append([token])
    return [
        Token("html_block", "", 0, content=_code(group)) if group[0].type == "fence" else group[0] for group in groups
    ]


def _code(group: "list[Token]") -> str:
    """One block; or several, of which one is open at a time."""
    if len(group) == 1:
        return f'<pre tabindex="0"><code>{html.escape(group[0].content)}</code></pre>\n'
    assert group[0].map is not None
    name = f"tabs-{group[0].map[0]}"
    boxes = (
        f'<details name="{name}"{" open" if at == 0 else ""}><summary>{LANGUAGES.get(one.info, html.escape(one.info))}'
        f'</summary><pre tabindex="0"><code>{html.escape(one.content)}</code></pre></details>\n'
        for at, one in enumerate(group)
    )
    return f'<div class="tabs">{"".join(boxes)}</div>\n'
