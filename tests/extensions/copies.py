"""Copies of the installed program from which extensions are gone: their folders and their entry points."""

import os
import subprocess
import sys
from collections.abc import Collection
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHIPPED = ("agents", "calibrate", "film", "lift", "record", "referee", "shop", "vary")
DATA = ("docs", "fixtures", "scenarios", "tests", "examples", "bench", "pytest.ini")
PATIENCE = 120


def copy_without(removed: Collection[str], target: Path) -> Path:
    """Links all that is left into a folder, which comes first on the path: so does what is installed there."""
    ours = target / "sandbox"
    link_all(ROOT / "sandbox", ours, without={"extensions", "__pycache__"})
    link_all(ROOT / "sandbox/extensions", ours / "extensions", without={*removed, "__pycache__"})
    for name in DATA:
        (target / name).symlink_to(ROOT / name)
    installed = distribution("bank-sandbox")
    about = target / f"bank_sandbox-{installed.version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(installed.read_text("METADATA") or installed.read_text("PKG-INFO") or "")
    lines = (installed.read_text("entry_points.txt") or "").splitlines()
    left = [line for line in lines if line.partition(" = ")[0] not in removed]
    (about / "entry_points.txt").write_text("\n".join(left))
    return target


def link_all(source: Path, target: Path, without: Collection[str] = ()) -> None:
    target.mkdir(parents=True)
    for place in source.iterdir():
        if place.name not in without:
            (target / place.name).symlink_to(place)


def run_in(
    folder: Path, *words: str, path: Collection[Path] = (), patience: int = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Runs Python with the packages of a folder, and of others, before those that are installed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (folder, *path)))
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
