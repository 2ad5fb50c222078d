"""The pages of the documentation as resources of MCP, and a search in their sections."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import log
from typing import NamedTuple

from sandbox.web.docs.site import SLUGS, find_title, read_text

SCHEME = "sandbox://docs/"
PAGE_MAX = 50_000  # characters
EXCERPT_MAX = 700
HITS_MAX = 5
WORD = re.compile(r"[\w.-]{2,}")
HEADING = re.compile(r"^#{1,3} ", re.MULTILINE)
IN_TITLE = 2  # how much more a word counts in a title
LONG = 20_000  # characters: a section of that length counts half


class Section(NamedTuple):
    slug: str
    page: str
    title: str
    text: str


class DocumentationHit(NamedTuple):
    uri: str
    page: str
    title: str
    excerpt: str


def read_page(uri: str) -> str | None:
    """Returns the Markdown of a page, cut after PAGE_MAX characters. Returns None if no page has this address."""
    slug = uri.removeprefix(SCHEME)
    if not uri.startswith(SCHEME) or slug not in SLUGS:
        return None
    text = read_text(slug)
    characters_left = len(text) - PAGE_MAX
    return (
        text
        if characters_left <= 0
        else f"{text[:PAGE_MAX]}\n\n({characters_left} more characters: search_documentation finds their parts)"
    )


def list_page_titles() -> dict[str, str]:
    """Returns the title of each page by its address."""
    return {SCHEME + slug: find_title(read_text(slug)) for slug in SLUGS}


@cache
def list_sections() -> tuple[Section, ...]:
    return tuple(_read_sections())


def _read_sections() -> Iterator[Section]:
    for slug in SLUGS:
        text = read_text(slug)
        page = find_title(text)
        starts = [match.start() for match in HEADING.finditer(text)] or [0]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            heading, _, body = text[start:end].partition("\n")
            yield Section(slug, page, heading.lstrip("# "), body.strip())


def search(words: str) -> list[DocumentationHit]:
    """Returns up to HITS_MAX sections that have some of these words, the best first. A section is better if it has more
    of the words, and rare words count more."""
    sought = {word.casefold() for word in WORD.findall(words)}
    weights = {word: weight for word in sought if (weight := compute_weight(word))}
    scored = [(compute_score(section, weights), section) for section in list_sections()]
    best = sorted((hit for hit in scored if hit[0] > 0), key=lambda hit: -hit[0])[:HITS_MAX]
    return [
        DocumentationHit(SCHEME + section.slug, section.page, section.title, cut_excerpt(section.text, {*weights}))
        for _, section in best
    ]


def compute_weight(word: str) -> float:
    """Returns the weight of a word in a search. It is larger if fewer sections have the word, and 0 if no section has
    it."""
    count = sum(word in section.text.casefold() or word in section.title.casefold() for section in list_sections())
    return log(1 + len(list_sections()) / count) if count else 0


def compute_score(section: Section, weights: Mapping[str, float]) -> float:
    """Returns how well a section fits: the sum of the weights of the words that it has, divided by a number that grows
    with the length of the section. A word in the title of the section or of its page counts more."""
    title, page, text = section.title.casefold(), section.page.casefold(), section.text.casefold()
    weight_found = sum(
        weight * ((word in text) + IN_TITLE * (word in title) + (word in page)) for word, weight in weights.items()
    )
    return weight_found / (1 + len(text) / LONG)


def cut_excerpt(text: str, sought: set[str]) -> str:
    """Returns at most EXCERPT_MAX characters of the text. If the text is longer, the excerpt starts one line above the
    line that has the most of the words `sought`."""
    if len(text) <= EXCERPT_MAX:
        return text
    lines = text.splitlines()
    counts = [sum(word in line.casefold() for word in sought) for line in lines]
    best = counts.index(max(counts))
    start = max(0, best - 1)
    return "\n".join(lines[start:])[:EXCERPT_MAX]
