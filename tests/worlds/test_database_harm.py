"""A database that cannot be used: one line says what to do, exit code 2, and nothing in it is changed."""

import builtins
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.storage.format import VERSION, StateFileError
from sandbox.storage.store import open_store
from tests.postgres import Cluster
from tests.worlds.tenancy import Server, lived


def refused(url: str, told: str, advice: str = "") -> bool:
    """By the store, and so by the command, which would go on for ever with a store that opens."""
    with pytest.raises(StateFileError) as refusal:
        open_store(url).close()
    outcome = CliRunner().invoke(main, ["serve", "--port", "0", "--state", url])
    lines = [line for line in outcome.output.splitlines() if line.startswith("Error: ")]
    assert outcome.exit_code == 2 and len(lines) == 1 and "Traceback" not in outcome.output, outcome.output
    assert str(refusal.value) in lines[0] and told in lines[0] and advice in lines[0], lines[0]
    return "secret" not in outcome.output


def name_of(url: str) -> str:
    return url.removeprefix("postgresql:///").partition("?")[0]


def tables(cluster: Cluster, url: str) -> list[Any]:
    """All that is in a database: PostgreSQL counts what a connection wrote some time after it is closed."""
    names = cluster.run("SELECT relname FROM pg_stat_user_tables ORDER BY relname", name_of(url))
    return [(name, cluster.run(f"SELECT * FROM {name}", name_of(url))) for (name,) in names]


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_one_of_another_encoding_has_the_same_bank(cluster: Cluster, encoding: str) -> None:
    server = Server(cluster.database(f"ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"))
    server.tpp("w").initiated(creditor_name="Zoë Čapek €")
    before = server.hashes()
    again = server.restarted()
    assert again.hashes() == before
    assert again.tpp("w").listed("payments")[0]["order"]["creditor_name"] == "Zoë Čapek €"
    again.store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE about (format text, version bigint)",
        "CREATE TABLE about (format text, version bigint); INSERT INTO about VALUES ('letters', 4)",
    ],
)
def test_one_of_another_program_is_refused(cluster: Cluster, statement: str) -> None:
    url = cluster.database()
    cluster.run(statement, name_of(url))
    before = tables(cluster, url)
    assert refused(url, "is no state of the sandbox")
    assert tables(cluster, url) == before


def test_one_that_is_read_only_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run(f"ALTER DATABASE {name_of(url)} SET default_transaction_read_only = on")
    assert refused(url, "read-only")
    assert tables(cluster, url) == []


def test_one_in_which_nothing_may_be_made_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run("DROP ROLE IF EXISTS guest")
    cluster.run("CREATE ROLE guest LOGIN")
    assert refused(url.replace(f"user={cluster.user}", "user=guest"), "permission denied")
    assert tables(cluster, url) == []


def test_one_without_a_connection_left_is_refused(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.run("DROP ROLE IF EXISTS crowd")
    cluster.run("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    assert refused(url.replace(f"user={cluster.user}", "user=crowd"), "too many connections")


@pytest.mark.parametrize("version", [VERSION + 6, VERSION - 1])
def test_one_of_another_version_is_refused(cluster: Cluster, database: str, version: int) -> None:
    server = Server(database)
    lived(server.tpp("w"))
    server.store.close()
    schema = database.partition("search_path%3D")[2]
    cluster.run(f"UPDATE {schema}.about SET version = {version}")
    assert refused(database, f"version {version} of the format; this program reads version {VERSION} alone", "new one")


@pytest.mark.parametrize(
    "url, told",
    [
        ("postgresql://someone:secret@127.0.0.1:1/bank", "refused"),
        ("postgresql://someone:secret@127.0.0.1:1/bank?sslmode=sometimes", "sslmode"),
        ("postgresql://someone:secret@127.0.0.1/bank?colour=red", "the address of the database cannot be read"),
    ],
)
def test_one_that_cannot_be_reached_is_refused_and_no_password_is_shown(url: str, told: str) -> None:
    pytest.importorskip("psycopg")
    assert refused(url, told)


def test_one_that_is_not_there_is_refused(cluster: Cluster) -> None:
    assert refused(cluster.url("nowhere"), "does not exist")


def test_without_psycopg_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    of: Callable[..., Any] = builtins.__import__

    def missing(name: str, *more: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "psycopg" or name == "sandbox.storage.postgres_database":
            raise ModuleNotFoundError("No module named 'psycopg'")
        return of(name, *more, **named)

    monkeypatch.delitem(sys.modules, "sandbox.storage.postgres_database", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert refused(
        "postgresql://127.0.0.1/bank", "PostgreSQL needs the extra state", "pip install 'bank-sandbox[state]'"
    )
