"""PgBouncer in transaction mode before a PostgreSQL of the tests."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.histories.waiting import ENDS_WITHIN, wait_until
from tests.postgres import Cluster

PORT = 6432  # a part of the socket's name; nothing listens on a port of the machine
CONFIG = """
[databases]
* = host={cluster.folder} user={cluster.user} connect_query='{first}'

[pgbouncer]
pool_mode = transaction
default_pool_size = 8
server_login_retry = 1
ignore_startup_parameters = options
auth_type = any
listen_port = {port}
unix_socket_dir = {folder}
"""


def path_of_pgbouncer() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


def demand_pgbouncer() -> None:
    """Ends a test where there is no PgBouncer."""
    if path_of_pgbouncer() is None:
        if os.environ.get("POSTGRES_REQUIRED"):
            pytest.fail("PgBouncer is not installed, and POSTGRES_REQUIRED is set")
        pytest.skip("not run: PgBouncer is not installed")


@contextmanager
def pooled(cluster: Cluster, first: str = "SELECT 1") -> Iterator[Path]:
    """The folder of the pooler's socket. Each of its lines to the database begins with the statements of `first`."""
    folder = cluster.folder / "pooler"
    folder.mkdir()
    config = folder / "pgbouncer.ini"
    config.write_text(CONFIG.format(cluster=cluster, first=first, folder=folder, port=PORT))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    user = cluster.user if os.geteuid() == 0 else None  # it refuses to be run by root
    with (folder / "log").open("wb") as log:
        command = [str(path_of_pgbouncer()), "--quiet", str(config)]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, user=user)
    try:
        wait_until(lambda: process.poll() is not None or answers(folder, cluster), "the pooler does not answer")
        assert process.poll() is None, (folder / "log").read_text()
        yield folder
    finally:
        process.kill()
        process.wait(ENDS_WITHIN)
        shutil.rmtree(folder, ignore_errors=True)


def answers(folder: Path, cluster: Cluster) -> bool:
    try:
        psycopg.connect(pooled_url(folder, cluster), connect_timeout=5).close()
    except psycopg.Error:
        return False
    return True


def pooled_url(folder: Path, cluster: Cluster, database: str = "postgres") -> str:
    return f"postgresql:///{database}?host={folder}&port={PORT}&user={cluster.user}"
