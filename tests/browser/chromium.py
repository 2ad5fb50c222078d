"""The Chromium that tests, pictures and measurements use."""

import shutil

from playwright.sync_api import Browser, Playwright

# The shell has the same engine without the windows of a desktop, and needs two thirds of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--accept-lang=en-US",  # the shell asks for no language by itself
)


def find_chromium() -> str | None:
    """Returns the path of the first of PROGRAMS that this machine has."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


def launch_chromium(playwright: Playwright) -> Browser:
    program = find_chromium()
    assert program is not None, "it needs a chromium"
    return playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
