"""One row and its view make a control: its route, guard, document, command and button (the worked example)."""

import re
import sys
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner
from flask import Flask, Response
from jsonschema import Draft202012Validator
from marshmallow import fields
from openapi_spec_validator import validate

from sandbox.app import assemble
from sandbox.commands.generated import add_generated
from sandbox.commands.remote import RemoteWorld
from sandbox.web.api.replies import make_json_response
from sandbox.web.console import answering as console
from sandbox.web.console import templating
from sandbox.web.console.actions import make_actions
from sandbox.web.controls.app import find_view, route
from sandbox.web.controls.body_fields import body, text, whole_number
from sandbox.web.controls.control_row import Button, Command, Control
from sandbox.web.controls.lock import Lock
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.docs.controls_document import describe_controls
from sandbox.web.docs.reference_tables import list_control_rows
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.world import World
from tests import documented
from tests.pki.spelling import spellings
from tests.tpp import refused

KEY = "a-key-for-the-team"
VIEWS = "sandbox.web.controls.greeting_views"

ROW = Control(
    "POST",
    "/greetings/<name>",
    "greeting_views.greet",
    "Greets a customer. Nothing changes.",
    body(
        "Greeting",
        **{
            "words": text(required=True),
            "times": whole_number(option="How often."),
            "from": text(allow_none=True),
        },
    ),
    {"words": "Hello", "times": 2},
    201,
    command=Command("greetings send", "Greets NAME.", "{name} heard {words}"),
    buttons=(Button("greet", "{name} was greeted.", page="/console/settings"),),
    reply=body(
        "Greeted",
        world=text(required=True),
        name=text(required=True),
        said=fields.List(
            fields.Nested(body("Words", words=text(required=True), times=whole_number(required=True))), required=True
        ),
    ),
)


def greet(world: World, name: str, body: dict[str, Any]) -> Response:
    said = [{"words": body["words"], "times": body.get("times", 1)}]
    return make_json_response({"world": world.name, "name": name, "said": said}, 201)


@pytest.fixture(autouse=True)
def views(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(VIEWS)
    module.greet = greet  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, VIEWS, module)
    made = describe_controls("http://x", (*list_control_rows(), ROW))
    monkeypatch.setattr(documented, "controls", lambda: made)  # so that its replies are held against its document


def routed(worlds: WorldRegistry, lock: Lock) -> Flask:
    """The row is routed after the guard was set up."""
    app = assemble(worlds, lock=lock)
    route(app, worlds, (ROW,))
    return app


def test_a_row_is_routed_in_every_world(worlds: WorldRegistry) -> None:
    http = routed(worlds, Lock()).test_client()
    sent = {"words": "Hello", "times": 2, "from": None}
    assert http.post("/_sandbox/greetings/a%20b", json=sent).json == {
        "world": "default",
        "name": "a b",
        "said": [{"words": "Hello", "times": 2}],
    }
    assert http.post("/worlds/b/_sandbox/greetings/x", json=sent).get_json()["world"] == "b"


@pytest.mark.parametrize(
    "body, code, why",
    [
        ({}, "SBX-0400", "words"),
        ({"words": 5}, "SBX-0400", "it must be a text"),
        ({"words": "Hello", "times": -1}, "SBX-0400", "it must be a whole number of 0 or more"),
        ({"words": "Hello", "loud": True}, "SBX-0400", "known are words, times, from"),
        ({"word": "Hello"}, "SBX-0400", "did you mean 'words'? known are words"),
        ([], "SBX-0400", "it must be a JSON object"),
    ],
)
def test_the_body_is_read_as_the_row_declares_it(worlds: WorldRegistry, body: Any, code: str, why: str) -> None:
    reply = routed(worlds, Lock()).test_client().post("/_sandbox/greetings/x", json=body)
    assert reply.status_code == 400 and why in reply.text, reply.text


