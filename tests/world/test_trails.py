"""What a run relies on survives: calls, findings and the counts of limits, in a file and in a database."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox.referee.stream import referee_of
from sandbox.world.log import pieces
from sandbox.world.log.pieces import Rest, read_rest, write_rest
from tests.world.tenancy import Server, lived

VIEWS = ("/requests", "/referee", "/coverage")


def seen(server: Server, world: str = "w") -> list[Any]:
    return [server.tpp(world).control("GET", view).get_json() for view in VIEWS]


def restarted(server: Server) -> Server:
    server.store.close()
    return Server(server.state, machine=server.machine)


def killed(server: Server) -> Server:
    """Another program goes on with what was written so far."""
    if server.store.is_shared:
        with server.store.connection.write_alone() as database:
            database.execute("DELETE FROM servers")
        return Server(server.state, machine=server.machine)
    image = Path(server.state).with_name("image")
    for end in ("", "-wal"):
        shutil.copyfile(f"{server.state}{end}", f"{image}{end}")
    return Server(image, machine=server.machine)


def test_calls_findings_and_coverage_are_there_after_a_restart(server: Server) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    assert before[0]["requests"] and before[1]["findings"]
    again = restarted(server)
    assert seen(again) == before
    lived(again.tpp("w"))
    calls = [call["seq"] for call in again.tpp("w").listed("requests")]
    assert calls == list(range(1, len(calls) + 1)) and len(calls) == 2 * len(before[0]["requests"])
    again.store.close()


def test_a_kill_loses_no_more_than_came_after_the_last_round(server: Server) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    server.worlds._keeper.keep_all()  # type: ignore[union-attr]
    ids = [server.tpp("w").initiated()]
    again = killed(server)
    assert seen(again) == before
    assert again.tpp("w").listed("payments")[-1]["payment_id"] == ids[0]
    again.store.close()


def test_counts_of_limits_are_there_after_a_restart(server: Server) -> None:
    tpp = server.tpp("w")
    payment_id = tpp.initiated()
    tpp.control("PATCH", "/settings", requests_per_minute=3)
    assert tpp.status(payment_id).status_code == 200
    again = restarted(server)
    assert [again.tpp("w").status(payment_id).status_code for _ in range(3)] == [200, 200, 429]
    again.store.close()


def test_no_more_calls_are_kept_than_memory_has_and_a_portion(server: Server) -> None:
    tpp = server.tpp("w")
    tpp.control("PATCH", "/settings", requests_kept=5)
    for _ in range(6):
        tpp.initiated()
        tpp.initiated()
        server.worlds._keeper.keep_all()  # type: ignore[union-attr]
    world = server.worlds.find("w")
    calls, rest = server.store.trails.read(world.row)
    assert [call[0] for call in calls] == [7, 8, 9, 10, 11, 12] and rest.made == 12


def test_a_world_that_begins_again_has_no_calls_and_a_dropped_one_leaves_none(server: Server) -> None:
    lived(server.tpp("w"))
    server.worlds._keeper.keep_all()  # type: ignore[union-attr]
    row = server.worlds.find("w").row
    server.tpp("w").control("POST", "/reset")
    assert server.store.trails.read(row) == ([], Rest(0, None, {}))
    again = restarted(server)
    assert again.tpp("w").listed("requests") == []
    again.store.close()


def test_what_rooms_keep_of_another_program_begins_anew_and_calls_stay(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    server.store.close()
    monkeypatch.setattr(pieces, "shape", lambda: "another program")
    again = Server(server.state, machine=server.machine)
    assert again.tpp("w").listed("requests") == before[0]["requests"]
    assert referee_of(again.worlds.find("w")).counts.total() == 0
    again.store.close()


@pytest.mark.parametrize("where", ["aside", "pieces"])
def test_calls_that_are_damaged_cost_no_more_than_themselves(server: Server, where: str) -> None:
    ids = lived(server.tpp("w"))
    server.worlds._keeper.keep_all()  # type: ignore[union-attr]
    row = server.worlds.find("w").row
    with server.store.connection.write() as database:
        database.execute(f"UPDATE {where} SET content = ? WHERE world = ?", (b"\x80\x05half", row))
    again = killed(server)
    assert again.tpp("w").listed("requests") == []
    assert [payment["payment_id"] for payment in again.tpp("w").listed("payments")] == ids
    assert "are damaged and are not used" in again.store.connection.notes[-1]
    again.store.close()


def test_what_an_earlier_program_put_aside_is_left_out() -> None:
    import pickle

    assert read_rest(pickle.dumps(([("a call",)], {"referee": b"state"}))) == Rest(0, None, {})
    assert read_rest(None) == Rest(0, None, {})
    assert read_rest(write_rest(7, None, {"referee": b"state"})) == Rest(7, None, {"referee": b"state"})


def test_what_cannot_be_kept_now_is_kept_later(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from sandbox.world.log.format import StateFileError

    lived(server.tpp("w"))
    before = seen(server)
    keeper = server.worlds._keeper
    assert keeper is not None

    def fails(trails: Any) -> None:
        raise StateFileError("the disk is full")

    monkeypatch.setattr(server.store.trails, "keep", fails)
    keeper.keep_all()
    monkeypatch.undo()
    keeper.keep_all()
    again = killed(server)
    assert seen(again) == before
    again.store.close()


def test_what_is_kept_of_a_world_is_packed_without_its_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, held = Server(path), list[bool]()
    lived(server.tpp("w"))
    world = server.worlds.find("w")

    def noted(made: int, limits: Any, kept: dict[str, bytes]) -> bytes:
        held.append(world._lock._is_owned())  # type: ignore[attr-defined]
        return write_rest(made, limits, kept)

    monkeypatch.setattr(pieces, "write_rest", noted)
    assert world.trail() is not None
    assert held == [False]
    server.store.close()
