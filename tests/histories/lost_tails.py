"""Promotions of an asynchronous standby that lacks the last acts: `python -m tests.histories.lost_tails --times 20`.

A standby stops receiving, payments are made and answered, the primary is killed, and the standby takes its place. The
acts in between are lost: that is what the operator chose. But no server answers for one of them after its first call
to the new primary, and none of their ids is ever given again."""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from tests.histories.fleet import Member, fleet
from tests.histories.waiting import wait_until
from tests.postgres import Cluster, as_somebody, program, started
from tests.tpp import SCT, headers, payment

SERVERS = 3


def call(member: Member, method: str, path: str, body: str = "") -> tuple[int, bytes]:
    line = http.client.HTTPConnection("127.0.0.1", member.port, timeout=30)
    with closing(line), suppress(OSError, http.client.HTTPException):
        line.request(method, path, body.encode() or None, headers() | {"Content-Type": "application/json"})
        with line.getresponse() as reply:
            return reply.status, reply.read()
    return 0, b""


def pay(member: Member, reference: str) -> str | None:
    """The id of a payment, if it was answered."""
    body = json.dumps(payment(endtoend_identification=reference, instructed_amount__amount="1.00"))
    status, content = call(member, "POST", f"/payments/{SCT}", body)
    return str(json.loads(content)["payment_id"]) if status == 201 else None


def status(member: Member, payment_id: str) -> int:
    return call(member, "GET", f"/payments/{SCT}/{payment_id}/status")[0]


def await_answer(member: Member) -> None:
    wait_until(lambda: status(member, "none") == 404, "a server does not answer")


class Standby(Cluster):
    """A copy of a cluster that follows it."""

    def __init__(self, primary: Cluster, folder: Path) -> None:
        super().__init__(folder)
        tool = program("pg_basebackup")
        command = [tool, "-h", primary.folder, "-U", primary.user, "-D", folder / "cluster", "-R", "-c", "fast"]
        subprocess.run(as_somebody(*command), check=True, cwd=folder, timeout=120, stdout=subprocess.DEVNULL)
        settings = (folder / "cluster" / "postgresql.conf").read_text()
        text = settings.replace(f"'{primary.folder}'", f"'{folder}'")
        (folder / "cluster" / "postgresql.conf").write_text(text)
        self.control("start")

    def has_all_of(self, primary: Cluster) -> bool:
        ((here,),) = self.run("SELECT pg_last_wal_replay_lsn()::text")
        ((there,),) = primary.run("SELECT pg_current_wal_lsn()::text")
        return number(str(here)) >= number(str(there))

    def stop_receiving(self, primary: Cluster) -> None:
        """The process that sends stands still, as where a network is gone."""
        for (pid,) in primary.run("SELECT pid FROM pg_stat_replication"):
            os.kill(int(str(pid)), signal.SIGSTOP)


def number(position: str) -> int:
    high, low = position.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def kill_cluster(cluster: Cluster) -> None:
    """Every process of it, at once."""
    leader = int((cluster.folder / "cluster" / "postmaster.pid").read_text().split()[0])
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(leader)], capture_output=True, text=True, check=False)
    for pid in (leader, *map(int, found.stdout.split())):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def play(times: int) -> dict[str, Any]:
    """Counts of what happened; an AssertionError tells what does not hold."""
    given: dict[str, str] = {}  # every id that was ever answered, and where
    lost_ids: set[str] = set()
    with ExitStack() as stack:
        primary: Cluster = stack.enter_context(started())
        schema = primary.schema().rpartition("%3D")[2]
        members = stack.enter_context(fleet(primary, schema, SERVERS))
        for member in members:
            member.start()
        for member in members:
            await_answer(member)
        for turn in range(times):
            folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            with suppress(LookupError, PermissionError):
                shutil.chown(folder, "postgres")
            folder.chmod(0o777)
            standby = Standby(primary, folder)
            stack.callback(stop, standby)
            kept = [pay(members[number % SERVERS], f"K{turn}-{number}") for number in range(3)]
            wait_until(lambda: standby.has_all_of(primary), "the standby does not follow")  # noqa: B023
            standby.stop_receiving(primary)
            lost = [pay(members[number % SERVERS], f"L{turn}-{number}") for number in range(4)]
            assert all(kept) and all(lost), "a payment was not answered before the failover"
            for payment_id in (*kept, *lost):
                assert payment_id is not None and payment_id not in given, f"{payment_id} was given twice"
                given[payment_id] = f"turn {turn}"
            assert all(status(member, payment_id) == 200 for member in members for payment_id in lost if payment_id)
            kill_cluster(primary)
            standby.control("promote")
            for member in members:
                member.line.lead_to(standby.folder / ".s.PGSQL.5432")
            for member in members:
                await_answer(member)
                for payment_id in lost:
                    assert status(member, str(payment_id)) == 404, f"{payment_id} was lost, and is answered"
                for payment_id in kept:
                    assert status(member, str(payment_id)) == 200, f"{payment_id} was there, and is not answered"
            lost_ids.update(str(payment_id) for payment_id in lost)
            primary = standby
        again = [pay(members[number % SERVERS], f"A{number}") for number in range(5 * times)]
        assert not lost_ids & set(map(str, again)), "the id of a lost act was given again"
        for member in members:
            assert "Traceback" not in member.errors, member.errors[-3_000:]
    return {"promotions": times, "lost": len(lost_ids), "answered": len(given) + len(again)}


def stop(cluster: Cluster) -> None:
    with suppress(Exception):
        kill_cluster(cluster)


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.histories.lost_tails")
    words.add_argument("--times", type=int, default=20)
    sys.stdout.write(f"{json.dumps(play(words.parse_args().times))}\n")


if __name__ == "__main__":
    main()
