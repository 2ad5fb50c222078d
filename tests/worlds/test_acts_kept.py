"""A stored world need not keep all its acts: earlier ones go behind a checkpoint, which the world then starts from."""

from pathlib import Path

import pytest

from sandbox.bank.records import Creditor, Payment
from sandbox.storage import checkpoint, checkpoints
from sandbox.storage.checkpoints import Checkpoints
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.worlds.whole_stores import check_worlds, copy_banks
from tests.tpp import refused
from tests.worlds.places import change, number, rows
from tests.worlds.tenancy import Server, lived

KEPT = 8


@pytest.fixture(autouse=True)
def checkpoints_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    monkeypatch.setattr(checkpoint, "SHARE", 1_000)
    monkeypatch.setattr(checkpoints, "ACTS_BEFORE_START", 0)


@pytest.fixture
def bounded(server: Server) -> Server:
    server.store.acts_kept = KEPT
    return server


def settle(server: Server) -> None:
    """Waits for what is written beside the calls."""
    for thread in list(server.store._background):
        thread.join()


def live(server: Server, times: int = 3, world: str = "default") -> list[str]:
    ids = []
    for _ in range(times):
        ids += lived(server.tpp(world))
        settle(server)
    return ids


def first_act(state: Path | str) -> int:
    return number(state, "SELECT min(number) FROM acts")


def test_by_default_a_stored_world_keeps_all_its_acts(server: Server, state: Path | str) -> None:
    live(server)
    assert first_act(state) == 1
    assert rows(state, "SELECT count(*) FROM checkpoints WHERE is_start = 1") == [(0,)]


def test_acts_before_the_start_are_deleted_and_the_world_is_the_same(bounded: Server, state: Path | str) -> None:
    ids = live(bounded)
    assert first_act(state) > KEPT
    before = bounded.hashes()
    again = bounded.restarted()
    assert again.hashes() == before
    assert again.payments() == ids
    more = lived(again.tpp())
    assert again.payments() == [*ids, *more]
    assert len(set(again.payments())) == len(ids) + len(more)
    again.store.close()


def test_another_program_reads_the_start(bounded: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    live(bounded)
    before = bounded.hashes()
    monkeypatch.setattr(checkpoint, "compute_program_digest", lambda: "of another program")
    again = bounded.restarted()
    assert again.hashes() == before
    again.store.close()


def test_a_damaged_start_is_damage_of_its_world(bounded: Server, state: Path | str) -> None:
    live(bounded)
    bounded.store.close()
    change(state, "DELETE FROM pieces")
    again = Server(state)
    assert again.tpp().control("GET", "/payments").status_code == 503
    assert "starts with" in str(again.store.database.damage)
    again.store.close()


def test_a_copy_that_is_older_than_the_start_is_read_again(database: str) -> None:
    one, other = Server(database), Server(database)
    one.store.acts_kept = KEPT
    early = other.tpp().initiated()
    ids = live(one)
    assert first_act(database) > KEPT
    assert other.payments() == [early, *ids] == one.payments()
    assert other.hashes() == one.hashes()
    for server in (one, other):
        server.store.close()


def test_a_world_whose_acts_were_deleted_is_forked_rewound_and_reset(bounded: Server) -> None:
    tpp = bounded.tpp()
    live(bounded)
    before = bounded.worlds.get("default").ask(hash_state)
    assert tpp.control("POST", "/worlds/default/fork", **{"as": "b"}).status_code == 201
    forked = bounded.worlds.get("b")
    assert forked.ask(hash_state) == before
    lived(bounded.tpp("b"))
    now = tpp.control("GET", "/clock").get_json()["now"]
    assert tpp.control("POST", "/worlds/default/rewind", at=now).status_code == 200
    early = tpp.control("POST", "/worlds/default/fork", **{"as": "c", "at": "2027-03-01T09:00:01+01:00"})
    assert refused(early, 400, "SBX-0400", "acts_kept")
    assert refused(tpp.control("GET", "/export"), 400, "SBX-0400", "acts_kept")
    hashes = bounded.hashes()
    again = bounded.restarted()
    assert again.hashes() == hashes
    assert again.tpp().control("POST", "/reset").status_code == 200
    assert again.payments() == []
    again.store.close()


def test_states_with_a_start_are_checked_and_copied(bounded: Server, tmp_path: Path) -> None:
    live(bounded)
    before = bounded.hashes()
    bounded.store.close()
    store = open_store(bounded.state)
    assert [(row.name, row.fault) for row in check_worlds(store)] == [("default", None)]
    target = open_store(tmp_path / "copy.state")
    copy_banks(store, target)
    store.close()
    target.close()
    copied = Server(tmp_path / "copy.state")
    assert copied.hashes() == before
    copied.store.close()


def test_a_server_that_is_killed_while_it_deletes_leaves_a_world_that_is_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise SystemExit

    live(server, 2)
    before = server.hashes()
    world = server.worlds.get("default").row
    monkeypatch.setattr(checkpoints, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(server.store.database, "write", stop)
    with pytest.raises(SystemExit):
        Checkpoints(server.store).delete_acts(world, 1)
    monkeypatch.undo()
    again = server.restarted()
    assert again.hashes() == before
    again.store.close()


def test_health_says_what_is_stored_and_what_goes(bounded: Server) -> None:
    lived(bounded.tpp())
    shown = bounded.tpp().control("GET", "/health").get_json()["state_file"]
    assert shown["bytes"] > 0
    assert (shown["worlds_expire_after_seconds"], shown["acts_kept"]) == (None, None)


# A checkpoint is read by later programs


def test_a_field_that_an_earlier_program_did_not_know_takes_its_default() -> None:
    names = checkpoint.list_field_names(Payment)
    assert names is not None
    values = {name: name for name in names}
    without = [name for name in names if name != "fee"]
    read = checkpoint._make_by_name(Payment, tuple(without), *(values[name] for name in without))
    assert read.fee is None and read.needs == "needs"


def test_fields_in_another_order_keep_their_values() -> None:
    assert checkpoint._make_by_name(Creditor, ("bic", "iban"), "SBXBBEBB", "BE68") == Creditor(
        iban="BE68", bic="SBXBBEBB"
    )


def test_a_field_that_this_program_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="another program wrote it, in which Creditor has other fields"):
        checkpoint._make_by_name(Creditor, ("iban", "colour"), "BE68", "red")
