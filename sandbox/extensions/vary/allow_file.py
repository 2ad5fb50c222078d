"""The files of --allow and --allow-lies. A line of --allow names a variant, and a test that may fail under it. A line
of --allow-lies names a lie, and a test that may pass although the bank tells this lie. An example of each:

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
    """Returns the name of a test as these files spell it: with single blanks, and with no blank before a `#`. In these
    files, a blank and `#` begin the reason."""
    return " ".join(test.split()).replace(" #", "#")


def read_allow_file(text: str, form: str, expected: str, read_cause: Callable[[str], T]) -> dict[tuple[T, str], str]:
    """Reads an allow file. Each line permits one test to fail under one variant, or to pass although the bank tells one
    lie: `CAUSE TEST # reason`. The variant or the lie is called the cause. Returns the reasons by cause and test. A
    line without a reason gets the reason `known`. Skips blank lines, and lines that begin with `#`.

    `form` is a regular expression for a cause, and `read_cause` reads a cause. Raises ValueError if a line is wrong.
    The error has the number of the line, and either `expected`, which describes a correct line, or the error of
    `read_cause`.
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
    """Returns the text of an allow file: `head`, and then a line for each of `rows`, sorted. `rows` has the reason by
    cause and test. A row without a reason gets the reason `known`."""
    reasons = {(cause, normalize_name(test)): reason or REASON for (cause, test), reason in rows.items()}
    return head + "".join(f"{write_line(*key, reasons[key])}\n" for key in sorted(reasons))
