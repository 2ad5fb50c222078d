"""State files and exports of released programs, with what they showed then; and how those in tests/data were made.

`python -m tests.worlds.made_before FOLDER` makes a set of them with this program. A set that was released is never made
again: it stands for the programs that wrote such files.
"""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import orjson
import requests

from sandbox.app import assemble, make_first_beginning
from sandbox.bank.state import Bank
from sandbox.storage import checkpoint
from sandbox.storage.memory_log import play
from sandbox.storage.store import open_store
from sandbox.worlds.beginning import make_bank, read_beginning
from sandbox.worlds.registry import WorldRegistry
from tests import contracts
from tests.spec import files
from tests.tpp import ISCT, SCT, XB, Tpp, headers, payment, version

MORNING = "2027-03-01T09:00:00+01:00"
MACHINE = 1_900_000_000.0  # when the files are looked at, so that a running clock always stands at the same time
EXPORTS = ("export", "export-stripped")
WORLDS = ("default", "forked")  # in the state file
# What an interface that may grow always tells.
FIELDS = {
    "payments": ("payment_id", "product", "status", "reason", "client_id", "customer"),
    "standing-orders": ("payment_id", "status"),
    "bulk-payments": ("payment_file_id", "status"),
    "accounts": ("iban", "customer", "balances", "signatures_required"),
    "journal": ("at", "subject", "trigger", "from", "to"),
    "faults": ("title", "when", "answer"),
    "timeline": ("at", "subject", "trigger"),
}


def world_as_imported(content: bytes) -> dict[str, Any]:
    app = assemble(WorldRegistry(make_first_beginning(seed=1), lambda: MACHINE))
    reply = Tpp(app).http.post("/_sandbox/import?as=carried", data=content)
    assert reply.status_code == 201, reply.text
    return seen(Tpp(app, "carried"))


def worlds_of_state(path: Path) -> dict[str, Any]:
    store = open_store(path)
    try:
        app = assemble(WorldRegistry(make_first_beginning(seed=1), lambda: MACHINE, store))
        assert store.notes == []
        return {name: seen(Tpp(app, name)) for name in WORLDS}
    finally:
        store.close()


def banks_of_state(path: Path, name: str) -> tuple[Bank, Bank]:
    """The bank with which a world of a state file began, and the bank after all acts of that world."""
    store = open_store(path)
    try:
        row = store.find(name)
        assert row is not None
        new, after = (make_bank(*read_beginning(row.beginning)) for _ in range(2))
        play(after, store.read_acts(row.id, row.root, row.position.head), row.root.acts)
        return new, after
    finally:
        store.close()


def seen(tpp: Tpp) -> dict[str, Any]:
    """The chosen fields of all that a world lists, and its clock."""
    shown = {
        name: [{field: row.get(field) for field in chosen} for row in tpp.listed(name)]
        for name, chosen in FIELDS.items()
    }
    clock = tpp.control("GET", "/clock").get_json()
    shown["clock"] = [{name: clock[name] for name in ("now", "mode", "rate")}]
    return shown


class Served:
    """A real server on a state file."""

    def __init__(self, path: Path) -> None:
        words = ["serve", "--port", "0", "--frozen", "--at", MORNING, "--seed", "7", "--log", "off", "--state", path]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandbox", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().removeprefix("listening on ").strip()
        self.calls = 0

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(20)

    def call(self, method: str, path: str, world: str = "", **more: Any) -> requests.Response:
        self.calls += 1
        sent = headers(request_id=str(UUID(int=self.calls, version=4)), **more.pop("headers", {}))
        reply = requests.request(method, f"{self.address}{world}{path}", headers=sent, timeout=20, **more)
        assert reply.status_code < 300, reply.text
        return reply

    def control(self, method: str, path: str, world: str = "", **body: Any) -> Any:
        return self.call(method, f"/_sandbox{path}", world, json=body or None)

    def lead(self, world: str = "") -> None:
        """Payments of each kind and each end, a standing order, a bulk file, time."""
        for number, product in enumerate((SCT, ISCT, XB, SCT, ISCT, SCT)):
            body = payment(product, endtoend_identification=f"OLD-{number}")
            address = self.call("POST", f"/payments/{product}", world, json=body).headers["Location"]
            if number < 4:
                self.control("POST", "/psu/approve", world, address=address, customer="alice")
            if number == 4:
                self.control("POST", "/psu/refuse", world, address=address)
        given = {"accept": version(2)}
        order = self.call("POST", contracts.PATH, world, json=contracts.contract(), headers=given)
        self.control("POST", "/psu/approve", world, address=order.headers["Location"], customer="bram")
        given["content_type"] = "application/xml"
        self.call("POST", "/bulk-payments/pain.001", world, data=files.pain(), headers=given)
        self.control("POST", "/clock", world, advance="3d")


def make(folder: Path) -> None:
    server = Served(folder / "closed.state")
    server.lead()
    server.control("POST", "/faults", when={"operation": "token", "nth": 3}, answer={"status": 503})
    server.control("POST", "/worlds/default/fork", **{"as": "forked"})
    server.lead("/worlds/forked")
    for name, query in zip(EXPORTS, ("", "?secrets=strip"), strict=True):
        (folder / name).write_bytes(server.control("GET", f"/export{query}").content)
    server.end(signal.SIGTERM)


def look(folder: Path) -> None:
    """Notes what the files show. The state file is looked at in a copy, as a store that is opened is written to."""
    shown: dict[str, Any] = {name: world_as_imported((folder / name).read_bytes()) for name in EXPORTS}
    state = folder / "closed.state"
    with TemporaryDirectory() as place:
        shown |= worlds_of_state(Path(copyfile(state, Path(place, "state"))))
        _, bank = banks_of_state(Path(copyfile(state, Path(place, "again"))), "default")
    (folder / "seen.json").write_bytes(orjson.dumps(shown))
    (folder / "default.checkpoint").write_bytes(checkpoint.pack(bank))
    for name in (*EXPORTS, "closed.state", "seen.json", "default.checkpoint"):
        pack(folder / name)


def pack(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
    look(Path(sys.argv[1]))
