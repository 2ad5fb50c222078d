"""The design tokens: one sheet for the bank's pages, the console and the reference, in light and in dark."""

import re

import pytest
from flask import Flask

from sandbox.web.html.pages import KIT, SHARED, read_content

SHEETS = (
    ("sandbox.web.psu", "bank.css"),
    ("sandbox.web.console", "console.css"),
    ("sandbox.web.docs", "try.css"),
)
TOKENS = read_content(KIT, "tokens.css").decode()
TOKEN = re.compile(r"(--[a-z-]+):")
COLOUR = re.compile(r"(--[a-z-]+): #([0-9a-f]{6});")
# A text, and what it stands on.
PAIRS = (
    *(("--ink", ground) for ground in ("--ground", "--paper", "--tint", "--good-tint", "--bad-tint", "--wait-tint")),
    *(("--quiet", ground) for ground in ("--ground", "--paper")),
    *(("--accent", ground) for ground in ("--ground", "--paper", "--tint", "--wait-tint")),
    *((f"--{name}", f"--{name}-tint") for name in ("good", "wait", "bad", "gone", "move")),
    ("--bad", "--paper"),
    ("--accent-ink", "--accent"),
    ("--accent-ink", "--accent-strong"),
    ("--accent-ink", "--bad"),
)


def schemes() -> tuple[dict[str, str], dict[str, str]]:
    light, _, dark = TOKENS.partition("prefers-color-scheme: dark")
    return dict(COLOUR.findall(light)), dict(COLOUR.findall(dark))


def luminance(colour: str) -> float:
    """WCAG 2.2"""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("room, name", SHEETS)
def test_every_sheet_begins_with_the_tokens_and_uses_no_other(room: str, name: str) -> None:
    sheet = read_content(room, name).decode()
    assert sheet.startswith(TOKENS)
    assert set(re.findall(r"var\((--[a-z-]+)", sheet)) <= set(TOKEN.findall(TOKENS))


@pytest.mark.parametrize("room, name", SHEETS[1:])
def test_no_sheet_but_the_drawn_card_reader_has_colours_of_its_own(room: str, name: str) -> None:
    own = read_content(room, name).decode().removeprefix("".join(read_content(KIT, each).decode() for each in SHARED))
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", own) == []


def test_dark_has_every_colour_that_light_has() -> None:
    light, dark = schemes()
    assert set(light) == set(dark) and len(light) > 15


@pytest.mark.parametrize("text, ground", PAIRS)
def test_texts_can_be_read_in_light_and_in_dark(text: str, ground: str) -> None:
    for scheme in schemes():
        one, other = sorted((luminance(scheme[text]), luminance(scheme[ground])))
        assert (other + 0.05) / (one + 0.05) >= 4.5, f"{text} on {ground}"


def test_the_tokens_are_served_by_themselves_too(app: Flask) -> None:
    served = app.test_client().get("/_sandbox/docs/static/tokens.css")
    assert served.status_code == 200 and served.mimetype == "text/css" and served.text == TOKENS
    assert app.test_client().get("/_sandbox/docs/static/bank.css").status_code == 404
