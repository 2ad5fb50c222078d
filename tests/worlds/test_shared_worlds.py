"""Several servers on one database: any server answers any call, and nothing that was answered is lost or stale."""

from collections.abc import Callable, Iterator
from itertools import count, islice
from threading import Barrier, Thread
from typing import Any

import pytest
from psycopg import OperationalError, errors
from werkzeug.test import TestResponse

from sandbox.banking.durations import read_instant
from sandbox.extensions.referee.stream import find_referee
from sandbox.storage import postgres_database, store
from sandbox.storage.database import UnreachableError
from sandbox.storage.format import StateFileError
from sandbox.storage.memory_log import Act
from sandbox.storage.postgres_database import TRIES, PostgresDatabase, PostgresTransaction
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.conftest import MORNING
from tests.tpp import Tpp, refused
from tests.worlds.places import change, lose_acts, number, rows, seal
from tests.worlds.tenancy import Server, lived

LOST = "SBX-0503-000001"
HOUR = 3600
Commit = Callable[[PostgresTransaction, Callable[[], None]], None]


@pytest.fixture
def running(database: str) -> Iterator[list[Server]]:
    """Their worlds run by the database's clock."""
    yield from run_servers(database, rate=1)


@pytest.fixture
def slow(database: str) -> Iterator[list[Server]]:
    """Their worlds run slowly by the database's clock. So no payment moves while a test takes long."""
    yield from run_servers(database, rate=0.001)


def run_servers(database: str, rate: float) -> Iterator[list[Server]]:
    made = [Server(database, rate=rate) for _ in range(2)]
    yield made
    for server in made:
        server.store.close()


def hurry(state: Any, name: str, seconds: float) -> None:
    """The last change of a world came at a time that the database's clock reaches long after the test: it stands."""
    now = "extract(epoch FROM clock_timestamp())::double precision"
    latest = f"CASE WHEN until > {now} THEN until ELSE {now} + {HOUR} END"
    change(state, f"UPDATE worlds SET until = {latest} + {seconds} WHERE name = '{name}'")
    seal(state, name)


def hashes(servers: list[Server], name: str = "w") -> list[str]:
    return [server.worlds.find(name).ask(hash_state) for server in servers]


def payments(servers: list[Server], name: str = "w") -> list[list[str]]:
    return [server.payments(name) for server in servers]


def verbs(server: Server, name: str = "w") -> list[str]:
    return [act.verb for act in server.worlds.find(name).log]


def demand_replay(server: Server, name: str = "w") -> None:
    """The log gives the very bank that the server shows."""
    world = server.worlds.find(name)
    life = world.snapshot()
    assert hash_state(replay(life.beginning, life.acts, life.pace.base)) == world.ask(hash_state)


# Any server


def test_any_server_answers_any_call_and_shows_what_all_have_answered(servers: list[Server]) -> None:
    ids = []
    for one, two in (servers, servers[::-1]) * 3:
        ids.append(one.tpp("w").initiated())
        assert two.tpp("w").status(ids[-1]).get_json()["status"] == "RCVD"
        assert payments([two, one]) == [ids, ids]
    assert len(set(ids)) == 6
    assert len(set(hashes(servers))) == 1


def test_a_life_that_is_led_through_two_servers_is_the_same_on_both_and_on_a_third(servers: list[Server]) -> None:
    one, two = servers
    ids = lived(one.tpp("w")) + lived(two.tpp("w"))
    address = one.tpp("w").initiate().headers["Location"]
    assert two.tpp("w").control("POST", "/psu/approve", address=address, customer="alice").status_code == 200
    two.tpp("w").advance("1h")
    for server in servers:
        server.write_calls()
    shown = [[server.tpp("w").control("GET", f"/{view}").json for view in (*VIEWS, "referee")] for server in servers]
    assert shown[0] == shown[1]
    third = Server(one.state, machine=one.machine)
    assert len(set(hashes([*servers, third]))) == 1
    assert payments([third])[0][:8] == ids
    demand_replay(third)
    third.store.close()


