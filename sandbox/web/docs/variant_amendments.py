"""What changes in the bank's document where a world differs (contract/variants)."""

from sandbox.contract.variants import AXES, Pairs
from sandbox.web.docs import amendments_accounts, amendments_headers, amendments_initiation
from sandbox.web.docs.amending import Amend, Document

# One for each value that shows in the shape of a call or a reply.
AMENDMENTS: dict[tuple[str, str], Amend] = (
    amendments_accounts.AMENDMENTS | amendments_headers.AMENDMENTS | amendments_initiation.AMENDMENTS
)
LAST = ("error_codes", "other")  # it replaces also the codes that others bring


def amended(document: Document, variants: Pairs) -> Document:
    """The document with what these variants change, and a list of them."""
    if not variants:
        return document
    document["info"]["x-variants"] = dict(variants)
    lines = [f"- `{axis}: {value}` ({AXES[axis].clause}): {AXES[axis].value(value).does}" for axis, value in variants]
    document["info"]["description"] += "\n\nThis bank differs from the usual one:\n" + "\n".join(lines)
    for pair in sorted(variants, key=LAST.__eq__):
        if pair in AMENDMENTS:
            AMENDMENTS[pair](document)
    return document
