"""The sentences of the bank's screens, from one catalogue per language (service 4.0)."""

from functools import cache
from importlib.resources import files

from sandbox.contract.languages import PAGES

LANGUAGES = tuple(PAGES)


@cache
def catalogue(language: str) -> dict[str, str]:
    """The sentences of a language by their keys; read once, when the first page is drawn."""
    from babel.messages.pofile import read_po

    content = files("sandbox.web.psu").joinpath("catalogues", f"{language}.po").read_bytes()
    return {str(message.id): str(message.string) for message in read_po(content.splitlines(True)) if message.id}


def say(language: str, key: str, kind: str = "", **facts: object) -> str:
    """A sentence in that language; `kind` picks its variant for a standing order, a file, a consent, or for one."""
    words = catalogue(language)
    text = words.get(f"{key} {kind}") or words[key]
    return text.format(**facts)


def spelled(language: str, number: int) -> str:
    """A small number in words."""
    return catalogue(language).get(f"number {number}", str(number))
