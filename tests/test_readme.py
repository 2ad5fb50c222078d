"""Whatever the README shows is run, or is said here why not; whatever it names is there."""

import configparser
import json
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from sandbox.contract.operations import OPERATIONS
from sandbox.extensions.shop.command import demo
from sandbox.people import load_fixtures
from sandbox.web.controls.rows import CONTROLS
from sandbox.web.docs import reference_tables
from sandbox.web.docs.site import SOURCES, make_anchor
from tests.deploy.proxies import free_port
from tests.readme import (
    BLOCKS,
    PAGES,
    PROSE,
    README,
    TEXT,
    calls,
    commands,
    commands_in_prose,
    every_command,
    plain,
    section,
    spans,
    wrong_in,
)
from tests.shell import ROOT, Shell, shell_in, write_program

ADDRESS = "http://127.0.0.1:8080"
# Blocks by their first lines. Those that run here:
MAKE_RUN = "make run"
CALL = "curl -i http://127.0.0.1:8080/payments/sepa-credit-transfers \\"
SCRIPT = 'const bank = "http://127.0.0.1:8080";'
INSTALL = "pip install ."
PAY = "curl -si http://127.0.0.1:8080/payments/sepa-credit-transfers \\"
APPROVE = "curl -s http://127.0.0.1:8080/_sandbox/psu/approve \\"
TOKENS = "curl -s http://127.0.0.1:8080/token --user demo-tpp:demo-secret \\"
STATUS = "curl -s 'http://127.0.0.1:8080/payments/sepa-credit-transfers/INVOICE-1/status?paymentIdType=EXTERNAL' \\"
CLIENT = "from sandbox.client import Client, Controls"
# The blocks that follow in the same language make one program.
SCRIPT_GOES_ON = ("const control = async (path, body) => {", "const exchanged = await fetch(`${bank}/token`, {",
                  'await control("/clock", { advance: "60s" });')  # fmt: skip
CLIENT_GOES_ON = ('callback = bank.psu.approve(payment.sca_address, customer="alice")',
                  "tokens = tpp.tokens_from(callback, payment.flow)", 'bank.clock.advance("60s")')  # fmt: skip
