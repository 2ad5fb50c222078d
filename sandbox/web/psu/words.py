"""The sentences of the bank's screens, from one catalogue per language (service 4.0)."""

from functools import cache
from importlib.resources import files

from sandbox.contract.errors import Refusal
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


def say_refusal(language: str, refusal: Refusal, **facts: object) -> str:
    """The sentence for an error and its cause; `facts` replaces those that a person reads otherwise."""
    values = {**refusal.facts, **facts}
    name = refusal.error.name
    cause = values.get("which", values.get("left"))
    words = catalogue(language)
    text = words.get(f"refusal {name} {cause}") or words.get(f"refusal {name}") or words["refusal OTHER"]
    return text.format(**values)
