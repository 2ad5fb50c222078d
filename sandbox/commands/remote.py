"""The options, the calls and the output of the commands that call a running sandbox."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote

import click

from sandbox.commands.completion import find_completer
from sandbox.commands.options import ask_first, option, url_option
from sandbox.commands.screen import draw_progress, format_json, format_list, limit_rows, suggest_nearest
from sandbox.web.controls.control_row import Control, fill_path
from sandbox.web.controls.rows import CONTROLS

if TYPE_CHECKING:
    from sandbox.client import Controls

CARRIED_WITHIN = 600.0  # timeout in seconds, long enough for the export or import of a whole world
PORTION = 1 << 16  # bytes between two updates of the progress bar
# POST controls that change nothing.
READING_POSTS = ("/requests/count", "/requests/verify", "/payee-checks")
SHARED = ("url", "world", "key", "as_json")


class RemoteWorld:
    """The world that the options --url and --world of a command choose, at a running sandbox. Also prints the output of
    the command, as text or as JSON."""

    def __init__(self, controls: "Controls", as_json: bool) -> None:
        from sandbox.client import Controls

        self.controls = controls
        self.as_json = as_json
        server, separator, quoted = controls.base_url.rpartition("/worlds/")
        self.world = unquote(quoted) if separator else "default"
        self.server = Controls(server, controls.http, controls.key) if separator else controls
        self._is_there = not separator

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Calls a path of the controls, and returns the body of the reply. If the call only reads, first checks that
        the world exists."""
        if method == "GET" or path in READING_POSTS:
            self.demand_world()
        return self.controls.call(method, path, body).body

    def demand_world(self) -> None:
        """Ends the command if its world does not exist. A command that only reads must not make a world (choice 12)."""
        if self._is_there:
            return
        from sandbox.client import Refused

        name = self.world
        try:
            self.server.call("GET", f"/worlds/{quote(name, safe='')}")
        except Refused as no:
            if no.status != 404:
                raise
            hint = suggest_nearest(name, [str(row["name"]) for row in self.server.listed("worlds")])
            raise click.ClickException(f"there is no world {name!r}.{hint} `bank-sandbox worlds` lists them") from None
        self._is_there = True

    def control(self, name: str, body: Any = None, /, **names: str) -> Any:
        """Calls a control by its name, such as `POST /clock`. `names` replace the placeholders in its path."""
        return self.ask(next(row for row in CONTROLS if row.name == name), names, body)

    def demand_yes(self, name: str, yes: bool, /, **fields: Any) -> None:
        """If a call of the control `name` with these `fields` would destroy something, asks on a terminal whether to go
        on, and ends the command after a no. With `yes` or without a terminal, does not ask."""
        row = next(row for row in CONTROLS if row.name == name)
        ask_first(row.describe_loss({"world": self.world} | fields), yes)

    def ask(self, row: Control, names: Mapping[str, str], body: Any = None, since: int = 0) -> Any:
        """Calls a control, and returns the body of the reply. With `since`, asks for the rows after this number. Leaves
        out fields of the request's body that are None. If the reply is the first page of a list, adds the rows of all
        other pages."""
        path = fill_path(row.path, names)
        if isinstance(body, dict):
            body = {name: value for name, value in body.items() if value is not None}
        query = f"?since={since}" if since else ""
        reply = self.call(row.method, f"{path}{query}", body if row.body is None or body is not None else {})
        return self._with_pages(path, reply) if row.pages else reply

    def _with_pages(self, path: str, reply: dict[str, Any]) -> dict[str, Any]:
        """Returns the reply with the rows of all following pages added to its list."""
        (name, rows), following = next(iter(reply.items())), reply.pop("next", None)
        while following is not None:
            page = self.call("GET", f"{path}?after={quote(following)}")
            rows += page[name]
            following = page.get("next")
        return reply

    def carry(self, method: str, path: str, content: bytes | None = None) -> bytes:
        """Calls a path of the controls whose request or reply is large, and shows progress. Returns the bytes of the
        reply. Raises Refused if the sandbox refuses the call."""
        from sandbox.client.transport import ClientReply, Refused, read_json

        headers = ({"Content-Type": "application/octet-stream"} if content is not None else {}) | self.controls.headers
        if method == "GET":
            self.demand_world()
        url = f"{self.controls.base_url}/_sandbox{path}"
        size = 0 if content is None else len(content)
        with draw_progress("sending" if size else "receiving", size or None, "bytes") as step:
            if size:
                headers["Content-Length"] = str(size)
            pieces = send_in_portions(content, step) if content else None
            http = self.controls.http
            with http.stream(method, url, headers=headers, content=pieces, timeout=CARRIED_WITHIN) as answer:
                parts = []
                for piece in answer.iter_bytes():
                    parts.append(piece)
                    step(0 if size else len(piece))
        body = b"".join(parts)
        if not answer.is_success:
            raise Refused(ClientReply(answer.status_code, read_json(body), answer.headers, None, path))
        return body

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Ends the command with one sentence and exit code 1 if the sandbox refuses a call within the block, or if no
        sandbox answers."""
        import httpx

        from sandbox.client import Refused, Unreadable
        from sandbox.client.transport import NotJson

        try:
            yield
        except Refused as no:
            raise click.ClickException(f"{no.status} {no.error}: {no.error_description}") from None
        except (Unreadable, NotJson) as no:
            raise click.ClickException(f"the server at that address is no sandbox: {no}") from None
        except (httpx.TransportError, httpx.InvalidURL) as no:
            base_url = self.controls.base_url
            raise click.ClickException(
                f"no sandbox answers at {base_url}: {no}. `bank-sandbox serve` starts one"
            ) from None

    def tell(self, body: Any, render: Callable[[], str]) -> None:
        """With --json, prints `body` as JSON. Otherwise prints the text that `render` returns."""
        click.echo(format_json(body) if self.as_json else render())

    def tell_rows(
        self,
        body: dict[str, Any],
        name: str,
        columns: Sequence[str],
        limit: int = 0,
        drops: Sequence[str] = (),
        wide: bool = False,
    ) -> None:
        """Prints the newest rows of the list `name` in `body`: as a table, or with --json as `body` with these rows
        only. Prints at most `limit` rows, or all if `limit` is 0. On a narrow terminal, the table leaves out the
        columns `drops`, unless `wide` is true."""
        rows, left_out = limit_rows(list(body[name]), limit)
        cells = [[format_cell(get_value_at(row, column)) for column in columns] for row in rows]
        text, narrow = ("", "") if self.as_json else format_list(cells, columns, drops, wide)
        self.tell(body | {name: rows}, lambda: text)
        for note in filter(None, (left_out, narrow)):
            click.echo(note, err=True)


def remote(command: Callable[..., None]) -> Callable[..., Any]:
    """Decorates a command that calls a running sandbox. Adds the options --url, --world, --key and --json. Passes the
    world that they name to the command as its first argument, a RemoteWorld. If a call fails, ends the command with one
    sentence."""

    @url_option("--url", help="The address of the sandbox.")
    @option(
        "--world",
        default="default",
        help="The world; `default` is the bare address.",
        shell_complete=find_completer("world"),
    )
    @option("--key", default=None, help="The key of its controls.")
    @option("--json", "as_json", is_flag=True, help="The answer as JSON.")
    @functools.wraps(command)
    def driven(*words: Any, **options: Any) -> None:
        from sandbox.client import Controls

        url, world, key, as_json = map(options.pop, SHARED)
        with Controls(url, key=key) as server:
            there = server if world == "default" else server.world(world)
            far = RemoteWorld(there, as_json)
            with far.explain_failures():
                command(far, *words, **options)

    return cast(Callable[..., Any], driven)


def get_value_at(row: Any, path: str) -> Any:
    """Returns the value at a path of a row, such as `order.creditor_name`, or None if the row has no such path."""
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def format_cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(format_cell(item) for item in value)
    if isinstance(value, dict):
        return " ".join(format_cell(item) for item in value.values())
    return "" if value is None else str(value)


def describe_clock(clock: Any) -> str:
    pace = "frozen" if clock["mode"] == "frozen" else f"running, {clock['rate']} s a second"
    ahead = f"; next is due at {clock['due_next']}" if clock["due_next"] else ""
    return f"{clock['now']}, {pace}{ahead}"


def send_in_portions(content: bytes, step: Callable[[int], None]) -> Iterator[bytes]:
    """Yields the content in pieces. Calls `step` with the length of each piece after it was sent."""
    for start in range(0, len(content), PORTION):
        piece = content[start : start + PORTION]
        yield piece
        step(len(piece))
