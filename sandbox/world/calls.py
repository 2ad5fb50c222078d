"""The log of what was asked: one line a call."""

from datetime import datetime
from typing import NamedTuple


class Exchange(NamedTuple):
    """A call as it was answered: the log of what was asked."""

    seq: int
    request_id: str
    at: datetime
    operation: str | None
    method: str
    path: str
    status: int
    client_id: str | None
    # Why it was answered so: the rule, its clause, and what it was judged on.
    error: str | None = None
    rule: str = ""
    clause: str = ""
    subject: str | None = None
    state: str | None = None
    scenario_rule: str | None = None
