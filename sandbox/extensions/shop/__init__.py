"""A small shop whose customers pay by bank, and a viewer of their accounts. It shows what a third party (TPP) must do.

Read `payments` and `accounts`; both call the bank through `bank_client`. Only `demo` knows that the bank is a
sandbox."""

from sandbox.extension_registry import Extension
from sandbox.web.docs.document_row import Document

ROOM = "sandbox.extensions.shop"
DOCUMENTS = (
    Document(
        "demo",
        "How to",
        after="vary",
        task="Show it to others",
        about="A shop that is paid by bank, with a guided tour.",
    ),
)
EXTENSION = Extension(
    name="shop",
    commands={"demo": f"{ROOM}.command:demo"},
    groups={"demo": "Start"},
    documents=f"{ROOM}:DOCUMENTS",
)
