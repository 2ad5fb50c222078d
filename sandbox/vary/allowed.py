"""The file of known breaks, which `--allow` lets pass: a line each, with a reason.

amounts_in_details=string  tests.test_pay::test_details  # mended in 2.4
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandbox.vary.causes import Break
from sandbox.vary.space import Space, Variant, unknown
from sandbox.vary.verdict import Verdict

HEAD = "# Breaks that are known: AXIS=VALUE[,AXIS=VALUE]  TEST  # reason. The run fails on any other.\n"
LINE = re.compile(r"(?P<axes>[^\s=,]+=[^\s=,]+(?:,[^\s=,]+=[^\s=,]+)*)\s+(?P<test>\S.*?)(?:\s+#\s*(?P<reason>.*))?\Z")
REASON = "known"


@dataclass(frozen=True, slots=True)
class Allowed:
    """A break that is known."""

    variant: Variant
    test: str
    reason: str

    def __str__(self) -> str:
        return f"{self.variant}  {self.test}  # {self.reason}"


def read_allowed(text: str, space: Space) -> list[Allowed]:
    """Raises ValueError that names the line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            if (parts := LINE.match(line)) is None:
                raise ValueError(f"expected AXIS=VALUE, the name of a test and # with a reason: {line[:80]}")
            found.append(Allowed(read_variant(parts["axes"], space), parts["test"], parts["reason"] or REASON))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return found


def read_variant(text: str, space: Space) -> Variant:
    """`AXIS=VALUE,AXIS=VALUE`; raises ValueError with the nearest name."""
    chosen: dict[str, str] = {}
    for part in text.split(","):
        axis, sign, value = part.strip().partition("=")
        if axis not in space.axes:
            raise ValueError(unknown("axis", axis, tuple(space.axes)))
        if not sign or value not in space.axes[axis]:
            raise ValueError(unknown(f"value of {axis}", value, space.axes[axis]))
        chosen[axis] = value
    return space.variant(chosen)


def allow(verdict: Verdict, allowed: Sequence[Allowed]) -> Verdict:
    """Marks the breaks that are known, and lists the lines of those that broke no longer though they were run."""
    reasons = {(one.variant, one.test): one.reason for one in allowed}
    breaks = tuple(replace(one, allowed=reasons.get((one.variant, plain(one.test)))) for one in verdict.breaks)
    there = {(one.variant, plain(one.test)) for one in breaks}
    run = set(map(plain, verdict.tests)) - set(map(plain, verdict.flaky))
    ended = [one for one in allowed if (one.variant, one.test) not in there and one.test in run]
    met = (str(one) for one in ended if dict(one.variant.changes).keys() <= verdict.met)
    return replace(verdict, breaks=breaks, ended=tuple(met))


def plain(test: str) -> str:
    """A test's name as a line has it, where a # after a space begins the reason."""
    return " ".join(test.split()).replace(" #", "#")


def write_allowed(breaks: Sequence[Break]) -> str:
    """The breaks as a file; those that were allowed keep their reason."""
    rows = sorted({(one.variant, plain(one.test)): one.allowed or REASON for one in breaks}.items())
    return HEAD + "".join(f"{Allowed(variant, test, reason)}\n" for (variant, test), reason in rows)
