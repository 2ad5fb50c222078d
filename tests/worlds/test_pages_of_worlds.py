"""The list of worlds in pages: however many there are, a call reads no more than it shows."""

import json
from typing import Any
from unittest.mock import Mock

import pytest

from sandbox.web.console import pages
from sandbox.web.controls import world_views
from tests.tpp import refused
from tests.worlds.tenancy import Server

NAMES = ["a", "b", "c", "d", "default", "e"]


@pytest.fixture
def full(server: Server) -> Server:
    for name in NAMES:
        if name != "default":
            server.worlds.make(name)
    return server


def page(server: Server, query: str = "") -> Any:
    return server.tpp().http.get(f"/_sandbox/worlds{query}")


def test_all_worlds_come_in_one_reply_where_they_fit(full: Server) -> None:
    reply = page(full)
    assert [row["name"] for row in reply.json["worlds"]] == NAMES and set(reply.json) == {"worlds"}
    assert page(full, "?limit=6").json == reply.json


@pytest.mark.parametrize("limit", [1, 2, 4, 5])
def test_pages_hold_each_world_once_and_in_order(full: Server, limit: int) -> None:
    names: list[str] = []
    reply = page(full, f"?limit={limit}").json
    while True:
        rows = [row["name"] for row in reply["worlds"]]
        assert 0 < len(rows) <= limit
        names += rows
        if "next" not in reply:
            break
        reply = page(full, f"?limit={limit}&after={reply['next']}").json
    assert names == NAMES


def test_a_page_may_begin_after_a_name_that_is_gone(full: Server) -> None:
    assert [row["name"] for row in page(full, "?after=bb&limit=2").json["worlds"]] == ["c", "d"]
    assert page(full, "?after=zz").json == {"worlds": []}


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=-1", "limit=1001", "limit=x", "limit=", "limit=%C2%B2", "after=.."]
)
def test_what_is_no_page_is_refused(server: Server, query: str) -> None:
    assert refused(page(server, f"?{query}"), 400, "SBX-", query.partition("=")[0])


def test_no_more_rows_are_read_than_are_shown(full: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Mock(side_effect=world_views.make_world_row)
    monkeypatch.setattr(world_views, "make_world_row", shown)
    kept = Mock(side_effect=full.store.read_page)
    monkeypatch.setattr(full.store, "read_page", kept)
    assert page(full, "?limit=2").json["next"] == "b"
    assert shown.call_count == 2
    assert [call.args for call in kept.call_args_list] == [("", 3)]


def test_the_console_leads_from_page_to_page(full: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "WORLDS_SHOWN", 4)
    first, second = (full.tpp().http.get(f"/_sandbox/console/worlds{query}").text for query in ("", "?after=d"))
    assert 'href="?after=d"' in first and "to_world" not in first and ">e</a>" not in first
    assert ">e</a>" in second and "← First" in second and "Next →" not in second


def test_the_command_follows_the_pages(full: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox.commands.remote import RemoteWorld

    far = RemoteWorld.__new__(RemoteWorld)
    monkeypatch.setattr(world_views, "PAGE", 2)
    far.call = lambda method, path, body=None: json.loads(full.tpp().http.get(f"/_sandbox{path}").data)  # type: ignore
    assert [row["name"] for row in far.control("GET /worlds")["worlds"]] == NAMES
