"""The bank's refusals in the customer's words."""

from sandbox.contract.errors import Refusal
from sandbox.web.psu.words import catalogue


def say_refusal(language: str, refusal: Refusal, **facts: object) -> str:
    """The sentence for an error and its cause; `facts` replaces those that a person reads otherwise."""
    values = {**refusal.facts, **facts}
    name = refusal.error.name
    cause = values.get("which", values.get("left"))
    words = catalogue(language)
    text = words.get(f"refusal {name} {cause}") or words.get(f"refusal {name}") or words["refusal OTHER"]
    return text.format(**values)
