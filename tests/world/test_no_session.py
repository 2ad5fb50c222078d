"""Nothing is kept in a session of PostgreSQL: a pooler in transaction mode may give each transaction another one."""

import pytest
from psycopg.pq import TransactionStatus

from sandbox.world.log import postgres_line
from sandbox.world.log.state_hash import state_hash
from tests.world.tenancy import Server, lived


def test_a_bank_lives_the_same_where_each_transaction_has_a_connection_of_its_own(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected, sessions = postgres_line.Line._connected, list[int]()

    def anew(self: postgres_line.Line) -> postgres_line._Bounded:
        line = self._connection
        if line is not None and line.pgconn.transaction_status == TransactionStatus.IDLE:
            line.close()
        found = connected(self)
        sessions.append(found.info.backend_pid)
        return found

    monkeypatch.setattr(postgres_line.Line, "_connected", anew)
    server = Server(database)
    lived(server.tpp("w"))
    server.tpp("w").control("POST", "/worlds/w/fork", **{"as": "v"})
    before = {world.name: world.ask(state_hash) for world in server.worlds.all()}
    world = server.worlds.find("w")
    assert world.unload(world.used)
    server.store.close()
    assert len(set(sessions)) > 20

    again = Server(database, machine=server.machine)
    assert {world.name: world.ask(state_hash) for world in again.worlds.all()} == before
    again.store.close()
