"""`bank-sandbox ready`: one answer to "may we go live?", and the file that others can check."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from lxml import etree

from sandbox.cli import main
from sandbox.extensions.vary.readiness import FORMAT, compute_digest, write_document
from tests.commands.test_vary_lies import CLIENT

ITEMS = [
    "initiation", "signing", "cancellation", "orders", "files", "consent", "tokens", "paging", "errors", "retries",
    "limits", "time",
]  # fmt: skip
# Stands in for the axes, of which a run each would take minutes.
FEW = ("vendor", "final_status")


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    from sandbox.extensions.vary import command_options
    from sandbox.extensions.vary.space import make_space

    patch.chdir(folder)
    patch.setattr(command_options, "read_space", lambda *asked, **more: make_space(FEW))
    (folder / "client.py").write_text(CLIENT)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare(tmp_path, monkeypatch)
    return tmp_path


class Judged(NamedTuple):
    """A folder in which the command was run, and how the command ended."""

    folder: Path
    done: Result


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A client that is not ready. No test changes its files."""
    folder = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch:
        prepare(folder, patch)
        return Judged(folder, run())


def run(*words: str, tests: tuple[str, ...] = ("status",)) -> Result:
    client = (sys.executable, "-S", "client.py", "{junit}", *tests)
    return CliRunner().invoke(main, ["ready", "--frozen", *words, "--", *client])


def document_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "ready.json").read_text())
    return found


def test_each_item_has_a_verdict_with_what_it_rests_on_and_the_files_are_written(judged: Judged) -> None:
    folder, done = judged
    assert done.exit_code == 1, done.output
    document = document_of(folder / "ready")
    items = {item["name"]: item for item in document["items"]}
    assert list(items) == ITEMS and document["ready"] is False and document["seed"] == 1
    assert {"items", "ready", "versions", "seed", "digest"} <= set(document)
    assert items["initiation"]["verdict"] == "fail" and items["files"]["verdict"] == "not_covered"
    assert "calls of payment_initiation" in items["initiation"]["rests_on"][0]
    assert "operation bulk_initiation" in items["files"]["not_covered"]
    names = {row["name"] for row in items["initiation"]["findings"]}
    assert {"lie/initiation_reference", "lie/initiation_payment"} <= names
    assert items["errors"]["findings"][0]["name"] == "axis/vendor=bank.example"
    assert items["time"]["verdict"] == "pass" and "leap_day" in items["time"]["rests_on"][-1]
    page = (folder / "ready" / "ready.html").read_text()
    assert "Not ready" in page and document["digest"] in page and "<script" not in page
    badge = etree.fromstring((folder / "ready" / "ready.svg").read_bytes())
    assert badge.tag.endswith("svg") and "not ready" in "".join(map(str, badge.itertext()))
    assert "NOT READY" in done.stdout and not (folder / ".bank-sandbox-ready.jsonl").exists()


def test_accepted_findings_fail_no_item_and_are_shown_with_their_reason(folder: Path, judged: Judged) -> None:
    names = [row["name"] for item in document_of(judged.folder / "ready")["items"] for row in item["findings"]]
    lines = [f"- {{finding: '{name}', reason: known, date: 2027-03-01}}" for name in [*names, "lie/line_lost"]]
    (folder / "ready.yaml").write_text("accepted:\n" + "\n".join(lines) + "\n")
    done = run("-o", "out")
    assert done.exit_code == 0, done.output
    document = document_of(folder / "out")
    assert document["ready"] is True and document["ended"] == ["lie/line_lost"]
    found = [row for item in document["items"] for row in item["findings"]]
    assert {row["accepted"]["reason"] for row in found} == {"known"}
    assert "Accepted on 2027-03-01: known" in (folder / "out" / "ready.html").read_text()


@pytest.mark.parametrize(
    "content, told",
    [
        ("accepted:\n- {finding: lie/x, reason: a}\n", "entry 1: expected finding, reason and date"),
        ("accepted:\n- {finding: lie/x, reason: a, date: soon}\n", "'soon' is no date"),
        ("accepted:\n- {finding: x, reason: a, date: 2027-03-01}\n", "'x' is no name of a finding"),
        ("allowed: []\n", "expected `accepted:`"),
    ],
)
def test_a_file_of_accepted_findings_is_read_with_care(folder: Path, content: str, told: str) -> None:
    (folder / "ready.yaml").write_text(content)
    done = run()
    assert done.exit_code == 2 and told in " ".join(done.stderr.split())


def test_the_file_is_verified_elsewhere_and_one_changed_byte_is_refused(folder: Path, judged: Judged) -> None:
    elsewhere = folder / "elsewhere"
    shutil.copytree(judged.folder / "ready", elsewhere)
    file = elsewhere / "ready.json"
    content = file.read_bytes()
    verify = ["ready", "verify", str(file)]
    assert CliRunner().invoke(main, verify).exit_code == 0
    for place in (3, len(content) // 2, len(content) - 2):
        changed = bytearray(content)
        changed[place] ^= 1
        file.write_bytes(changed)
        done = CliRunner().invoke(main, verify)
        assert done.exit_code == 1 and done.stderr, place
    file.write_bytes(content)
    world = sorted((elsewhere / "worlds").iterdir())[0]
    world.write_bytes(world.read_bytes().replace(b"Jan", b"Jon", 1))
    done = CliRunner().invoke(main, verify)
    assert done.exit_code == 1 and "was changed" in done.stderr


@pytest.mark.parametrize(
    "worlds, told",
    [
        ([{"file": "../other.jsonl", "sha256": "0", "statuses": {}, "referee": []}], "is not described"),
        (["today"], "is not described"),
        ([{"file": "worlds/gone.jsonl", "sha256": "0", "statuses": {}, "referee": []}], "cannot be read"),
        (None, "lists no worlds"),
    ],
)
def test_a_file_that_somebody_else_wrote_is_read_with_care(folder: Path, worlds: Any, told: str) -> None:
    document = {"format": FORMAT, "worlds": worlds}
    (folder / "ready.json").write_bytes(write_document(document | {"digest": compute_digest(document)}))
    done = CliRunner().invoke(main, ["ready", "verify", "ready.json"])
    assert done.exit_code == 1 and told in done.stderr


def test_a_command_that_fails_today_or_is_missing_has_no_verdict(folder: Path) -> None:
    done = CliRunner().invoke(main, ["ready", "--", sys.executable, "-S", "-c", "raise SystemExit('no such order')"])
    assert done.exit_code == 2 and "fails against the bank of today" in done.stderr
    assert CliRunner().invoke(main, ["ready"]).exit_code == 2
    done = CliRunner().invoke(main, ["ready", "pytest", "tests"])
    assert done.exit_code == 2 and "bank-sandbox ready -- pytest tests" in done.stderr
    assert not (folder / "ready" / "ready.json").exists()
