"""A world as one HTML file in which its calls, screens and states are replayed."""

from sandbox.extension_registry import Extension

ROOM = "sandbox.extensions.film"
EXTENSION = Extension(
    name="film",
    commands={"film": f"{ROOM}.command:film"},
    groups={"film": "Keep"},
    pytest=f"{ROOM}.pytest_plugin",
)
