"""Promotions of a synchronous standby under Patroni and etcd: `python -m tests.histories.promotions --times 50`.

Half of them are ordered, half follow from a killed primary. Clients pay all the time. No answered payment is lost or
doubled, and a payment is answered soon after each promotion."""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.histories.clients import Client, History
from tests.histories.fleet import Member, lasting_port
from tests.histories.history import demand
from tests.histories.waiting import ENDS_WITHIN, wait_until
from tests.postgres import as_somebody, program

ROOT = Path(__file__).parents[2]
SERVERS = 3
CLIENTS = 3
SOON = 3.0  # seconds from the promotion to the next answer
CONFIG = """
scope: bank
name: {name}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd3: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    primary_start_timeout: 0
    master_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 80, wal_log_hints: 'on', fsync: 'off', shared_buffers: 16MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C}}, no-sync]
  pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust', 'local all all trust']
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: '{folder}/data'
  bin_dir: '{programs}'
  pgpass: '{folder}/pgpass'
  authentication:
    superuser: {{username: postgres, password: made-up}}
    replication: {{username: replicator, password: made-up}}
    rewind: {{username: postgres, password: made-up}}
  parameters: {{unix_socket_directories: '{folder}'}}
"""


def are_there() -> bool:
    """Whether the programs are on this machine."""
    return bool(shutil.which("patroni") and shutil.which("etcd") and program("initdb"))


class Node:
    """One PostgreSQL with its Patroni."""

    def __init__(self, number: int, folder: Path, etcd: int) -> None:
        self.name = f"node{number}"
        self.port, self.rest = lasting_port(), lasting_port()
        self.folder = folder / self.name
        self.folder.mkdir()
        with suppress(LookupError, PermissionError):
            shutil.chown(self.folder, "postgres")
        config = self.folder / "patroni.yml"
        initdb = program("initdb")
        assert initdb is not None
        names = {"name": self.name, "rest": self.rest, "etcd": etcd, "port": self.port, "folder": self.folder}
        config.write_text(CONFIG.format(**names, programs=initdb.parent))
        self._log = (self.folder / "log").open("wb")
        command = as_somebody(shutil.which("patroni"), config)
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=self._log, stderr=self._log)

    def ask(self, path: str, body: str = "", method: str = "GET") -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.rest, timeout=30)
        with closing(line), suppress(OSError, http.client.HTTPException):
            line.request(method, path, body or None, {"Content-Type": "application/json"})
            with line.getresponse() as reply:
                return reply.status, reply.read()
        return 0, b""

    @property
    def is_primary(self) -> bool:
        return self.ask("/primary")[0] == 200

    @property
    def is_synchronous(self) -> bool:
        return self.ask("/synchronous")[0] == 200

    def kill_database(self) -> None:
        leader = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(leader, signal.SIGKILL)

    def end(self) -> None:
        subprocess.run(["pkill", "-9", "-f", str(self.folder)], check=False)
        with suppress(OSError, ValueError):
            self.kill_database()
        self.process.kill()
        self.process.wait(ENDS_WITHIN)
        self._log.close()


@contextmanager
def pair() -> Iterator[list[Node]]:
    """A primary and its synchronous standby."""
    folder = Path(tempfile.mkdtemp(prefix="pair-", dir="/tmp"))
    folder.chmod(0o777)
    etcd, peer = lasting_port(), lasting_port()
    here = "http://127.0.0.1"
    words = ["--data-dir", str(folder / "etcd"), "--unsafe-no-fsync", "--log-level", "error"]
    words += ["--listen-client-urls", f"{here}:{etcd}", "--advertise-client-urls", f"{here}:{etcd}"]
    words += ["--listen-peer-urls", f"{here}:{peer}", "--initial-advertise-peer-urls", f"{here}:{peer}"]
    words += ["--initial-cluster", f"default={here}:{peer}"]
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        store = subprocess.Popen(["etcd", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(store.wait)
        stack.callback(store.kill)
        nodes: list[Node] = []
        for number in (1, 2):
            nodes.append(Node(number, folder, etcd))
            stack.callback(nodes[-1].end)
            wait_until(lambda: any(node.is_primary for node in nodes), "no primary comes up")
        wait_until(lambda: any(node.is_synchronous for node in nodes), "no synchronous standby comes up")
        yield nodes


class Reached(Member):
    """A server that knows both databases by one address."""

    def __init__(self, url: str, folder: Path) -> None:
        self.port = lasting_port()
        options = {"port": self.port, "state": url, "log": "off", "seed": 7, "wait-for-state": "60s"}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._module, self._words = "sandbox", ["serve", "--frozen", *words]
        self._errors = folder / f"server-{self.port}"
        self.process = None


def play(times: int) -> dict[str, Any]:
    """Counts of what happened; an AssertionError tells what does not hold."""
    history = History()
    gaps: list[float] = []
    with pair() as nodes, ExitStack() as stack:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        url = f"postgresql://postgres@{hosts}/postgres?target_session_attrs=read-write"
        members: list[Member] = [Reached(url, nodes[0].folder.parent) for _ in range(SERVERS)]
        for member in members:
            member.start()
            stack.callback(member.end, signal.SIGKILL)
        clients = [Client(number, members, history, "promotions") for number in range(CLIENTS)]
        wait_until(
            lambda: all(answers(member) for member in members),
            "a server does not answer",
            lambda: "; ".join(f"runs: {member.runs}, {member.errors[-1_000:]}" for member in members),
        )
        for client in clients:
            client.thread.start()
        for turn in range(times):
            wait_until(lambda: {node.is_primary for node in nodes} == {True, False}, "there is no primary")
            wait_until(lambda: any(node.is_synchronous for node in nodes), "there is no synchronous standby")
            old = next(node for node in nodes if node.is_primary)
            new = next(node for node in nodes if node is not old)
            if turn % 2:
                old.kill_database()
            else:
                order = json.dumps({"leader": old.name, "candidate": new.name})
                old.ask("/switchover", order, "POST")
            wait_until(lambda: takes_writes(new), "the standby is not promoted")  # noqa: B023
            promoted = time.monotonic()
            wait_until(lambda: history.last_answer > promoted, "nobody is answered")  # noqa: B023
            gaps.append(history.last_answer - promoted)
            assert not history.wrong, history.wrong[:5]
        for client in clients:
            client.ends.set()
        for client in clients:
            client.thread.join(ENDS_WITHIN)
        for member in members:
            member.end()
            assert "Traceback" not in member.errors, member.errors[-3_000:]
        assert not history.wrong, history.wrong[:5]
        wait_until(lambda: any(takes_writes(node) for node in nodes), "there is no primary")
        demand(url, history)
    slow = [round(gap, 2) for gap in gaps if gap > SOON]
    answered = sum(map(len, history.answered.values()))
    return {"promotions": times, "answered": answered, "longest": round(max(gaps), 2), "slow": slow, **history.counts}


def takes_writes(node: Node) -> bool:
    with suppress(psycopg.Error):
        url = f"postgresql://postgres@127.0.0.1:{node.port}/postgres?connect_timeout=2"
        with psycopg.connect(url, autocommit=True) as line:
            return line.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
    return False


def answers(member: Member) -> bool:
    from tests.histories.director import answers as status

    return status(member, "/worlds/a/_sandbox/clock") == 200


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.histories.promotions")
    words.add_argument("--times", type=int, default=50)
    os.chdir(ROOT)
    sys.stdout.write(f"{json.dumps(play(words.parse_args().times))}\n")


if __name__ == "__main__":
    main()
