"""Servers on one database under faults: what was answered is there once. `make histories` plays 200 faults."""

import os

import pytest

from tests.histories import lost_tails, promotions
from tests.histories.clients import WORLDS, History, Known
from tests.histories.history import demand, play
from tests.postgres import Cluster, cluster

__all__ = ["cluster"]


@pytest.mark.parametrize("isolation", ["read committed", "serializable"])
def test_what_was_answered_is_there_once_through_all_faults(cluster: Cluster, isolation: str) -> None:
    faults = 11 if isolation == "read committed" else 3
    counts = play(cluster, faults=faults, seed="1", pause=0.4, isolation=isolation)
    assert counts["answered"] > 20 and counts["GET 200"] > 20


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
    from tests.world.tenancy import Server

    url = cluster.schema()
    server = Server(url)
    for name in WORLDS:
        server.worlds.get(name)
    server.store.close()
    history = History()
    history.answered["default"]["C1-1"] = Known("an id")
    with pytest.raises(AssertionError, match="answered, and not there"):
        demand(url, history)
