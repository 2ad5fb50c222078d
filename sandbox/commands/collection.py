"""The command `bank-sandbox collection`: the working examples as files that other tools send."""

from pathlib import Path

import click


@click.command()
@click.argument("kind", type=click.Choice(["http", "bruno"]))
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--url", default="http://127.0.0.1:8080", show_default=True, help="The address of the sandbox to call.")
@click.option("--vendor", default="service", show_default=True, help="The word in application/vnd.VENDOR.api+json.")
def collection(kind: str, target: Path, url: str, vendor: str) -> None:
    """Writes every example of the reference: as one .http file TARGET, or as a Bruno collection in the folder TARGET.

    They use a new world named `collection`; a control acts as the customer."""
    from sandbox.web.docs.collections import bruno, http_file

    root = url.rstrip("/")
    files = {"": http_file(root, vendor)} if kind == "http" else bruno(root, vendor)
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