BULK = 'bank-sandbox bulk sample three-bulks.pain.001.001.09.xml --message-id "RUN-$(date +%s)" > wages.xml'
BULK_STATUS = 'curl -s http://127.0.0.1:8080/_sandbox/clock --json \'{"advance": "120s"}\''
BULK_REPORT = (
    """FILE=$(echo "$STATUS" | python3 -c 'import json, sys; print(json.load(sys.stdin)["payment_file_id"])')"""
)
BUILD = "bank-sandbox serve --frozen --at 2027-03-01T09:00 &"
REVOKE = "bank-sandbox pki revoke pki/demo/qwac.pem"
CARRY = "bank-sandbox export --world default --strip-secrets --output fault.world.jsonl.gz"
VARIANTS, COVER = (
    "bank-sandbox variants                 # all axes with their values; the first value is the default",
    "bank-sandbox variants cover --strength 1              # few worlds, in which every value occurs",
)
HERE = {
    VARIANTS,
    COVER,
    MAKE_RUN,
    INSTALL,
    CALL,
    SCRIPT,
    *SCRIPT_GOES_ON,
    PAY,
    APPROVE,
    TOKENS,
    STATUS,
    CLIENT,
    *CLIENT_GOES_ON,
    BULK,
    BULK_STATUS,
    BULK_REPORT,
    BUILD,
    CARRY,
    REVOKE,
}
# Those that another test runs:
OWN_EXTENSION = (
    "tests/extensions/test_own_extension.py::test_the_example_is_installed_and_its_rule_control_and_command_are_used"
)
EXTENDED = "tests/scenarios/test_facts.py::test_a_scenario_that_extends_it_has_its_decisions_and_no_more"
RECORDING = "tests/record/test_recording.py::test_a_recording_has_nobodys_data_and_still_lifts_and_plays"
FIRST_TESTS = "tests/examples/test_other_languages.py::test_the_tests_of_the_page_are_those_of_the_examples"
THERE = {
    "[metadata]": OWN_EXTENSION,
    "pip install ./examples/extension": OWN_EXTENSION,
    '"""What our company adds to the sandbox. Nothing is imported here but the object that names it."""': OWN_EXTENSION,
    '"""A rule of the referee: our payments name their invoice."""': OWN_EXTENSION,
    '"""A control: our payments by invoice."""': OWN_EXTENSION,
    '"""A command that calls the control."""': OWN_EXTENSION,
    "extends: strict-bank": EXTENDED,
    "bank-sandbox record --to https://test.bank.example/psd2 --out calls.har --cert client.pem": RECORDING,
    "bank-sandbox lift calls.har -o incident.yaml   # a scenario that plays in the sandbox": RECORDING,
    'test("a payment is credited a minute after the signature", async () => {': FIRST_TESTS,
    "func TestAPaymentIsCreditedAMinuteAfterTheSignature(t *testing.T) {": FIRST_TESTS,
    "@Test": FIRST_TESTS,
    "public function testAPaymentIsCreditedAMinuteAfterTheSignature(): void": FIRST_TESTS,
    "import pytest": "tests/plugin/test_readme.py::test_the_tests_of_the_readme_pass",
    "def test_a_payment_settles_after_a_minute(bank):": (
        "tests/plugin/test_readme.py::test_the_ten_lines_of_the_first_page_pass"
    ),
    '{"mcpServers": {"bank": {"command": "bank-sandbox", "args": ["mcp"], "env": {"SANDBOX_URL": '
    '"http://127.0.0.1:8080"}}}}': (
        "tests/agents/test_protocol.py::test_it_serves_a_running_sandbox_on_standard_input_and_output"
    ),
    "make demo": "tests/shop/test_make_demo.py::test_it_starts_a_bank_and_a_shop_and_ends_both_in_order",
    "from datetime import timedelta": "tests/plugin/test_readme.py::test_the_test_of_a_copy_passes",
    "import httpx": "tests/plugin/test_readme.py::test_the_program_of_the_readme_runs",
    "scenario: The beneficiary's account is closed, the money comes back": (
        "tests/commands/test_scenario.py::test_the_scenario_of_the_readme_holds"
    ),
    "scenario: Nora, who goes to the gym": (
        "tests/people/test_own_habits.py::test_the_people_of_the_readme_live_as_it_says"
    ),
}
# Those that no test can run, and why. Their words are held against the commands all the same.
READY = "needs the reader's own tests; tests/commands/test_ready.py runs the commands, and reads such a file"
VARY = "needs the reader's own tests; tests/commands/test_vary.py and tests/plugin/test_varying.py run the commands"
DATABASE = "needs a database that stays, and is written for PostgreSQL's own programs"
CALIBRATE = "needs a recording of a bank; tests/calibrate/test_calibrate.py runs the command"
NOT_RUN = {
    "docker build --tag bank-sandbox .": "needs an engine; tests/deploy/test_image.py does what can be done",
    "export SANDBOX_KEY=$(openssl rand -hex 16)": "needs an engine; tests/deploy/test_compose.py starts what it starts",
    "export SANDBOX_STATE=postgresql://bank@db.example/bank": "needs a database that stays; tests/histories starts "
    "servers on one",
    "export SANDBOX_KEY=$(openssl rand -hex 16) POSTGRES_PASSWORD=$(openssl rand -hex 16)": "needs an engine; "
    "tests/deploy/test_compose.py reads the file",
    "pg_dump --format custom --file bank.dump postgresql://bank@db.example/bank": DATABASE,
    "createdb bank_restored": DATABASE,
    'sqlite3 bank.sqlite ".backup backup.sqlite"': "needs sqlite3; tests/worlds/test_state_commands.py checks a file",
    "uvx --from . bank-sandbox demo": "fetches uv's own environment; tests/test_wheel.py runs the command from a wheel",
    "bank-sandbox vary -- pytest --junitxml={junit}": VARY,
    "bank-sandbox vary --strength 1 -- go test -count=1 ./...": VARY,
    "bank-sandbox vary --axes reference_repeats,reference_renumbered,reference_when_booked,text_when_booked,"
    "pending_lines -- pytest": VARY,
    "pytest --bank-vary=1 -n 2                       # each test with the fixture `bank`, in worlds of its own": VARY,
    "BREAKS  go test ./... breaks when gateway is 502: the first call of each operation is 502, in HTML; nothing was "
    "done (service 7.2).": "is what the command prints",
    "bank-sandbox vary --lies -- pytest --junitxml={junit}": VARY,
    "bank-sandbox calibrate calls.har -o bank.yaml": CALIBRATE,
    "bank-sandbox calibrate --check bank.yaml tonight.har": CALIBRATE,
    'on: {schedule: [{cron: "30 2 * * *"}]}': "is a job of a code host",
    "bank-sandbox ready -- pytest --junitxml={junit}": READY,
    "bank-sandbox ready verify ready/ready.json": READY,
    "accepted:": READY,
    "UNNOTICED  details_amount: The amount is 10 times what was ordered (service 2.4). "
    "Nobody would notice.": "is what the command prints",
    "chmod +x bank-sandbox-linux-x86-64": "is a release; .ci/executable builds such a file and runs it",
    "make check": "is the command that runs this test, in .ci/run too",
}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Where the blocks run, with a port of its own for the server."""
    port = free_port()
    with shell_in(tmp_path, SANDBOX_PORT=str(port), SANDBOX_URL=f"http://127.0.0.1:{port}") as shell:
        yield shell


def block(name: str) -> str:
    (found,) = {block.text for block in BLOCKS if block.name == name}
    return found


def shown(shell: Shell, script: str, **told: str) -> str:
    """A script of the README at this test's server; it must succeed."""
    code, said = shell.run(script.replace(ADDRESS, shell.environment["SANDBOX_URL"]), **told)
    assert code == 0, said
    return said


