"""The demo: a shop that is paid by bank."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.shop"
DOCUMENTS = (Document("demo", "How to", after="vary"),)
EXTENSION = Extension(
    name="shop",
    commands={"demo": f"{ROOM}.command:demo"},
    documents=f"{ROOM}.extension:DOCUMENTS",
)
