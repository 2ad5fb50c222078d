"""Any address answers: calls of a world that another server has are handed on to it, as they came."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from sandbox.app import assemble, first_beginning
from sandbox.banking.durations import read_instant
from sandbox.machine import seconds_since_boot
from sandbox.serve.peers import Peers, world_of
from sandbox.serve.relay import Relay, encode_request, hop_of, take_hop
from sandbox.serve.server import in_background
from sandbox.world.log.postgres_store import PostgresStore
from sandbox.world.ownership import DRAINING, Peer
from sandbox.world.placement import HERE, Placement, preferred
from sandbox.world.registry import Worlds
from tests.conftest import MORNING
from tests.tpp import SCT, Tpp, headers, payment
from tests.world.tenancy import Machine

KEY = "0123456789abcdef-peers"
CLOCK = "/worlds/w/_sandbox/clock"


class Node:
    """A server that listens, among others on its database."""

    def __init__(self, url: str, machine: Machine, stack: ExitStack) -> None:
        self.store = PostgresStore(url, seconds_since_boot, lease=300.0)
        stack.callback(self.store.close)
        self.worlds = Worlds(first_beginning(seed=7, at=read_instant(MORNING), rate=0), machine, self.store)
        self.app = assemble(self.worlds)
        self.placement = Placement(self.worlds, self.store, self.store.ownership, seconds_since_boot)
        self.peers = Peers(self.placement, Relay(seconds_since_boot), KEY, seconds_since_boot)
        self.peers.stand_before(self.app, "bank")
        stack.callback(self.peers.relay.close)
        self.address = stack.enter_context(in_background(self.app))
        self.store.advertise(self.address)

    def call(self, method: str, path: str, body: bytes = b"", **more: str) -> http.client.HTTPResponse:
        line = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=20)
        with closing(line):
            line.request(method, path, body or None, {name.replace("_", "-"): value for name, value in more.items()})
            with line.getresponse() as reply:
                reply.content = reply.read()  # type: ignore[attr-defined]
            return reply

    def pay(self, name: str) -> str:
        body = json.dumps(payment()).encode()
        reply = self.call("POST", f"/worlds/{name}/payments/{SCT}", body, **headers(), Content_Type="application/json")
        return str(json.loads(reply.content)["payment_id"])  # type: ignore[attr-defined]

    def has(self, name: str = "w") -> bool:
        world = self.worlds.held(name)
        return world is not None and world.is_here

    def take(self, name: str = "w") -> None:
        """Makes it this server's, wherever it should be."""
        if self.worlds._roll.find(name) is None:
            self.worlds.make(name)
        self.worlds.find(name).loaded()


@contextmanager
def two_nodes(database: str) -> Iterator[list[Node]]:
    with ExitStack() as stack:
        machine = Machine()
        made = [Node(database, machine, stack) for _ in range(2)]
        for node in made:
            node.placement._peers = float("-inf"), []
        yield made


@pytest.fixture
def nodes(database: str) -> Iterator[list[Node]]:
    with two_nodes(database) as both:
        yield both


def shown(reply: Any) -> Any:
    return reply.status, reply.reason, [row for row in reply.getheaders() if row[0] != "Date"], reply.content


def test_an_answer_comes_byte_for_byte_from_whichever_server_is_asked(nodes: list[Node]) -> None:
    nodes[0].take()
    for path in (CLOCK, "/worlds/w/_sandbox/values", "/worlds/w/_sandbox/console", "/worlds/w/payments/none?a=%zz"):
        here, there = (shown(node.call("GET", path, Host="bank.localhost:99", request_id="x")) for node in nodes)
        assert [row for row in here[2] if row[0] != "Response-Id"] == [
            row for row in there[2] if row[0] != "Response-Id"
        ]
        assert (here[0], here[1], here[3]) == (there[0], there[1], there[3])
    assert nodes[0].has() and not nodes[1].has()
    assert nodes[1].placement.ownership.handed_on == 4


