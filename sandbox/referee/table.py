"""The table: every rule, and which of them look at what."""

from functools import cache

from sandbox.referee import flow_rules, header_rules, reading_rules, retry_rules, status_rules, token_rules
from sandbox.referee.rows import RULES, Rule
from sandbox.referee.seen import PSU_OPENS, PSU_RETURNS

ROOMS = (flow_rules, token_rules, header_rules, retry_rules, status_rules, reading_rules)
TABLE: tuple[Rule, ...] = tuple(RULES)
BY_ID = {row.id: row for row in TABLE}
ACTS = (PSU_OPENS, PSU_RETURNS)


@cache
def rules_for(operation: str | None, refused: bool) -> tuple[Rule, ...]:
    """The rules that look at an accepted or a refused call, or at an act."""
    if operation in ACTS:
        return tuple(row for row in TABLE if operation in row.on)
    return tuple(
        row
        for row in TABLE
        if (not row.on or operation in row.on) and (row.refused in (None, refused) or operation in row.also)
    )
