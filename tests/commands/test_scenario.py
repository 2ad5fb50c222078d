"""`bank-sandbox scenario`: stories are played, checked and listed (choice 12)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from lxml import etree

from sandbox.cli import main
from sandbox.reader.tree import read_yaml
from sandbox.scenarios.reading import SHIPPED

SHORT = "an_unsigned_payment_expires_after_an_hour"
README = Path(__file__).parents[2] / "docs" / "first-scenario.md"
FAILING = """
clock: {at: 2027-03-01T09:00}
steps:
  - pay: {debtor: alice}
    as: rent
  - status: {of: rent, expect: {status: ACSC}}
  - reset
"""


def run(*words: str, **env: str) -> Result:
    return CliRunner().invoke(main, ["scenario", *words], env=env)


@pytest.fixture
def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing.yaml"
    path.write_text(FAILING)
    return str(path)


def test_what_held_is_said_step_by_step() -> None:
    done = run("run", SHORT)
    assert done.exit_code == 0
    assert f"holds  {SHORT}" in done.output
    assert "    holds  line 5, pay debtor: alice" in done.output
    assert "1 of 1 scenarios held" in done.output


def test_what_did_not_hold_is_said_with_its_exchange(failing: str) -> None:
    done = run("run", SHORT, failing)
    assert done.exit_code == 1
    assert "FAILS  line 6, status of: rent" in done.output
    assert "status: expected ACSC, found RCVD" in done.output
    assert "> GET http://127.0.0.1:" in done.output and '"status":"RCVD"' in done.output
    assert "not played  line 7, reset" in done.output
    assert "1 of 2 scenarios held" in done.output


def test_quiet_says_only_what_did_not_hold(failing: str) -> None:
    done = run("run", "--quiet", SHORT, failing)
    assert SHORT not in done.output and "line 4" not in done.output
    assert "FAILS  line 6" in done.output


def test_a_file_that_cannot_be_read_ends_with_2_and_the_others_are_played(tmp_path: Path, failing: str) -> None:
    wrong, out = tmp_path / "wrong.yaml", tmp_path / "out.xml"
    wrong.write_text("steps:\n  - pey: {}\n  - status: rent\n  - clock: yesterday\n")
    done = run("run", "--junit", str(out), str(wrong), SHORT, failing, "nowhere")
    assert done.exit_code == 2
    assert "wrong.yaml:2:5: no step is called 'pey' (did you mean 'pay'?)" in done.output
    assert "nowhere:(file): there is no such scenario" in done.output
    assert f"holds  {SHORT}" in done.output and "FAILS  line 6" in done.output
    assert "1 of 4 scenarios held" in done.output
    tree = etree.parse(out).getroot()
    assert [suite.get("name") for suite in tree] == ["wrong", SHORT, "failing", "nowhere"]
    assert [(suite.get("errors"), suite.get("failures")) for suite in tree] == [
        ("1", "0"),
        ("0", "0"),
        ("0", "1"),
        ("1", "0"),
    ]
    told = tree[0].findall("testcase/error")[0]
    assert "wrong.yaml:2:5: no step" in str(told.get("message")) and "wrong.yaml:4:12: " in str(told.text)


def test_where_no_file_can_be_read_the_report_is_written_all_the_same(tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    done = run("run", "--junit", str(out), "--vary", str(tmp_path / "none.yaml"))
    assert done.exit_code == 2 and "0 of 1 scenarios held" in done.output
    assert etree.parse(out).getroot().get("errors") == "1"


def test_junit_is_written(tmp_path: Path, failing: str) -> None:
    out = tmp_path / "out.xml"
    done = run("run", failing, SANDBOX_JUNIT=str(out))
    assert done.exit_code == 1
    assert etree.parse(out).getroot().get("failures") == "1"


def test_it_plays_on_a_sandbox_that_runs(url: str, failing: str) -> None:
    assert run("run", SHORT, "--url", url, "--jobs", "1").exit_code == 0
    done = run("run", failing, SANDBOX_URL=url)
    assert done.exit_code == 1
    world = done.output.partition("its world is kept for inspection: --world ")[2].split()[0]
    looked = CliRunner().invoke(main, ["payments", "--url", url, "--world", world])
    assert "RCVD" in looked.output


def test_a_sandbox_that_is_not_there_ends_with_1() -> None:
    done = run("run", SHORT, "--url", "http://127.0.0.1:1")
    assert done.exit_code == 1
    assert "refused" in done.output


def test_check_tells_every_fault_with_its_place(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("clok: {}\nsteps:\n  - status: rent\n")
    done = run("check", SHORT, str(wrong))
    assert done.exit_code == 1
    assert "wrong.yaml:1:1: an unknown key 'clok' (did you mean 'clock'?)" in done.output
    wrong.write_text("steps:\n  - status: rent\n")
    assert "wrong.yaml:2:5: nothing was captured as 'rent'" in run("check", str(wrong)).output
    assert run("check", SHORT).exit_code == 0


def test_the_list_has_every_shipped_scenario() -> None:
    told = run("list").output
    for name in SHIPPED:
        assert name in told
    rows = json.loads(run("list", "--json").output)
    assert [row["name"] for row in rows] == list(SHIPPED)


def test_every_shipped_scenario_fits_the_schema_that_editors_get() -> None:
    validator = Draft202012Validator(json.loads(run("schema").output))
    for text in SHIPPED.values():
        assert list(validator.iter_errors(read_yaml(text, "a.yaml").to_python())) == []


def test_the_table_of_values_is_printed_for_other_scenarios_too(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    rule = "{title: Late, when: {creditor_name: Slow}, timings: {settlement_ends: 2h}}"
    own.write_text(f"extends: null\nbank: default\nrules: [{rule}]\n")
    done = run("values", str(own))
    assert "| `Slow` | `creditor_name` | payment or standing order | late | `settlement_ends` 2h |" in done.output


def test_the_scenario_of_the_readme_holds(tmp_path: Path) -> None:
    story = tmp_path / "story.yaml"
    story.write_text(README.read_text().partition("```yaml\n")[2].partition("```")[0])
    done = run("run", str(story))
    assert done.exit_code == 0, done.output


ORDINARY = "a_payment_goes_its_ordinary_way"


def test_a_scenario_is_played_where_the_bank_differs_and_told_what_breaks_it(tmp_path: Path) -> None:
    known = tmp_path / "known"
    words = ("run", "--quiet", "--vary", "--axes", "final_status,closed_days,page_size", "--allow", str(known))
    done = run(*words, "--allow-write", "--report", str(tmp_path / "out.json"), ORDINARY, SHORT)
    assert done.exit_code == 0
    assert f"BREAKS  {ORDINARY} breaks when final_status is ACSP: it ends at ACSP" in done.output
    assert "Seen: line 19, status of: rent" in done.output and "Call: GET /payments/" in done.output
    assert [line.split() for line in done.output.splitlines() if line.strip()[:1] in ("+", "-")] == [
        ["+", '"status":', '"ACSP"'],
        ["-", '"status":', '"ACSC"'],
    ]
    assert "page_size" in done.output.partition("No call met 1 axis")[2]
    told = json.loads((tmp_path / "out.json").read_text())
    assert {row["test"] for row in told["breaks"]} == {ORDINARY} and told["tests"] == [ORDINARY, SHORT]
    assert run(*words, ORDINARY).exit_code == 0
    known.write_text("")
    assert run(*words, ORDINARY).exit_code == 1


def test_a_scenario_that_sets_an_axis_itself_is_not_varied_there(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "settings: {variants: {final_status: ACSP}}\nsteps:\n  - pay: {debtor: alice}\n    as: rent\n"
        "  - psu: {approves: rent}\n  - reset\n  - pay: {debtor: alice}\n    as: next\n  - psu: {approves: next}\n"
        "  - await: {of: next, status: ACSP}\n  - status: {of: next, expect: {status: ACSP}}\n"
    )
    assert run("run", "--vary", "--axes", "final_status,request_id_reuse", str(own)).exit_code == 0


def test_a_lie_that_no_scenario_notices_is_named(tmp_path: Path) -> None:
    known = tmp_path / "known"
    words = ("run", "--quiet", "--vary", "--axes", "json_layout", "--lies", "--allow-lies", str(known))
    done = run(*words, "--allow-write", SHORT)
    assert done.exit_code == 0 and "UNNOTICED  initiation_settled" in done.output
    assert f"initiation_settled  {SHORT}  # known" in known.read_text()
    assert "cancelled_as_paid" not in known.read_text()  # the scenario expects CANC
    assert run(*words, SHORT).exit_code == 0
    known.write_text("")
    assert run(*words, SHORT).exit_code == 1


def test_what_cannot_be_varied_is_told() -> None:
    assert "--lies needs --vary" in run("run", "--lies", SHORT).output
    assert "did you mean 'final_status'?" in run("run", "--vary", "--axes", "final_statu", SHORT).output
    assert "did you mean 'ACSP'?" in run("run", "--variants", "final_status=acsp", SHORT).output
    done = run("run", "--quiet", "--vary", "--axes", "bulk_execution", SHORT)
    assert done.exit_code == 1 and "no call of these scenarios met one of the axes" in done.output