def test_a_row_is_guarded_however_its_path_is_spelled(worlds: WorldRegistry) -> None:
    http = routed(worlds, Lock(KEY)).test_client()
    for target in spellings("/greetings/x", "127.0.0.1").values():
        environ = {"REQUEST_URI": target, "RAW_URI": target, "PATH_INFO": target.partition("?")[0]}
        reply = http.open("/", method="POST", environ_overrides=environ, json={"words": "Hello"})
        assert reply.status_code in (401, 404), f"{target}: {reply.status_code}"
    right = {"X-Sandbox-Key": KEY}
    assert refused(http.post("/_sandbox/greetings/x", json={"words": "Hello"}), 401, "SBX-0401")
    assert http.post("/_sandbox/greetings/x", json={"words": "Hello"}, headers=right).status_code == 201
    foreign = right | {"Origin": "https://evil.example"}
    assert http.post("/_sandbox/greetings/x", json={"words": "Hello"}, headers=foreign).status_code == 403
    form = http.post("/_sandbox/greetings/x", data="words=Hello", headers=right, content_type="text/plain")
    assert form.status_code == 415


def test_a_row_is_in_the_document_with_its_body() -> None:
    found = describe_controls("http://127.0.0.1:8080", (ROW,))
    validate(found)
    operation = found["paths"]["/_sandbox/greetings/{name}"]["post"]
    assert (operation["summary"], [*operation["responses"]]) == ("Greets a customer", ["201", "4XX", "5XX"])
    content = operation["requestBody"]["content"]["application/json"]
    schema = Draft202012Validator({**content["schema"], "components": found["components"]})
    assert schema.is_valid(content["example"])
    assert not schema.is_valid({}) and not schema.is_valid({"words": "Hello", "loud": True})


def test_a_row_makes_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str, Any]] = []

    def call(far: RemoteWorld, method: str, path: str, body: Any = None) -> Any:
        calls.append((method, path, body))
        return {"name": "a b", "words": "Hello"}

    monkeypatch.setattr(RemoteWorld, "call", call)
    main = click.Group("bank-sandbox")
    add_generated(main, (ROW,))
    outcome = CliRunner().invoke(main, ["greetings", "send", "a b", "Hello", "--times", "0"])
    assert outcome.output == "a b heard Hello\n"
    assert calls == [("POST", "/greetings/a%20b", {"words": "Hello", "times": 0})]
    assert CliRunner().invoke(main, ["greetings", "send", "a b"]).exit_code == 2


def test_a_row_makes_the_button() -> None:
    form = {"name": " a b ", "words": "Hello", "times": "2", "other": "x"}
    ask = make_actions((ROW,))["greet"].ask(form)
    assert (ask.row.method, ask.place, ask.body) == ("POST", "/greetings/a%20b", {"words": "Hello", "times": 2})


def test_a_row_makes_the_form_on_a_page_of_the_console(worlds: WorldRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (console, templating):
        monkeypatch.setattr(module, "ACTIONS", {**make_actions(CONTROLS), **make_actions((ROW,))})
    http = routed(worlds, Lock()).test_client()
    page = http.get("/_sandbox/console/settings").text
    form = page[page.index('<section class="panel" aria-label="greet">') :].partition("</section>")[0]
    assert re.findall(r'<input name="([^"]+)"( required)?', form) == [
        ("name", " required"),
        ("words", " required"),
        ("times", ""),
        ("from", ""),
    ]
    assert "Greets a customer. Nothing changes." in form and re.search(r"curl [^<]*/_sandbox/greetings/", page)
    assert "greet" not in http.get("/_sandbox/console/accounts").text
    proof = re.search(r'name="proof" value="([^"]+)"', form)
    assert proof is not None
    sent = {"proof": proof[1], "back": "/console/settings", "name": "ann", "words": "Hello", "times": "3"}
    done = http.post("/_sandbox/console/do/greet", data=sent, follow_redirects=True)
    assert "ann was greeted." in done.text
    refused_one = http.post("/_sandbox/console/do/greet", data=sent | {"times": "many"}, follow_redirects=True)
    assert "it must be a whole number of 0 or more" in refused_one.text


def test_a_view_that_names_what_the_row_lacks_is_refused_at_the_start() -> None:
    with pytest.raises(AssertionError, match="greeting_views.greet names what POST /greetings does not have"):
        find_view(ROW._replace(path="/greetings"))


def test_an_unknown_view_is_refused_at_the_start() -> None:
    with pytest.raises(AttributeError):
        find_view(ROW._replace(view="greeting_views.wave"))
