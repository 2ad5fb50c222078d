"""Several things happen to one world at the same moment (choice 10): one comes first, and nothing that was answered is
lost."""

import gc
import pickle
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread

import pytest

from sandbox.banking.money import Money
from sandbox.contract.errors import Refusal
from sandbox.storage import checkpoint
from sandbox.storage.database import Transaction
from sandbox.storage.sqlite_database import SqliteDatabase
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import Change
from sandbox.storage.transfer.form import ParcelError, demand_fit
from sandbox.worlds.counts import count_up
from sandbox.worlds.snapshot import replay
from tests.tpp import refused
from tests.worlds.killed import initiate
from tests.worlds.places import number, rows
from tests.worlds.tenancy import HALF_AN_HOUR, ON_A_FILE, Server, lived


@pytest.mark.parametrize("how", ["reset", "load"])
def test_who_begins_again_too_late_does_not_take_the_place_of_a_newcomer(server: Server, how: str) -> None:
    lived(server.tpp("one"))
    late = server.worlds.find("one")
    server.worlds.make("one", server.worlds.make_beginning("one"), replacing=True)
    ids = lived(server.tpp("one"))
    with pytest.raises(Refusal):
        late.reset() if how == "reset" else late.load(late.beginning)
    before = server.worlds.find("one").ask(hash_state)
    again = server.restarted()
    assert again.payments("one") == ids
    assert again.worlds.find("one").ask(hash_state) == before
    again.store.close()


def test_a_call_that_comes_after_its_world_was_dropped_is_refused_and_leaves_nothing(server: Server) -> None:
    server.tpp("one").initiated()
    late = server.worlds.find("one")
    row = late.row
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 204
    with pytest.raises(Refusal, match="NOT_FOUND"):
        initiate(late, 1)
    server.store.sweep()
    assert number(server.state, f"SELECT count(*) FROM acts WHERE world = {row}") == 0
    assert server.tpp("one").initiate().status_code == 201  # a new world of that name


@ON_A_FILE
def test_an_act_whose_world_is_dropped_before_its_commit_leaves_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a database the lock of the world's row keeps the drop away until the commit."""
    server.tpp("one").initiated()
    write_change = server.store._write_change

    def drop_first(transaction: Transaction, change: Change) -> None:
        write_change(transaction, change)
        server.store.drop("one")

    monkeypatch.setattr(server.store, "_write_change", drop_first)
    with pytest.raises(Refusal, match="NOT_FOUND"):
        initiate(server.worlds.find("one"), 1)
    monkeypatch.undo()
    server.store.sweep()
    assert number(server.state, "SELECT count(*) FROM acts") == 0


def test_what_is_counted_for_a_world_after_it_was_dropped_goes_at_the_next_start(server: Server) -> None:
    world = server.worlds.get("one").row
    server.tpp().initiated()
    assert count_up(server.store, server.worlds.get("default").row, "kept", 1) == 1
    server.store.drop("one")
    assert count_up(server.store, world, "late", 1) == 1
    server.restarted().store.close()
    assert rows(server.state, "SELECT name FROM counts WHERE name IN ('kept', 'late')") == [("kept",)]


def test_a_world_that_is_gone_from_the_state_is_not_read_back_as_an_empty_one(server: Server) -> None:
    server.tpp("one").initiated()
    held = server.worlds.find("one")
    assert server.leave_memory("one")
    server.store.drop("one")
    with pytest.raises(Refusal, match="NOT_FOUND"):
        held.ask(hash_state)
    assert held.dropped


