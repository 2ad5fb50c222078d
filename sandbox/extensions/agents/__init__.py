"""Tools for coding agents, which use them by the Model Context Protocol (MCP): the controls, the documentation and a
payment.

The package is not called `mcp`, because that is the name of the library that it uses.
"""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.agents"
DOCUMENTS = (Document("agents", "How to", after="controls"),)
EXTENSION = Extension(
    name="agents",
    commands={"mcp": f"{ROOM}.command:mcp"},
    documents=f"{ROOM}:DOCUMENTS",
)
