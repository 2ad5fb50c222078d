"""Tests a client against banks that differ from the default bank, and against banks that lie. Says whether the client
may go live."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.vary"
DOCUMENTS = (
    Document(
        "vary",
        "How to",
        after="client-faults",
        task="See what breaks at another bank",
        about="Run your tests against banks that decided otherwise.",
    ),
    Document(
        "ready",
        "How to",
        after="vary",
        task="Decide whether to go live",
        about="One verdict on 12 items, and what is not covered.",
    ),
)
EXTENSION = Extension(
    name="vary",
    commands={
        "vary": f"{ROOM}.command:vary",
        "variants": f"{ROOM}.variants_command:variants",
        "ready": f"{ROOM}.ready_command:ready",
    },
    groups={"vary": "Check", "variants": "Check", "ready": "Check"},
    controls=f"{ROOM}.lie_rows:CONTROLS",
    settings=f"{ROOM}.lie_filter:SETTINGS",
    replies=f"{ROOM}.lie_filter:FILTER",
    options={"scenario run": f"{ROOM}.scenario_options:ScenarioVarying"},
    documents=f"{ROOM}:DOCUMENTS",
    pytest=f"{ROOM}.pytest_plugin",
)