VIEWS = ("payments", "journal", "accounts", "clock", "timeline", "callbacks", "faults", "settings", "requests")


def test_calls_that_come_to_two_servers_at_once_are_all_there_once_and_in_one_order(servers: list[Server]) -> None:
    start, ids = Barrier(4), list[str]()

    def pay(server: Server) -> None:
        start.wait()
        for _ in range(6):
            ids.append(server.tpp("w").initiated())

    threads = [Thread(target=pay, args=(server,)) for server in servers * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, two = payments(servers)
    assert one == two and sorted(one) == sorted(ids) and len(set(ids)) == 24
    assert len(set(hashes(servers))) == 1
    demand_replay(servers[0])


CHANGES: dict[str, Callable[[Tpp], TestResponse]] = {
    "reset": lambda tpp: tpp.control("POST", "/reset"),
    "another scenario": lambda tpp: tpp.control("PUT", "/scenario", name="default"),
    "rewind": lambda tpp: tpp.control("POST", "/worlds/w/rewind", at="2027-03-01T09:00:10+01:00"),
    "fork onto itself": lambda tpp: tpp.control("POST", "/worlds/w/fork", **{"as": "w", "replace": True}),
    "import": lambda tpp: tpp.http.post(
        "/worlds/w/_sandbox/import?replace=true", data=tpp.control("GET", "/export").data
    ),
    "clock": lambda tpp: tpp.control("POST", "/clock", advance="2h"),
    "settings": lambda tpp: tpp.control("PATCH", "/settings", unsigned_after="5m"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_a_world_through_one_server_holds_for_the_other(servers: list[Server], what: str) -> None:
    one, two = servers
    lived(one.tpp("w"))
    lived(two.tpp("w"))
    reply = CHANGES[what](one.tpp("w"))
    assert reply.status_code in (200, 201), reply.text
    assert len(set(hashes(servers))) == 1
    two.tpp("w").initiated()
    one.tpp("w").initiated()
    assert len(set(hashes(servers))) == 1
    assert payments(servers)[0] == payments(servers)[1]
    demand_replay(two)


def test_a_world_that_another_server_dropped_is_gone_and_made_again_it_is_the_new_one(servers: list[Server]) -> None:
    one, two = servers
    lived(one.tpp("w"))
    assert len(two.payments("w")) == 4
    held = one.worlds.find("w")
    assert two.tpp().control("DELETE", "/worlds/w").status_code == 204
    assert refused(one.tpp().control("GET", "/worlds/w"), 404, "SBX-0404", "world")
    assert held.dropped
    ids = [two.tpp("w").initiated()]
    assert payments(servers) == [ids, ids]


def test_a_change_that_waited_while_its_world_was_replaced_has_the_lock_of_the_new_one(
    servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, the new world could be dropped under the change, whose act would be left without a world."""
    one, two = servers
    one.tpp("w").initiated()
    position, unlocked = one.worlds.find("w").position, list[str]()

    def work() -> None:
        with one.store.change("w", position):
            unlocked.extend(name for (name,) in rows(one.state, "SELECT name FROM worlds FOR UPDATE SKIP LOCKED"))

    late, remove = Thread(target=work), two.store._remove

    def remove_while_one_waits(transaction: Any, name: str, **more: Any) -> None:
        remove(transaction, name, **more)
        late.start()
        while not number(one.state, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
            assert late.is_alive()

    monkeypatch.setattr(two.store, "_remove", remove_while_one_waits)
    assert two.tpp("w").control("POST", "/reset").status_code == 200
    late.join()
    assert unlocked == ["default"]


def test_a_drop_waits_for_the_commit_of_a_change_and_leaves_nothing_of_it(
    servers: list[Server], commits: list[Commit]
) -> None:
    one, two = servers
    one.tpp("w").initiated()
    drop = Thread(target=two.store.drop, args=("w",))

    def drop_meanwhile(transaction: PostgresTransaction, commit: Callable[[], None]) -> None:
        drop.start()
        while not number(one.state, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
            assert drop.is_alive()
        commit()

    commits.append(drop_meanwhile)
    one.tpp("w").initiated()  # answered before the drop
    drop.join()
    two.store.sweep()
    assert number(one.state, "SELECT count(*) FROM acts") == 0


def test_the_list_of_worlds_shows_what_another_server_did(servers: list[Server]) -> None:
    one, two = servers
    one.tpp("w").initiated()
    two.tpp("w").initiated()
    two.tpp("w").advance("2h")
    listed = {row["name"]: row["clock"]["now"] for row in one.tpp().listed("worlds")}
    assert listed == {"default": "2027-03-01T09:00:00+01:00", "w": "2027-03-01T11:00:00+01:00"}


def test_a_name_that_another_server_made_is_taken_and_listed(servers: list[Server]) -> None:
    one, two = servers
    one.tpp("new").initiated()
    assert two.tpp().control("PUT", "/worlds/new").status_code == 409
    assert two.tpp().control("POST", "/worlds/default/fork", **{"as": "new"}).status_code == 409
    assert [row["name"] for row in two.tpp().listed("worlds")] == ["default", "new"]
    assert two.tpp().control("PUT", "/worlds/new", replace=True).status_code == 201
    assert one.payments("new") == []


def test_a_world_that_two_servers_make_at_once_is_one(servers: list[Server]) -> None:
    start, made = Barrier(2), list[World]()

    def make(server: Server) -> None:
        start.wait()
        made.append(server.worlds.get("new"))

    threads = [Thread(target=make, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made[0].row == made[1].row
    assert number(servers[0].state, "SELECT count(*) FROM worlds WHERE name = 'new'") == 1


def test_servers_that_open_an_empty_database_at_once_all_find_it_whole(database: str) -> None:
    start, opened = Barrier(4), list[int]()

    def opens() -> None:
        start.wait()
        made = Server(database)
        opened.append(made.worlds.counts[1])
        made.store.close()

    threads = [Thread(target=opens) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [1] * 4


# What is beside the log


def test_limits_count_the_calls_of_all_servers(servers: list[Server]) -> None:
    one, two = servers
    payment_id = one.tpp("w").initiated()
    one.tpp("w").control("PATCH", "/settings", requests_per_minute=3)
    told = [server.tpp("w").status(payment_id).status_code for server in (one, two, two, one, two)]
    assert told == [200, 200, 200, 429, 429]
    two.tpp("w").advance("1m")
    assert [server.tpp("w").status(payment_id).status_code for server in servers] == [200, 200]


def test_a_fault_is_met_by_the_nth_call_of_all_servers_and_may_be_dropped_by_any(servers: list[Server]) -> None:
    one, two = servers
    payment_id = one.tpp("w").initiated()
    two.tpp("w").control("POST", "/faults", when={"operation": "payment_status", "nth": 3}, answer={"status": 503})
    told = [server.tpp("w").status(payment_id).status_code for server in (one, two, one, two)]
    assert told == [200, 200, 503, 200]
    assert one.tpp("w").listed("faults") == two.tpp("w").listed("faults") != []
    assert one.tpp("w").control("DELETE", "/faults").status_code == 204
    assert two.tpp("w").listed("faults") == []


def test_the_pace_is_the_same_on_all_servers(running: list[Server]) -> None:
    one, two = running
    assert one.tpp("w").control("POST", "/clock", mode="frozen").status_code == 200
    shown = [server.tpp("w").control("GET", "/clock").get_json() for server in (one, two)]
    assert shown[0] == shown[1] and shown[0]["mode"] == "frozen"
    assert two.tpp("w").control("POST", "/clock", mode="running", rate=60).status_code == 200
    assert one.tpp("w").control("GET", "/clock").get_json()["rate"] == 60


def test_calls_and_findings_are_the_same_on_all_servers_and_numbered_once(servers: list[Server]) -> None:
    one, two = servers
    for _ in range(2):
        lived(one.tpp("w"))
        lived(two.tpp("w"))
    for server in servers:
        server.write_calls()
    calls = [server.tpp("w").listed("requests") for server in servers]
    assert calls[0] == calls[1]
    assert [call["seq"] for call in calls[0]] == list(range(1, len(calls[0]) + 1)) and len(calls[0]) == 48
    findings = [server.tpp("w").control("GET", "/referee").get_json() for server in servers]
    assert findings[0] == findings[1] and len(findings[0]["findings"]) > 20
    assert [sum(find_referee(server.worlds.find("w")).met.values()) for server in servers] == [48, 48]


def test_findings_of_an_import_are_shown_by_the_other_server(servers: list[Server]) -> None:
    one, two = servers
    lived(one.tpp("w"))
    content = one.tpp("w").control("GET", "/export").data
    assert one.tpp().http.post("/_sandbox/import?as=carried", data=content).status_code == 201
    one.write_calls()
    shown = [[row["rule"] for row in server.tpp(name).control("GET", "/referee").get_json()["findings"]]
             for server in servers for name in ("w", "carried")]  # fmt: skip
    assert shown[0] and shown[1:] == [shown[0]] * 3


def test_no_more_calls_are_shown_than_are_kept(servers: list[Server]) -> None:
    servers[0].tpp("w").control("PATCH", "/settings", requests_kept=5)
    for server in servers * 4:
        server.tpp("w").initiated()
        server.write_calls()
    assert [[row["seq"] for row in server.tpp("w").listed("requests")] for server in servers] == [[4, 5, 6, 7, 8]] * 2


def test_a_call_that_one_server_holds_is_released_through_another(servers: list[Server]) -> None:
    one, two = servers
    made = two.tpp("w").control("POST", "/holds", at="before_act", **{"as": "it"})
    assert made.status_code == 201
    replies: list[TestResponse] = []
    thread = Thread(target=lambda: replies.append(one.tpp("w").initiate()), daemon=True)
    thread.start()
    hold = one.worlds.find("w").holds.find("it")
    assert hold is not None and hold.arrived.wait(10)
    assert [row["state"] for row in two.tpp("w").listed("holds")] == ["held"]
    assert two.payments("w") == [] and not replies
    assert two.tpp("w").control("DELETE", "/holds/it").status_code == 204
    thread.join(10)
    assert replies[0].status_code == 201
    assert payments(servers) == [[replies[0].get_json()["payment_id"]]] * 2


def test_worlds_that_nobody_called_through_any_server_are_deleted(servers: list[Server]) -> None:
    one, two = servers
    one.tpp("old").initiated()
    two.tpp("new").initiated()
    for server in servers:
        server.write_calls()
    change(one.state, f"UPDATE worlds SET used = used - {HOUR}")
    one.tpp("new").initiated()
    one.write_calls()
    assert two.worlds.expire(HOUR / 2) == 1
    assert [row["name"] for row in one.tpp().listed("worlds")] == ["default", "new"]


# Time


def test_what_falls_due_is_noted_once_and_both_servers_show_the_same(running: list[Server]) -> None:
    one, two = running
    payment_id = one.tpp("w").initiated()
    hurry(one.state, "w", 2 * HOUR)
    assert two.tpp("w").status(payment_id).get_json()["status"] == "CANC"
    assert verbs(two)[-1] == "time.pass" and verbs(one) == verbs(two)
    assert one.tpp("w").status(payment_id).get_json()["status"] == "CANC"
    assert verbs(one).count("time.pass") == 1
    assert len(set(hashes(running))) == 1
    one.tpp("w").initiated()
    assert len(set(hashes(running))) == 1


def test_an_act_notes_what_fell_due_before_it_by_its_own_time(running: list[Server]) -> None:
    one, two = running
    first = one.tpp("w").initiated()
    hurry(one.state, "w", 2 * HOUR)
    second = two.tpp("w").initiated()
    assert "time.pass" not in verbs(two)
    statuses = {row["payment_id"]: row["status"] for row in one.tpp("w").listed("payments")}
    assert statuses[first] == "CANC" and statuses[second] != "CANC"
    assert len(set(hashes(running))) == 1


def test_a_read_after_which_nothing_is_due_adds_nothing(running: list[Server]) -> None:
    one, two = running
    one.tpp("w").control("GET", "/clock")
    hurry(one.state, "w", 5 * HOUR)
    before = number(one.state, "SELECT sum(acts) FROM worlds")
    assert [server.tpp("w").control("GET", "/clock").status_code for server in running] == [200, 200]
    assert number(one.state, "SELECT sum(acts) FROM worlds") == before == one.store.count_acts()
    assert one.store.commits == two.store.commits == 0


def test_time_is_the_databases_and_never_goes_back(running: list[Server]) -> None:
    one, two = running
    one.machine.now += 50 * HOUR  # whatever the machines say
    two.machine.now -= 50 * HOUR
    one.tpp("w").initiated()
    hurry(one.state, "w", HOUR)
    before = one.worlds.find("w").read_clock().now
    two.tpp("w").initiated()
    assert two.worlds.find("w").read_clock().now == before == one.worlds.find("w").read_clock().now
    change(one.state, "UPDATE worlds SET until = 0")  # of a primary that came from a backup, say
    seal(one.state, "w")
    assert one.worlds.find("w").read_clock().now >= before
    assert two.worlds.find("w").read_clock().now >= before


@pytest.mark.parametrize("column", ["acts", "head", "version", "until", "seal"])
def test_a_position_or_time_that_is_not_as_it_was_written_answers_no_call(slow: list[Server], column: str) -> None:
    """Also where the world is in memory. A time in the future would let all happen that is due by then."""
    one, two = slow
    payment_id = one.tpp("w").initiated()
    other = two.tpp("other").initiated()
    change(one.state, f"UPDATE worlds SET {column} = {column} + 86400 WHERE name = 'w'")
    for reply in (one.tpp("w").status(payment_id), one.tpp("w").initiate(), two.tpp("w").status(payment_id)):
        assert reply.status_code == 503
    assert "position of its world w" in one.tpp().control("GET", "/health").get_json()["error_description"]
    assert one.tpp("other").status(other).status_code == 200
    change(one.state, f"UPDATE worlds SET {column} = {column} - 86400 WHERE name = 'w'")
    assert one.tpp("w").status(payment_id).get_json()["status"] == "RCVD"
    assert verbs(one).count("time.pass") == 0


# What fails


def fails(*given: Any) -> None:
    raise StateFileError("no space left on device")


def test_what_could_not_be_stored_did_not_happen_and_the_other_server_goes_on(
    servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = servers
    ids = lived(one.tpp("w"))
    before = hashes(servers)
    monkeypatch.setattr(one.store, "_write_change", fails)
    assert refused(one.tpp("w").initiate(), 503, LOST)
    assert one.tpp("w").control("POST", "/clock", advance="1h").status_code == 503
    fault = {"when": {"operation": "token"}, "answer": {"status": 500}}
    assert one.tpp("w").control("POST", "/faults", **fault).status_code == 503
    assert hashes(servers) == before and payments(servers) == [ids, ids]
    ids.append(two.tpp("w").initiated())
    monkeypatch.undo()
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]
    demand_replay(one)


def test_nothing_is_read_from_a_copy_that_could_not_be_compared(
    servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = servers
    lived(one.tpp("w"))

    def unreachable(*given: Any) -> None:
        raise UnreachableError("the database does not answer")

    monkeypatch.setattr(one.store.database, "_take", unreachable)
    assert one.tpp("w").control("GET", "/payments").status_code == 503
    assert refused(one.tpp("w").initiate(), 503, LOST)
    ids = two.payments("w")
    monkeypatch.undo()
    assert one.payments("w") == ids


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Commit]]:
    """What happens instead of the next commits of acts, one after the other."""
    ahead: list[Commit] = []
    of = PostgresTransaction.commit

    def commit(self: PostgresTransaction) -> None:
        if ahead and any("INTO acts" in statement.query for statement in self.writes):
            ahead.pop(0)(self, lambda: of(self))
        else:
            of(self)

    monkeypatch.setattr(PostgresTransaction, "commit", commit)
    yield ahead
    assert ahead == []


def serialization(transaction: PostgresTransaction, commit: Callable[[], None]) -> None:
    raise errors.SerializationFailure("could not serialize access due to concurrent update")


def breaks_before(transaction: PostgresTransaction, commit: Callable[[], None]) -> None:
    transaction.connection.pgconn.finish()
    raise OperationalError("server closed the connection unexpectedly")


def breaks_after(transaction: PostgresTransaction, commit: Callable[[], None]) -> None:
    commit()
    breaks_before(transaction, commit)


def test_a_change_that_the_database_could_not_put_in_order_is_done_again(
    servers: list[Server], commits: list[Commit]
) -> None:
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    commits += [serialization] * (TRIES - 1)
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]


def test_a_change_that_it_never_can_is_refused_and_did_not_happen(servers: list[Server], commits: list[Commit]) -> None:
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    commits += [serialization] * TRIES
    assert refused(one.tpp("w").initiate(), 503, LOST)
    assert payments(servers) == [ids, ids]


def test_a_world_with_many_acts_is_made_although_the_database_could_not_put_a_portion_in_order(
    servers: list[Server], commits: list[Commit]
) -> None:
    first = servers[0].store
    acts = [Act(read_instant(MORNING), "time.pass", (), number, f"id {number}") for number in range(1_200)]
    commits += [serialization, serialization]
    row = first.begin("many", b"a beginning", (), acts, replaces=False)
    assert row.acts == 1_200 and len(list(first.read_acts(row.id, row.root, row.position.head))) == 1_200


def test_a_commit_whose_answer_was_lost_is_looked_for_and_answered(
    servers: list[Server], commits: list[Commit]
) -> None:
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    commits.append(breaks_after)
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]
    assert len(set(hashes(servers))) == 1


def test_a_commit_that_did_not_arrive_is_refused_and_did_not_happen(
    servers: list[Server], commits: list[Commit]
) -> None:
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    commits.append(breaks_before)
    assert refused(one.tpp("w").initiate(), 503, LOST)
    assert payments(servers) == [ids, ids]
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]


def test_a_commit_whose_outcome_stays_unknown_is_refused_and_its_act_is_there_or_not(
    servers: list[Server], commits: list[Commit], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = servers[0]
    one.tpp("w").initiated()
    monkeypatch.setattr(store, "ASKED_FOR", 0.0)

    def breaks_for_long(transaction: PostgresTransaction, commit: Callable[[], None]) -> None:
        monkeypatch.setattr(one.store, "_has_arrived", fails)
        breaks_after(transaction, commit)

    commits.append(breaks_for_long)
    assert refused(one.tpp("w").initiate(), 503, LOST)
    first, second = payments(servers)
    assert first == second and len(first) == 2


def test_a_line_that_the_database_closed_while_it_was_idle_is_made_anew(servers: list[Server]) -> None:
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    rows(
        one.state,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'bank-sandbox' AND pid <> pg_backend_pid()",
    )
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]


def test_a_change_is_made_again_on_another_line_where_its_line_breaks_before_the_commit(
    servers: list[Server],
) -> None:
    """The database ends a line just after it was looked at."""
    one = servers[0]
    ids = [one.tpp("w").initiated()]
    broken: list[Any] = []
    select = PostgresTransaction.select

    def on_a_broken_line(self: PostgresTransaction, query: str, *given: Any) -> list[Any]:
        if not broken:
            broken.append(self.connection)
            pid = self.connection.info.backend_pid
            rows(one.state, f"SELECT pg_terminate_backend({pid}, 5000)")
        return select(self, query, *given)

    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr(PostgresTransaction, "select", on_a_broken_line)
        ids.append(one.tpp("w").initiated())
    assert broken and broken[0].closed
    assert payments(servers) == [ids, ids]


def test_a_line_to_a_server_that_takes_no_writes_is_thrown_away(servers: list[Server], commits: list[Commit]) -> None:
    one = servers[0]
    database = one.store.database
    assert isinstance(database, PostgresDatabase)
    ids = [one.tpp("w").initiated()]

    def read_only(connection: Any, *given: Any) -> Any:
        monkey.undo()
        connection.close()
        raise errors.ReadOnlySqlTransaction("cannot execute UPDATE in a read-only transaction")

    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr(postgres_database, "_fetch_rows", read_only)
        assert one.store.count() == 2
    ids.append(one.tpp("w").initiated())
    assert payments(servers) == [ids, ids]


# A database that lost the end of a log


@pytest.mark.parametrize("lost", [1, 3])
def test_a_lost_tail_is_noticed_at_the_next_call_and_its_ids_are_never_given_again(
    servers: list[Server], lost: int
) -> None:
    one, two = servers
    ids = [server.tpp("w").initiated() for server in servers * 3]
    assert lose_acts(one.state, "w", lost) == ["payments.initiate"] * lost
    assert two.tpp("w").status(ids[-1]).status_code == 404
    assert one.payments("w") == ids[:-lost]
    again = [server.tpp("w").initiated() for server in servers * 2]
    assert set(again).isdisjoint(ids)
    assert payments(servers) == [ids[:-lost] + again] * 2
    demand_replay(one)


def test_a_tail_that_was_lost_and_replaced_by_as_many_acts_is_noticed(servers: list[Server]) -> None:
    """Of a server that saw none of both."""
    one, two = servers
    ids = [one.tpp("w").initiated() for _ in range(4)]
    assert two.payments("w") == ids
    lose_acts(one.state, "w", 2)
    again = [one.tpp("w").initiated() for _ in range(2)]
    assert set(again).isdisjoint(ids)
    assert payments(servers) == [ids[:2] + again] * 2
    assert len(set(hashes(servers))) == 1


# A copy that is far behind


def test_a_server_that_was_away_for_long_reads_what_came_meanwhile(
    servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = servers
    monkeypatch.setattr(store, "ROWS_AT_ONCE", 3)
    first = two.tpp("w").initiated()
    ids = [first, *islice((one.tpp("w").initiated() for _ in count()), 10)]
    read, plain = [], two.store.database.select

    def select(query: str, *values: Any) -> Any:
        read.append(query)
        return plain(query, *values)

    monkeypatch.setattr(two.store.database, "select", select)
    assert two.payments("w") == ids
    assert not any("FROM checkpoints" in query for query in read)  # the copy went on
    assert len(set(hashes(servers))) == 1


def test_several_open_one_store_and_close_it_without_a_word(database: str) -> None:
    stores = [open_store(database) for _ in range(3)]
    for each in stores:
        each.close()
        with pytest.raises(StateFileError, match="were closed"):
            each.count()


# A database that is slow or comes late


def test_a_database_that_does_not_reply_in_time_counts_as_unreachable(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that starts then tries again, as --wait-for-state says."""
    slow = PostgresDatabase(database)
    monkeypatch.setattr(postgres_database, "REPLY_WAITS", 0.05)
    with pytest.raises(UnreachableError, match="no reply within"):
        slow.select("SELECT pg_sleep(30)")
    monkeypatch.undo()
    monkeypatch.setattr(postgres_database, "BEGIN", "BEGIN; SET LOCAL statement_timeout = 50; ")
    with pytest.raises(UnreachableError, match="statement timeout"), slow.transaction() as transaction:
        transaction.select("SELECT pg_sleep(30)")
    slow.close()
