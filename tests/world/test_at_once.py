"""Several things happen to one world at the same moment (choice 10): one comes first, and nothing that was answered is
lost."""

import gc
import pickle
from collections import Counter
from io import BytesIO
from pathlib import Path
from threading import Barrier, Thread

import pytest

from sandbox.banking.money import Money
from sandbox.contract.errors import Refusal
from sandbox.world.log import checkpoint
from sandbox.world.log.state_hash import state_hash
from sandbox.world.replay import replayed
from sandbox.world.transfer.form import ParcelError, demand_fit
from tests.tpp import refused
from tests.world.tenancy import HALF_AN_HOUR, ON_A_FILE, Server, lived


def rows(server: Server, query: str) -> int:
    server.store.writer.flush()
    return int(server.store.connection.database.execute(query).fetchone()[0])


@pytest.mark.parametrize("how", ["reset", "load"])
def test_who_begins_again_too_late_does_not_take_the_place_of_a_newcomer(server: Server, how: str) -> None:
    lived(server.tpp("one"))
    late = server.worlds.find("one")
    server.worlds.make("one", server.worlds.beginning_of("one"), replacing=True)
    ids = lived(server.tpp("one"))
    with pytest.raises(Refusal):
        late.reset() if how == "reset" else late.load(late.beginning)
    before = server.worlds.find("one").ask(state_hash)
    server.store.close()
    again = Server(server.state, machine=server.machine)
    assert [row["payment_id"] for row in again.tpp("one").listed("payments")] == ids
    assert again.worlds.find("one").ask(state_hash) == before
    again.store.close()


@ON_A_FILE
def test_an_act_that_comes_after_its_world_was_dropped_leaves_nothing_in_the_file(server: Server) -> None:
    server.tpp("one").initiated()
    late = server.worlds.find("one")
    assert server.tpp().control("DELETE", "/worlds/one").status_code == 204
    before = rows(server, "SELECT count(*) FROM acts")
    server.worlds._roll.add(late)  # as a call has it that found it before
    assert server.tpp("one").initiate().status_code == 201
    assert rows(server, "SELECT count(*) FROM acts") == before


@ON_A_FILE
def test_a_world_that_is_gone_from_the_file_is_not_read_back_as_an_empty_one(server: Server) -> None:
    """Another one takes its name in the file, and is not yet found under it."""
    lived(server.tpp("one"))
    server.silence()
    assert server.is_unloaded("one")
    server.store.drop("one")
    assert refused(server.tpp("one").initiate(), 404, "SBX-0404", "world")


def test_a_call_whose_world_is_dropped_under_it_is_answered(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    tpp = server.tpp("one")
    address = tpp.initiate().headers["Location"]
    held = server.worlds.find("one")
    server.silence()
    server.worlds.drop("one")
    monkeypatch.setattr(server.worlds, "get", lambda name: held)
    reply = tpp.initiate()
    assert refused(reply, 404, "SBX-0404", "world") and reply.headers["Response-ID"]
    assert tpp.control("POST", "/psu/approve", address=address, customer="alice").status_code == 404


def test_a_world_that_cannot_be_put_away_troubles_no_other(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.tpp("odd").initiated()
    odd, tries = server.worlds.find("odd"), Counter[str]()

    def fails(used: float) -> bool:
        tries["put away"] += 1
        raise AssertionError("the agenda never empties")

    monkeypatch.setattr(odd, "unload", fails)
    server.machine.now += HALF_AN_HOUR
    for _ in range(3):
        assert server.tpp().control("GET", "/clock").status_code == 200
    assert tries["put away"] == 1 and not odd.is_unloaded  # nor at every call
    monkeypatch.undo()
    server.silence()
    assert odd.is_unloaded


@ON_A_FILE
def test_what_cannot_be_kept_does_not_happen(server: Server) -> None:
    tpp = server.tpp()
    tpp.initiated()
    server.store.connection.broken = "the disk is full"
    before = tpp.control("GET", "/clock").json
    assert tpp.control("POST", "/clock", advance="1h").status_code == 503
    assert tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}).status_code == 503
    assert tpp.http.delete("/_sandbox/faults").status_code == 503
    assert tpp.control("GET", "/clock").json == before
    assert tpp.control("GET", "/faults").json == {"faults": []}


def test_a_file_of_another_program_is_gone_through_within_the_bounds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Server(path)
    for name in ("a", "b", "c", "d", "e"):
        first.tpp(name).initiated()
    first.store.close()
    monkeypatch.setattr("sandbox.world.log.state_store.program", lambda: "another")
    second = Server(path, worlds_max=2)
    assert second.worlds.counts == (2, 6)
    second.store.close()


def test_worlds_that_are_called_forked_exported_and_put_away_at_once_come_to_what_their_acts_give(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for one: whoever is called sends another away. Every few acts a checkpoint is written beside."""
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    server, start, odd = Server(path, worlds_max=1), Barrier(5), list[tuple[str, int]]()
    paid: dict[str, list[str]] = {name: [] for name in ("a", "b", "c")}

    def pay(name: str) -> None:
        tpp = server.tpp(name)
        start.wait()
        for number in range(12):
            reply = tpp.initiate()
            paid[name].append(str(reply.get_json()["payment_id"]))
            if number % 3 == 0:
                tpp.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice")

    def control(number: int) -> None:
        start.wait()
        for turn in range(9):
            tpp = server.tpp("abc"[(number + turn) % 3])
            for reply in (
                tpp.http.get(f"{tpp.prefix}/_sandbox/export"),
                tpp.control("PATCH", "/settings", requests_kept=20 + turn),
                tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}),
                server.tpp().control(
                    "POST", f"/worlds/{'abc'[turn % 3]}/fork", **{"as": f"twin-{number}", "replace": True}
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
    threads += [Thread(target=control, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert odd == []
    hashes = {world.name: world.ask(state_hash) for world in server.worlds.all()}
    for name, ids in paid.items():
        assert list(server.worlds.find(name).bank.payments) == ids
    server.store.close()
    again = Server(path, machine=server.machine)
    assert {world.name: world.ask(state_hash) for world in again.worlds.all()} == hashes
    for world in again.worlds.all():
        bank = replayed(world.beginning, world.log.first(len(world.log)), world.bank.clock.now)
        assert state_hash(bank) == hashes[world.name]
    again.store.close()


def test_a_checkpoint_makes_no_thing_that_a_room_took_in_from_elsewhere() -> None:
    for module, name in (("sandbox.banking.countries", "Path"), ("sandbox.bank.state", "Refusal"), ("os", "system")):
        with pytest.raises(ValueError, match="holds no"):
            checkpoint.Reader(BytesIO(f"c{module}\n{name}\n.".encode())).load()
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
    world = server.worlds.get("default")
    server.store.writer.note("pace", world._backlog, world.pace)  # as of a call that nobody answered yet
    server.store.connection.database.execute("PRAGMA query_only = ON")
    server.store.close()
    Server(path, machine=server.machine).store.close()


def test_only_what_was_written_counts_as_a_flush(server: Server) -> None:
    tpp = server.tpp()
    before = server.store.writer.flushes
    tpp.initiated()
    assert server.store.writer.flushes == before + 1
    assert tpp.initiate(body={}).status_code == 400
    assert server.store.writer.flushes == before + 1