def test_a_payment_is_made_and_signed_by_pages_of_another_server(nodes: list[Node]) -> None:
    nodes[0].take()
    far = Tpp(nodes[1].app, "w")
    reply = far.initiate()
    assert reply.status_code == 201 and reply.headers["Location"].startswith("http://localhost/worlds/w/psu/")
    page = far.http.get(reply.headers["Location"])
    assert page.status_code == 200 and "Set-Cookie" in page.headers
    assert far.control("POST", "/psu/approve", address=reply.headers["Location"], customer="alice").status_code == 200
    made = [row["payment_id"] for row in Tpp(nodes[0].app, "w").listed("payments")]
    assert made == [reply.get_json()["payment_id"]]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_goes_on_in_pieces(nodes: list[Node], chunked: bool) -> None:
    nodes[0].take()
    body = b"<Document>" + b" " * 2_000_000
    replies = []
    for node in nodes:
        line = http.client.HTTPConnection(node.address.removeprefix("http://"), timeout=20)
        sent = iter([body[:999_999], body[999_999:]]) if chunked else body
        given = {**headers(), "Content-Type": "application/xml"}
        line.request("POST", f"/worlds/w/bulk-payments/{SCT}", sent, given, encode_chunked=chunked)
        reply = line.getresponse()
        replies.append((reply.status, reply.read()))
        line.close()
    assert replies[0] == replies[1]


@pytest.mark.parametrize("key", ["", "wrong-key-0123456789", KEY[:-1], KEY + "x"])
def test_the_header_of_a_server_counts_with_the_key_alone(nodes: list[Node], key: str) -> None:
    nodes[0].take()
    reply = nodes[1].call("GET", CLOCK, X_Sandbox_Peer=f"{key} bank 6.6.6.6 https ")
    assert reply.status == 200  # handed on as any call, for all that it says

    environ = {"HTTP_X_SANDBOX_PEER": f"{key} bank 6.6.6.6 https ", "REMOTE_ADDR": "1.1.1.1"}
    assert take_hop(environ, KEY) is None and environ == {"REMOTE_ADDR": "1.1.1.1"}


def test_a_call_is_handed_on_once_at_the_most(nodes: list[Node]) -> None:
    nodes[0].take()
    reply = nodes[1].call("GET", CLOCK, X_Sandbox_Peer=f"{KEY} bank 6.6.6.6 https ")
    assert (reply.status, reply.getheader("X-Sandbox-Peer")) == (503, "elsewhere")
    assert reply.getheader("Retry-After") == "5" and nodes[1].placement.ownership.handed_on == 0


def test_the_caller_and_its_certificate_go_on_with_the_call() -> None:
    environ = {"REMOTE_ADDR": "10.1.2.3", "wsgi.url_scheme": "https", "sandbox.certificate": b"\x00der"}
    environ["HTTP_X_SANDBOX_PEER"] = hop_of("bank", environ).header_value(KEY)
    hop = take_hop(environ, KEY)
    assert hop is not None
    there: dict[str, Any] = {}
    hop.apply_to(there)
    assert there == {name: environ[name] for name in there} and len(there) == 3


def test_no_header_of_one_line_alone_goes_on() -> None:
    environ = {"REQUEST_METHOD": "GET", "REQUEST_URI": "/a%2Fb?c", "HTTP_CONNECTION": "close", "HTTP_HOST": "h"}
    head = b"".join(encode_request(environ | {"HTTP_TRANSFER_ENCODING": "chunked", "HTTP_X_A": "\xe9"}, "hop"))
    assert head == b"GET /a%2Fb?c HTTP/1.1\r\nX-Sandbox-Peer: hop\r\nHost: h\r\nX-A: \xe9\r\n\r\n"


@pytest.mark.parametrize("place", ["before", "within"])
def test_a_connection_that_a_fault_cuts_is_cut_for_the_caller(nodes: list[Node], place: str) -> None:
    nodes[0].take()
    far = Tpp(nodes[1].app, "w")
    far.control("POST", "/faults", when={"operation": "payment_initiation"}, cut=place)
    with pytest.raises((http.client.IncompleteRead, http.client.RemoteDisconnected, ConnectionError)):
        nodes[1].call("POST", f"/worlds/w/payments/{SCT}", b"{}", **headers())
    assert nodes[0].worlds.find("w").exchanges_made == 1  # none of them twice


