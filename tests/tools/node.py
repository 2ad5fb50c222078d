"""Programs that node runs. Where node or a package is missing their tests are reported as not run.

NODE_MODULES names the folder of the packages; with NODE_TOOLS_REQUIRED=1 a missing one is a failure.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 180  # a guard against hanging, not a promise
HERE = Path(__file__).parent


def packages(*names: str) -> Path:
    """The folder of packages, which has these."""
    folder = Path(os.environ.get("NODE_MODULES", "/nonexistent"))
    missing = [name for name in names if not (folder / name).is_dir()]
    if shutil.which("node") is None:
        missing.append("node")
    if missing:
        assert os.environ.get("NODE_TOOLS_REQUIRED") != "1", f"required, and not there: {missing}"
        pytest.skip(f"not run: NODE_MODULES has not all it needs, {', '.join(missing)}")
    return folder


def run(words: list[str], cwd: Path) -> tuple[int, str]:
    """How a program ended and what it wrote; into a file, for node may end before a pipe has taken all."""
    quiet = os.environ | {"NO_COLOR": "1", "CI": "1"}
    output = cwd / "output"
    with output.open("w") as out:
        done = subprocess.run(words, cwd=cwd, env=quiet, stdout=out, stderr=subprocess.STDOUT, timeout=PATIENCE)
    return done.returncode, output.read_text()


def run_script(name: str, facts: Any, folder: Path, *needed: str) -> Any:
    """What a script of this folder replies to these facts: both are JSON."""
    modules = packages(*needed)
    link = folder / "node_modules"
    if not link.exists():
        link.symlink_to(modules, target_is_directory=True)
    script = folder / name
    script.write_text((HERE / name).read_text())
    (folder / "facts.json").write_text(json.dumps(facts))
    code, said = run(["node", str(script), "facts.json", "answer.json"], folder)
    assert code == 0, said
    return json.loads((folder / "answer.json").read_text())
