"""The documentation: the tree of its pages, and each page as HTML, which is served or written to a file."""

import html
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from jinja2 import Environment
from markupsafe import Markup, escape

from sandbox.contract.errors import Error, Refusal
from sandbox.extension_registry import with_rows
from sandbox.lazy import load
from sandbox.server_address import URL
from sandbox.web.docs.document_row import ADDED_PAGES, Document
from sandbox.web.docs.reference_tables import PAGES, find_table, list_control_rows
from sandbox.web.html.pages import make_environment, read_inline_style

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
# What the first page offers, in its order. Extensions have theirs in their rows.
TASKS = {
    "first-payment": ("Make a payment", "Initiate it, sign it as a customer, and see it settle."),
    "account-copy": ("Read accounts", "Ask for a consent, and keep a copy of balances and transactions."),
    "bulk-files": ("Send a bulk file", "Check a pain.001 or a csv, send it, and read its status report."),
    "first-test": ("Test a client", "Give each test a bank of its own, and move its clock."),
    "recipes": ("Make the bank fail", "Refusals, time-outs, lost callbacks and other situations, a line for each."),
    "console": ("See why a call was refused", "The console shows each call with the rule that decided."),
    "controls": ("Move the clock, or a payment", "What the real bank does not let you do, by HTTP or by commands."),
    "servers": ("Run it for a team", "On a server, in a container, in a build."),
}
STEPS = (
    ("install", "Start the bank", "bank-sandbox serve", "It needs no account and no network."),
    ("first-payment", "Make a payment", "bank-sandbox pay", "A customer signs it; the console shows it."),
    (
        "first-test",
        "Test with it",
        "def test_it_pays(bank): ...",
        "Each test of pytest gets a new bank.",
    ),
)
DOCUMENTS = with_rows(
    [Document(slug, group, "", "", *TASKS.get(slug, ())) for group, slugs in TREE_OF_CORE for slug in slugs],
    "documents", lambda row: row.slug,
)  # fmt: skip
TREE = tuple((group, tuple(row.slug for row in DOCUMENTS if row.group == group)) for group, _ in TREE_OF_CORE)
SOURCES = {row.slug: row.source for row in DOCUMENTS if row.source}
SLUGS = tuple(dict.fromkeys(slug for _, slugs in TREE for slug in slugs))
PICTURES = ("calibrate.png", "payment.png", "referee.png", "settled.svg", "shop.png", "signing.png")
ROOTS_KEPT = 64  # base addresses whose pages and documents are cached
INDEX_TEXT_MAX = 20_000  # characters of a page that are searched
NAME_SHOWN_MAX = 80  # characters of the name of a page that does not exist

STYLE = read_inline_style("sandbox.web.docs", "site.css")

MARKUP = re.compile(r"[`*|#\[\]\s-]+")
ELSEWHERE = re.compile(r"https?:|#")  # a link to another server, or to a place within the page
IN_REPOSITORY = "A file of the source repository"  # the title of a link to a file that the documentation lacks
CLAUSE = re.compile(r"\bchoice ([0-9]+)\b")
REFERENCE = "reference"  # the page of choices and tables
TITLES = {
    "operations": "Operations",
    "errors": "Errors",
    "reasons": "Reasons",
    "moves": "Moves between statuses",
    "products": "Fields by product",
    "settings": "Settings",
    "variants": "Axes: how a bank could differ",
}
LANGUAGES = {
    "sh": "curl", "python": "Python", "js": "JavaScript", "go": "Go", "java": "Java", "php": "PHP", "yaml": "YAML",
    "": "text",
}  # fmt: skip
CHOICE = re.compile(r'{% call choice\((?P<number>[0-9]+), "(?P<title>[^"]*)"\) %}(?P<text>.*?){% endcall %}', re.DOTALL)
TAGS = re.compile(r"<[^>]+>")


# Pages of the documentation


def find_folder() -> Traversable:
    """Returns the folder with the Markdown texts. An installed package contains it; in a checkout it is `docs`."""
    try:
        return resources.files("sandbox.handbook")
    except ModuleNotFoundError:
        return Path(__file__).parents[3] / "docs"


@cache
def read_text(slug: str) -> str:
    """Returns the Markdown of a page. Raises a Refusal for a page that does not exist."""
    if slug not in SLUGS:
        raise Refusal(Error.NOT_FOUND, input="page")
    if slug == "commands":
        return ADDED_PAGES[slug]() if slug in ADDED_PAGES else "# Commands\n\n`bank-sandbox --help` lists them.\n"
    source = load(SOURCES[slug]) if slug in SOURCES else PAGES.get(slug)
    return source() if source else (find_folder() / f"{slug}.md").read_text(encoding="utf-8")


