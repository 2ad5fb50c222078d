"""What a run relies on survives: calls, findings and the counts of limits, in a file and in a database."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from sandbox.extensions.referee.stream import find_referee
from sandbox.storage.format import StateFileError
from sandbox.worlds import call_history
from sandbox.worlds.call_history import StoredAttachments, read_attachments, write_attachments
from tests.worlds.places import blob, change, number, rows
from tests.worlds.tenancy import ON_A_FILE, Server, lived

VIEWS = ("/requests", "/referee", "/coverage")


def seen(server: Server, world: str = "w") -> list[Any]:
    return [server.tpp(world).control("GET", view).get_json() for view in VIEWS]


def killed(server: Server) -> Server:
    """Another program goes on with what was written so far."""
    if server.store.is_shared:
        return Server(server.state, machine=server.machine)
    image = Path(server.state).with_name("image")
    for end in ("", "-wal"):
        shutil.copyfile(f"{server.state}{end}", f"{image}{end}")
    return Server(image, machine=server.machine)


def stored_calls(server: Server, row: int) -> list[int]:
    """The number of the last call in each portion."""
    return [last for (last,) in rows(server.state, f"SELECT last FROM calls WHERE world = {row} ORDER BY portion")]


def test_calls_findings_and_coverage_are_there_after_a_restart(server: Server) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    assert before[0]["requests"] and before[1]["findings"]
    again = server.restarted()
    assert seen(again) == before
    lived(again.tpp("w"))
    calls = [call["seq"] for call in again.tpp("w").listed("requests")]
    assert calls == list(range(1, len(calls) + 1)) and len(calls) == 2 * len(before[0]["requests"])
    again.store.close()


def test_a_kill_loses_no_more_than_came_after_the_last_round(server: Server) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    server.write_calls()
    ids = [server.tpp("w").initiated()]
    again = killed(server)
    assert seen(again) == before
    assert again.payments("w")[-1:] == ids
    again.store.close()


def test_calls_of_a_fork_and_of_an_import_are_there_after_a_restart(server: Server) -> None:
    lived(server.tpp("w"))
    tpp = server.tpp()
    assert tpp.control("POST", "/worlds/w/fork", **{"as": "fork"}).status_code == 201
    export = server.tpp("w").control("GET", "/export").data
    assert tpp.http.post("/_sandbox/import?as=import", data=export).status_code == 201
    before = {name: seen(server, name)[:2] for name in ("w", "fork", "import")}
    assert before["fork"][0]["requests"] and before["import"][1]["findings"]
    again = server.restarted()
    assert {name: seen(again, name)[:2] for name in before} == before
    again.store.close()


def test_counts_of_limits_are_there_after_a_restart(server: Server) -> None:
    tpp = server.tpp("w")
    payment_id = tpp.initiated()
    tpp.control("PATCH", "/settings", requests_per_minute=3)
    assert tpp.status(payment_id).status_code == 200
    again = server.restarted()
    assert [again.tpp("w").status(payment_id).status_code for _ in range(3)] == [200, 200, 429]
    again.store.close()


def test_no_more_calls_are_stored_than_memory_has_and_a_portion(server: Server) -> None:
    tpp = server.tpp("w")
    tpp.control("PATCH", "/settings", requests_kept=5)
    row = server.worlds.find("w").row
    for _ in range(6):
        tpp.initiated()
        tpp.initiated()
        server.write_calls()
    assert stored_calls(server, row) == [8, 10, 12]
    assert [call["seq"] for call in tpp.listed("requests")] == [8, 9, 10, 11, 12]


@pytest.mark.parametrize("end", ["reset", "drop"])
def test_a_world_that_begins_again_has_no_calls_and_a_dropped_one_leaves_none(server: Server, end: str) -> None:
    lived(server.tpp("w"))
    server.write_calls()
    row = server.worlds.find("w").row
    assert stored_calls(server, row)
    if end == "reset":
        assert server.tpp("w").control("POST", "/reset").status_code == 200
    else:
        assert server.tpp().control("DELETE", "/worlds/w").status_code == 204
    again = server.restarted()
    again.store.sweep(all_of_them=True)
    for table in ("acts", "calls", "aside", "counts", "checkpoints", "pieces"):
        assert number(server.state, f"SELECT count(*) FROM {table} WHERE world = {row}") == 0
    assert again.tpp("w").listed("requests") == []
    again.store.close()


@ON_A_FILE
def test_what_rooms_keep_of_another_program_begins_anew_and_calls_stay(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(server.tpp("w"))
    before = seen(server)
    server.store.close()
    monkeypatch.setattr(call_history, "compute_attachments_digest", lambda: "another program")
    again = Server(server.state, machine=server.machine)
    assert again.tpp("w").listed("requests") == before[0]["requests"]
    assert find_referee(again.worlds.find("w")).counts.total() == 0
    again.store.close()


@ON_A_FILE
def test_attachments_with_a_field_that_is_not_known_are_left_out(server: Server) -> None:
    row = server.worlds.find("default").row
    attachments = StoredAttachments(7, None, {"referee": b"state"}, 3)
    write_attachments(server.store, row, attachments)
    assert read_attachments(server.store, row) == attachments
    vars(attachments)["colour"] = "red"
    write_attachments(server.store, row, attachments)
    assert read_attachments(server.store, row) == StoredAttachments()
    assert "colour" in server.store.notes[-1]


@pytest.mark.parametrize("content", [b"\x80\x05half", b""])
def test_calls_that_are_damaged_cost_no_more_than_themselves(server: Server, content: bytes) -> None:
    ids = lived(server.tpp("w"))
    server.write_calls()
    row = server.worlds.find("w").row
    change(server.state, f"UPDATE calls SET content = {blob(server.state, content)} WHERE world = {row}")
    again = killed(server)
    assert again.tpp("w").listed("requests") == []
    assert again.payments("w") == ids
    assert f"the calls and findings of its world {row} are damaged and are not used" in again.store.notes[-1]
    again.tpp("w").initiated()
    assert len(again.tpp("w").listed("requests")) == 1
    again.store.close()


@ON_A_FILE
def test_findings_that_are_damaged_cost_no_more_than_themselves(server: Server) -> None:
    ids = lived(server.tpp("w"))
    server.write_calls()
    row = server.worlds.find("w").row
    change(server.state, f"UPDATE aside SET content = {blob(server.state, b'half')} WHERE world = {row}")
    again = killed(server)
    assert again.payments("w") == ids and again.tpp("w").control("GET", "/referee").status_code == 200
    assert "are damaged and are not used" in again.store.notes[-1]
    again.store.close()


def test_what_cannot_be_stored_now_is_stored_later(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(server.tpp("w"))
    before = seen(server)

    def fails(*given: Any) -> None:
        raise StateFileError("the disk is full")

    monkeypatch.setattr(server.store.database, "repeat", fails)
    server.write_calls()
    monkeypatch.undo()
    server.write_calls()
    again = killed(server)
    assert seen(again) == before
    again.store.close()


def test_calls_before_a_failed_one_are_stored_all_the_same(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of the bank is thrown away, and nothing else."""
    lived(server.tpp("w"))
    before = len(server.tpp("w").listed("requests"))

    def fails(*given: Any) -> None:
        raise StateFileError("the disk is full")

    monkeypatch.setattr(server.store, "_write_change", fails)
    assert server.tpp("w").initiate().status_code == 503
    monkeypatch.undo()
    server.write_calls()
    again = killed(server)
    calls = again.tpp("w").listed("requests")
    assert [call["seq"] for call in calls] == list(range(1, before + 2)) and calls[-1]["status"] == 503
    again.store.close()


def test_what_is_kept_of_a_world_is_packed_without_its_lock(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(server.tpp("w"))
    world, held = server.worlds.find("w"), list[bool]()
    of = call_history.CallHistory._write_portion

    def noted(self: call_history.CallHistory, *given: Any) -> None:
        held.append(world.lock._is_owned())  # type: ignore[attr-defined]
        of(self, *given)

    monkeypatch.setattr(call_history.CallHistory, "_write_portion", noted)
    server.write_calls()
    assert held == [False]
