"""Conditions under which tests run, in addition to axes and lies: nights and gateway faults.

A night is a start time for the bank's clock, half an hour before something special in the calendar, such as the change
to summer time or a leap day. A gateway fault is the failure of a gateway in front of the bank, which hits the second
call of each operation.

A variant names a condition by a choice such as `night=leap_day` or `fault=later_502`. `ready` runs the suite under each
condition.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sandbox.contract.operations import OPERATIONS

NIGHT, FAULT = "night", "fault"
NTH = 2  # the call of each operation that fails: the first one is what the axes gateway and unavailable are about


class Night(NamedTuple):
    """A start time for the bank's clock, half an hour before something special in the calendar (`about`), such as a
    leap day."""

    at: str
    about: str


class GatewayFault(NamedTuple):
    """The failure of a gateway in front of the bank. The second call of each operation gets `answer` in place of the
    bank's reply."""

    answer: Mapping[str, Any]
    about: str


NIGHTS = {
    "summer_time": Night("2027-03-28T01:30:00+01:00", "Clocks go from 2:00 to 3:00."),
    "winter_time": Night("2027-10-31T02:30:00+02:00", "Clocks go from 3:00 back to 2:00."),
    "year_end": Night("2027-12-31T23:30:00+01:00", "The year ends, and the bank is closed on the next day."),
    "leap_day": Night("2028-02-28T23:30:00+01:00", "The next day is February 29."),
}
GATEWAY_FAULTS = {
    "later_502": GatewayFault({"status": 502}, "The second call of each operation is 502; nothing was done."),
    "later_503": GatewayFault(
        {"status": 503, "retry_after": 1},
        "The second call of each operation is 503 with Retry-After; nothing was done.",
    ),
}


def make_rules(fault: str) -> list[dict[str, Any]]:
    """Returns the fault rules by which a world shows this gateway fault: one rule for each operation."""
    answer = dict(GATEWAY_FAULTS[fault].answer)
    return [{"when": {"operation": row.name, "nth": NTH}, "answer": answer} for row in OPERATIONS]
