"""Many tenants: a world that nobody calls leaves memory, and is read again as it was (choice 10)."""

from pathlib import Path
from threading import Barrier, Thread
from uuid import uuid4

import pytest

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.extensions.referee.stream import find_referee
from sandbox.storage.format import StateFileError
from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import Room, WorldRegistry
from sandbox.worlds.world import World
from tests.conftest import MORNING
from tests.logs import Logs
from tests.tpp import Tpp, refused
from tests.worlds.places import blob, change, number
from tests.worlds.tenancy import HALF_AN_HOUR, Machine, Server, lived


def test_a_world_left_alone_is_put_away_and_comes_back_the_same(server: Server) -> None:
    tpp = server.tpp("quiet")
    ids = lived(tpp)
    world = server.worlds.find("quiet")
    before, calls, referee = world.ask(hash_state), tpp.listed("requests"), tpp.control("GET", "/referee").get_json()
    server.silence()
    assert server.is_unloaded("quiet")
    assert [row["payment_id"] for row in tpp.listed("payments")] == ids
    assert not world.is_unloaded and server.worlds.find("quiet") is world
    assert world.ask(hash_state) == before
    assert tpp.listed("requests") == calls
    assert referee["findings"] and tpp.control("GET", "/referee").json == referee


def test_a_world_that_is_called_stays(server: Server) -> None:
    tpp = server.tpp("busy")
    tpp.initiated()
    for _ in range(4):
        server.silence(HALF_AN_HOUR - 1)
        assert not server.is_unloaded("busy")
        tpp.control("GET", "/clock")
    server.silence()
    assert server.is_unloaded("busy")


def test_it_goes_away_and_comes_back_again_and_again(server: Server) -> None:
    tpp = server.tpp("quiet")
    expected = []
    for turn in range(3):
        expected += [tpp.initiated() for _ in range(turn + 1)]
        server.silence()
        assert server.is_unloaded("quiet")
        assert [row["payment_id"] for row in tpp.listed("payments")] == expected
        assert [row["seq"] for row in tpp.listed("requests")] == list(range(1, len(expected) + 1))


def test_the_list_of_worlds_tells_who_is_away_and_wakes_nobody(server: Server) -> None:
    server.tpp("quiet").initiated()
    awake = server.tpp().control("GET", "/worlds/quiet").get_json()
    server.silence()
    listed = {row["name"]: row for row in server.tpp().listed("worlds")}
    assert {name: row["away"] for name, row in listed.items()} == {"default": False, "quiet": True}
    awake["clock"]["due_next"] = None  # what is due is known once the world is loaded
    assert listed["quiet"] == awake | {"away": True}
    page = server.tpp().http.get("/_sandbox/console/worlds").text
    assert page.count(">away</span>") == 1
    assert server.is_unloaded("quiet")


def test_a_frozen_clock_stands_while_a_world_is_away(server: Server) -> None:
    tpp = server.tpp("quiet")
    payment_id = tpp.initiated()
    server.silence()
    server.machine.now += 1e6
    assert tpp.control("GET", "/clock").get_json()["now"] == MORNING
    assert tpp.status(payment_id).get_json()["status"] == "RCVD"


def test_a_running_clock_goes_on_as_if_the_world_had_never_been_away(path: Path) -> None:
    server = Server(path, rate=1)
    tpp = server.tpp("quiet")
    payment_id = tpp.initiated()
    server.silence()
    assert server.is_unloaded("quiet")
    server.machine.now += HALF_AN_HOUR / 2
    assert server.tpp().control("GET", "/worlds/quiet").get_json()["clock"]["now"] == "2027-03-01T09:45:00+01:00"
    assert server.is_unloaded("quiet")
    server.machine.now += HALF_AN_HOUR
    history = tpp.control("GET", f"/payments/{payment_id}").get_json()["history"]
    assert [(one["at"], one["status"]) for one in history] == [
        (MORNING, "RCVD"),
        ("2027-03-01T09:00:01+01:00", "PATC"),
        ("2027-03-01T10:00:00+01:00", "CANC"),
    ]
    assert tpp.control("GET", "/clock").get_json()["now"] == "2027-03-01T10:15:00+01:00"
    server.store.close()


def test_faults_limits_and_settings_outlast_it(server: Server) -> None:
    tpp = server.tpp("quiet")
    payment_id = tpp.initiated()
    tpp.control("PATCH", "/settings", requests_per_minute=3)
    tpp.control("POST", "/faults", when={"operation": "payment_status", "nth": 2}, answer={"status": 500})
    assert [tpp.status(payment_id).status_code for _ in range(1)] == [200]
    server.silence()
    assert server.is_unloaded("quiet")
    assert tpp.status(payment_id).status_code == 500
    assert [tpp.status(payment_id).status_code for _ in range(3)] == [200, 200, 429]


