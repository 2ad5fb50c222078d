"""Completes ids and names when the user presses the tab key. The values come from the running server."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

WITHIN = 1.0  # timeout in seconds, because a person waits
SHOWN_MAX = 200
# For each argument or option: the lists of the controls that have its values, each with the field to read.
LISTS = {
    "payment_id": (("payments", "payment_id"), ("standing-orders", "payment_id"), ("bulk-payments", "payment_file_id")),
    "customer": (("customers", "customer"),),
    "iban": (("accounts", "iban"),),
    "client_id": (("clients", "client_id"),),
    "request_id": (("requests", "request_id"),),
    "world": (("worlds", "name"),),
    "hold": (("holds", "name"),),
    "scenario": (("scenarios", "name"),),
}
LISTS["payment_file_id"] = LISTS["payment_id"][2:]
LISTS["target"] = (*LISTS["payment_id"], *LISTS["iban"])

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def find_completer(name: str, *words: str) -> Complete | None:
    """Returns the function that completes the value of the argument or option `name`. It offers `words` and the values
    that the server lists. Returns None if the server has no list of such values."""
    if name not in LISTS:
        return None

    def complete(context: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        values = [
            *words,
            *(value for list_name, field in LISTS[name] for value in list_values(context, list_name, field)),
        ]
        fitting = dict.fromkeys(value for value in values if value.startswith(begun))
        return [CompletionItem(value) for value in list(fitting)[:SHOWN_MAX]]

    return complete


def list_values(context: click.Context, name: str, field: str) -> list[str]:
    """Returns the values of a field in a list of the server, newest first. Returns an empty list if no server answers,
    or if the server refuses the call or does not have the world."""
    import httpx

    from sandbox.client import Controls, Refused, Unreadable
    from sandbox.client.transport import NotJson
    from sandbox.commands.options import find_default_url

    url, key, world = (find_option(context, word) for word in ("url", "key", "world"))
    try:
        with httpx.Client(timeout=WITHIN) as http:
            server = Controls(str(url or find_default_url()), http, key)
            if world in (None, "default") or name == "worlds":
                there = server
            else:
                # Fails if there is no such world. Without it, the list below would make the world.
                server.call("GET", f"/worlds/{quote(world, safe='')}")
                there = server.world(world)
            return [str(row[field]) for row in reversed(there.listed(name))]
    except (httpx.HTTPError, httpx.InvalidURL, Refused, Unreadable, NotJson, click.BadParameter, KeyError):
        return []


def find_option(context: click.Context, name: str) -> Any:
    """Returns the value of an option. A user may give the option to the command or to each of the groups above it. If
    it was given several times, the value nearest to the command counts. If it was not given, returns the command's
    default."""
    above: click.Context | None = context
    while above is not None:
        if above.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            return above.params[name]
        above = above.parent
    return context.params.get(name)
