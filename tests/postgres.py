"""A PostgreSQL cluster of the tests' own, in a temporary folder: once for each worker, a database for each test."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest

PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/pgsql/bin"))
if "POSTGRES_BIN" in os.environ:  # the programs of one version
    PLACES = (Path(os.environ["POSTGRES_BIN"]),)
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
# On a small disk the write-ahead log is short too, so that a full disk also stops it.
SMALL_DISK = "512m"
SMALL_DISK_SETTINGS = {"min_wal_size": "2MB", "max_wal_size": "8MB"}
_numbers = count(1)


def program(name: str) -> Path | None:
    """A program of the newest PostgreSQL on this machine, or of the one that POSTGRES_BIN names."""
    there = None if "POSTGRES_BIN" in os.environ else shutil.which(name)
    return next((place / name for place in PLACES if (place / name).exists()), Path(there) if there else None)


def as_somebody(*command: object) -> list[str]:
    """PostgreSQL refuses to be run by root."""
    return [*(("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()), *map(str, command)]


class Cluster:
    """A running PostgreSQL, reached by a socket in its folder."""

    def __init__(self, folder: Path, *, has_small_disk: bool = False) -> None:
        self.folder = folder
        self.has_small_disk = has_small_disk
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name

    def control(self, what: str, *more: str) -> None:
        """Starts, stops or restarts it."""
        tool = program("pg_ctl")
        log = self.folder / "log"
        command = as_somebody(tool, what, "-D", self.folder / "cluster", "-l", log, "-w", "-s", *more)
        subprocess.run(command, check=True, cwd=self.folder, timeout=60, stdout=subprocess.DEVNULL)

    def start_again(self) -> None:
        """As the machine of a database does where it ended."""
        try:
            self.control("status")
        except subprocess.CalledProcessError:
            self.control("start")

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Nothing can be written until the end of the block. PostgreSQL ends itself where its write-ahead log finds no
        space."""
        assert self.has_small_disk
        path = self.folder / "cluster" / "filler"
        try:
            with suppress(OSError), path.open("wb", buffering=0) as filler:
                while filler.write(bytes(1_048_576)):
                    pass
            yield
        finally:
            path.unlink()

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
def small_disk(folder: Path) -> Iterator[bool]:
    """Mounts a small disk on a folder until the end of the block. Yields whether this machine lets it be mounted."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK},mode=0777", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


@contextmanager
def started(*, wants_small_disk: bool = False) -> Iterator[Cluster]:
    """A cluster until the end of the block. Its folder is short, as a socket's path may not be long."""
    with ExitStack() as stack:
        folder = Path(mkdtemp(prefix="pg-", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        data = folder / "cluster"
        data.mkdir(mode=0o700)
        has_small_disk = wants_small_disk and stack.enter_context(small_disk(data))
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            shutil.chown(data, "postgres")
        folder.chmod(0o755)
        cluster = Cluster(folder, has_small_disk=has_small_disk)
        options = ["-A", "trust", "-U", cluster.user, "-E", "UTF8", "--locale=C", "-N"]
        options += ["--wal-segsize=1"] if has_small_disk else []
        command = as_somebody(program("initdb"), "-D", data, *options)
        subprocess.run(command, check=True, cwd=folder, timeout=60, stdout=subprocess.DEVNULL)
        settings = SETTINGS | (SMALL_DISK_SETTINGS if has_small_disk else {})
        lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"{lines}unix_socket_directories = '{folder}'\n")
        cluster.control("start")
        try:
            yield cluster
        finally:
            with suppress(subprocess.CalledProcessError):  # a test ended it
                cluster.control("stop", "-m", "immediate")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    demand_postgres()
    with started() as found:
        yield found


def demand_postgres() -> None:
    """Ends a test where there is no PostgreSQL."""
    if program("initdb") is None:
        if os.environ.get("POSTGRES_REQUIRED"):
            pytest.fail("PostgreSQL is not installed, and POSTGRES_REQUIRED is set")
        pytest.skip("not run: PostgreSQL is not installed")


@pytest.fixture
def database(cluster: Cluster) -> str:
    """The URL of a place in which nothing is."""
    return cluster.schema()