def draw_page(slug: str, base: str, suffix: str, bank: str, console: str) -> str:
    """Returns a page of the documentation as HTML. The slug of the first page is empty. Links to other pages begin with
    `base` and end with `suffix`, such as `.html`. `bank` is the bank's address in the texts of the page. `console` is
    the address of the console, or empty if the page is written to a file."""
    if not slug:
        return draw_home(base, suffix, bank, console)
    if slug == REFERENCE:
        return draw_reference(base, suffix, bank, console)

    def link(target: str) -> str | None:
        path, mark, anchor = target.partition("#")
        if path in PICTURES:
            return f"{base}static/{path}"
        if path.endswith(".md") and path.removesuffix(".md") in SLUGS:
            return f"{base}{path.removesuffix('.md')}{suffix}{mark}{anchor}"
        return target if ELSEWHERE.match(target) else None

    body = render_html(read_text(slug), link).replace(str(escape(URL)), str(escape(bank)))
    return draw("site.html", base, suffix, console, here=slug, title=find_title(read_text(slug)), body=Markup(body))


def draw(template: str, base: str, suffix: str, console: str, here: str = "", **values: Any) -> str:
    """Returns a page as HTML, made from its template. The page also has what all pages share: the menu, the search, and
    links to the pages before and after."""
    tree = [(group, [(name, find_title(read_text(name))) for name in slugs]) for group, slugs in TREE]
    order = [page for _, pages in tree for page in pages]
    at = SLUGS.index(here) if here in SLUGS else None
    groups = [group for group, slugs in TREE if here in slugs] or ["Reference" if here else "Tutorial"]
    return load_templates().get_template(template).render(
        tree=tree, here=here, base=base, suffix=suffix, console=console, open_groups=groups,
        home=f"{base}index{suffix}" if suffix else base.rstrip("/"),
        previous=order[at - 1] if at else None,
        following=order[at + 1] if at is not None and at + 1 < len(order) else None,
        **{"old_anchors": False, "searches_in_main": False, **values},
    )  # fmt: skip


def draw_home(base: str, suffix: str, bank: str, console: str) -> str:
    """Returns the first page: tasks of a reader, a search, the tutorial and the reference."""
    tasks = [(row.slug, row.task, row.about) for row in DOCUMENTS if row.task]
    tasks.sort(key=lambda task: list(TASKS).index(task[0]) if task[0] in TASKS else len(TASKS))
    references = [
        (slug, find_title(read_text(slug))) for group, slugs in TREE if group == "Reference" for slug in slugs
    ]
    return draw(
        "home.html", base, suffix, console, title="What do you want to do?", tasks=tasks, steps=STEPS, bank=bank,
        references=references, openapi=f"{console}openapi.json", old_anchors=bool(console), searches_in_main=True,
    )  # fmt: skip


def draw_missing_page(name: str, base: str, suffix: str, console: str) -> str:
    """Returns the page that is shown for an address without a page. It suggests pages with a similar name."""
    near = [(slug, find_title(read_text(slug))) for slug in get_close_matches(name, SLUGS, 3)]
    words = " ".join(re.findall(r"\w+", name[:NAME_SHOWN_MAX]))
    return draw(
        "missing.html", base, suffix, console, title="This page does not exist", near=near, words=words,
        searches_in_main=True,
    )  # fmt: skip


@lru_cache(maxsize=4 * ROOTS_KEPT)
def draw_served_page(slug: str, root: str, bank: str) -> str:
    return draw_page(slug, f"{root}/_sandbox/docs/", "", bank, f"{root}/_sandbox/")


@cache
def search_index() -> bytes:
    """Returns a script with slug, anchor, title and text of each page and choice. It is not JSON, because a page that
    is opened from a file cannot load JSON."""
    texts = {slug: read_text(slug) for slug in SLUGS}
    rows = [(slug, "", find_title(text), MARKUP.sub(" ", text)[:INDEX_TEXT_MAX]) for slug, text in texts.items()]
    return b"window.SEARCH_INDEX = " + orjson.dumps([*rows, *list_choices()]) + b";\n"


def list_choices() -> Iterator[tuple[str, str, str, str]]:
    """Yields slug, anchor, title and text of each choice."""
    source = resources.files("sandbox.web.docs") / "templates" / "choices.html"
    for choice in CHOICE.finditer(source.read_text(encoding="utf-8")):
        words = " ".join(html.unescape(TAGS.sub(" ", choice["text"])).split())
        yield REFERENCE, f"choice-{choice['number']}", f"Choice {choice['number']}: {choice['title']}", words