def served(shell: Shell, script: str) -> None:
    """Started, and left running."""
    shown(shell, f"{script.rstrip()} &\nbank-sandbox health --wait 30")


def documents(said: str) -> list[dict[str, str]]:
    """What several calls answered, one after the other."""
    found, decoder, place = [], json.JSONDecoder(), 0
    while place < len(said.rstrip()):
        document, place = decoder.raw_decode(said, place)
        found.append(document)
    return found


def test_every_block_is_run_or_it_is_said_why_not() -> None:
    names = [block.name for block in BLOCKS]
    assert sorted({*names}) == sorted([*HERE, *THERE, *NOT_RUN])
    for place in THERE.values():
        file, _, test = place.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text()
    assert block("make check").strip() in (ROOT / ".ci" / "run").read_text().splitlines()


def test_make_run_serves(shell: Shell) -> None:
    """What it sets up first is what `.ci/run` sets up for the tests; here that has been done."""
    for name in ("Makefile", "setup.cfg", "pyproject.toml"):
        (shell.folder / name).write_bytes((ROOT / name).read_bytes())
    (shell.folder / ".venv").mkdir()
    (shell.folder / ".venv" / "bin").symlink_to(shell.programs)
    write_program(
        shell.programs / "bank-sandbox", f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m sandbox "$@"\n'
    )
    for stamp in ("stamp-made", "stamp-run"):
        (shell.folder / ".venv" / stamp).touch()
    served(shell, block(MAKE_RUN))


def test_a_certificate_is_revoked_as_the_readme_tells(shell: Shell) -> None:
    shown(shell, "bank-sandbox pki init\nbank-sandbox pki issue demo --organisation PSDBE-NBB-1234567890")
    revoke, verify = block(REVOKE).split("\n", 1)
    assert "qwac.pem: OK" in shown(shell, verify)
    shown(shell, revoke)
    code, said = shell.run(verify)
    assert code == 2 and "certificate revoked" in said


def test_a_payment_goes_as_the_readme_tells(shell: Shell) -> None:
    install, serve = block(INSTALL).splitlines()
    assert install == "pip install ."  # tests/test_wheel.py installs what it builds
    served(shell, serve)
    initiated = shown(shell, block(PAY))
    assert initiated.startswith("HTTP/1.1 201") and '"RCVD"' in initiated
    found = re.search(r"(?m)^Location: (\S+)", initiated)
    assert found is not None
    (approved,) = documents(shown(shell, block(APPROVE), ADDRESS=found[1]))
    answer = parse_qs(urlsplit(approved["redirect"]).query)
    assert answer["state"] == ["af0ifjsldkj"]
    (tokens,) = documents(shown(shell, block(TOKENS), CODE=answer["code"][0]))
    assert tokens["scope"] == "PIS" and tokens["access_token"]
    assert [documents(shown(shell, block(STATUS)))[0]["status"] for _ in range(2)] == ["PDNG", "ACSC"]
    assert shown(shell, "bank-sandbox referee --fail-on advice").startswith("0 error")


