"""The MCP server: tools, resources and prompts, on standard input and output or over HTTP."""

import json
from importlib.metadata import version
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from sandbox.extensions.agents.documentation import list_page_titles, read_page
from sandbox.extensions.agents.hints import OVERVIEW, SEARCH
from sandbox.extensions.agents.prompts import BY_NAME, PROMPTS, Prompt
from sandbox.extensions.agents.tool import Tool, ToolError
from sandbox.extensions.agents.toolbox import Toolbox, suggest_nearest

MARKDOWN = "text/markdown"
Context = ServerRequestContext[Any]


def write_instructions(toolbox: Toolbox, is_own: bool) -> str:
    started = "It was started for this session, in memory, with a frozen clock. " if is_own else ""
    return (
        f"A sandbox of a Belgian bank's PSD2 interface, at {toolbox.link.url}. {started}Begin with {OVERVIEW}; each "
        f"result has `next`, the calls that are useful then. The resources are the documentation, and {SEARCH} "
        "searches it. Nothing here is real: customers, money and time belong to the tester."
    )


class ProtocolHandlers:
    """Answers the requests of an agent by MCP. Calls to the sandbox and searches run in threads, so that the event loop
    never waits."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    async def list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in self._toolbox.tools.values()])

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await run_sync(self._toolbox.call, params.name, params.arguments or {})
        text = types.TextContent(text=json.dumps(answer.content, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=answer.content, is_error=answer.is_error)

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        pages = await run_sync(list_page_titles)
        rows = [
            types.Resource(uri=uri, name=uri.rpartition("/")[2], title=title, mime_type=MARKDOWN)
            for uri, title in pages.items()
        ]
        return types.ListResourcesResult(resources=rows)

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await run_sync(read_page, params.uri)
        if text is None:
            raise make_invalid_error(
                f"there is no resource {params.uri[:100]!r}{suggest_nearest(params.uri, list_page_titles())}"
            )
        page = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[page])

    async def list_prompts(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[describe_prompt(prompt) for prompt in PROMPTS])

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = BY_NAME.get(params.name)
        if prompt is None:
            raise make_invalid_error(f"there is no prompt {params.name[:80]!r}{suggest_nearest(params.name, BY_NAME)}")
        try:
            text = prompt.fill(params.arguments or {})
        except ToolError as error:
            raise make_invalid_error(str(error)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.about, messages=[message])


def make_server(toolbox: Toolbox, is_own: bool = False) -> Server[Any]:
    handlers = ProtocolHandlers(toolbox)
    return Server(
        "bank-sandbox",
        version=version("bank-sandbox"),
        instructions=write_instructions(toolbox, is_own),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def describe_prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=about, required=is_required)
        for name, (about, is_required) in prompt.arguments.items()
    ]
    return types.Prompt(name=prompt.name, title=prompt.title, description=prompt.about, arguments=arguments)


def describe_tool(tool: Tool) -> types.Tool:
    annotations = types.ToolAnnotations(
        read_only_hint=tool.is_read_only,
        destructive_hint=tool.is_destructive,
        idempotent_hint=tool.is_idempotent or tool.is_read_only,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.about, input_schema=tool.schema, annotations=annotations
    )


def make_invalid_error(text: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, text)


def serve_stdio(server: Server[Any]) -> None:
    """Serves until standard input ends."""

    async def serve() -> None:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(serve)


def listen(host: str, port: int) -> socket:
    """Opens a socket before the server runs. Connections are accepted at once, and their calls wait until the server
    runs. Raises OSError if the address cannot be used."""
    listening = socket()
    try:
        listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def serve_http(server: Server[Any], listening: socket) -> None:
    """Serves until the process is told to end. The library refuses calls from web pages of other hosts."""
    host = listening.getsockname()[0]
    app = server.streamable_http_app(json_response=True, stateless_http=True, host=host)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
