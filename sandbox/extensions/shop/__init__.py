"""The command `demo`: a small web shop whose customers pay from their bank account, and can view their bank accounts.
Its code is an example of a third party (TPP).

Read `payments` and `accounts` first; both call the bank through `bank_client`. Only `demo` knows that the bank is a
sandbox.
"""

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