def test_the_call_of_the_first_page_is_accepted(shell: Shell) -> None:
    served(shell, block(INSTALL).splitlines()[1])
    assert "HTTP/1.1 201" in shown(shell, block(CALL))


def test_and_so_in_javascript(shell: Shell) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("not run: there is no node on this machine")
    served(shell, block(INSTALL).splitlines()[1])
    program = "".join(map(block, (SCRIPT, *SCRIPT_GOES_ON)))
    (shell.folder / "pay.mjs").write_text(program.replace(ADDRESS, shell.environment["SANDBOX_URL"]))
    assert shown(shell, f"{node} pay.mjs").split() == ["PIS", "ACSC"]


def test_the_first_page_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_and_so_in_python(shell: Shell) -> None:
    served(shell, block(INSTALL).splitlines()[1])
    program = "".join(map(block, (CLIENT, *CLIENT_GOES_ON)))
    (shell.folder / "pay.py").write_text(program.replace(ADDRESS, shell.environment["SANDBOX_URL"]))
    assert shown(shell, "python pay.py").splitlines() == ["Alice Delvigne", "ACSC"]


def test_a_bulk_file_goes_as_the_readme_tells(shell: Shell) -> None:
    served(shell, block(INSTALL).splitlines()[1])
    # "With a bank clock of its own, give that day as --today to both commands."
    sample, check, send = block(BULK).split("\n", 2)
    today = "--today 2027-03-01"
    sent = shown(shell, f"{sample.replace(' >', f' {today} >')}\n{check} {today} > report\n{send}")
    assert "payment_file_id" in documents(sent)[0]
    answered = documents(shown(shell, f"{block(BULK_STATUS)}\n{block(BULK_REPORT)}"))
    assert answered[-1]["redirect"] == f"{shell.environment['SANDBOX_URL']}/_sandbox/callback"
    assert "<GrpSts>PDNG</GrpSts>" in (shell.folder / "report.xml").read_text()


def test_a_world_is_carried_as_the_readme_tells(shell: Shell) -> None:
    served(shell, block(INSTALL).splitlines()[1])
    shown(shell, block(PAY))
    assert "world fault with 1 acts" in shown(shell, block(CARRY))
    assert (shell.folder / "fault.world.jsonl.gz").read_bytes().startswith(b"\x1f\x8b")


def test_a_build_goes_as_the_readme_tells(shell: Shell) -> None:
    write_program(shell.folder / "run-my-tests", "#!/bin/sh\necho tested $1\n")
    said = shown(shell, block(BUILD))
    assert f"tested {shell.environment['SANDBOX_URL']}" in said and "0 error" in said


def test_variants_are_listed_and_covered_as_the_how_to_says(shell: Shell) -> None:
    listed = shown(shell, block(VARIANTS))
    assert "final_status" in listed and listed.count("code_life") == 2
    served(shell, block(INSTALL).splitlines()[1])
    text = shown(shell, f"{{ {block(COVER)}\n}} 2>&1")
    assert "at strength 1" in text and "6 worlds begun" in text
    assert len(list((shell.folder / "variants").iterdir())) > 10


def test_every_command_that_is_shown_is_there() -> None:
    found = [words for block in BLOCKS if block.language == "sh" for words in commands(block.text)]
    assert len(found) >= 7
    assert [wrong for words in found if (wrong := wrong_in(words))] == []


def test_every_command_that_is_named_is_there() -> None:
    found = commands_in_prose()
    assert len(found) >= 20
    assert [wrong for words in found if (wrong := wrong_in(words))] == []


