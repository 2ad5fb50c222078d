"""The scenarios that travel with the sandbox, each by the name of its file."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

SUFFIX = ".yaml"


class Shipped(Mapping[str, str]):
    """A mapping of names to texts, read on first use."""

    def __getitem__(self, name: str) -> str:
        return _files()[name].read_text(encoding="utf-8")

    def __contains__(self, name: object) -> bool:
        return name in _files()

    def __iter__(self) -> Iterator[str]:
        return iter(_files())

    def __len__(self) -> int:
        return len(_files())


@cache
def _files() -> dict[str, Traversable]:
    """In the installed package, or in the folder of a checkout."""
    try:
        folder = resources.files("sandbox.scenario_files")
    except ModuleNotFoundError:
        folder = Path(__file__).parents[2] / "scenarios"
    files = {file.name.removesuffix(SUFFIX): file for file in folder.iterdir() if file.name.endswith(SUFFIX)}
    return dict(sorted(files.items()))


SHIPPED = Shipped()
