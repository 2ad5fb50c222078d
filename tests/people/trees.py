"""The content of the YAML that every start reads, as JSON: `make trees` writes it after a change."""

from pathlib import Path

import orjson

from sandbox.banking.countries import read_fixture
from sandbox.reader.tree import TREES, compute_digest, read_yaml
from sandbox.scenarios.reading import SHIPPED

TARGET = Path(__file__).parents[2] / "fixtures" / TREES


def texts() -> dict[str, str]:
    """By name: the shipped people, and the scenario that each other one extends."""
    return {"fixtures/default.yaml": read_fixture("default.yaml").decode(), "default.yaml": SHIPPED["default"]}


def write_trees() -> bytes:
    content = {compute_digest(text): read_yaml(text, name).to_python() for name, text in texts().items()}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n"


if __name__ == "__main__":
    TARGET.write_bytes(write_trees())
