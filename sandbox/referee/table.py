"""The table of all rules."""

from sandbox.referee import (
    account_rules,
    attendance_rules,
    flow_rules,
    header_rules,
    likeness_rules,
    retry_rules,
    status_rules,
    token_rules,
)
from sandbox.referee.rule import RULES, Rule

ROOMS = (
    flow_rules,
    token_rules,
    header_rules,
    retry_rules,
    likeness_rules,
    status_rules,
    account_rules,
    attendance_rules,
)
TABLE: tuple[Rule, ...] = tuple(RULES)
BY_ID = {row.id: row for row in TABLE}
