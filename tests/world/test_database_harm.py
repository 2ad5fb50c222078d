"""A database that cannot be used: one line says what to do, exit code 2, and nothing in it is changed."""

import builtins
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.world.log.format import VERSION
from tests.postgres import Cluster
from tests.world.tenancy import Server, lived


def serve(url: str) -> Result:
    return CliRunner().invoke(main, ["serve", "--port", "0", "--state", url])


def refused(url: str, told: str, advice: str) -> bool:
    outcome = serve(url)
    lines = [line for line in outcome.output.splitlines() if line.startswith("Error: ")]
    assert outcome.exit_code == 2 and len(lines) == 1 and "Traceback" not in outcome.output, outcome.output
    assert told in lines[0] and advice in lines[0], lines[0]
    return "secret" not in outcome.output


def name_of(url: str) -> str:
    return url.removeprefix("postgresql:///").partition("?")[0]


def tables(cluster: Cluster, url: str) -> list[Any]:
    query = "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY relname"
    return cluster.run(query, name_of(url))


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_one_of_another_encoding_is_refused(cluster: Cluster, encoding: str) -> None:
    url = cluster.database(f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    assert refused(url, f"the encoding {encoding}", "createdb -E UTF8")
    assert tables(cluster, url) == []


def test_one_of_another_program_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run("CREATE TABLE customers (name text)", name_of(url))
    assert refused(url, "belongs to another program", "createdb NAME")
    assert [row[0] for row in tables(cluster, url)] == ["customers"]


def test_one_that_is_read_only_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run(f"ALTER DATABASE {name_of(url)} SET default_transaction_read_only = on")
    assert refused(url, "is read-only", "Name the primary server")
    assert tables(cluster, url) == []


def test_one_in_which_nothing_may_be_made_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run("DROP ROLE IF EXISTS guest")
    cluster.run("CREATE ROLE guest LOGIN")
    assert refused(url.replace(f"user={cluster.user}", "user=guest"), "permission denied", "OWNER TO")
    assert tables(cluster, url) == []


def test_one_without_a_connection_left_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run("DROP ROLE IF EXISTS crowd")
    cluster.run("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    assert refused(url.replace(f"user={cluster.user}", "user=crowd"), "too many connections", "max_connections")


@pytest.mark.parametrize("version, who", [(VERSION + 6, "A newer program"), (VERSION - 1, "The program that made it")])
def test_one_of_another_version_is_refused(cluster: Cluster, database: str, version: int, who: str) -> None:
    server = Server(database)
    lived(server.tpp("w"))
    server.store.close()
    schema = database.partition("search_path%3D")[2]
    cluster.run(f"UPDATE {schema}.about SET version = {version}")
    assert refused(database, f"version {version} of the format; this program reads {VERSION}", who)


@pytest.mark.parametrize(
    "url, told",
    [
        ("postgresql://someone:secret@127.0.0.1:1/bank", "Check the address"),
        ("postgresql://127.0.0.1:1/bank?sslmode=sometimes", "sslmode"),
        ("postgresql://127.0.0.1/bank?colour=red", "no address of a database"),
    ],
)
def test_one_that_cannot_be_reached_is_refused_and_no_password_is_shown(url: str, told: str) -> None:
    pytest.importorskip("psycopg")
    assert refused(url, told, "")


def test_one_that_is_not_there_is_refused(cluster: Cluster) -> None:
    assert refused(cluster.url("nowhere"), "does not exist", "createdb NAME")


def test_without_psycopg_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    of: Callable[..., Any] = builtins.__import__

    def missing(name: str, *more: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "psycopg" or name == "sandbox.world.log.postgres_store":
            raise ModuleNotFoundError("No module named 'psycopg'")
        return of(name, *more, **named)

    monkeypatch.delitem(sys.modules, "sandbox.world.log.postgres_store", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert refused("postgresql://127.0.0.1/bank", "No module named 'psycopg'", "pip install 'bank-sandbox[postgres]'")


@pytest.mark.parametrize("lease", ["0s", "500ms", "6m", "soon"])
def test_a_lease_that_is_no_length_of_time_is_refused(lease: str) -> None:
    outcome = CliRunner().invoke(main, ["serve", "--lease", lease])
    assert outcome.exit_code == 2 and "--lease" in outcome.output
