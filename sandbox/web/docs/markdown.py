"""The Markdown of the documentation as HTML: headings with anchors, links between pages, tabs of code."""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LANGUAGES = {"sh": "curl", "python": "Python", "js": "JavaScript", "yaml": "YAML", "": "text"}
Link = Callable[[str], str]


@cache
def reader() -> "MarkdownIt":
    """CommonMark and tables; HTML in a text is shown as text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def anchor_of(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def html_of(text: str, link: Link) -> str:
    """A page's HTML; `link` gives the address of what the text links to."""
    tokens = reader().parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(tokens[at + 1].content))
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            for name in ("href", "src"):
                if name in child.attrs:
                    child.attrSet(name, link(str(child.attrs[name])))
    made = reader()
    return str(made.renderer.render(_with_tabs(tokens), made.options, {}))


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
        return f'<pre tabindex="0"><code>{escape(group[0].content)}</code></pre>\n'
    assert group[0].map is not None
    name = f"tabs-{group[0].map[0]}"
    boxes = (
        f'<details name="{name}"{" open" if at == 0 else ""}><summary>{LANGUAGES.get(one.info, escape(one.info))}'
        f'</summary><pre tabindex="0"><code>{escape(one.content)}</code></pre></details>\n'
        for at, one in enumerate(group)
    )
    return f'<div class="tabs">{"".join(boxes)}</div>\n'
