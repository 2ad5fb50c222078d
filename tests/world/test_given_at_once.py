"""A world that was just made may be another server's before its maker has answered."""

import json
from collections.abc import Iterator

import pytest

from sandbox.world.world import World
from tests.tpp import Tpp, payment
from tests.world.test_peers import Node, two_nodes

FORK, IMPORT = "/_sandbox/worlds/here/fork", "/worlds/here/_sandbox/import?as=w"


@pytest.fixture
def nodes(database: str) -> Iterator[list[Node]]:
    with two_nodes(database) as both:
        yield both


def findings(node: Node, name: str) -> list[str]:
    return [row["rule"] for row in Tpp(node.app, name).control("GET", "/referee").get_json()["findings"]]


@pytest.mark.parametrize("path", [FORK, IMPORT])
def test_it_is_made_whole_and_said_so(nodes: list[Node], path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = nodes
    one.take("here")
    here = Tpp(one.app, "here")
    here.initiate()
    here.initiate(body=payment(creditor_name=None))
    here.initiate(code_challenge="c" * 43)
    file = one.call("GET", "/worlds/here/_sandbox/export").content  # type: ignore[attr-defined]
    assert findings(one, "here")
    add = one.worlds._add

    def added(world: World) -> World:
        """The other server should have it, is found to live, and takes it at once."""
        found = add(world)
        assert one.placement.give_up(world, 0)
        two.take(world.name)
        return found

    monkeypatch.setattr(one.worlds, "_add", added)
    body = json.dumps({"as": "w"}).encode() if path == FORK else file
    reply = one.call("POST", path, body, Content_Type="application/json")
    assert reply.status == 201
    assert two.has() and not one.has()
    assert Tpp(one.app, "w").listed("payments") == here.listed("payments") != []
    if path == IMPORT:
        assert findings(one, "w") == findings(one, "here")
