"""Runs the probe in each of several copies of the program, each in a fork of one process.

This process imports the libraries once, which is most of what a start takes, and no module of the sandbox. So each fork
imports the sandbox of its copy alone."""

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    "apispec.ext.marshmallow",
    "cryptography.x509",
    "faker",
    "flask",
    "httpx",
    "jinja2",
    "joserfc.jws",
    "jsonschema",
    "lxml.etree",
    "markdown_it",
    "mcp.server.lowlevel",
    "mcp.server.stdio",
    "OpenSSL",
    "psycopg",
    "pygments.lexers",
    "pytest",
    "rich.console",
    "ruamel.yaml",
    "stdnum.iban",
    "waitress",
)


def run_probe(folder: Path) -> int:
    """Runs the probe in a fork, with the packages of a folder before all others. Its output goes to a file there."""
    child = os.fork()
    if child == 0:
        with (folder / "output").open("w") as output:
            sys.stdout = sys.stderr = output
            try:
                os.chdir(folder)
                sys.path.insert(0, str(folder))
                runpy.run_module("tests.extensions.probe", run_name="__main__")
            except BaseException:
                traceback.print_exc()
        os._exit(0)
    return child


def main(folders: Sequence[str]) -> None:
    for name in LIBRARIES:
        import_module(name)
    assert not any(name.partition(".")[0] == "sandbox" for name in sys.modules)
    for folder in folders:
        os.waitpid(run_probe(Path(folder)), 0)


if __name__ == "__main__":
    main(sys.argv[1:])
