"""The text that a payment carries to its beneficiary: a Belgian structured communication, or free text."""

import re

from stdnum.be import ogm_vcs

# The library forgives blanks and missing signs; choice 5 knows these two forms only.
STRUCTURED = re.compile(r"\+\+\+[0-9]{3}/[0-9]{4}/[0-9]{5}\+\+\+|[0-9]{12}")
# Control characters, and halves of surrogate pairs: JSON can spell those, but no file or page can hold them.
FREE_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,140}")


def read_structured(text: str) -> str | None:
    """Returns the canonical form of a Belgian structured communication, or None if it is invalid (service 2.1 rule
    5)."""
    if not STRUCTURED.fullmatch(text) or not ogm_vcs.is_valid(text):
        return None
    return f"+++{ogm_vcs.format(text)}+++"


def make_structured(ten_digits: int) -> str:
    """Returns the structured communication that contains a number of at most 10 digits."""
    assert 0 <= ten_digits < 10**10, ten_digits
    digits = f"{ten_digits:010}"
    return f"+++{ogm_vcs.format(digits + ogm_vcs.calc_check_digits(digits))}+++"


def is_free_text(text: str) -> bool:
    """Whether the text has 1 to 140 characters and no control characters (choice 5)."""
    return FREE_TEXT.fullmatch(text) is not None
