"""What the referee found goes with the file of a world, and comes with it."""

from typing import Any

import orjson
import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.exports import sealed
from tests.referee.actor import Actor
from tests.tpp import Tpp


@pytest.fixture
def content(actor: Actor) -> bytes:
    """The file of a world in which two rules were broken, one of them with a proof."""
    actor.post(method="plain")
    first, second = actor.signed(), actor.signed()
    old = actor.tokens(first)["access_token"]
    actor.tokens(second)
    actor.details(first, old)
    content: bytes = actor.http.get("/_sandbox/export").data
    return content


def imported(app: Flask, name: str, content: bytes) -> Any:
    return app.test_client().post(f"/_sandbox/import?as={name}", data=content)


def report(tpp: Tpp) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tpp.control("GET", "/referee").get_json()["findings"]
    return found


def test_an_imported_world_has_the_findings_with_their_proof(app: Flask, actor: Actor, content: bytes) -> None:
    before = report(actor.tpp)
    assert {row["rule"] for row in before} == {"pkce-plain", "token-replaced"}
    assert imported(app, "copy", content).status_code == 201
    assert report(Tpp(app, world="copy")) == before


def changed(content: bytes, **change: Any) -> bytes:
    rows = [orjson.loads(line) for line in content.splitlines()]
    for row in rows:
        if "finding" in row:
            row["finding"] |= change
    return sealed([orjson.dumps(row) for row in rows])


@pytest.mark.parametrize(
    "change, why",
    [
        ({"what": "x" * 3_000}, "text does not fit"),
        ({"proof": "all"}, "is no list"),
        ({"call": 5}, "is no object"),
        ({"more": 1}, "is no finding"),
        ({"proof": [{"seq": 1}]}, "this is no call"),
    ],
)
def test_a_finding_of_another_form_is_refused(app: Flask, content: bytes, change: dict[str, Any], why: str) -> None:
    reply = imported(app, "copy", changed(content, **change))
    assert reply.status_code == 400 and why in reply.get_json()["error_description"]
    listed = app.test_client().get("/_sandbox/worlds").get_json()["worlds"]
    assert [row["name"] for row in listed] == ["default"]


def test_a_finding_of_a_rule_that_this_program_does_not_have_is_left_out(app: Flask, content: bytes) -> None:
    assert imported(app, "copy", changed(content, rule="of-tomorrow")).status_code == 201
    assert report(Tpp(app, world="copy")) == []


def test_a_referee_that_an_earlier_program_packed_in_another_form_begins_anew(
    actor: Actor, worlds: WorldRegistry
) -> None:
    world = worlds.get("default")
    world.calls.attachments["referee"] = b"of another form"
    actor.post(method="plain")
    assert actor.rules() == ["pkce-plain"]
