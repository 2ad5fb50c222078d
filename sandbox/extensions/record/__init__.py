"""A proxy between a client and a real bank. It records the calls in a HAR file, in which secrets and personal data are
replaced."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.record"
DOCUMENTS = (Document("record", "How to", after="client-faults"),)
EXTENSION = Extension(
    name="record",
    commands={"record": f"{ROOM}.command:record"},
    groups={"record": "Keep"},
    documents=f"{ROOM}:DOCUMENTS",
)
