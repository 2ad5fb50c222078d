"""Several servers on one database: each world has one writer, and nothing stale is answered."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.world.log.postgres_line import TRIES, AgainError
from sandbox.world.log.postgres_store import PostgresStore
from sandbox.world.log.state_hash import state_hash
from sandbox.world.registry import Worlds
from tests.conftest import MORNING
from tests.tpp import Tpp, refused
from tests.world.tenancy import Machine, lived

LOST = "SBX-0503-000001"


class One:
    """A server with a watch of its own; its lease is renewed by the test alone."""

    def __init__(self, url: str, machine: Machine) -> None:
        self.elapsed = 100.0
        self.machine = machine
        self.store = PostgresStore(url, lambda: self.elapsed, lease=300.0)
        beginning = first_beginning(seed=7, at=read_instant(MORNING), rate=0)
        self.worlds = Worlds(beginning, machine, self.store)
        self.app = assemble(self.worlds)
        self.app.testing = True
        self.ownership = self.store.ownership

    def tpp(self, world: str = "w") -> Tpp:
        return Tpp(self.app, world)

    def sleep(self, rows: Callable[[str], Any]) -> None:
        """Stopped for longer than its lease, by its own watch and by the database's clock."""
        self.elapsed += 1000
        rows(f"UPDATE servers SET until = now() WHERE id = {self.ownership.id}")

    def wake(self) -> None:
        self.ownership.renew()

    def payments(self, world: str = "w") -> list[str]:
        return [row["payment_id"] for row in self.tpp(world).listed("payments")]


@pytest.fixture
def servers(database: str) -> Iterator[list[One]]:
    machine = Machine()
    made = [One(database, machine) for _ in range(2)]
    yield made
    for server in made:
        server.store.close()


@pytest.fixture
def rows(servers: list[One]) -> Callable[[str], Any]:
    """Asks or changes the database directly."""

    def run(query: str) -> Any:
        with servers[0].store.connection.read() as database:
            cursor = database.execute(query)
            return cursor.fetchall() if cursor.description else None

    return run


def test_a_world_of_a_server_that_lives_is_not_answered_by_another(servers: list[One]) -> None:
    one, two = servers
    ids = [one.tpp().initiated()]
    assert refused(two.tpp().initiate(), 503, LOST)
    assert two.tpp().control("GET", "/payments").status_code == 503
    assert one.payments() == ids


def test_a_world_of_a_server_that_sleeps_goes_on_at_another(servers: list[One], rows: Callable[[str], Any]) -> None:
    one, two = servers
    ids = lived(one.tpp())
    before = one.worlds.find("w").ask(state_hash)
    one.sleep(rows)
    assert two.worlds.find("w").ask(state_hash) == before
    ids.append(two.tpp().initiated())
    assert two.payments() == ids


def test_who_sleeps_answers_nothing_and_writes_nothing_when_it_wakes(
    servers: list[One], rows: Callable[[str], Any]
) -> None:
    one, two = servers
    ids = lived(one.tpp())
    one.sleep(rows)
    assert refused(one.tpp().initiate(), 503, LOST)
    assert one.tpp().control("GET", "/payments").status_code == 503
    assert refused(one.tpp().control("GET", "/health"), 503, "SBX-0503-000003", "lease")
    ids.append(two.tpp().initiated())
    one.wake()
    assert refused(one.tpp().initiate(), 503, LOST)
    assert two.payments() == ids


@pytest.mark.parametrize("what", ["act", "clock", "fault", "reset"])
def test_whatever_a_server_writes_under_an_epoch_that_passed_is_not_written(
    servers: list[One], rows: Callable[[str], Any], what: str
) -> None:
    """It believes its lease, as one that was stopped between the look at it and the write."""
    one, two = servers
    ids = lived(one.tpp())
    rows(f"UPDATE servers SET until = now() WHERE id = {one.ownership.id}")
    before = two.worlds.find("w").ask(state_hash)
    tpp = one.tpp()
    ways: dict[str, Callable[[], Any]] = {
        "act": tpp.initiate,
        "clock": lambda: tpp.control("POST", "/clock", advance="1h"),
        "fault": lambda: tpp.control("POST", "/faults", when={"operation": "token"}, answer={"status": 500}),
        "reset": lambda: tpp.control("POST", "/reset"),
    }
    reply = ways[what]()
    assert reply.status_code in (503, 404)
    assert two.worlds.find("w").ask(state_hash) == before and two.payments() == ids
    assert two.tpp().control("GET", "/faults").json == {"faults": []}


