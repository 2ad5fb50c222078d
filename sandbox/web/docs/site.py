"""The documentation: the tree of its pages, and each page as HTML, which is served or written to a file."""

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
from sandbox.server_address import URL
from sandbox.web.docs.document_row import ADDED_PAGES, Document
from sandbox.web.docs.reference_tables import PAGES, control_rows, table_of
from sandbox.web.html.pages import environment_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

TREE_OF_CORE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Tutorial", ("install", "first-payment", "first-test", "languages", "first-scenario")),
    (
        "How to",
        ("recipes", "account-copy", "bulk-files", "console", "controls", "facts", "keep", "certificates", "servers",
         "operate", "observe", "extend"),
    ),
    ("Reference", ("customers", "well-known-values", "commands", *PAGES)),
    ("Explanation", ("time", "worlds", "storage", "scale", "choices", "compatibility", "design")),
)  # fmt: skip
DOCUMENTS = with_rows(
    [Document(slug, group) for group, slugs in TREE_OF_CORE for slug in slugs], "documents", lambda row: row.slug
)
TREE = tuple((group, tuple(row.slug for row in DOCUMENTS if row.group == group)) for group, _ in TREE_OF_CORE)
SOURCES = {row.slug: row.source for row in DOCUMENTS if row.source}
SLUGS = tuple(dict.fromkeys(slug for _, slugs in TREE for slug in slugs))
PICTURES = ("calibrate.png", "payment.png", "referee.png", "shop.png", "signing.png")
ROOTS_KEPT = 64  # base addresses whose pages and documents are cached
INDEX_TEXT_MAX = 20_000  # characters of a page that are searched

MARKUP = re.compile(r"[`*|#\[\]\s-]+")
ELSEWHERE = re.compile(r"https?:|#")  # a link to another server, or to a place within the page
IN_REPOSITORY = "A file of the source repository"  # the title of a link to a file that the documentation lacks
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


# Pages of the documentation


def folder() -> Traversable:
    """The folder of the texts: in the installed package, or in a checkout."""
    try:
        return resources.files("sandbox.handbook")
    except ModuleNotFoundError:
        return Path(__file__).parents[3] / "docs"


@cache
def text_of(slug: str) -> str:
    """The Markdown of a page. Raises a Refusal for a page that does not exist."""
    if slug not in SLUGS:
        raise Refusal(Error.NOT_FOUND, input="page")
    if slug == "commands":
        return ADDED_PAGES[slug]() if slug in ADDED_PAGES else "# Commands\n\n`bank-sandbox --help` lists them.\n"
    source = load(SOURCES[slug]) if slug in SOURCES else PAGES.get(slug)
    return source() if source else (folder() / f"{slug}.md").read_text(encoding="utf-8")


def page_of(slug: str, base: str, suffix: str, bank: str, console: str) -> str:
    """A whole page. Links to other pages begin with `base` and end with `suffix`."""

    def link(target: str) -> str | None:
        path, mark, anchor = target.partition("#")
        if path in PICTURES:
            return f"{base}static/{path}"
        if path.endswith(".md") and path.removesuffix(".md") in SLUGS:
            return f"{base}{path.removesuffix('.md')}{suffix}{mark}{anchor}"
        return target if ELSEWHERE.match(target) else None

    body = html_of(text_of(slug), link).replace(str(escape(URL)), str(escape(bank)))
    tree = [(group, [(name, title_of(text_of(name))) for name in slugs]) for group, slugs in TREE]
    return templates().get_template("site.html").render(
        body=Markup(body), tree=tree, here=slug, title=title_of(text_of(slug)), base=base, suffix=suffix,
        console=console,
    )  # fmt: skip


@lru_cache(maxsize=4 * ROOTS_KEPT)
def served_page(slug: str, root: str, bank: str) -> str:
    return page_of(slug, f"{root}/_sandbox/docs/", "", bank, f"{root}/_sandbox/")


