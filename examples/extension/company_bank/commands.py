"""A command that calls the control."""

import click

from sandbox.commands.remote import RemoteWorld, remote


@click.command()
@remote
def invoices(far: RemoteWorld) -> None:
    """Lists our payments by invoice."""
    rows = far.control("GET /company/invoices")["invoices"]
    far.tell(rows, lambda: "\n".join(f"{row['invoice']}  {row['status']}" for row in rows) or "no invoice is paid")
