"""Three servers on one database under faults: what was answered is there once. `make histories` plays 200 faults."""

import pytest

from tests.histories.clients import History
from tests.histories.history import demand, play
from tests.postgres import Cluster, cluster

__all__ = ["cluster"]


def test_what_was_answered_is_there_once_through_all_faults(cluster: Cluster) -> None:
    counts = play(cluster, faults=7, seed="1")  # each kind once
    assert counts["answered"] > 20 and counts["GET 200"] > 20
    assert {"kill", "stop", "cut", "slow", "restart_database", "add", "drain"} <= counts.keys()


def test_an_answer_that_is_not_there_is_noticed(cluster: Cluster) -> None:
    history = History()
    history.answered["default"]["C1-1"] = "an id"
    from tests.world.tenancy import Machine
    from tests.world.test_shared_worlds import One

    url = cluster.schema()
    server = One(url, Machine())
    for name in ("a", "b", "c", "d"):
        server.worlds.make(name)
    server.store.close()
    with pytest.raises(AssertionError, match="answered, and not there"):
        demand(url, history)
