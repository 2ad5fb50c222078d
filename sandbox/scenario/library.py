"""The scenarios that travel with the sandbox, each by the name of its file."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

SUFFIX = ".yaml"


def _folder() -> Traversable:
    """The installed package, or the folder of a checkout."""
    try:
        return resources.files("sandbox.scenarios")
    except ModuleNotFoundError:
        return Path(__file__).parents[2] / "scenarios"


class Shipped(Mapping[str, str]):
    """A mapping of names to texts, read on first use."""

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return _folder().joinpath(f"{name}{SUFFIX}").read_text(encoding="utf-8")

    def __contains__(self, name: object) -> bool:
        return name in _names()

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


@cache
def _names() -> tuple[str, ...]:
    names = (file.name for file in _folder().iterdir() if file.name.endswith(SUFFIX))
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names))


SHIPPED = Shipped()
