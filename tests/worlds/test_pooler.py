"""Two servers whose database is behind PgBouncer in transaction mode: each transaction may have another session."""

from collections.abc import Iterator

import pytest

from tests.histories.pooler import demand_pgbouncer, pooled, pooled_url
from tests.postgres import Cluster
from tests.worlds.tenancy import Machine, Server, lived


@pytest.fixture
def servers(cluster: Cluster) -> Iterator[list[Server]]:
    demand_pgbouncer()
    name = cluster.database().removeprefix("postgresql:///").partition("?")[0]
    machine = Machine()
    with pooled(cluster) as folder:
        made = [Server(pooled_url(folder, cluster, name), machine=machine) for _ in range(2)]
        yield made
        for server in made:
            server.store.close()


def test_two_servers_behind_a_pooler_show_the_same(servers: list[Server]) -> None:
    one, other = servers
    lived(one.tpp("w"))
    lived(other.tpp("w"))
    one.tpp("w").control("POST", "/worlds/w/fork", **{"as": "v"})
    assert one.payments("w") == other.payments("w") == other.payments("v") != []
    assert one.hashes() == other.hashes()


def test_a_world_behind_a_pooler_is_read_from_the_database_again(servers: list[Server]) -> None:
    one, other = servers
    lived(one.tpp("w"))
    before = other.hashes()
    assert one.leave_memory("w")
    assert one.hashes() == before