def test_a_server_that_joins_gets_its_share_and_the_worlds_go_on(nodes: list[Node]) -> None:
    one, two = nodes
    names = [f"w{number}" for number in range(12)]
    for name in names:
        one.take(name)
    one.placement.balance()
    share = [name for name in names if not one.has(name)]
    assert 0 < len(share) < len(names)
    for name in names:
        assert one.call("GET", f"/worlds/{name}/_sandbox/clock").status == 200
    assert [name for name in names if two.has(name)] == share


def test_a_server_that_drains_gives_all_up_and_hands_calls_on(nodes: list[Node]) -> None:
    one, two = nodes
    ids = [one.pay(name) for name in ("a", "b", "c", "d")]
    one.placement.drain()
    assert not one.worlds.in_memory() and one.store.ownership.count == 0
    for name, made in zip(("a", "b", "c", "d"), ids, strict=True):
        assert [row["payment_id"] for row in Tpp(one.app, name).listed("payments")] == [made]
        assert two.has(name) and not one.has(name)


def test_a_world_in_use_stays_and_calls_that_come_meanwhile_wait(nodes: list[Node]) -> None:
    one = nodes[0]
    one.take()
    assert one.placement.enter("w") is HERE
    assert not one.placement.give_up(one.worlds.find("w"), 0) and one.has()
    answers: list[int] = []
    giving = threading.Thread(target=lambda: one.placement.give_up(one.worlds.find("w"), 10))
    giving.start()
    while "w" not in one.placement._leaving:
        pass
    asking = threading.Thread(target=lambda: answers.append(one.call("GET", CLOCK).status))
    asking.start()
    one.placement.leave("w")
    giving.join(10)
    asking.join(10)
    assert answers == [200]


def test_a_world_that_nobody_has_is_answered_here_where_its_server_is_not_reached(nodes: list[Node]) -> None:
    one, two = nodes
    two.store.advertise("http://127.0.0.1:1")  # nobody listens there
    for name in ("a", "b", "c", "d", "e", "f"):
        assert one.call("GET", f"/worlds/{name}/_sandbox/clock").status == 200
        assert one.has(name)


def test_a_body_that_was_sent_on_in_vain_is_read_here(nodes: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = nodes
    two.take()
    send = one.peers.relay.send

    def given_up(*call: Any) -> Any:
        """The call arrives as its world is given up."""
        two.placement.give_up(two.worlds.find("w"), 0)
        monkeypatch.setattr("sandbox.world.placement.preferred", lambda name, peers: None)
        two.placement._leaving.add("w")
        return send(*call)

    monkeypatch.setattr(one.peers.relay, "send", given_up)
    assert one.pay("w") and one.has()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/_sandbox/worlds/here/fork", {"as": "w", "replace": True}),
        ("PUT", "/worlds/here/_sandbox/worlds/w", {"replace": True}),
        ("POST", "/worlds/here/_sandbox/import?as=w&replace=true", None),
    ],
)
def test_a_world_that_another_server_has_is_replaced_from_here(
    nodes: list[Node], method: str, path: str, body: dict[str, Any] | None
) -> None:
    one, two = nodes
    one.take("here")
    two.take()
    made = one.pay("here")
    two.pay("w")
    file = one.call("GET", "/worlds/here/_sandbox/export").content  # type: ignore[attr-defined]
    kept = path.replace("&replace=true", ""), {name: body[name] for name in body if name != "replace"} if body else None
    for (where, content), status in ((kept, 409), ((path, body), 201)):
        sent = file if content is None and "import" in where else json.dumps(content).encode()
        assert one.call(method, where, sent, Content_Type="application/json").status == status
        assert Tpp(two.app, "here").listed("payments")[0]["payment_id"] == made
    found = [row["payment_id"] for row in Tpp(two.app, "w").listed("payments")]
    assert found == ([] if method == "PUT" else [made])