def test_a_call_whose_world_is_dropped_under_it_is_answered(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    tpp = server.tpp("one")
    address = tpp.initiate().headers["Location"]
    held = server.worlds.find("one")
    assert server.leave_memory("one")
    server.worlds.drop("one")
    monkeypatch.setattr(server.worlds, "get", lambda name: held)
    reply = tpp.initiate()
    assert refused(reply, 404, "SBX-0404", "world") and reply.headers["Response-ID"]
    assert tpp.control("POST", "/psu/approve", address=address, customer="alice").status_code == 404


def test_a_world_that_cannot_leave_memory_troubles_no_other(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.tpp("odd").initiated()
    odd, tries = server.worlds.find("odd"), Counter[str]()

    def fails(used: float) -> bool:
        tries["odd"] += 1
        raise AssertionError("the agenda never empties")

    monkeypatch.setattr(odd, "leave_memory", fails)
    server.machine.now += HALF_AN_HOUR
    for _ in range(3):
        assert server.tpp().control("GET", "/clock").status_code == 200
    assert tries["odd"] == 1 and not odd.is_unloaded  # nor at every call
    monkeypatch.undo()
    server.silence()
    assert odd.is_unloaded


def test_worlds_that_are_called_forked_exported_and_leave_memory_at_once_come_to_what_their_acts_give(
    state: Path | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for one: whoever is called sends another away. Every few acts a checkpoint is written beside."""
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    server, start, odd = Server(state, worlds_max=1), Barrier(5), list[tuple[str, int]]()
    paid: dict[str, list[str]] = {name: [] for name in ("a", "b", "c")}

    def pay(name: str) -> None:
        tpp = server.tpp(name)
        start.wait()
        for turn in range(12):
            reply = tpp.initiate()
            paid[name].append(str(reply.get_json()["payment_id"]))
            if turn % 3 == 0:
                tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")

    def control(which: int) -> None:
        start.wait()
        for turn in range(9):
            tpp = server.tpp("abc"[(which + turn) % 3])
            for reply in (
                tpp.http.get(f"{tpp.prefix}/_sandbox/export"),
                tpp.control("PATCH", "/settings", requests_kept=20 + turn),
                tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}),
                server.tpp().control(
                    "POST", f"/worlds/{'abc'[turn % 3]}/fork", **{"as": f"twin-{which}", "replace": True}
                ),
                server.tpp().control("GET", "/metrics"),
                tpp.control("POST", "/clock", advance="1s"),
            ):
                reply.get_data()
                if reply.status_code >= 500 and reply.status_code != 501:
                    odd.append((reply.request.path, reply.status_code))

    for name in paid:
        server.worlds.make(name)
    threads = [Thread(target=pay, args=(name,)) for name in paid]
    threads += [Thread(target=control, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert odd == []
    hashes = server.hashes()
    for name, ids in paid.items():
        assert list(server.worlds.find(name).bank.payments) == ids
    again = server.restarted()
    assert again.hashes() == hashes
    for world in again.worlds.list_all():
        bank = replay(replace(world.beginning, at=world.opening), world.log, world.read_clock().now)
        assert hash_state(bank) == world.ask(hash_state) == hashes[world.name]
    again.store.close()


def test_a_checkpoint_makes_no_thing_that_a_room_took_in_from_elsewhere() -> None:
    for module, name in (("sandbox.banking.countries", "Path"), ("sandbox.bank.state", "Refusal"), ("os", "system")):
        with pytest.raises(ValueError, match="holds no"):
            checkpoint.CheckpointUnpickler(BytesIO(f"c{module}\n{name}\n.".encode())).load()
    assert checkpoint.read_plain(pickle.dumps({"a": [1]})) == {"a": [1]}
    with pytest.raises(ValueError, match="holds no"):
        checkpoint.read_plain(pickle.dumps(Money.read("1.00", "EUR")))


def test_what_does_not_fit_leaves_no_circle_behind() -> None:
    """A file of a hundred thousand acts is read while the collector rests."""
    gc.collect()
    gc.disable()
    try:
        demand_fit("text", int | str, "here")
        assert gc.collect() == 0
    finally:
        gc.enable()
    with pytest.raises(ParcelError, match="here does not take a float"):
        demand_fit(1.5, int | str, "here")


def test_a_file_that_cannot_take_the_last_rows_is_closed_all_the_same(path: Path) -> None:
    server = Server(path)
    server.tpp().initiated()  # its call waits to be written
    assert isinstance(server.store.database, SqliteDatabase)
    server.store.database._connection.execute("PRAGMA query_only = ON")
    server.store.close()
    Server(path, machine=server.machine).store.close()


def test_only_what_added_acts_counts_as_a_commit(server: Server) -> None:
    tpp = server.tpp()
    before = server.store.commits
    tpp.initiated()
    assert server.store.commits == before + 1
    assert tpp.initiate(body={}).status_code == 400
    assert server.store.commits == before + 1
