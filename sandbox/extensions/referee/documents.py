"""The rules of the referee as a table, and as a page of the documentation."""

from sandbox.extensions.referee.table import TABLE
from sandbox.web.docs.generated import Table, of_table, table


def rules() -> Table:
    return table(
        ("rule", "severity", "what is seen", "instead"),
        ((row.id, row.severity.value, row.title, row.instead, row.clause) for row in TABLE),
    )


def rules_page() -> str:
    return of_table("referee", "Rules of the referee", "What it notices about clients.")()
