"""Learns from recorded traffic which values of the axes a bank has."""

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
