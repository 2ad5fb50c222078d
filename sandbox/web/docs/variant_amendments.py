"""What changes in the bank's document where a world differs: one amendment for each value that shows on the wire."""

from collections.abc import Callable
from typing import Any

from sandbox.contract.variants import AXES, Pairs

Document = dict[str, Any]

AMENDMENTS: dict[tuple[str, str], Callable[[Document], None]] = {}


def amended(document: Document, variants: Pairs) -> Document:
    """The document with what these variants change, and a list of them."""
    if not variants:
        return document
    document["info"]["x-variants"] = dict(variants)
    told = [f"- `{axis}: {value}` ({AXES[axis].clause}): {AXES[axis].value(value).does}" for axis, value in variants]
    document["info"]["description"] += "\n\nThis bank differs from the usual one:\n" + "\n".join(told)
    for pair in variants:
        if pair in AMENDMENTS:
            AMENDMENTS[pair](document)
    return document
