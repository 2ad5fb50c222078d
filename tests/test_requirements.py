"""requirements/ names every package of an installation at one version, with hashes, and fits setup.cfg and itself."""

import configparser
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.test_image import steps_of

ROOT = Path(__file__).parents[1]
FILES = {path.stem: path.read_text() for path in sorted((ROOT / "requirements").glob("*.txt"))}
PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(?: ; ([^\\]+?))? \\\Z")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?\Z")
# Which file has the packages of a part of setup.cfg; the image has those of every other extra.
PLACES = {"install_requires": "run", "test": "test", "dev": "dev"}
HOW = "run .ci/lock"


@dataclass(frozen=True)
class Pin:
    name: str
    version: str
    marker: str


def read(text: str) -> tuple[str | None, list[Pin], list[str]]:
    """The layer below, the pins, and the lines that are neither."""
    below: str | None = None
    pins: list[Pin] = []
    strange: list[str] = []
    unhashed = False
    for line in text.splitlines():
        if found := PIN.match(line):
            strange += [pins[-1].name] if unhashed else []
            pins.append(Pin(canonicalize_name(found[1]), found[2], found[3] or ""))
            unhashed = True
        elif HASH.match(line) and pins:
            unhashed = False
        elif line.startswith("-r ") and not pins and below is None:
            below = line.removeprefix("-r ").removesuffix(".txt")
        elif not line.startswith("#"):
            strange.append(line)
    return below, pins, strange + ([pins[-1].name] if unhashed else [])


def whole(name: str, files: dict[str, str]) -> list[Pin]:
    """What an installation of this file holds."""
    below, pins, _ = read(files[name])
    return pins + (whole(below, files) if below else [])


def missing(wanted: list[str], pins: list[Pin]) -> list[str]:
    """Requirements for which no pin has a version that fits."""
    versions = {(pin.name, pin.version) for pin in pins}
    return [
        text
        for text in wanted
        for row in [Requirement(text)]
        if not any(name == canonicalize_name(row.name) and version in row.specifier for name, version in versions)
    ]


def wanted() -> dict[str, list[str]]:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    parts = {"install_requires": setup["options"]["install_requires"], **setup["options.extras_require"]}
    return {part: text.split("\n")[1:] for part, text in parts.items()}


@pytest.mark.parametrize("name", FILES)
def test_every_package_has_one_version_and_hashes_and_names_no_host(name: str) -> None:
    below, pins, strange = read(FILES[name])
    assert (strange, below is None or below in FILES) == ([], True)
    assert pins
    assert "://" not in FILES[name]
    for one in whole(name, FILES):
        assert {pin.version for pin in whole(name, FILES) if pin.name == one.name} == {one.version}


@pytest.mark.parametrize("part", wanted())
def test_what_setup_cfg_demands_is_there(part: str) -> None:
    assert missing(wanted()[part], whole(PLACES.get(part, "image"), FILES)) == [], HOW


def test_what_builds_the_package_is_there() -> None:
    demanded = re.findall(r'requires = \["([^"]+)"\]', (ROOT / "pyproject.toml").read_text())
    assert demanded
    assert missing(demanded, whole("build", FILES)) == [], HOW


def test_constraints_name_the_same_versions() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    named = {(canonicalize_name(name), version) for name, _, version in (line.partition("==") for line in lines)}
    assert len(named) == len(lines)
    locked = {(pin.name, pin.version) for name in FILES for pin in whole(name, FILES)}
    assert named == locked, HOW


def test_the_image_holds_what_was_hashed_and_can_be_pinned_by_digest() -> None:
    steps = steps_of((ROOT / "Dockerfile").read_text())
    images = [rest.split()[0] for word, rest in steps if word == "FROM"]
    assert images == ["${PYTHON}", "scratch"]
    for rest in (rest for word, rest in steps if word == "RUN"):
        for command in re.findall(r"pip [^&|]*\binstall\b[^&|]*", rest):
            assert "--require-hashes" in command or "--no-deps wheels/" in command, command


def test_make_fetches_nothing_without_a_hash() -> None:
    text = (ROOT / "Makefile").read_text()
    for line in text.splitlines():
        if "install" in line and "pip" in line:
            assert "--require-hashes" in line or "--no-deps" in line or line.startswith("INSTALL ="), line
    assert not re.findall(r"\$\(INSTALL\) (?!--require-hashes|--no-deps)", text)


PINNED = f"flask==3.1.3 \\\n    --hash=sha256:{'0' * 64}\n"


@pytest.mark.parametrize(
    "text, strange",
    [
        (PINNED, []),
        (PINNED.replace("==", ">="), ["flask>=3.1.3 \\", f"    --hash=sha256:{'0' * 64}"]),
        ("flask==3.1.3\n", ["flask==3.1.3"]),
        ("flask==3.1.3 \\\n" + PINNED, ["flask"]),
        (PINNED + "flask==3.1.3 \\\n", ["flask"]),
        ("--index-url x\n" + PINNED, ["--index-url x"]),
        (PINNED.replace("sha256", "md5"), [f"    --hash=md5:{'0' * 64}", "flask"]),
    ],
)
def test_a_package_without_a_version_or_hash_is_noticed(text: str, strange: list[str]) -> None:
    assert read(text)[2] == strange


def test_a_demand_that_no_version_fits_is_noticed() -> None:
    assert missing(["Flask >=3.1", "flask >=4", "httpx"], read(PINNED)[1]) == ["flask >=4", "httpx"]