def test_two_servers_that_make_a_world_at_the_same_moment_both_answer(
    nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.world.placement.preferred", lambda name, peers: None)  # neither knows of the other
    start = threading.Barrier(2)
    answers: list[int] = []

    def call(node: Node, number: int) -> None:
        start.wait(10)
        answers.append(node.call("GET", f"/worlds/new-{number}/_sandbox/clock").status)

    for number in range(6):
        threads = [threading.Thread(target=call, args=(node, number)) for node in nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert answers == [200] * 12


def test_where_a_world_is_is_not_looked_up_for_each_call(nodes: list[Node], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = nodes
    one.take()
    looked: list[int] = []
    find = two.store.ownership.owner

    def look(row: int) -> Peer | None:
        looked.append(row)
        return find(row)

    monkeypatch.setattr(two.store.ownership, "owner", look)
    assert [two.call("GET", CLOCK).status for _ in range(5)] == [200] * 5
    assert len(looked) == 1
    one.placement.give_up(one.worlds.find("w"), 1)
    two.take()
    assert two.call("GET", CLOCK).status == 200 and one.call("GET", CLOCK).status == 200


def test_it_is_seen_which_server_has_a_world(nodes: list[Node]) -> None:
    one, two = nodes
    one.take()
    assert two.call("GET", CLOCK).status == 200
    page = two.call("GET", "/_sandbox/console/worlds").content.decode()  # type: ignore[attr-defined]
    assert f"at {one.address}" in page
    figures = two.call("GET", "/_sandbox/metrics").content.decode()  # type: ignore[attr-defined]
    for name in ("worlds_owned 0.0", "calls_handed_on_total 2.0", "take_over_seconds_count 0.0"):
        assert f"bank_sandbox_{name}\n" in figures
    assert one.call("GET", "/_sandbox/health").status == 200
    one.placement.drain()
    assert one.call("GET", "/_sandbox/health").status == 503


def test_a_path_that_is_none_is_not_found_wherever_the_default_world_is(nodes: list[Node]) -> None:
    assert [node.call("GET", "/worlds/nobody/nothing").status for node in nodes] == [404, 404]


@pytest.mark.parametrize(
    ("path", "world"),
    [
        ("/payments", ("default", True)),
        ("/worlds/w/payments", ("w", True)),
        ("/worlds/w", ("w", True)),
        ("/worlds/a%20b/payments", (None, False)),
        ("/_sandbox/health", (None, False)),
        ("/worlds/w/_sandbox/metrics", (None, False)),
        ("/_sandbox/worlds", (None, False)),
        ("/_sandbox/worlds/w", ("w", False)),
        ("/worlds/other/_sandbox/worlds/w/fork", ("w", True)),
        ("/_sandbox/clock", ("default", True)),
        ("http://h/worlds/w/payments", ("w", True)),
    ],
)
def test_a_call_is_of_the_world_that_its_path_names(path: str, world: tuple[str | None, bool]) -> None:
    known = path.removeprefix("http://h")
    assert world_of({"REQUEST_URI": path, "PATH_INFO": known.replace("%20", " ")}) == world


def test_each_server_prefers_its_share_and_one_that_comes_moves_nothing_between_the_others() -> None:
    peers = [Peer(number, f"http://10.0.0.{number}:8080") for number in range(1, 5)]
    names = [f"w{number}" for number in range(400)]
    before = {name: preferred(name, peers[:3]) for name in names}
    after = {name: preferred(name, peers) for name in names}
    moved = [name for name in names if before[name] != after[name]]
    assert all(after[name] == peers[3] for name in moved) and 60 < len(moved) < 140
    assert min(list(before.values()).count(peer) for peer in peers[:3]) > 90
    drains = [Peer(1, peers[0].address + DRAINING), peers[1]]
    assert {preferred(name, drains) for name in names} == {peers[1]}
    assert preferred("w", drains[:1]) is None and drains[0].url == peers[0].url
