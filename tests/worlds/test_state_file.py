"""A bank that is kept: what was answered is there after a restart, and what cannot be used is left as it is."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
import requests
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import machine_time
from sandbox.storage import checkpoint
from sandbox.storage.format import StateFileError
from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Store, open_store
from sandbox.worlds.registry import WorldRegistry
from tests.forked import Forked
from tests.tpp import Tpp, headers, payment
from tests.worlds.places import change, rows

MORNING = "2027-03-01T09:00:00+01:00"


OPEN: list[Store] = []


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def opened(state: Path | str) -> tuple[WorldRegistry, Flask, Store]:
    store = open_store(state)
    OPEN.append(store)
    worlds = WorldRegistry(make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine_time, store)
    app = assemble(worlds)
    app.testing = True
    return worlds, app, store


def lived(app: Flask, world: str, payments: int) -> None:
    """A short life: initiations, signatures, refusals, time."""
    tpp = Tpp(app, world)
    for number in range(payments):
        reply = tpp.initiate()
        if number % 2:
            tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")
        tpp.initiate(body=payment(creditor_name=None))
    tpp.advance("30s")


def hashes(worlds: WorldRegistry) -> dict[str, str]:
    return {world.name: world.ask(hash_state) for world in worlds.list_all()}


def test_a_restarted_bank_is_the_same_bank_in_every_world(state: Path | str) -> None:
    worlds, app, store = opened(state)
    lived(app, "default", 6)
    lived(app, "two", 3)
    Tpp(app).control("POST", "/worlds/default/fork", **{"as": "three"})
    before = hashes(worlds)
    store.close()
    assert hashes(opened(state)[0]) == before


def test_it_goes_on_where_it_stood(state: Path | str) -> None:
    _, app, store = opened(state)
    payment_id = Tpp(app).initiated()
    Tpp(app).advance("59m")
    store.close()
    again = Tpp(opened(state)[1])
    assert again.status(payment_id).get_json()["status"] == "PATC"
    again.advance("60s")
    assert again.status(payment_id).json == {"payment_id": payment_id, "status": "CANC", "reason": "TIME_OUT"}


def test_a_checkpoint_gives_the_same_bank_as_all_acts_do(state: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    worlds, app, store = opened(state)
    lived(app, "default", 9)
    before = hashes(worlds)
    store.close()
    assert rows(state, "SELECT acts FROM checkpoints")[0][0] >= 4
    assert hashes(opened(state)[0]) == before


def test_a_dropped_or_reset_world_leaves_nothing_behind(state: Path | str) -> None:
    _, app, store = opened(state)
    lived(app, "gone", 2)
    lived(app, "default", 2)
    tpp = Tpp(app)
    assert tpp.control("DELETE", "/worlds/gone").status_code == 204
    assert tpp.control("POST", "/reset").status_code == 200
    store.close()
    worlds, again, _ = opened(state)
    assert [world.name for world in worlds.list_all()] == ["default"]
    assert Tpp(again).listed("payments") == []


def test_settings_that_were_changed_stay_changed(state: Path | str) -> None:
    _, app, store = opened(state)
    assert Tpp(app).control("PATCH", "/settings", unsigned_after="5m").status_code == 200
    store.close()
    assert Tpp(opened(state)[1]).control("GET", "/settings").get_json()["settings"]["unsigned_after"] == "5m"


def test_faults_that_were_ordered_survive_with_their_counts_and_dropped_ones_do_not(state: Path | str) -> None:
    _, app, store = opened(state)
    tpp = Tpp(app)
    tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 2}, answer={"status": 503})
    payment_id = tpp.initiated()
    assert tpp.status(payment_id).status_code == 200
    store.close()
    _, app, store = opened(state)
    assert [Tpp(app).status(payment_id).status_code for _ in range(2)] == [503, 200]
    assert Tpp(app).control("DELETE", "/faults").status_code == 204
    store.close()
    assert Tpp(opened(state)[1]).listed("faults") == []


def test_a_fork_and_an_imported_world_survive_too(state: Path | str) -> None:
    worlds, app, store = opened(state)
    lived(app, "default", 2)
    tpp = Tpp(app)
    tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 503})
    tpp.control("POST", "/worlds/default/fork", **{"as": "default", "replace": True})  # also onto its own name
    tpp.http.post("/_sandbox/import?as=carried", data=tpp.control("GET", "/export").data)
    before = hashes(worlds)
    assert before["carried"] == before["default"]
    store.close()
    worlds, app, _ = opened(state)
    assert hashes(worlds) == before
    assert len(Tpp(app, "carried").listed("faults")) == 1


@pytest.mark.parametrize(
    "content, told",
    [
        (b"this is a letter, and no database at all" * 40, "no state file"),
        (b"SQLite format 3\x00" + b"\x07" * 300, "no state file"),
    ],
)
def test_a_file_of_another_kind_is_refused_and_unharmed(path: Path, content: bytes, told: str) -> None:
    path.write_bytes(content)
    with pytest.raises(StateFileError, match=told):
        open_store(path)
    assert path.read_bytes() == content


def test_one_of_another_version_is_refused_and_unharmed(state: Path | str) -> None:
    open_store(state).close()
    change(state, "UPDATE about SET version = 99")
    with pytest.raises(StateFileError, match="version 99"):
        open_store(state)
    assert rows(state, "SELECT version FROM about") == [(99,)]


def test_a_bank_that_cannot_write_answers_no_and_does_nothing_more(state: Path | str) -> None:
    _, app, store = opened(state)
    tpp = Tpp(app)
    first = tpp.initiated()
    if isinstance(store.database, SqliteDatabase):
        store.database._connection.execute("PRAGMA query_only = ON")  # as a full disk or a file that is read-only would
    else:
        change(state, "ALTER TABLE acts ADD CONSTRAINT room CHECK (number < 0) NOT VALID")
    assert tpp.initiate().status_code == 503
    assert tpp.initiate().status_code == 503
    assert tpp.status(first).status_code == 200
    store.close()
    again = Tpp(opened(state)[1])
    assert [row["payment_id"] for row in again.listed("payments")] == [first]


def test_what_was_answered_survives_a_kill_at_any_moment(state: Path | str) -> None:
    """Killed without a word, again and again, while calls are under way: nothing lost, nothing doubled."""
    random, answered = Random(1), []
    for _ in range(3):
        server = served(state)
        try:
            address = server.stdout.readline().removeprefix("listening on ").strip()
            for _ in range(random.randrange(3, 25)):
                answered.append(initiated(address))
        finally:
            server.kill()
    found = [row["payment_id"] for row in Tpp(opened(state)[1]).listed("payments")]
    assert found == answered


def served(state: Path | str) -> Forked:
    words = ("--port", "0", "--frozen", "--at", MORNING, "--seed", "7", "--log", "off", "--state", str(state))
    return Forked("serve", *words)


def initiated(address: str) -> str:
    body = payment(endtoend_identification=str(uuid4())[:35])
    reply = requests.post(f"{address}/payments/sepa-credit-transfers", json=body, headers=headers(), timeout=20)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["payment_id"])


def test_a_world_that_was_rewound_is_there_after_a_restart(state: Path | str) -> None:
    worlds, app, store = opened(state)
    lived(app, "default", 2)
    lived(app, "default", 2)
    first = Tpp(app).control("POST", "/worlds/default/rewind", at="2027-03-01T09:00:30+01:00")
    assert (first.status_code, len(Tpp(app).listed("payments"))) == (200, 4)  # also those made at that time
    assert Tpp(app).control("POST", "/worlds/default/rewind", at="2027-03-01T09:00:10+01:00").status_code == 200
    Tpp(app).initiated(creditor_name="After the rewind")
    before = worlds.get("default").ask(hash_state)
    store.close()
    worlds, app, _ = opened(state)
    assert worlds.get("default").ask(hash_state) == before
    names = [row["order"]["creditor_name"] for row in Tpp(app).listed("payments")]
    assert (len(names), names[-1]) == (3, "After the rewind")
