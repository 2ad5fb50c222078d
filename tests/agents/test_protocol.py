"""The server as agents reach it: tools, resources and prompts, on standard input and output and over HTTP."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from click.testing import CliRunner
from mcp import Client, MCPError, StdioServerParameters

from sandbox.cli import main
from sandbox.extensions.agents.documentation import SCHEME, read_page, search
from sandbox.extensions.agents.server import make_server
from sandbox.extensions.agents.toolbox import Toolbox
from sandbox.web.docs.site import SLUGS
from tests.deploy.proxies import free_port

ROOT = Path(__file__).parents[2]
PATIENCE = 60


def talk(server: Any, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def connected() -> Any:
        async with Client(server) as agent:
            return await use(agent)

    return anyio.run(connected)


def with_stdio(*words: str, url: str = "") -> StdioServerParameters:
    environment = {"SANDBOX_URL": url} if url else {"SANDBOX_PORT": str(free_port())}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "sandbox", "mcp", *words], env=environment, cwd=ROOT
    )


def test_tools_have_annotations_and_schemas(toolbox: Toolbox) -> None:
    async def use(agent: Client) -> Any:
        return {tool.name: tool for tool in (await agent.list_tools()).tools}

    tools = talk(make_server(toolbox), use)
    assert tools["post_reset"].annotations.destructive_hint and not tools["post_reset"].annotations.read_only_hint
    assert tools["get_requests"].annotations.read_only_hint
    assert tools["post_clock"].input_schema["properties"]["advance"]["type"] == "string"


def test_pages_of_the_documentation_are_resources(toolbox: Toolbox) -> None:
    async def use(agent: Client) -> Any:
        listed = [row.uri for row in (await agent.list_resources()).resources]
        page = (await agent.read_resource(f"{SCHEME}first-payment")).contents[0]
        with pytest.raises(MCPError, match="did you mean"):
            await agent.read_resource(f"{SCHEME}first-paymnt")
        return listed, page

    listed, page = talk(make_server(toolbox), use)
    assert listed == [SCHEME + slug for slug in SLUGS]
    assert page.mime_type == "text/markdown" and page.text.startswith("# ")


def test_prompts_are_filled_and_demand_their_arguments(toolbox: Toolbox) -> None:
    async def use(agent: Client) -> Any:
        names = [prompt.name for prompt in (await agent.list_prompts()).prompts]
        filled = await agent.get_prompt("why_was_this_refused", {"request_id": "abc-1"})
        with pytest.raises(MCPError, match="request_id is missing"):
            await agent.get_prompt("why_was_this_refused")
        with pytest.raises(MCPError, match="there is no prompt 'nothing'"):
            await agent.get_prompt("nothing")
        return names, filled.messages[0].content.text  # type: ignore[union-attr]

    names, text = talk(make_server(toolbox), use)
    assert names == ["test_my_client", "why_was_this_refused"] and "Request-ID abc-1" in text


@pytest.mark.parametrize(
    "words, slug", [("DUPLICATE_MSGID", "bulk-files"), ("move the clock", "time"), ("AM04", "reasons")]
)
def test_a_search_finds_the_page(words: str, slug: str) -> None:
    assert slug in [hit.uri.removeprefix(SCHEME) for hit in search(words)]


def test_another_address_is_no_page() -> None:
    assert read_page("sandbox://docs/../setup") is read_page("file:///etc/passwd") is None


def test_it_serves_a_running_sandbox_on_standard_input_and_output(url: str) -> None:
    async def use(agent: Client) -> Any:
        outcome = await agent.call_tool("start_payment", {"answer": "signs"})
        return outcome.structured_content["result"], agent.instructions

    result, instructions = talk(with_stdio(url=url), use)
    assert httpx.get(f"{url}/_sandbox/payments/{result['payment_id']}").status_code == 200
    assert f"at {url}. Begin" in str(instructions)


def test_it_starts_a_sandbox_where_none_is_named_and_none_runs() -> None:
    async def use(agent: Client) -> Any:
        seen = await agent.call_tool("look_around", {})
        health = httpx.get(f"{seen.structured_content['result']['bank']}/_sandbox/health").status_code
        return seen.structured_content["result"], agent.instructions, health

    result, instructions, health = talk(with_stdio(), use)
    assert result["clock"]["mode"] == "frozen" and health == 200
    assert "started for this session" in str(instructions)


def test_it_ends_where_a_named_sandbox_does_not_answer() -> None:
    outcome = CliRunner().invoke(main, ["mcp", "--url", "http://127.0.0.1:9"])
    assert outcome.exit_code == 1 and "no sandbox answers at http://127.0.0.1:9" in outcome.output


def test_without_the_library_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sandbox.extensions.agents.server")
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    outcome = CliRunner().invoke(main, ["mcp"])
    assert outcome.exit_code == 1 and "pip install 'bank-sandbox[mcp]'" in outcome.output


def test_it_serves_over_http_for_this_machine_only(url: str) -> None:
    line = [sys.executable, "-m", "sandbox", "mcp", "--url", url, "--http", "--port", "0"]
    with subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().strip().rpartition(", at ")[2]
            assert address.endswith("/mcp")

            async def use(agent: Client) -> Any:
                return (await agent.call_tool("get_clock", {})).structured_content

            assert talk(address, use)["result"]["mode"] == "frozen"
            foreign = httpx.post(address, json={}, headers={"Host": "evil.example"})
            assert foreign.status_code in (403, 421)
            page = httpx.post(address, json={}, headers={"Origin": "https://evil.example"})
            assert page.status_code == 403
            taken = CliRunner().invoke(main, ["mcp", "--url", url, "--http", "--port", str(httpx.URL(address).port)])
            assert taken.exit_code == 1 and "cannot be used" in taken.output
        finally:
            server.terminate()
            server.wait(PATIENCE)
