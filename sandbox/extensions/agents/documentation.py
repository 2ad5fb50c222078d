"""The documentation as resources, and a search in its sections."""

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
    """Returns the Markdown of a page, or None for an unknown address."""
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
    """Returns the sections that have the most of these words, the best first. A rare word counts more than a word that
    many sections have."""
    sought = {word.casefold() for word in WORD.findall(words)}
    weights = {word: weight for word in sought if (weight := compute_weight(word))}
    scored = [(compute_score(section, weights), section) for section in list_sections()]
    best = sorted((hit for hit in scored if hit[0] > 0), key=lambda hit: -hit[0])[:HITS_MAX]
    return [
        DocumentationHit(SCHEME + section.slug, section.page, section.title, cut_excerpt(section.text, {*weights}))
        for _, section in best
    ]


def compute_weight(word: str) -> float:
    """Returns how much a word counts, or 0 if no section has it."""
    count = sum(word in section.text.casefold() or word in section.title.casefold() for section in list_sections())
    return log(1 + len(list_sections()) / count) if count else 0


def compute_score(section: Section, weights: Mapping[str, float]) -> float:
    """Returns the sum of the weights of the words that the section has, divided by a factor that grows with its length.
    A word in a title counts more."""
    title, page, text = section.title.casefold(), section.page.casefold(), section.text.casefold()
    weight_found = sum(
        weight * ((word in text) + IN_TITLE * (word in title) + (word in page)) for word, weight in weights.items()
    )
    return weight_found / (1 + len(text) / LONG)


def cut_excerpt(text: str, sought: set[str]) -> str:
    """Returns a part of the text that begins shortly before the first line with most of the words."""
    if len(text) <= EXCERPT_MAX:
        return text
    lines = text.splitlines()
    counts = [sum(word in line.casefold() for word in sought) for line in lines]
    best = counts.index(max(counts))
    start = max(0, best - 1)
    return "\n".join(lines[start:])[:EXCERPT_MAX]
