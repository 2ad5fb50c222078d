"""The shop's texts: each in French and in Dutch, with the same facts, and no translation that nobody needs."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import sandbox.extensions.shop
from sandbox.extensions.shop import accounts, app, demo, orders, payments
from sandbox.extensions.shop.goods import SHELF
from sandbox.extensions.shop.shop_words import LANGUAGES, read_catalogue

FOLDER = Path(sandbox.extensions.shop.__path__[0])
ALIKE = {"Console", "Pages", "Page {number} of {last} · {count} transactions"}


def literals() -> set[str]:
    """The texts that templates and modules translate where they stand."""
    texts = {text for file in FOLDER.glob("templates/*.html") for text in re.findall(r'_\("([^"]+)"', file.read_text())}
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                texts |= {word.value for word in node.args if isinstance(word, ast.Constant)}
    return texts


def texts_of_tables() -> set[str]:
    """The texts of rows, which are translated when they are shown."""
    progress = [row for row in vars(payments).values() if isinstance(row, payments.OrderProgress)]
    rows: list[tuple[str, ...]] = [
        *app.BY_HTTP_STATUS.values(),
        app.OTHER_HTTP_STATUS,
        *((good.name, good.about) for good in SHELF),
    ]
    rows += [(step.title, step.about, step.says) for step in demo.STEPS]
    rows += [(row.title, row.text, row.button or row.title) for row in progress]
    texts = {text for row in rows for text in row} | {"Not paid", "Pay again"}
    texts |= {*orders.WORDS.values(), *payments.REASONS.values(), payments.REJECTED, *payments.CANCELLED.values()}
    return texts | {payments.OTHERWISE_CANCELLED, *demo.SPANS.values(), *(name for _, name in accounts.PERIODS)}


def names_in(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text)} - {None}


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_each_text_has_a_translation_with_the_same_facts(language: str) -> None:
    words = read_catalogue(language)
    assert set(words) == literals() | texts_of_tables()
    for text, translated in words.items():
        assert translated.strip() and "'" not in translated, text
        assert (translated != text) or text in ALIKE, text
        assert names_in(text) == names_in(translated), text