def test_a_world_that_is_away_is_forked_reset_and_dropped_like_any(server: Server) -> None:
    for name in ("one", "two", "three"):
        lived(server.tpp(name))
    one = server.worlds.find("one").ask(hash_state)
    server.silence()
    assert all(server.is_unloaded(name) for name in ("one", "two", "three"))
    assert server.tpp().control("POST", "/worlds/one/fork", **{"as": "twin"}).status_code == 201
    assert server.worlds.find("twin").ask(hash_state) == one
    assert server.tpp("two").control("POST", "/reset").status_code == 200
    assert server.tpp("two").listed("payments") == [] and server.tpp("two").listed("requests") == []
    held = server.worlds.find("three")
    assert server.tpp().control("DELETE", "/worlds/three").status_code == 204
    assert refused(server.tpp().control("GET", "/worlds/three"), 404, "SBX-0404", "world")
    assert held.is_unloaded
    assert server.tpp("three").listed("payments") == []


def test_after_a_restart_a_world_is_read_when_it_is_called(path: Path) -> None:
    first = Server(path)
    lived(first.tpp("quiet"))
    lived(first.tpp("other"))
    before = {name: first.worlds.find(name).ask(hash_state) for name in ("quiet", "other")}
    calls = first.tpp("quiet").listed("requests")
    first.silence()
    assert first.is_unloaded("quiet")
    first.store.close()
    second = Server(path, machine=first.machine)
    assert second.worlds.counts == (0, 3)
    listed = {row["name"]: row["clock"]["now"] for row in second.tpp().listed("worlds")}
    assert listed == {"default": MORNING, "quiet": "2027-03-01T09:00:30+01:00", "other": "2027-03-01T09:00:30+01:00"}
    assert second.tpp("quiet").listed("requests") == calls
    assert {name: second.worlds.find(name).ask(hash_state) for name in before} == before
    second.store.close()


def test_with_a_file_a_full_server_puts_the_longest_idle_world_away(path: Path) -> None:
    server = Server(path, worlds_max=3)
    for name in ("a", "b", "c", "d"):
        server.machine.now += 1
        assert server.tpp(name).initiate().status_code == 201
    assert [world.name for world in server.worlds.list_all() if world.is_unloaded] == ["a", "b"]
    server.machine.now += 1
    server.tpp("b").initiated()
    assert [world.name for world in server.worlds.list_all() if world.is_unloaded] == ["a", "c"]
    assert [row["status"] for row in server.tpp("a").listed("payments")] == ["RCVD"]
    server.store.close()


def test_without_a_file_a_full_server_refuses_a_new_world_and_says_what_to_do() -> None:
    worlds = WorldRegistry(
        make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), Machine(), room=Room(worlds_max=3)
    )
    app = assemble(worlds)
    bare = Tpp(app)
    for name in ("one", "two"):
        Tpp(app, name).initiated()
    told = refused(Tpp(app, "three").initiate(), 503, "SBX-0503-000002", "DELETE /_sandbox/worlds/")
    assert told and refused(bare.control("PUT", "/worlds/three"), 503, "SBX-0503-000002", "3 worlds")
    assert refused(bare.control("POST", "/worlds/one/fork", **{"as": "three"}), 503, "SBX-0503-000002")
    assert Tpp(app, "one").initiate().status_code == 201
    assert bare.control("PUT", "/worlds/two", replace=True).status_code == 201
    assert bare.control("POST", "/worlds/one/fork", **{"as": "two", "replace": True}).status_code == 201
    assert bare.control("DELETE", "/worlds/two").status_code == 204
    assert Tpp(app, "three").initiate().status_code == 201


def test_the_default_world_is_never_refused() -> None:
    worlds = WorldRegistry(
        make_first_beginning(seed=7, at=read_instant(MORNING), rate=0), Machine(), room=Room(worlds_max=1)
    )
    app = assemble(worlds)
    assert Tpp(app).control("DELETE", "/worlds/default").status_code == 204
    assert Tpp(app).initiate().status_code == 201
    assert Tpp(app, "second").initiate().status_code == 503


def test_calls_that_cannot_be_written_keep_their_world_in_memory(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object, **more: object) -> None:
        raise StateFileError("the disk is full")

    tpp = server.tpp("quiet")
    payment_id = tpp.initiated()
    world = server.worlds.find("quiet")
    monkeypatch.setattr(server.store.database, "repeat", fails)
    server.machine.now += HALF_AN_HOUR
    assert server.tpp().control("GET", "/clock").status_code == 200
    assert (server.is_unloaded("quiet"), server.leave_memory("quiet")) == (False, False)
    monkeypatch.undo()
    assert server.leave_memory("quiet") and world.is_unloaded
    assert tpp.status(payment_id).get_json()["status"] == "RCVD"
    assert [row["seq"] for row in tpp.listed("requests")] == [1, 2]


# A call, and its world leaves memory, at one moment: in both orders


