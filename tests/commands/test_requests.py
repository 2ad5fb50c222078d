"""The lines that tell of calls: the command `requests`, the access log; and how tables fit (choice 12)."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.client import Client, Refused
from sandbox.commands import calls as command
from sandbox.commands.screen import choose_columns, fit_table, format_list, limit_rows
from sandbox.server.call_line import call_line
from sandbox.web.controls.rows import CONTROLS

Run = Callable[..., Result]
ROW = {
    "at": "2027-03-01T09:00:00+01:00",
    "method": "POST",
    "path": "/payments/sepa-credit-transfers",
    "status": 403,
    "error": "FORBIDDEN",
    "error_code": "B14821ZZ-2101-000000",
    "rule": "The limit is 5.00.",
    "request_id": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(url: str) -> Run:
    with Client(url) as tpp:
        tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="12.50")
        with pytest.raises(Refused):
            tpp.pay(creditor_iban="BE68539007547034", creditor_name="Jan Peeters", amount="0")
    return lambda *words: CliRunner().invoke(main, list(words), env={"SANDBOX_URL": url})


def test_a_call_is_one_line_with_all_that_a_reader_needs(run: Run) -> None:
    first, second = run("requests").output.splitlines()
    assert "POST /payments/sepa-credit-transfers  201  " in first
    assert "400 INVALID_INPUT B14821ZZ-1231-000000" in second.replace("400  ", "400 ")


@pytest.mark.parametrize(
    "words, count",
    [
        (("--status", "4"), 1),
        (("--status", "201"), 1),
        (("--operation", "payment_initiation"), 2),
        (("--operation", "token"), 0),
        (("--client", "other-tpp"), 0),
        (("--text", "b14821zz-1231"), 1),
        (("--since", "1"), 1),
        (("--limit", "1"), 1),
        (("--limit", "0"), 2),
    ],
)
def test_calls_are_sifted(run: Run, words: tuple[str, ...], count: int) -> None:
    shown: Any = json.loads(run("requests", "--json", *words).stdout)
    assert len(shown["requests"]) == count


def test_followed_calls_come_one_by_one_and_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(range(3))

    def pause(seconds: float) -> None:
        if next(looks, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "sleep", pause)
    assert len(run("requests", "--follow").stdout.splitlines()) == 2


def test_a_line_is_coloured_on_a_terminal_alone() -> None:
    plain, coloured = call_line(ROW, io.StringIO()), call_line(ROW, Terminal())
    assert "\x1b" not in plain and "\x1b[31m403  FORBIDDEN B14821ZZ-2101-000000  The limit is 5.00." in coloured
    assert call_line(ROW | {"path": "/a\x1b[2J\n"}, io.StringIO()).isprintable()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_fits_the_terminal_and_loses_nothing(width: int) -> None:
    drawn = fit_table([["ACSC", "x" * 90, "[bold]"]], ["status", "text", "more"], width)
    bare = drawn.replace("\x1b[1m", "").replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert max(map(len, bare.splitlines())) <= width
    assert bare.count("x") - bare.count("text") == 90 and "[bold]" in bare.replace("\n", "")


def test_a_narrow_terminal_leaves_out_columns_by_their_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, columns, drops = [["x" * 30, "a", "b" * 20]], ["id", "order.kind", "name"], ["name", "order.kind"]
    assert choose_columns(rows, columns, drops, 58) == ([0, 1, 2], [])
    assert choose_columns(rows, columns, drops, 57) == ([0, 1], ["name"])
    assert choose_columns(rows, columns, drops, 10) == ([0], ["name", "kind"])
    assert format_list(rows, columns, drops, False)[1] == "", "a program gets all"
    monkeypatch.setattr("sandbox.commands.screen.is_on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    text, note = format_list(rows, columns, drops, False)
    assert "bbb" not in text and note == "left out, as the terminal is narrow: name; --wide shows all"
    text, note = format_list(rows, columns, drops, True)
    assert "b" * 20 in text and note == "" and len(text.splitlines()) == 2


def test_every_column_that_is_left_out_is_one_of_the_list() -> None:
    for row in CONTROLS:
        if row.command:
            columns = row.command.columns.split()
            assert set(row.command.drops.split()) < {*columns, ""}, row.name


def test_a_long_list_says_what_it_leaves_out() -> None:
    assert limit_rows([1, 2, 3], 2) == ([2, 3], "1 earlier ones are left out; --limit 0 shows all")
    assert limit_rows([1, 2], 2) == limit_rows([1, 2], 0) == ([1, 2], "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda self=None: None)
    shown = CliRunner().invoke(main, ["completion", shell])
    assert shown.exit_code == 0 and "_BANK_SANDBOX_COMPLETE" in shown.output
    assert CliRunner().invoke(main, ["completion", "tcsh"]).exit_code == 2
