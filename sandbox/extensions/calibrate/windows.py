"""Cuts a recording into windows: stretches of successive calls, which the search explains one after the other.

If possible, a cut is at a place where no token, code, address or initiation is used on both sides.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox.extensions.calibrate.playing import RecordedStep
from sandbox.extensions.calibrate.variables import ADDRESSES, simplify_name

LEAST, MOST = 6, 60  # steps of a window
LINKED = frozenset(["paymentid", "paymentfileid", "accesstoken", "refreshtoken"]) | ADDRESSES - {"redirect"}


def list_windows(steps: Sequence[RecordedStep]) -> list[range]:
    """Returns the windows as ranges of indexes in `steps`."""
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for at, step in enumerate(steps):
        for text in mentions(step):
            first.setdefault(text, at)
            last[text] = at
    reach = list(range(len(steps)))
    for text, at in first.items():
        reach[at] = max(reach[at], last[text])
    windows, begin, until = [], 0, 0
    for at in range(len(steps)):
        until = max(until, reach[at])
        length = at + 1 - begin
        if (until <= at and length >= LEAST) or length >= MOST:
            windows.append(range(begin, at + 1))
            begin = at + 1
    if begin < len(steps):
        windows.append(range(begin, len(steps)))
    return windows


def mentions(step: RecordedStep) -> Iterator[str]:
    """Yields the texts by which a call is linked to other calls: ids, references, tokens, codes and addresses."""
    call = step.call
    if call.path[0].endswith("payments"):
        yield from call.path[2:3]
    if call.access_token:
        yield call.access_token
    yield from call.challenges
    for name in ("code", "refresh_token"):
        if name in call.form and call.path == ("token",):
            yield call.form[name]
    if "code-challenge" in call.headers:
        yield call.headers["code-challenge"]
    reference = call.json.get("endtoend_identification")
    if isinstance(reference, str):
        yield reference
    yield from list_texts(call.reply, "")
    address = call.json.get("address") if step.is_control else call.reply_headers.get("location")
    if isinstance(address, str):
        yield address.partition("?")[0]


def list_texts(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from list_texts(inner, simplify_name(key))
    elif isinstance(value, list):
        for inner in value[:5]:
            yield from list_texts(inner, name)
    elif isinstance(value, str) and name in LINKED and "/accounts" not in value:
        yield value.partition("?")[0] if name in ADDRESSES else value