def test_every_command_of_the_list_for_a_shell_is_there() -> None:
    (told,) = [part for part in PROSE.split("\n\n") if part.startswith("The same from a shell")]
    assert len(spans(told)) >= 8
    assert [wrong for span in spans(told) if (wrong := wrong_in(span.removeprefix("bank-sandbox ").split()))] == []


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    versions = re.findall(r"Python :: (3\.\d+)", setup["metadata"]["classifiers"])
    told = re.search(r"It needs Python ([^o]*or 3\.\d+)", TEXT)
    assert told is not None and re.findall(r"3\.\d+", told[1]) == versions
    for file in ("Dockerfile", "examples/github-actions.yml"):
        used = set(re.findall(r"python(?::|-version: \")(3\.\d+)", (ROOT / file).read_text()))
        assert used and used <= set(versions)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_every_file_and_heading_that_a_page_points_to_is_there(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        made = ROOT / "docs" in file.parents and file.stem in {*reference_tables.PAGES, *SOURCES}
        assert made or file.exists(), target
        if anchor:
            assert anchor in {make_anchor(title) for title in re.findall(r"(?m)^#+ (.+)$", file.read_text())}, target


def test_every_file_that_is_named_is_there() -> None:
    named = re.findall(r"(?:deploy|examples)/[\w./-]*\w", TEXT)
    assert len(named) >= 5
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.parametrize(
    "words", ["bulk eat", "fly", "serve --wings", "pki issue demo --hat big", "scenario run a --world"]
)
def test_one_that_is_not_there_is_found(words: str) -> None:
    assert wrong_in(words.split()) is not None


def test_every_option_that_is_named_alone_is_there() -> None:
    known = {name for command in every_command() for param in command.params for name in param.opts} | {"--help"}
    named = {span.split()[0] for span in spans() if span.startswith("--")}
    of_others = {"--volume", "--conflicts", "--isolation", "--pooler"}  # of docker, and of `make histories`
    assert len(named) >= 15
    assert {name for name in named - known - of_others if not name.startswith("--bank-")} == set()


def test_every_option_of_pytest_that_is_named_is_there(pytestconfig: pytest.Config) -> None:
    from sandbox import pytest_plugin

    parser = pytest.Parser(_ispytest=True)
    for plugin in (pytest_plugin, *map(import_module, pytest_plugin.pytest_plugins)):
        plugin.pytest_addoption(parser)
    known = {name for group in parser._groups for option in group.options for name in option.names()}
    of_the_demo = {name for param in demo.params for name in param.opts}
    named = set(re.findall(r"--bank-[a-z]+", TEXT)) - of_the_demo
    assert len(named) >= 8
    assert named <= known
    assert {f"bank_{name.removeprefix('--bank-')}" for name in known} >= set(re.findall(r"`(bank_[a-z]+)`", TEXT))


def test_every_option_of_the_demo_that_is_named_is_there() -> None:
    known = {name for param in demo.params for name in param.opts}
    named = {word for span in re.findall(r'ARGS="([^"]+)"', section("A demo")) for word in span.split()[::2]}
    assert len(named) >= 4
    assert named <= known


def test_every_variable_that_is_named_is_one_of_an_option() -> None:
    known = {param.envvar for command in every_command() for param in command.params}
    assert set(re.findall(r"SANDBOX_[A-Z_]+", TEXT)) <= known


def test_every_control_of_the_table_is_there() -> None:
    known = {(method, plain(path)) for method, path, *_ in CONTROLS}
    named = calls(section("Controls"))
    assert len(named) >= 25
    assert [call for call in named if call not in known and not call[1].startswith("/_sandbox")] == []


def test_every_control_is_in_the_table() -> None:
    named = set(calls(section("Controls")))
    assert [(method, path) for method, path, *_ in CONTROLS if (method, plain(path)) not in named] == []


def test_every_call_that_is_named_elsewhere_is_there() -> None:
    known = {(method, f"/_sandbox{plain(path)}") for method, path, *_ in CONTROLS}
    known |= {(row.method, plain(row.path)) for row in OPERATIONS}
    named = [call for call in calls(PROSE.replace(section("Controls"), "")) if call[0] and "/" in call[1]]
    assert len(named) >= 8
    assert [call for call in named if call not in known] == []


def test_the_customers_and_clients_of_the_tables_are_those_of_the_default_world() -> None:
    fixtures, told = load_fixtures(), section("Customers of the default world")
    named = [name for line in told.splitlines() if line.startswith("| `") for name in spans(line.split("|")[1])]
    assert sorted(named) == sorted(fixtures.customers)
    assert set(spans(told.partition("Clients:")[2])) >= set(fixtures.clients)
