"""Writes a film of a world: one HTML file that replays the world's calls, screens and states."""

from sandbox.extension_registry import Extension

ROOM = "sandbox.extensions.film"
EXTENSION = Extension(
    name="film",
    commands={"film": f"{ROOM}.command:film"},
    groups={"film": "Keep"},
    pytest=f"{ROOM}.pytest_plugin",
)