@cache
def search_index() -> bytes:
    """Slug, title and text of each page. It is a script, because a page opened as a file cannot load JSON."""
    texts = [(slug, text_of(slug)) for slug in SLUGS]
    rows = [(slug, title_of(text), MARKUP.sub(" ", text)[:INDEX_TEXT_MAX]) for slug, text in texts]
    return b"window.SEARCH_INDEX = " + orjson.dumps(rows) + b";\n"


def write_site(target: Path, assets: Callable[[str], bytes]) -> int:
    """Writes all pages as static files and returns their number."""
    (target / "static").mkdir(parents=True, exist_ok=True)
    for name, slug in (*((slug, slug) for slug in SLUGS), ("index", SLUGS[0])):
        (target / f"{name}.html").write_text(page_of(slug, "", ".html", URL, ""), encoding="utf-8")
    for name in ("site.css", "site.js", "search-index.js", *PICTURES):
        (target / "static" / name).write_bytes(assets(name))
    return len(SLUGS)


# The page of choices and tables, and the page where calls are tried


@cache
def templates() -> Environment:
    environment = environment_of("sandbox.web.docs")
    environment.filters["clauses"] = link_choices
    return environment


def link_choices(text: str) -> Markup:
    """Links every choice that the text names to its explanation."""
    return Markup(CLAUSE.sub(r'<a href="#choice-\1">choice \1</a>', str(escape(text))))


@lru_cache(maxsize=ROOTS_KEPT)
def reference(root: str, bank: str) -> str:
    tables = [(name, title, *table_of(name)) for name, title in TITLES.items()]
    return templates().get_template("docs.html").render(root=root, bank=bank, tables=tables, controls=control_rows())


@lru_cache(maxsize=ROOTS_KEPT)
def trial(root: str) -> str:
    return templates().get_template("try.html").render(root=root)


# Markdown to HTML


@cache
def reader() -> "MarkdownIt":
    """Reads CommonMark and tables. HTML in a text is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def anchor_of(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def html_of(text: str, link: Callable[[str], str | None]) -> str:
    """The HTML of a page. `link` gives the address for a link of the text; without an address the link is text."""
    tokens = reader().parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(tokens[at + 1].content))
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        _set_links(token.children or [], link)
    return str(reader().renderer.render(_with_tabs(tokens), reader().options, {}))


def _set_links(tokens: "list[Token]", link: Callable[[str], str | None]) -> None:
    for at, token in enumerate(tokens):
        for name in {"href", "src"} & token.attrs.keys():
            address = link(str(token.attrs[name]))
            if address is not None:
                token.attrSet(name, address)
                continue
            assert token.type == "link_open", f"{token.attrs[name]} is no picture of the documentation"
            end = next(later for later in tokens[at:] if later.type == "link_close")
            token.tag = end.tag = "span"
            token.attrs = {"title": IN_REPOSITORY}


def _with_tabs(tokens: "list[Token]") -> "list[Token]":
    """Makes tabs of code blocks that follow each other in different languages."""
    from markdown_it.token import Token

    groups: list[list[Token]] = []
    for token in tokens:
        taken = {block.info for block in groups[-1]} if groups and groups[-1][0].type == "fence" else {token.info}
        if token.type == "fence" and token.info not in taken:
            groups[-1].append(token)
        else:
            groups.append([token])
    return [
        Token("html_block", "", 0, content=_code(group)) if group[0].type == "fence" else group[0] for group in groups
    ]


def _code(blocks: "list[Token]") -> str:
    """The HTML of one code block, or of several as tabs."""
    if len(blocks) == 1:
        return f'<pre tabindex="0"><code>{html.escape(blocks[0].content)}</code></pre>\n'
    assert blocks[0].map is not None
    name = f"tabs-{blocks[0].map[0]}"
    tabs = (
        f'<details name="{name}"{" open" if at == 0 else ""}>'
        f"<summary>{LANGUAGES.get(block.info, html.escape(block.info))}</summary>"
        f'<pre tabindex="0"><code>{html.escape(block.content)}</code></pre></details>\n'
        for at, block in enumerate(blocks)
    )
    return f'<div class="tabs">{"".join(tabs)}</div>\n'
