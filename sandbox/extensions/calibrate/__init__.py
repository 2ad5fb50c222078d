"""Learns from recorded calls which values a bank has for the axes (the points on which banks may differ)."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.calibrate"
DOCUMENTS = (Document("calibrate", "How to", after="vary"),)
EXTENSION = Extension(
    name="calibrate",
    commands={"calibrate": f"{ROOM}.command:calibrate"},
    groups={"calibrate": "Check"},
    documents=f"{ROOM}:DOCUMENTS",
)
