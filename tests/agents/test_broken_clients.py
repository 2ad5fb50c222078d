"""A client that knows only the tools finds what a broken client did wrong, by following their hints."""

import json
from typing import Any

import anyio
import pytest
from mcp import Client

from sandbox.app import assemble
from sandbox.extensions.agents.bank_link import BankLink
from sandbox.extensions.agents.server import make_server
from sandbox.extensions.agents.toolbox import Toolbox
from sandbox.server.server import serve_in_background
from tests.referee.actor import Actor
from tests.referee.clients import PLAYS
from tests.referee.test_mistakes import MISTAKES
from tests.running import frozen_worlds

# Twelve of the referee's broken clients: of payments, tokens, accounts, polling and redirections.
BROKEN = (
    "pays again after a 502",
    "one reference for everything",
    "Request-IDs that can be foretold",
    "client_secret in the form",
    "exchanges undefined",
    "another PSU's account",
    "psu_involved that is always true",
    "polls faster than settlement can be",
    "a final status taken from the callback",
    "a code that is never exchanged",
    "an id that is not there, again and again",
    "five refusals for missing funds",
)
FOUND_MIN = 10
CALLS_MAX = 12


async def examine(url: str) -> list[dict[str, Any]]:
    """The mistakes that the hints lead to, in that order. The script knows the first tool from the instructions."""
    with BankLink(url) as link:
        return await follow_hints(make_server(Toolbox(link)))


async def follow_hints(server: Any) -> list[dict[str, Any]]:
    async with Client(server) as agent:
        names = {tool.name for tool in (await agent.list_tools()).tools}
        (first,) = (name for name in names if f"Begin with {name};" in (agent.instructions or ""))
        waiting: list[dict[str, Any]] = [{"tool": first, "arguments": {}}]
        asked: set[str] = set()
        mistakes: list[dict[str, Any]] = []
        while waiting and len(asked) < CALLS_MAX:
            step = waiting.pop(0)
            key = json.dumps([step["tool"], step["arguments"]])
            if key in asked:
                continue
            asked.add(key)
            result = await agent.call_tool(step["tool"], step["arguments"])
            content = json.loads(result.content[0].text)  # type: ignore[union-attr]
            waiting += content.get("next", [])
            mistakes += mistakes_in(content)
        return mistakes


def mistakes_in(value: Any) -> list[dict[str, Any]]:
    """Whatever names a rule, a call that proves it, and what to do instead."""
    if isinstance(value, list):
        return [found for item in value for found in mistakes_in(item)]
    if not isinstance(value, dict):
        return []
    if {"rule", "call", "instead"} <= {*value}:
        return [value]
    return [found for item in value.values() for found in mistakes_in(item)]


def examined(play: Any) -> list[dict[str, Any]]:
    """What is found in the traffic of a client."""
    worlds = frozen_worlds()
    app = assemble(worlds)
    play(Actor(app, worlds.get("default").bank))
    with serve_in_background(app) as url:
        return anyio.run(examine, url)


def test_the_planted_fault_of_ten_of_twelve_broken_clients_is_found() -> None:
    outcomes = {}
    for name in BROKEN:
        rule, play = MISTAKES[name]
        outcomes[name] = [found["rule"] for found in examined(play)][:1] == [rule]
    missed = [name for name, is_found in outcomes.items() if not is_found]
    assert len(outcomes) - len(missed) >= FOUND_MIN, missed


@pytest.mark.parametrize("rule", ["token-replaced", "state-reused"])
def test_a_right_client_has_no_fault(rule: str) -> None:
    assert examined(lambda actor: PLAYS[rule](actor, False)) == []