def write_site(target: Path, assets: Callable[[str], bytes]) -> int:
    """Writes all pages and their assets as files in the folder `target`. `assets` returns the content of an asset by
    its name. Returns the number of pages."""
    (target / "static").mkdir(parents=True, exist_ok=True)
    pages = {slug or "index": draw_page(slug, "", ".html", URL, "") for slug in ("", REFERENCE, *SLUGS)}
    pages["404"] = draw_missing_page("", "", ".html", "")
    for name, text in pages.items():
        (target / f"{name}.html").write_text(text, encoding="utf-8")
    for name in ("site.js", "search-index.js", *PICTURES):
        (target / "static" / name).write_bytes(assets(name))
    return len(pages)


# The page of choices and tables, and the page where calls are tried


@cache
def load_templates() -> Environment:
    environment = make_environment("sandbox.web.docs")
    environment.filters["clauses"] = link_choices
    environment.globals["style"] = STYLE
    return environment


def link_choices(text: str) -> Markup:
    """Returns the text as HTML. Each mention of a choice (`choice 10`) becomes a link to its explanation."""
    return Markup(CLAUSE.sub(r'<a href="#choice-\1">choice \1</a>', str(escape(text))))


def draw_reference(base: str, suffix: str, bank: str, console: str) -> str:
    """Returns the page of choices and tables. The page leaves out the last column of each table (`ours`), because the
    clause already says whether the row is a choice of the sandbox."""
    tables = [
        (name, title, head[:-1], [row[:-1] for row in rows])
        for name, title in TITLES.items()
        for head, rows in [find_table(name)]
    ]
    return draw(
        "reference.html", base, suffix, console, here=REFERENCE, title="Choices and tables", bank=bank,
        controls_root=console or f"{bank}/_sandbox/", tables=tables, controls=list_control_rows(),
    )  # fmt: skip


@lru_cache(maxsize=ROOTS_KEPT)
def draw_trial(root: str) -> str:
    return load_templates().get_template("try.html").render(root=root)


# Markdown to HTML


@cache
def make_markdown_reader() -> "MarkdownIt":
    """Returns the parser for Markdown: CommonMark with tables. HTML in a Markdown text is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def make_anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def find_title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def render_html(text: str, link: Callable[[str], str | None]) -> str:
    """Returns the HTML of a Markdown text. `link` returns the new address of a link or a picture. A link becomes plain
    text if `link` returns None for it; every picture must have an address."""
    tokens = make_markdown_reader().parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            _link_heading(token, tokens[at + 1])
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        _set_links(token.children or [], link)
    return str(make_markdown_reader().renderer.render(_join_tabs(tokens), make_markdown_reader().options, {}))


def _link_heading(opening: "Token", heading: "Token") -> None:
    """Gives a heading an id. A heading below the title becomes a link to itself, from which readers can copy the
    address. A heading that contains a link stays as it is, except for the id."""
    from markdown_it.token import Token

    anchor = make_anchor(heading.content)
    opening.attrSet("id", anchor)
    children = heading.children or []
    if opening.tag != "h1" and not any(token.type == "link_open" for token in children):
        begin = Token("html_inline", "", 0, content=f'<a class="anchor" href="#{html.escape(anchor)}">')
        heading.children = [begin, *children, Token("html_inline", "", 0, content="</a>")]


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


def _join_tabs(tokens: "list[Token]") -> "list[Token]":
    """Returns the tokens, in which code blocks are replaced by their HTML. Successive code blocks in different
    languages become the tabs of one block."""
    from markdown_it.token import Token

    groups: list[list[Token]] = []
    for token in tokens:
        group_languages = (
            {block.info for block in groups[-1]} if groups and groups[-1][0].type == "fence" else {token.info}
        )
        if token.type == "fence" and token.info not in group_languages:
            groups[-1].append(token)
        else:
            groups.append([token])
    return [
        Token("html_block", "", 0, content=_draw_code(group)) if group[0].type == "fence" else group[0]
        for group in groups
    ]


def _draw_code(blocks: "list[Token]") -> str:
    """Returns the HTML of one code block, or of several code blocks as tabs."""
    kit: Any = load_templates().get_template("kit.html").module
    samples = [(LANGUAGES.get(block.info, block.info), block.content.rstrip("\n")) for block in blocks]
    if len(samples) == 1:
        return f"{kit.code(samples[0][1], 'code', tall=True)}\n"
    assert blocks[0].map is not None
    return f"{kit.code_tabs(f'tabs-{blocks[0].map[0]}', 'code', samples, tall=True)}\n"
