"""Commands that show what a running sandbox holds, what comes and why."""

from collections.abc import Callable

import click

from sandbox.commands.remote import Far, at, cell, remote, table

# The command, the list below /_sandbox, and the columns that a person sees.
LISTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "payments": (
        "Shows the single payments.",
        (
            "payment_id",
            "product",
            "status",
            "reason",
            "customer",
            "order.instructed_amount.amount",
            "order.instructed_amount.currency",
            "order.creditor_name",
        ),
    ),
    "standing-orders": (
        "Shows the standing orders.",
        ("payment_id", "status", "reason", "customer", "order.frequency", "order.start_date", "order.creditor_name"),
    ),
    "bulk-payments": ("Shows the bulk files.", ("payment_file_id", "product", "status", "reason", "customer")),
    "accounts": ("Shows the accounts and their balances.", ("iban", "type", "customer", "balances")),
    "customers": ("Shows who the bank knows.", ("customer", "name", "kind", "language", "accounts")),
    "clients": ("Shows the registered TPPs.", ("client_id", "name", "roles", "active")),
    "worlds": ("Shows the worlds of the server.", ("name", "scenario", "seed", "clock.now", "clock.mode")),
    "timeline": ("Shows what will happen next, soonest first.", ("at", "trigger", "subject")),
    "callbacks": ("Shows where customers without a browser were sent back to.", ("seq", "at", "subject", "redirect")),
}
SINCE: dict[str, tuple[str, tuple[str, ...]]] = {
    "journal": ("Shows what changed.", ("seq", "at", "subject", "trigger", "from", "to", "reason")),
    "requests": ("Shows what was asked.", ("seq", "at", "operation", "method", "status", "client_id", "request_id")),
}


def _lister(name: str, about: str, columns: tuple[str, ...]) -> click.Command:
    @click.command(name, help=about)
    @remote
    def listed(far: Far) -> None:
        far.tell_rows(far.call("GET", f"/{name}"), name, columns)

    return listed


def _follower(name: str, about: str, columns: tuple[str, ...]) -> click.Command:
    @click.command(name, help=about)
    @click.option("--since", type=click.IntRange(0), default=0, help="Only what came after this number.")
    @remote
    def listed(far: Far, since: int) -> None:
        far.tell_rows(far.call("GET", f"/{name}?since={since}" if since else f"/{name}"), name, columns)

    return listed


def _all(
    lists: dict[str, tuple[str, tuple[str, ...]]], make: Callable[[str, str, tuple[str, ...]], click.Command]
) -> list[click.Command]:
    return [make(name, about, columns) for name, (about, columns) in lists.items()]


@click.command()
@click.argument("request_id")
@remote
def explain(far: Far, request_id: str) -> None:
    """Tells why the call REQUEST_ID was answered so."""
    from urllib.parse import quote

    found = far.call("GET", f"/explain/{quote(request_id, safe='')}")
    names = [name for name in found if found[name] is not None]
    far.tell(found, lambda: table([[name, cell(at(found, name))] for name in names], ("what", "is")))


COMMANDS = (*_all(LISTS, _lister), *_all(SINCE, _follower), explain)
