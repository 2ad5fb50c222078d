"""A call's walk through the house: the files it passes, and how often it goes from one room to another."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

import sandbox
from sandbox.worlds.registry import WorldRegistry
from tests.pki.keys import PUBLIC, digest, signed
from tests.tpp import SCT, Tpp, headers, payment

HOUSE = f"{Path(sandbox.__file__).parent}/"


class Walk(NamedTuple):
    """Every function of the house that was called, as the file that it stands in."""

    steps: tuple[str, ...]

    @property
    def files(self) -> int:
        return len(set(self.steps))

    @property
    def changes_of_room(self) -> int:
        rooms = [step.split("/")[0] for step in self.steps]
        return sum(one != other for one, other in zip(rooms, rooms[1:], strict=False))


def walk_of(do: Callable[[], object]) -> Walk:
    steps: list[str] = []

    def note(frame: FrameType, event: str, about: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(HOUSE):
            steps.append(name.removeprefix(HOUSE))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(before)
    return Walk(tuple(steps))


def environ(method: str, path: str, **more: Any) -> dict[str, Any]:
    """As a server hands it to the application."""
    return EnvironBuilder(path, method=method, **more).get_environ() | {"REQUEST_URI": path}


def answer(app: Flask, asked: dict[str, Any], replies: list[str]) -> None:
    replies.append(run_wsgi_app(app, asked)[1])


# What a walk may take; these numbers only ever fall. A POST aims at 25 files and 20 changes of room, also a signed one.
@pytest.mark.parametrize(
    ("call", "files", "changes"), [("post", 22, 17), ("signed", 23, 17), ("status", 15, 12), ("clock", 23, 31)]
)
def test_a_call_passes_few_files_and_seldom_changes_rooms(
    app: Flask, worlds: WorldRegistry, tpp: Tpp, call: str, files: int, changes: int
) -> None:
    payment_id = tpp.initiated()
    tpp.control("PUT", "/clients/demo-tpp", keys=PUBLIC)
    now = tpp.control("GET", "/clock").get_json()["now"]
    body = environ("POST", "/", json=payment())["wsgi.input"].read()
    proof = {"Digest": digest(body), "Date": now, "Signature": signed(body)}
    status = f"/payments/{SCT}/{payment_id}/status"
    calls: dict[str, Callable[[], dict[str, Any]]] = {
        "post": lambda: environ("POST", f"/payments/{SCT}", json=payment(), headers=headers()),
        "signed": lambda: environ("POST", f"/payments/{SCT}", json=payment(), headers=headers() | proof),
        "status": lambda: environ("GET", status, headers=headers()),
        "clock": lambda: environ("POST", "/_sandbox/clock", json={"advance": "1m"}),
    }
    for _ in range(2):  # the first one fills what is kept for all that follow
        asked = calls[call]()
        worlds.get("default").calls.deliver()  # those before this one
        replies: list[str] = []
        walk = walk_of(partial(answer, app, asked, replies))
        assert replies[0][0] == "2", replies
    assert walk.files <= files and walk.changes_of_room <= changes, sorted(set(walk.steps))


def test_a_walk_counts_each_file_once_and_each_change_of_room() -> None:
    walk = Walk(("web/api/app.py", "web/api/gate.py", "worlds/world.py", "web/api/app.py"))
    assert (walk.files, walk.changes_of_room) == (3, 2)
