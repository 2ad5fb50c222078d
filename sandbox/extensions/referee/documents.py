"""The rules of the referee as a table, and as a page of the documentation."""

from sandbox.extensions.referee.table import TABLE
from sandbox.web.docs.reference_tables import Table, table, table_page


def rules() -> Table:
    return table(
        ("rule", "severity", "what is seen", "instead"),
        ((row.id, row.severity.value, row.title, row.instead, row.clause) for row in TABLE),
    )


def rules_page() -> str:
    return table_page("referee", "Rules of the referee", "What it notices about clients.")
