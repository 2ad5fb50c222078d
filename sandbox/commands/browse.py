"""The command `open`, which opens a page of a running sandbox in the browser."""

from urllib.parse import quote

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.remote import RemoteWorld, remote
from sandbox.commands.screen import suggest_nearest

CONSOLE = "/_sandbox/"
PAGES = {
    "console": CONSOLE,
    "docs": "/_sandbox/docs",
    "try": "/_sandbox/docs/try",
} | {
    word: f"/_sandbox/console/{word}"
    for word in (
        "payments", "standing-orders", "bulk-payments", "accounts", "inbox", "calls", "timeline", "journal", "scenario",
        "settings", "worlds",
    )
}  # fmt: skip
WITH_IDS = ("payments", "standing-orders", "bulk-payments", "accounts")


@click.command("open")
@click.argument("target", required=False, metavar="[TARGET]", shell_complete=find_completer("target", *PAGES))
@remote
def browse(far: RemoteWorld, target: str | None) -> None:
    """Opens a page of the sandbox in the browser. Without TARGET it is the console.

    TARGET is a page, such as payments or docs, the id of a payment, a standing order or a bulk file, an IBAN, or a
    Request-ID. The address is printed too. Without a browser it is only printed."""
    import webbrowser

    path = find_page(far, target)
    address = far.controls.base_url + path
    far.tell({"address": address}, lambda: address)
    if not webbrowser.open(address):
        click.echo("There is no browser here: open the address in one.", err=True)


def find_page(far: RemoteWorld, target: str | None) -> str:
    """Returns the path of the page that `target` names. `target` is a word of PAGES or an id. Without it, the page is
    the console. Ends the command if the world does not exist, or has no such page and no such id."""
    far.call("GET", "/health")
    path = PAGES.get(target or "console") or find_page_of_id(far, target or "")
    if path is None:
        hint = suggest_nearest(target or "", PAGES)
        raise click.ClickException(
            f"world {far.world} has no page and no id {target!r:.80}.{hint} Pages: {', '.join(PAGES)}"
        )
    return path


def find_page_of_id(far: RemoteWorld, name: str) -> str | None:
    """Returns the path of the console's page about the initiation, the account or the call with this id. If several
    calls have it, the page is about the newest. Returns None if the world has no such id."""
    quoted = quote(name, safe="")
    for kind in WITH_IDS:
        if is_there(far, f"/{kind}/{quoted}"):
            return f"/_sandbox/console/{kind}/{quoted}"
    calls = far.call("GET", "/requests")["requests"]
    numbers = [row["seq"] for row in calls if row["request_id"] == name]
    return f"/_sandbox/console/calls/{numbers[-1]}" if numbers else None


def is_there(far: RemoteWorld, path: str) -> bool:
    from sandbox.client import Refused

    try:
        far.call("GET", path)
    except Refused as no:
        if no.status != 404:
            raise
        return False
    return True
