"""Another server may use a world that was just made before its maker has answered."""

import json

import pytest

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.world import World
from tests.tpp import payment
from tests.worlds.tenancy import Server

FORK, IMPORT = "/_sandbox/worlds/here/fork", "/worlds/here/_sandbox/import?as=w"


def findings(server: Server, name: str) -> list[str]:
    return [row["rule"] for row in server.tpp(name).control("GET", "/referee").get_json()["findings"]]


@pytest.mark.parametrize("path", [FORK, IMPORT])
def test_it_is_made_whole_and_said_so(servers: list[Server], path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = servers
    here = one.tpp("here")
    here.initiate()
    here.initiate(body=payment(creditor_name=None))
    here.initiate(code_challenge="c" * 43)
    file = here.control("GET", "/export").data
    assert findings(one, "here")
    shown: list[list[str]] = []
    paid: list[str] = []
    add = one.worlds._add

    def added(world: World) -> World:
        """The other server shows the world and changes it at once."""
        found = add(world)
        if world.name == "w" and not paid:
            shown.append(two.payments("w"))
            paid.append(two.tpp("w").initiated())
        return found

    monkeypatch.setattr(one.worlds, "_add", added)
    body = json.dumps({"as": "w"}).encode() if path == FORK else file
    reply = one.tpp().http.post(path, data=body, content_type="application/json")
    assert reply.status_code == 201
    before = one.payments("here")
    assert before != [] and shown == [before]
    assert one.payments("w") == two.payments("w") == before + paid
    assert len({server.worlds.find("w").ask(hash_state) for server in servers}) == 1
    for server in servers:
        server.write_calls()
    assert findings(one, "w") == findings(two, "w")
    if path == IMPORT:
        assert findings(one, "w") == findings(one, "here")