def test_another_world_of_the_same_batch_is_written(servers: list[One], rows: Callable[[str], Any]) -> None:
    one, two = servers
    one.tpp("mine").initiated()
    one.tpp("lost").initiated()
    world, lost = one.worlds.find("mine"), one.worlds.find("lost")
    rows(f"UPDATE heads SET epoch = epoch + 1 WHERE world = {lost.row}")
    writer = one.store.writer
    for each in (world, lost):
        writer.note("pace", each._backlog, each.pace)
    writer.flush()
    assert (world._backlog.lost, lost._backlog.lost) == (False, True)


def test_a_world_that_was_given_up_goes_on_at_another_with_its_faults_and_its_clock(servers: list[One]) -> None:
    one, two = servers
    tpp = one.tpp()
    ids = lived(tpp)
    tpp.control("POST", "/faults", when={"operation": "token", "nth": 9}, answer={"status": 500})
    tpp.control("POST", "/clock", advance="1h")
    shown = [tpp.control("GET", path).json for path in ("/clock", "/faults", "/payments")]
    world = one.worlds.find("w")
    assert world.unload(world.used)
    assert [two.tpp().control("GET", path).json for path in ("/clock", "/faults", "/payments")] == shown
    two.tpp().control("DELETE", "/faults")
    ids.append(two.tpp().initiated())
    again = two.worlds.find("w")
    assert again.unload(again.used)
    assert one.payments() == ids and one.tpp().control("GET", "/faults").json == {"faults": []}


def test_a_world_that_another_server_dropped_and_made_again_is_the_new_one(servers: list[One]) -> None:
    one, two = servers
    lived(one.tpp())
    world = one.worlds.find("w")
    assert world.unload(world.used)
    assert two.tpp().control("DELETE", "/worlds/w").status_code == 204
    ids = [two.tpp().initiated()]
    again = two.worlds.find("w")
    assert again.unload(again.used)
    assert one.payments() == ids


def test_a_name_that_another_server_made_is_taken(servers: list[One]) -> None:
    one, two = servers
    one.tpp("new").initiated()
    assert two.tpp("default").control("PUT", "/worlds/new").status_code == 409
    listed = [row["name"] for row in one.tpp("default").listed("worlds")]
    assert listed == ["default", "new"]


def test_no_server_replaces_what_another_made_meanwhile(
    servers: list[One], monkeypatch: pytest.MonkeyPatch, rows: Callable[[str], Any]
) -> None:
    """It looked for the world before the other one had made it."""
    one, two = servers
    ids = [one.tpp("new").initiated()]
    world = one.worlds.find("new")
    assert world.unload(world.used)
    found = two.worlds._roll.find
    looks = iter([None, None, None])
    monkeypatch.setattr(
        two.worlds._roll, "find", lambda name: next(looks, None) or found(name) if name == "new" else found(name)
    )
    looks = iter([None])
    assert two.worlds.make("new").row == world.row
    assert two.payments("new") == ids


def test_a_write_that_the_database_could_not_put_in_order_is_done_again(
    servers: list[One], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = servers[0]
    one.tpp().initiated()
    tries, of = [], one.store.connection.write_alone

    def stumbles() -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise AgainError("could not serialize access")
        return of()

    monkeypatch.setattr(one.store.connection, "write_alone", stumbles)
    one.tpp().initiated()
    assert len(tries) == 3 and TRIES > 3
    assert len(one.payments()) == 2


def test_a_line_that_the_database_closed_while_it_was_idle_is_made_anew(
    servers: list[One], rows: Callable[[str], Any]
) -> None:
    one = servers[0]
    ids = [one.tpp().initiated()]
    others = "pid <> pg_backend_pid() AND position('heads' in query) > 0"
    rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    ids.append(one.tpp().initiated())
    assert one.payments() == ids


@pytest.mark.parametrize("name", ["x%00", "%00", "x%00y", "%ff", "x%0a", "..", "x" * 5_000, "%F0%9F%8F%A6"])
def test_a_name_that_no_world_can_have_is_not_found(database: str, name: str) -> None:
    http = One(database, Machine()).app.test_client()
    calls = (
        ("GET", f"/_sandbox/worlds/{name}", None),
        ("DELETE", f"/_sandbox/worlds/{name}", None),
        ("POST", f"/_sandbox/worlds/{name}/fork", {"as": "b"}),
        ("POST", f"/_sandbox/worlds/{name}/rewind", {"at": MORNING}),
        ("GET", f"/worlds/{name}/_sandbox/clock", None),
        ("GET", f"/worlds/{name}/accounts", None),
    )
    for method, path, body in calls:
        reply = http.open(path, method=method, json=body)
        assert reply.status_code == 404, (method, path)
    assert http.get(f"/_sandbox/console/worlds?after={name}").status_code == 200
