"""`bank-sandbox vary`: any command against every bank that this one could have been (choice 12)."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lxml import etree

from sandbox.cli import main

# A client without a library: it reads how its bank differs, and each of its tests breaks on what it names.
CLIENT = """
import json, os, sys, urllib.error, urllib.request
url = os.environ["SANDBOX_URL"]
assert url == os.environ["BANK_BASE_URL"] == sys.argv[1] and "/worlds/" in url
try:
    urllib.request.urlopen(url + "/payments/sepa-credit-transfers/x/status")
except urllib.error.HTTPError:
    pass
rows = json.load(urllib.request.urlopen(url + "/_sandbox/variants"))["variants"]
found = {row["name"]: row["value"] for row in rows}
cases = ""
for test in sys.argv[3:]:
    broken = all(found[part.split("=")[0]] == part.split("=")[1] for part in test.split(","))
    cases += f'<testcase name="{test}">' + ("<failure message='TypeError: a &lt;b&gt;'/>" * broken) + "</testcase>"
open(sys.argv[2], "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit("<failure" in cases)
"""
AXES = "vendor,final_status,limits,settlement"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path


def run(*words: str, tests: tuple[str, ...] = (), command: tuple[str, ...] = ()) -> Result:
    client = (sys.executable, "-S", "client.py", "{url}", "{junit}", *tests)
    return CliRunner().invoke(main, ["vary", *words, "--", *(command or client)])


def test_each_test_is_told_apart_and_exactly_what_breaks_it_is_named(folder: Path) -> None:
    tests = (
        "final_status=ACSP",
        "limits=day,vendor=bank.example",
        "settlement=slow,vendor=bank.example",
        "limits=never",
    )
    reports = [f"--report=out.{kind}" for kind in ("html", "xml", "sarif", "json")]
    done = run("--axes", AXES, *reports, tests=tests)
    assert done.exit_code == 1
    told = json.loads((folder / "out.json").read_text())
    assert sorted(row["test"] for row in told["breaks"]) == sorted(tests[:3])
    for row in told["breaks"]:
        assert ",".join(f"{axis}={value}" for axis, value in row["variants"].items()) == row["test"]
    assert "BREAKS  final_status=ACSP breaks when final_status is ACSP: it ends at ACSP" in done.stdout
    assert "Seen: TypeError: a <b>" in done.stdout and "Call: GET /payments/" in done.stdout
    assert told["score"] == {"withstood": 0, "met": 4, "axes": 4}
    assert "<b>" not in (folder / "out.html").read_text() and "a &lt;b&gt;" in (folder / "out.html").read_text()
    assert etree.parse(folder / "out.xml").getroot().get("failures") == "3"
    assert len(json.loads((folder / "out.sarif").read_text())["runs"][0]["results"]) == 3
    assert not (folder / ".bank-sandbox-vary.jsonl").exists()


# Two tests share a world. The first pays, and tries again where a gateway fails; the second never pays.
BYSTANDERS = """
import json, os, sys, urllib.error, urllib.request, uuid
url = os.environ["SANDBOX_URL"]
def call(method, path, body=None, tries=1):
    headers = {"Content-Type": "application/json", "Accept": "application/vnd.service.api+json; version=3",
               "Client-ID": "demo-tpp", "Redirect-URI": "http://127.0.0.1:9999/callback", "Accept-Language": "fr",
               "Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "Code-Challenge-Method": "S256"}
    for left in reversed(range(tries)):
        try:
            headers["Request-ID"] = str(uuid.uuid4())
            return json.load(urllib.request.urlopen(urllib.request.Request(url + path, body, headers, method=method)))
        except urllib.error.HTTPError as error:
            if error.code != 504 or not left:
                return json.load(error) if error.code == 404 else {"failed": error.code}
def pays():
    order = {"instructed_amount": {"amount": "1.00", "currency": "EUR"}, "creditor_name": "Jan",
             "endtoend_identification": str(uuid.uuid4())[:30], "creditor_account": {"iban": "BE68539007547034"}}
    payment = call("POST", "/payments/sepa-credit-transfers", json.dumps(order).encode(), 3)
    return "payment_id" in payment and "status" in call(
        "GET", f"/payments/sepa-credit-transfers/{payment['payment_id']}/status", tries=3)
def looks():
    return "error" in call("GET", "/payments/sepa-credit-transfers/00000000-0000-4000-8000-000000000000/status")
cases = ""
for test in (pays, looks):
    cases += f'<testcase name="{test.__name__}">' + ("" if test() else "<failure message='it broke'/>") + "</testcase>"
open(sys.argv[1], "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit("<failure" in cases)
"""


def test_a_test_is_blamed_on_what_its_own_calls_met_and_not_on_what_broke_those_before_it(folder: Path) -> None:
    """Where signatures are demanded, the first test ends early, and the gateway fails the call of the second."""
    (folder / "bystanders.py").write_text(BYSTANDERS)
    command = (sys.executable, "-S", "bystanders.py", "{junit}")
    done = run("--axes", "gateway,signatures", "--json", command=command)
    breaks = {(row["test"], ",".join(f"{axis}={value}" for axis, value in row["variants"].items()))
              for row in json.loads(done.stdout)["breaks"]}  # fmt: skip
    assert ("pays", "signatures=strict") in breaks
    assert {text for test, text in breaks if test == "looks"} == {"gateway=502", "gateway=504"}


def test_known_breaks_are_let_pass_and_new_ones_are_not(folder: Path) -> None:
    words = ("--axes", "vendor,settlement", "--strength", "1", "--allow", "known")
    both = ("vendor=bank.example", "settlement=slow")
    assert run(*words, tests=both).exit_code == 2  # there is no such file yet
    assert run(*words, "--allow-write", tests=both[:1]).exit_code == 0
    assert "vendor=bank.example  vendor=bank.example  # known" in (folder / "known").read_text()
    assert run(*words, tests=both[:1]).exit_code == 0
    done = run(*words, tests=both)
    assert done.exit_code == 1 and "allowed  vendor" in done.stdout and "BREAKS  settlement" in done.stdout
    ended = run(*words, tests=("limits=never", "vendor=bank.example", "final_status=ACSP"))
    assert ended.exit_code == 0 and "0 breaks and 1 allowed" in ended.stdout


def test_a_command_that_fails_today_ends_the_run_at_once() -> None:
    done = run(command=(sys.executable, "-S", "-c", "print('out'); raise SystemExit('no such order')"))
    assert done.exit_code == 3
    assert "fails against the bank of today" in done.stderr and "no such order (exit code 1)" in done.stderr


def test_a_command_that_calls_nobody_ends_the_run() -> None:
    done = run(command=(sys.executable, "-S", "-c", "pass"))
    assert done.exit_code == 3 and "made no call to its bank" in done.stderr
    done = run("--axes", "bulk_execution", tests=("limits=never",))
    assert done.exit_code == 3 and "none met one of these axes: bulk_execution" in done.stderr


def test_without_a_report_the_command_is_one_test_and_one_that_hangs_is_ended() -> None:
    client = CLIENT.partition("cases")[0] + "import time\nif found['vendor'] != 'service': time.sleep(600)\n"
    done = run("--axes", "vendor", "--timeout", "2", "--json", command=(sys.executable, "-S", "-c", client, "{url}"))
    (row,) = json.loads(done.stdout)["breaks"]
    assert row["variants"] == {"vendor": "bank.example"} and row["seen"] == "it did not end within 2 s"


def test_one_variant_can_be_run_alone() -> None:
    tests = ("final_status=ACSP",)
    assert run("--variants", "final_status=ACSP,limits=day", tests=tests).exit_code == 1
    assert run("--variants", "limits=day", tests=tests).exit_code == 0


@pytest.mark.parametrize(
    "words, told",
    [
        (("--axes", "vendr"), "did you mean 'vendor'?"),
        (("--variants", "final_status=acsp"), "did you mean 'ACSP'?"),
        (("--allow", "nowhere"), "nowhere cannot be read"),
        (("--report", "out.txt"), "a report ends with .html, .xml, .sarif, .json"),
        (("--report", "nowhere/out.html"), "there is no folder nowhere"),
        (("--scenario", "deflaut"), "did you mean 'default'?"),
        (("--scenario", "nowhere.yaml"), "nowhere.yaml"),
        (("--at", "yesterday"), "yesterday"),
        (("--results", "nowhere/results"), "nowhere/results cannot be written"),
        (("--url", "http://127.0.0.1:1"), "no sandbox answers at http://127.0.0.1:1"),
    ],
)
def test_bad_input_is_told(words: tuple[str, ...], told: str) -> None:
    done = run(*words, command=("true",))
    assert done.exit_code in (1, 2) and told in done.output


def test_a_program_that_is_not_there_is_told() -> None:
    done = run(command=("pytset",))
    assert done.exit_code == 2 and "'pytset' cannot be started: No such file" in done.output


def test_it_runs_at_a_sandbox_that_runs_and_leaves_no_world(url: str) -> None:
    done = run("--url", url, "--axes", "vendor", tests=("vendor=bank.example",))
    assert done.exit_code == 1
    listed = CliRunner().invoke(main, ["worlds", "--url", url, "--json"])
    assert [row["name"] for row in json.loads(listed.stdout)["worlds"]] == ["default"]
