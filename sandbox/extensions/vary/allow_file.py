"""The files of --allow and --allow-lies. A line says which test a variant may break, or which lie a test may believe:

details_amount=string  tests.test_pay::test_details  # mended in 2.4
token_lasts  tests.test_pay::test_details  # the library renews by the reply alone
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Allowed = Mapping[tuple[T, str], str]  # the reasons by variant or lie, and test
REASON = "known"  # of a line without a reason


def normalize_name(test: str) -> str:
    """Returns the name of a test as these files spell it: with single blanks, and without a blank before `#`, because `
    #` begins the reason."""
    return " ".join(test.split()).replace(" #", "#")


def read_allow_file(text: str, form: str, expected: str, read_cause: Callable[[str], T]) -> dict[tuple[T, str], str]:
    """Reads an allow file. Each line permits one test to fail under one variant, or to believe one lie: `CAUSE TEST #
    reason`. The cause is the variant or the lie. Returns the reasons by cause and test. A line without a reason gets
    the reason `known`. Skips blank lines, and lines that begin with `#`.

    `form` is a regular expression for a cause, and `read_cause` reads a cause. Raises ValueError with the number of the
    wrong line, and with `expected`, which describes the form of a line.
    """
    line_form = re.compile(rf"(?P<cause>{form})\s+(?P<test>\S.*?)(?:\s+#\s*(?P<reason>.*))?\Z")
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            if (parts := line_form.match(line)) is None:
                raise ValueError(f"expected {expected} # with a reason: {line[:80]}")
            allowed[read_cause(parts["cause"]), parts["test"]] = parts["reason"] or REASON
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return allowed


def write_line(cause: object, test: str, reason: str) -> str:
    return f"{cause}  {test}  # {reason}"


def write_allow_file(head: str, rows: Mapping[tuple[Any, str], str | None]) -> str:
    """Returns the text of a file with these rows. A row without a reason gets the reason `known`."""
    reasons = {(cause, normalize_name(test)): reason or REASON for (cause, test), reason in rows.items()}
    return head + "".join(f"{write_line(*key, reasons[key])}\n" for key in sorted(reasons))
