"""The output of commands. Programs get plain text. A terminal gets colours, and tables that fit its width.

rich is imported only when it is used, because its import would make every command start slower."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from shutil import get_terminal_size
from typing import Any, TypeVar

from sandbox.banking.names import find_nearest
from sandbox.contract.moves import STATUS_STYLES

Item = TypeVar("Item")
GAP = "  "  # between two columns
WIDE = 10_000  # width in characters at which no line is folded
GOOD, WAITING, BAD = "green", "yellow", "red"
TONES = {"wait": WAITING, "move": WAITING, "good": GOOD, "bad": BAD, "gone": BAD}
COLOURS = {status.value: TONES[look.tone] for status, look in STATUS_STYLES.items()}
COLOURS |= {"holds": GOOD, "active": GOOD, "error": BAD}


def format_json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2, default=_convert_number)


def _convert_number(value: Any) -> float:
    assert isinstance(value, Decimal)
    return float(value)


def suggest_nearest(name: str, names: Iterable[str]) -> str:
    """Returns a sentence with the most similar name, or an empty text if no name is similar."""
    near = find_nearest(name, names)
    return f" Did you mean {near}?" if near else ""


def is_on_terminal() -> bool:
    return sys.stdout.isatty()


def format_table(rows: Sequence[Sequence[str]], columns: Sequence[str]) -> str:
    """Returns the rows as a table. A column is named by a path such as `order.amount`, and the last word of the path is
    its title. On a terminal, the table fits the width of the terminal."""
    head = list_titles(columns)
    return fit_table(rows, head) if is_on_terminal() else align_rows(rows, head)


def choose_columns(
    rows: Sequence[Sequence[str]], columns: Sequence[str], drops: Sequence[str], width: int
) -> tuple[list[int], list[str]]:
    """Returns the positions of the columns to show, and the names of the columns to leave out. Columns are left out in
    the order of `drops` until the table fits the width."""
    widths = [max(len(row[at]) for row in [list_titles(columns), *rows]) for at in range(len(columns))]
    shown_columns, left_out = list(range(len(columns))), []
    for name in drops:
        if sum(widths[at] + len(GAP) for at in shown_columns) - len(GAP) <= width:
            break
        shown_columns.remove(columns.index(name))
        left_out.append(list_titles([name])[0])
    return shown_columns, left_out


def format_list(
    rows: Sequence[Sequence[str]], columns: Sequence[str], drops: Sequence[str], wide: bool
) -> tuple[str, str]:
    """Returns the table of a list, and a note on the columns that a narrow terminal leaves out. With `wide`, or if the
    output is no terminal, all columns are shown. The note is empty if no column is left out."""
    if not is_on_terminal():
        return align_rows(rows, list_titles(columns)), ""
    if wide:
        return fit_table(rows, list_titles(columns), WIDE), ""
    shown_columns, left_out = choose_columns(rows, columns, drops, get_terminal_size().columns)
    text = fit_table(
        [[row[at] for at in shown_columns] for row in rows], list_titles([columns[at] for at in shown_columns])
    )
    return text, f"left out, as the terminal is narrow: {', '.join(left_out)}; --wide shows all" if left_out else ""


def list_titles(columns: Sequence[str]) -> list[str]:
    """Returns the title of each column: the last word of its path, such as `amount` for `order.amount`."""
    return [column.rpartition(".")[2] for column in columns]


def align_rows(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    widths = [max(len(row[index]) for row in [head, *rows]) for index in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def fit_table(rows: Sequence[Sequence[str]], head: Sequence[str], width: int | None = None) -> str:
    """Returns the table. If it is wider than `width` (default: the terminal), folds the cells, but never cuts them."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, len(GAP), 0, 0), pad_edge=False, header_style="bold")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=find_colour(cell)) for cell in row))
    console = Console(width=width, force_terminal=True, highlight=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


def find_colour(cell: str) -> str:
    """Returns the colour of a payment's status, of an HTTP status, or of one of a few words such as `active`. Returns
    an empty text for any other cell."""
    if len(cell) == 3 and cell.isdigit():
        return {"2": GOOD, "3": WAITING, "4": BAD, "5": BAD}.get(cell[0], "")
    return COLOURS.get(cell, "")


def limit_rows(rows: list[Item], limit: int | None) -> tuple[list[Item], str]:
    """Returns the newest rows, `limit` at most, and a note on the rows that are left out. Returns all rows if `limit`
    is 0 or None. The note is empty if no row is left out."""
    if not limit or len(rows) <= limit:
        return rows, ""
    return rows[-limit:], f"{len(rows) - limit:,} earlier ones are left out; --limit 0 shows all"


@contextmanager
def draw_progress(label: str, total: int | None, unit: str = "") -> Iterator[Callable[..., None]]:
    """Draws a progress bar on a terminal. With a total, shows the share that is done and the time left. Without a
    total, shows the time that has passed.

    Yields a function that adds to the count of finished items. It can also change `total` and `label`."""
    if not sys.stderr.isatty():
        yield lambda count, **changes: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted: ProgressColumn = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    time_column: ProgressColumn = TimeRemainingColumn() if total else TimeElapsedColumn()
    shared = is_on_terminal()  # then lines that the command prints meanwhile are shown above the bar
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), counted, time_column)
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=shared) as progress:
        task = progress.add_task(label, total=total)
        yield lambda count, *, total=None, label=None: progress.update(
            task, advance=count, total=total, description=label
        )


def show_progress(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Yields the items. On a terminal, draws a progress bar with the time left."""
    with draw_progress(label, total) as step:
        for item in items:
            yield item
            step(1)