class Slow:
    """Stops inside, once, until the test lets it go on."""

    def __init__(self, of: object) -> None:
        self.of = of
        self.inside, self.goes_on = Barrier(2, timeout=10), Barrier(2, timeout=10)

    def __call__(self, *args: object) -> object:
        self.inside.wait()
        self.goes_on.wait()
        return self.of(*args)  # type: ignore[operator]


def test_a_call_that_comes_while_its_world_leaves_memory_finds_it_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tpp = server.tpp("quiet")
    ids = lived(tpp)
    world = server.worlds.find("quiet")
    slow = Slow(world.calls.write)
    monkeypatch.setattr(world.calls, "write", slow)
    goes = Thread(target=server.worlds.put_away, args=(world,))
    goes.start()
    slow.inside.wait()
    server.machine.now += 1
    found = [row["payment_id"] for row in tpp.listed("payments")]  # nor does it wait
    slow.goes_on.wait()
    goes.join()
    assert found == ids and not world.is_unloaded


def test_many_that_read_a_world_while_it_leaves_memory_find_it_whole(server: Server) -> None:
    tpp = server.tpp("quiet")
    ids = lived(tpp)
    world, found = server.worlds.find("quiet"), list[list[str]]()

    def read() -> None:
        found.extend([row["payment_id"] for row in world.ask(listed)] for _ in range(30))

    threads = [Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        world.leave_memory(world.used)
    for thread in threads:
        thread.join()
    assert found == [ids] * 90


def listed(bank: object) -> list[dict[str, str]]:
    return [{"payment_id": name} for name in bank.payments]  # type: ignore[attr-defined]


def test_a_call_that_comes_first_keeps_its_world_in_memory(server: Server) -> None:
    tpp = server.tpp("quiet")
    tpp.initiated()
    world = server.worlds.find("quiet")
    used = world.used
    server.machine.now += 1
    tpp.control("GET", "/clock")
    assert not world.leave_memory(used) and not world.is_unloaded
    assert world.leave_memory(world.used) and world.is_unloaded


def test_many_callers_of_worlds_that_come_and_go_lose_nothing(path: Path) -> None:
    """Room for one world, and calls of four: each call brings its own back and sends another away."""
    server = Server(path, worlds_max=1)
    start = Barrier(8)
    made: dict[str, list[str]] = {f"w{which}": [] for which in range(4)}

    def work(which: int) -> None:
        name = f"w{which % 4}"
        tpp = Tpp(server.app, name)
        start.wait()
        for _ in range(6):
            made[name].append(tpp.initiated(endtoend_identification=str(uuid4())[:35]))

    threads = [Thread(target=work, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.tpp("w0").listed("payments")  # the calls that ended together may have left a world each
    assert server.worlds.counts[0] <= 2  # its own, which came last, and the one that there is room for
    for name, ids in made.items():
        tpp = server.tpp(name)
        assert sorted(row["payment_id"] for row in tpp.listed("payments")) == sorted(ids) and len(ids) == 12
        assert [row["seq"] for row in tpp.listed("requests")] == list(range(1, 13))
        assert sum(find_referee(server.worlds.find(name)).met.values()) == 12
    server.store.close()


# What is damaged


def test_a_damaged_world_is_told_when_it_is_called_and_the_others_go_on(server: Server, logs: Logs) -> None:
    lived(server.tpp("quiet"))
    row = server.worlds.find("quiet").row
    again = server.restarted()
    change(server.state, f"UPDATE acts SET given = {blob(server.state, b'[1]')} WHERE number = 3 AND world = {row}")
    assert [refused(again.tpp("quiet").initiate(), 503, "SBX-0503-000001") for _ in range(2)] == [True, True]
    assert again.tpp().initiate().status_code == 201
    told = f"{again.store.path} is damaged: act 3 of its world {row} is not as it was written"
    assert [record.getMessage() for record in logs.records] == [told]  # once
    assert refused(again.tpp().control("GET", "/health"), 503, "SBX-0503-000003", told)
    again.store.close()


def test_a_damaged_checkpoint_costs_a_world_that_left_memory_nothing(server: Server) -> None:
    ids = lived(server.tpp("quiet"))
    assert server.leave_memory("quiet")
    again = server.restarted()  # the end waits for the checkpoint
    assert number(server.state, "SELECT count(*) FROM checkpoints") >= 1
    change(server.state, f"UPDATE pieces SET content = {blob(server.state, b'bank' + bytes(99))}")
    assert again.payments("quiet") == ids
    assert "its world" in again.store.notes[0] and "all acts are done again" in again.store.notes[0]
    again.store.close()


def test_what_another_room_keeps_is_made_once(server: Server) -> None:
    world: World = server.worlds.get("default")
    made: list[object] = []

    class Note:
        def pack(self) -> bytes:
            return b"note"

    def make(packed: bytes | None) -> Note:
        made.append(packed)
        return Note()

    assert world.calls.attach("note", make) is world.calls.attach("note", make)
    assert world.leave_memory(world.used)
    world.calls.attach("note", make)
    assert made == [None, None if world.is_shared else b"note"]  # of a shared world it is made of the calls
