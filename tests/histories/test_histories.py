"""Servers on one database under faults: what was answered is there once. `make histories` plays 200 faults."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.histories import lost_tails, promotions
from tests.histories.clients import REACHABLE, WORLDS, History, Known
from tests.histories.fleet import Conditions
from tests.histories.history import Outcome, demand, play
from tests.histories.line import DatabaseLine
from tests.histories.pooler import demand_pgbouncer
from tests.histories.waiting import wait_until
from tests.postgres import Cluster, cluster, demand_postgres, started
from tests.worlds.tenancy import Server

__all__ = ["cluster"]
KINDS = 13


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """A database that no other test uses, on a small disk where this machine lets one be mounted."""
    demand_postgres()
    with started(wants_small_disk=True) as made:
        yield made


def test_what_was_answered_is_there_once_through_each_kind_of_fault(own_cluster: Cluster) -> None:
    outcome = play(own_cluster, faults=KINDS, seed="1", pause=0.4)
    assert outcome.answered > 20 and outcome.counts["GET 200"] > 20
    assert len(outcome.kinds()) + len(outcome.not_run) == KINDS


def test_what_finds_no_space_is_refused_and_did_not_happen(own_cluster: Cluster) -> None:
    if not own_cluster.has_small_disk:
        pytest.skip("not run: no small disk can be mounted here")
    server = Server(own_cluster.schema())
    ids = [server.tpp().initiated()]
    with own_cluster.full_disk():
        for _ in range(5_000):
            reply = server.tpp().initiate()
            if reply.status_code == 503:
                break
            ids.append(str(reply.get_json()["payment_id"]))
        assert reply.status_code == 503
    own_cluster.start_again()
    wait_until(lambda: server.tpp().control("GET", "/clock").status_code == 200, "the database does not come back")
    ids.append(server.tpp().initiated())
    assert server.payments() == ids
    server.store.close()


def test_the_same_holds_where_transactions_are_serializable(own_cluster: Cluster) -> None:
    outcome = play(own_cluster, faults=3, seed="1", pause=0.4, conditions=Conditions(isolation="serializable"))
    assert outcome.answered > 20


def test_the_same_holds_where_a_quarter_of_all_statements_conflicts(own_cluster: Cluster) -> None:
    outcome = play(own_cluster, faults=3, seed="1", pause=0.4, conditions=Conditions(has_conflicts=True))
    assert outcome.answered > 20 and outcome.conflicts > 100


def test_the_same_holds_through_a_pooler_in_transaction_mode(own_cluster: Cluster) -> None:
    demand_pgbouncer()
    outcome = play(own_cluster, faults=3, seed="2", pause=0.4, conditions=Conditions(has_pooler=True))
    assert outcome.answered > 20


def test_no_server_answers_for_what_a_failover_lost_and_no_lost_id_is_given_again(cluster: Cluster) -> None:
    counts = lost_tails.play(1)
    assert counts["lost"] == 4


def test_no_promotion_of_a_synchronous_standby_loses_or_doubles_an_answered_payment() -> None:
    if not promotions.are_there():
        if os.environ.get("PATRONI_REQUIRED"):
            pytest.fail("Patroni or etcd is not installed, and PATRONI_REQUIRED is set")
        pytest.skip("not run: Patroni or etcd is not installed")
    counts = promotions.play(2)
    assert counts["answered"] > 20


def test_an_answer_that_is_not_there_is_noticed(cluster: Cluster) -> None:
    url = cluster.schema()
    server = Server(url)
    for name in WORLDS:
        server.worlds.get(name)
    server.store.close()
    history = History()
    history.answered["default"]["C1-1"] = Known("an id")
    with pytest.raises(AssertionError, match="answered, and not there"):
        demand(url, history)


def test_a_status_goes_along_the_table_alone() -> None:
    assert "ACSC" in REACHABLE["RCVD"] and "RJCT" in REACHABLE["PDNG"]
    assert REACHABLE["CANC"] == {"CANC"} and "PATC" not in REACHABLE["PDNG"]


def test_a_line_that_is_closed_leaves_no_socket_and_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with socket.socket(socket.AF_UNIX) as database:
        database.bind(str(tmp_path / "socket"))
        database.listen()
        line = DatabaseLine(tmp_path / "socket")
        with socket.create_connection(("127.0.0.1", line.port)) as caller:
            with database.accept()[0] as there:
                caller.sendall(b"asked")
                assert there.recv(5) == b"asked"
                line.close()
                assert there.recv(1) == b""
            assert caller.recv(1) == b""
    assert set(threading.enumerate()) <= before


def test_the_figures_of_each_kind_of_fault_stand_in_a_line() -> None:
    rounds = [(("cut",), 0.5), (("cut",), 1.5), (("cut", "kill"), 7.0)]
    outcome = Outcome(History().counts, 0, rounds, {"fill_disk": "no disk"}, 0, 0)
    lines = [line.split() for line in outcome.describe().splitlines()]
    assert ["cut", "2", "1.50", "s", "1", "7.00", "s"] in lines
    assert ["kill", "0", "0.00", "s", "1", "7.00", "s"] in lines
    assert "not run: fill_disk: no disk" in outcome.describe()
