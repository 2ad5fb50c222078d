"""`bank-sandbox vary --lies`: what would the tests not notice?"""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lxml import etree

from sandbox.cli import main

# A client without a library. Each of its tests initiates a payment; a test that is called `status` asserts on that.
CLIENT = """
import json, os, sys, urllib.error, urllib.request, uuid
ORDER = {"instructed_amount": {"amount": "1.00", "currency": "EUR"}, "creditor_name": "Jan",
         "endtoend_identification": str(uuid.uuid4())[:30],
         "creditor_account": {"iban": "BE68539007547034"}}
def pay():
    headers = {"Content-Type": "application/json", "Accept": "application/vnd.service.api+json; version=3",
               "Client-ID": "demo-tpp", "Redirect-URI": "http://127.0.0.1:9999/callback",
               "Accept-Language": "fr", "Request-ID": str(uuid.uuid4()),
               "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "Code-Challenge-Method": "S256"}
    url = os.environ["SANDBOX_URL"] + "/payments/sepa-credit-transfers"
    return json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(ORDER).encode(), headers)))
cases = ""
for test in sys.argv[2:]:
    try:
        assert test == "calls-nothing" or pay()["status"] == "RCVD" or test != "status", "another status"
        cases += f'<testcase name="{test}"/>'
    except (AssertionError, urllib.error.HTTPError) as error:
        cases += f'<testcase name="{test}"><failure message="{error}"/></testcase>'
if sys.argv[1] != "none":
    open(sys.argv[1], "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit("<failure" in cases)
"""
INITIATION = {"initiation_payment", "initiation_reference", "initiation_settled"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path


def run(*words: str, tests: tuple[str, ...] = (), junit: str = "{junit}") -> Result:
    client = (sys.executable, "-S", "client.py", junit, *tests)
    return CliRunner().invoke(main, ["vary", "--lies", *words, "--", *client])


def test_a_test_that_reads_a_lie_and_passes_is_named_with_the_call_and_both_values(folder: Path) -> None:
    reports = [f"--report=out.{kind}" for kind in ("html", "xml", "sarif", "json")]
    done = run(*reports, tests=("status", "blind", "calls-nothing"))
    assert done.exit_code == 1, done.output
    lies = json.loads((folder / "out.json").read_text())["lies"]
    assert (lies["met"], lies["noticed"], len(lies["unseen"])) == (3, 1, len(lies["unseen"]))
    rows = [(row["lie"], row["test"], row["noticed_by"]) for row in lies["unnoticed"]]
    nobody: list[tuple[str, str, list[str]]] = [
        (lie, test, []) for lie in ("initiation_payment", "initiation_reference") for test in ("status", "blind")
    ]
    assert rows == [*nobody, ("initiation_settled", "blind", ["status"])]
    last = lies["unnoticed"][-1]
    assert (last["told"], last["true"]) == ("ACSC", "RCVD")
    assert last["call"].startswith("POST /payments/sepa-credit-transfers, Request-ID ")
    assert "UNNOTICED  initiation_reference: The end-to-end identification is another one (service 2.4)" in done.stdout
    assert "in blind" in done.stdout and "1 of 3 lies noticed (33 %)" in done.stdout
    root = etree.parse(folder / "out.xml").getroot()
    assert root.get("failures") == "2" and root.xpath("//testsuite[@name='lies']/testcase[skipped]")
    (sarif,) = json.loads((folder / "out.sarif").read_text())["runs"]
    assert [row["level"] for row in sarif["results"]] == ["error"] * 4 + ["note"]
    assert {sarif["tool"]["driver"]["rules"][row["ruleIndex"]]["id"] for row in sarif["results"]} == {
        f"lie/{name}" for name in INITIATION
    }
    assert (
        "is noticed" not in (folder / "out.html").read_text()
        and "Noticed by status" in (folder / "out.html").read_text()
    )


def test_a_command_without_a_report_is_one_test(folder: Path) -> None:
    done = run("--json", tests=("status",), junit="none")
    lies = json.loads(done.stdout)["lies"]
    assert (lies["met"], lies["noticed"]) == (3, 1) and {row["test"] for row in lies["unnoticed"]} == {
        f"{sys.executable} -S client.py none status"
    }


def test_lies_that_are_allowed_are_let_pass_and_new_ones_are_not(folder: Path) -> None:
    assert run("--allow-lies", "known", tests=("status",)).exit_code == 2  # there is no such file yet
    assert run("--allow-lies", "known", "--allow-write", tests=("status",)).exit_code == 0
    assert "initiation_reference  status  # known" in (folder / "known").read_text()
    done = run("--allow-lies", "known", tests=("status",))
    assert done.exit_code == 0 and "allowed  initiation_payment" in done.stdout
    done = run("--allow-lies", "known", tests=("blind",))
    assert done.exit_code == 1 and "UNNOTICED  initiation_settled" in done.stdout
    (folder / "known").write_text("initiation_settled  status  # soon\n")
    assert "ended  initiation_settled  status  # soon" in run("--allow-lies", "known", tests=("status",)).stdout


@pytest.mark.parametrize(
    "line, told",
    [
        ("initiation_setled  a", "did you mean 'initiation_settled'?"),
        ("initiation_settled", "line 1: expected the name"),
    ],
)
def test_a_file_of_allowed_lies_is_read_with_care(folder: Path, line: str, told: str) -> None:
    (folder / "known").write_text(line)
    done = run("--allow-lies", "known", tests=("status",))
    assert done.exit_code == 2 and told in " ".join(done.stderr.split())


def test_a_file_of_allowed_lies_needs_lies() -> None:
    done = CliRunner().invoke(main, ["vary", "--allow-lies", "known", "--", "true"])
    assert done.exit_code == 2 and "--allow-lies needs --lies" in done.stderr


def test_axes_are_varied_too_where_they_are_asked_for(folder: Path) -> None:
    done = run("--json", "--strength", "1", "--axes", "final_status,vendor", tests=("status",))
    told = json.loads(done.stdout)
    assert told["lies"]["noticed"] == 1 and told["strength"] == 1 and told["variants"] > 0


def test_one_lie_can_be_told_alone() -> None:
    words = ["vary", "--variants", "lie=initiation_settled", "--", sys.executable, "-S", "client.py", "none"]
    assert CliRunner().invoke(main, [*words, "status"]).exit_code == 1
    assert CliRunner().invoke(main, [*words, "blind"]).exit_code == 0


def test_a_command_whose_replies_could_be_no_lie_ends_the_run() -> None:
    done = run(tests=("calls-nothing",))
    assert done.exit_code == 3 and "made no call to its bank" in done.stderr
