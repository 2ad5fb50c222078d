"""Nothing is kept in a session of PostgreSQL: a pooler in transaction mode may give each transaction another one."""

import pytest

from sandbox.storage import postgres_database
from sandbox.storage.postgres_database import PostgresDatabase
from tests.worlds.tenancy import Server, lived


def test_a_bank_lives_the_same_where_each_transaction_has_a_connection_of_its_own(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, sessions, transactions = PostgresDatabase._connect, list[int](), list[int]()
    take = PostgresDatabase._take

    def anew(self: PostgresDatabase) -> postgres_database._BoundedConnection:
        connection = connect(self)
        sessions.append(connection.info.backend_pid)
        return connection

    def taken(self: PostgresDatabase) -> postgres_database._BoundedConnection:
        connection = take(self)
        transactions.append(connection.info.backend_pid)
        return connection

    monkeypatch.setattr(PostgresDatabase, "_connect", anew)
    monkeypatch.setattr(PostgresDatabase, "_take", taken)
    monkeypatch.setattr(postgres_database, "CONNECTIONS_KEPT", 0)
    server = Server(database)
    lived(server.tpp("w"))
    server.tpp("w").control("POST", "/worlds/w/fork", **{"as": "v"})
    before = server.hashes()
    assert server.leave_memory("w")
    assert server.hashes() == before
    server.store.close()
    assert sorted(sessions) == sorted(transactions) and len(set(sessions)) > 20

    again = Server(database, machine=server.machine)
    assert again.hashes() == before
    again.store.close()
