"""The extension `referee`: finds mistakes in the calls of clients, and counts which operations, replies, statuses and
errors of the bank these calls have reached."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.referee"
DOCUMENTS = (
    Document(
        "client-faults",
        "How to",
        after="controls",
        task="Find mistakes of a client",
        about="The referee names each one, with its rule and the call.",
    ),
    Document("referee-rules", "Reference", after="scenario-keys", source=f"{ROOM}.documents:write_rules_page"),
)
EXTENSION = Extension(
    name="referee",
    commands={"referee": f"{ROOM}.commands:referee", "coverage": f"{ROOM}.commands:coverage"},
    groups={"referee": "Check", "coverage": "Check"},
    controls=f"{ROOM}.rows:CONTROLS",
    pages=f"{ROOM}.rows:PAGES",
    menu=f"{ROOM}.rows:MENU",
    panels={"call": f"{ROOM}.console_pages:call_panel", "overview": f"{ROOM}.console_pages:overview_panel"},
    documents=f"{ROOM}:DOCUMENTS",
    tables={"referee": f"{ROOM}.documents:rules"},
    expectations={"referee": f"{ROOM}.expectations:expect_findings"},
    listener=f"{ROOM}.listening:REFEREE",
    findings=f"{ROOM}.report:CARRIER",
    pytest=f"{ROOM}.pytest_plugin",
)
