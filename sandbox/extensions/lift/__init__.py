"""Makes a scenario from recorded traffic. Pseudonyms replace the data of real people."""

from sandbox.extension_registry import Extension

ROOM = "sandbox.extensions.lift"
EXTENSION = Extension(
    name="lift",
    commands={"lift": f"{ROOM}.command:lift"},
    groups={"lift": "Keep"},
    pages=f"{ROOM}.rows:PAGES",
    panels={"calls": f"{ROOM}.console_pages:calls_panel"},
)
