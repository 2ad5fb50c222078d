"""The film of a failed test."""

import re
from pathlib import Path

from sandbox.extensions.film.page import render_film
from sandbox.testing.bank import BankFixture
from sandbox.testing.report import NO_ANSWER

NAME_MAX = 120  # characters of a film's file


def write_film(bank: BankFixture, folder: Path, test: str) -> str:
    """Writes the film of a failed test, and says where; a bank that cannot be asked gives a line of text."""
    file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', test)[-NAME_MAX:]}.html"
    try:
        text = render_film(bank.controls, test)
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except NO_ANSWER as error:
        return f"{bank.base_url} cannot be asked: {error}"
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}"
    return f"{file}: open it in a browser"
