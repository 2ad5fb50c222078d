"""The table of all rules."""

from sandbox.referee import (
    account_rules,
    flow_rules,
    header_rules,
    likeness_rules,
    retry_rules,
    status_rules,
    token_rules,
)
from sandbox.referee.rule import RULES, Rule

FILES = (account_rules, flow_rules, header_rules, likeness_rules, retry_rules, status_rules, token_rules)
TABLE: tuple[Rule, ...] = tuple(RULES)
BY_ID = {row.id: row for row in TABLE}
