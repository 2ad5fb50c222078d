"""Writes a call as one line for a person to read. The access log and the command `requests` show such lines."""

from collections.abc import Mapping
from typing import Any, TextIO

LONGEST = 200  # characters of a text that the caller chose: an unknown path, a name, a method
RESET, QUIET = "\x1b[0m", "\x1b[2m"
COLOURS = {2: "\x1b[32m", 3: "\x1b[33m", 4: "\x1b[31m", 5: "\x1b[35m"}


def call_line(row: Mapping[str, Any], screen: TextIO, suffix: str = "") -> str:
    """Returns a line about a call: bank time, method, path, status, error code, the reason of a refusal, Request-ID,
    and `suffix`. The line has colours if `screen` is a terminal."""
    coloured = screen.isatty()
    status = str(row["status"])
    refused = row["status"] >= 300
    words = [status]
    if row.get("error"):
        words.append(f"{row['error']} {row.get('error_code') or ''}".strip())
    if refused and row.get("rule"):
        words.append(make_printable(str(row["rule"])))
    line = "  ".join(words)
    if coloured:
        line = f"{COLOURS.get(row['status'] // 100, '')}{line}{RESET}"
    end = "  ".join(filter(None, (str(row["request_id"]), suffix)))
    begin = f"{row['at']}  {make_printable(str(row['method']))[:12]} {make_printable(str(row['path']))}"
    return f"{begin}  {line}  {f'{QUIET}{end}{RESET}' if coloured else end}"


def make_printable(text: str) -> str:
    """Returns the first LONGEST characters of the text. Escapes backslashes and each character that is not printable
    ASCII, because control characters would move the cursor of a terminal."""
    return ascii(text[:LONGEST])[1:-1].replace("\\'", "'")
