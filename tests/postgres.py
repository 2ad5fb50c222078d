"""A PostgreSQL cluster of the tests' own, in a temporary folder: once for each worker, a database for each test."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest

PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/pgsql/bin"))
# Nothing here outlives its test, so nothing waits for a disk.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "autovacuum": "off",
}
_numbers = count(1)


def program(name: str) -> Path | None:
    """A program of the newest PostgreSQL on this machine."""
    there = shutil.which(name)
    return next((place / name for place in PLACES if (place / name).exists()), Path(there) if there else None)


def as_somebody(*command: object) -> list[str]:
    """PostgreSQL refuses to be run by root."""
    return [*(("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()), *map(str, command)]


class Cluster:
    """A running PostgreSQL, reached by a socket in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name

    def control(self, what: str, *more: str) -> None:
        """Starts, stops or restarts it."""
        tool = program("pg_ctl")
        log = self.folder / "log"
        command = as_somebody(tool, what, "-D", self.folder / "cluster", "-l", log, "-w", "-s", *more)
        subprocess.run(command, check=True, cwd=self.folder, timeout=60, stdout=subprocess.DEVNULL)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql:///{database}?host={self.folder}&user={self.user}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def database(self, how: str = "") -> str:
        """A new database by its URL."""
        name = f"bank_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name} {how}")
        return self.url(name)

    def schema(self) -> str:
        """An empty schema by the URL that leads to it: far quicker than a database of its own."""
        name = f"bank_{next(_numbers)}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.url()}&options=-csearch_path%3D{name}"


@contextmanager
def started() -> Iterator[Cluster]:
    """A cluster until the end of the block. Its folder is short, as a socket's path may not be long."""
    folder = Path(mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        folder.chmod(0o755)
        cluster = Cluster(folder)
        command = as_somebody(
            program("initdb"),
            "-D",
            folder / "cluster",
            "-A",
            "trust",
            "-U",
            cluster.user,
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        )
        subprocess.run(command, check=True, cwd=folder, timeout=60, stdout=subprocess.DEVNULL)
        settings = "".join(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
        with (folder / "cluster" / "postgresql.conf").open("a") as file:
            file.write(f"{settings}unix_socket_directories = '{folder}'\n")
        cluster.control("start")
        try:
            yield cluster
        finally:
            with suppress(subprocess.CalledProcessError):  # a test ended it
                cluster.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if program("initdb") is None:
        if os.environ.get("POSTGRES_REQUIRED"):
            pytest.fail("PostgreSQL is not installed, and POSTGRES_REQUIRED is set")
        pytest.skip("not run: PostgreSQL is not installed")
    with started() as found:
        yield found


@pytest.fixture
def database(cluster: Cluster) -> str:
    """The URL of a place in which nothing is."""
    return cluster.schema()
