"""The fixture `bank`, as a project of somebody else's uses it: choice 12."""

from pathlib import Path

import pytest

import sandbox
from tests.plugin.conftest import QUIET, XDIST, Run

PAYING = """
    from pathlib import Path
    import pytest
    from sandbox.client import Refused

    def paid(bank, **more):
        order = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"} | more
        return bank.tpp.pay(**order)
"""

# What it gives


def test_a_test_pays_signs_waits_and_looks(run_apart: Run) -> None:
    outcome = run_apart(
        PAYING
        + """
    def test_settled(bank):
        payment = paid(bank)
        callback = bank.psu.approve(payment.sca_address, customer="alice")
        tokens = bank.tpp.tokens_from(callback, payment.flow)
        held = bank.await_(payment, "ACSC", within="2m")
        assert held.waited.total_seconds() == 60 and held.at == bank.clock.get().now
        assert bank.tpp.details(payment, tokens)["status"] == "ACSC"
        assert bank.payment(payment)["status"] == bank.payments[0]["status"] == "ACSC"
        assert [row["to"] for row in bank.journal] == ["RCVD", "PATC", "PDNG", "ACSP", "ACSC"]
        assert [row["operation"] for row in bank.requests] == ["payment_initiation", "token", "payment_details"]
        assert bank.explain(payment.reply.request_id)["clause"] == "service 4.1"
        assert bank.timeline == []

    def test_never(bank):
        with pytest.raises(Refused, match="409.*signature"):
            bank.await_(paid(bank).payment_id, "ACSC", within="5m")

    def test_expired(bank):
        payment = paid(bank)
        assert bank.timeline
        bank.clock.advance("61m")
        assert bank.tpp.status(payment).reason == "TIME_OUT"

    def test_refused(bank):
        payment = paid(bank)
        assert "access_denied" in bank.psu.refuse(payment.sca_address, customer="alice")
        assert bank.payment(payment)["reason"] == "PSU_REFUSED"

    def test_moved(bank):
        payment = paid(bank)
        bank.psu.approve(payment.sca_address, customer="alice")
        bank.move(payment, "RJCT", "AC04")
        assert bank.tpp.status(payment).status == "RJCT"

    def test_booked(bank):
        (iban,) = next(row for row in bank.customers if row["customer"] == "poor")["accounts"]
        before = bank.account(iban)["balances"][0]["balance"]
        bank.book(iban, "100.00", counterparty="Employer")
        assert bank.account(iban)["balances"][0]["balance"] == before + 100

    def test_fault(bank):
        bank.faults.add(when={"operation": "payment_initiation"}, answer={"status": 503, "retry_after": 5})
        with pytest.raises(Refused) as refusal:
            paid(bank)
        assert (refusal.value.status, refusal.value.retry_after) == (503, "5")
        assert [row["met"] for row in bank.faults.all()] == [1]
        bank.faults.clear()
        assert paid(bank).status == "RCVD"

    def test_asked(bank):
        paid(bank)
        bank.verify(operation="payment_initiation", body={"creditor_name": "Jan*"}, times={"exactly": 1})
        assert bank.count(status=201) == 1
        with pytest.raises(AssertionError, match="Expected at least 1 call; found 0 calls"):
            bank.verify(operation="token")
        with pytest.raises(Refused, match="did you mean 'token'"):
            bank.verify(operation="tokens")

    def test_settings(bank):
        assert bank.settings()["unsigned_after"] == "1h"
        assert bank.settings(unsigned_after="30m")["unsigned_after"] == "30m"
        payment = paid(bank)
        bank.clock.advance("31m")
        assert bank.tpp.status(payment).status == "CANC"

    def test_two_ways(bank):
        payment = paid(bank)
        twin = bank.fork()
        bank.psu.approve(payment.sca_address, customer="alice")
        twin.clock.advance("61m")
        assert (bank.payment(payment)["status"], twin.payment(payment)["status"]) == ("PDNG", "CANC")
        third = twin.fork("earlier", at="2027-03-01T09:00")
        assert third.payment(payment)["status"] == "RCVD"
        with pytest.raises(Refused, match="409"):
            twin.fork("earlier")
        assert twin.fork("earlier", replace=True).payment(payment)["status"] == "CANC"

    def test_again(bank):
        paid(bank)
        bank.reset()
        assert bank.payments == [] and bank.requests == []

    def test_another_story(bank):
        bank.scenario({"settings": {"unsigned_after": "5m"}})
        assert bank.settings()["unsigned_after"] == "5m"

    def test_other_clients(bank):
        payment = paid(bank)
        with pytest.raises(Refused, match="404"):
            bank.client("other-tpp", "other-secret").status(payment)
"""
    )
    outcome.assert_outcomes(passed=13)


def test_each_test_has_a_world_of_its_own_on_one_server_and_leaves_none_behind(run: Run) -> None:
    outcome = run(
        PAYING
        + """
    seen = []

    @pytest.mark.parametrize("name", ["a", "b/c", "d" * 80])
    def test_world(bank, bank_server, name):
        paid(bank)
        bank.fork()
        seen.append(bank.base_url)
        assert len(bank.payments) == 1
        assert len(bank_server.controls.listed("worlds")) == 3

    def test_after(bank_server):
        assert len(set(seen)) == 3 and len({url.partition("/worlds/")[0] for url in seen}) == 1
        assert [row["name"] for row in bank_server.controls.listed("worlds")] == ["default"]
"""
    )
    outcome.assert_outcomes(passed=4)


def test_a_bank_that_the_test_dropped_itself_is_no_failure(run: Run) -> None:
    run("def test_dropped(bank):\n    bank.drop()\n").assert_outcomes(passed=1)


def test_the_same_test_sees_the_same_bytes_in_every_run(run_apart: Run) -> None:
    tests = PAYING + "\n    def test_id(bank):\n        print('id', paid(bank).payment_id, bank.clock.get().now)\n"
    first, second = ([line for line in run_apart(tests, "-s").outlines if "id " in line] for _ in range(2))
    assert first == second and len(first) == 1


def test_it_works_on_two_workers_each_with_a_server_of_its_own(run_apart: Run, tmp_path: Path) -> None:
    outcome = run_apart(
        PAYING
        + """
    @pytest.mark.parametrize("number", range(8))
    def test_alone(bank, worker_id, number):
        paid(bank)
        assert len(bank.payments) == 1 and bank.name == f"{worker_id}-test_alone-{number}-"
        Path(f"seen-{worker_id}").write_text(bank.base_url.partition("/worlds/")[0])
""",
        *XDIST,
    )
    outcome.assert_outcomes(passed=8)
    servers = [file.read_text() for file in tmp_path.glob("seen-*")]
    assert len(set(servers)) == len(servers) == 2


def test_a_run_that_asks_for_no_bank_imports_none(run_apart: Run) -> None:
    outcome = run_apart(
        """
    import sys

    def test_nothing():
        ours = {name for name in sys.modules if name.startswith("sandbox.") and ".extensions." not in name}
        lists = {"sandbox.extensions", "sandbox.web", "sandbox.web.docs", "sandbox.web.docs.document_row"}
        plugins = {"sandbox.pytest_plugin", "sandbox.extension_registry", "sandbox.lazy"}
        assert ours == plugins | lists
        assert not {"flask", "httpx", "waitress"} & set(sys.modules)
"""
    )
    outcome.assert_outcomes(passed=1)


# How it is asked for

BEGINS = """
    def test_begins(bank, bank_server):
        face = bank.clock.get()
        world = next(row for row in bank_server.controls.listed("worlds") if row["name"] == bank.name)
        told = (world["seed"], face.now.isoformat()[:16], face.mode, bank.settings()["unsigned_after"])
        print("begins", *told)
"""
MONDAY = """
seed: 5
clock: {at: 2028-05-01T08:00, rate: 60}
settings: {unsigned_after: 20m}
"""


def begins(outcome: pytest.RunResult) -> str:
    return next(line.partition("begins ")[2] for line in outcome.outlines if "begins " in line)


def test_without_a_word_it_is_a_frozen_monday_morning(run: Run) -> None:
    assert begins(run(BEGINS, "-s")) == "1 2027-03-01T09:00 frozen 1h"


def test_the_command_line_says_how_it_begins(run: Run, tmp_path: Path) -> None:
    (tmp_path / "monday.yaml").write_text(MONDAY)
    assert begins(run(BEGINS, "-s", "--bank-scenario=monday.yaml")) == "5 2028-05-01T08:00 running 20m"
    told = ("--bank-scenario=monday.yaml", "--bank-seed=9", "--bank-at=2029-01-02T03:04", "--bank-frozen=yes")
    assert begins(run(BEGINS, "-s", *told)) == "9 2029-01-02T03:04 frozen 20m"


def test_the_command_line_wins_over_the_ini_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "monday.yaml").write_text(MONDAY)
    (tmp_path / "pytest.ini").write_text("[pytest]\nbank_scenario = monday.yaml\nbank_seed = 3\nbank_frozen = yes\n")
    assert begins(run(BEGINS, "-s")) == "3 2028-05-01T08:00 frozen 20m"
    assert begins(run(BEGINS, "-s", "--bank-seed=4", "--bank-scenario=default")) == "4 2027-03-01T09:00 frozen 1h"


def test_now_is_the_machines_time(run: Run) -> None:
    outcome = run(
        """
    from datetime import UTC, datetime, timedelta

    def test_now(bank):
        assert datetime.now(UTC) - bank.clock.get().now < timedelta(minutes=1)
""",
        "--bank-at=now",
    )
    outcome.assert_outcomes(passed=1)


def test_the_nearest_marker_wins_and_settings_add_up(run: Run, tmp_path: Path) -> None:
    (tmp_path / "monday.yaml").write_text(MONDAY)
    outcome = run(
        """
    import pytest

    pytestmark = pytest.mark.bank(seed=2, at="2027-06-01T10:00", settings={"page_size": 7, "code_life": "1m"})

    @pytest.mark.bank(at="2027-07-01T10:00", settings={"code_life": "2m"})
    def test_nearest(bank):
        assert bank.clock.get().now.month == 7
        assert (bank.settings()["page_size"], bank.settings()["code_life"]) == (7, "2m")
        bank.reset()
        assert bank.settings()["page_size"] == 7

    @pytest.mark.bank(scenario="monday.yaml", frozen=True)
    def test_file(bank):
        face = bank.clock.get()
        assert (face.now.year, face.mode) == (2027, "frozen")
        assert (bank.settings()["page_size"], bank.settings()["unsigned_after"]) == (7, "20m")

    @pytest.mark.bank(scenario={"settings": {"unsigned_after": "5m"}})
    def test_content(bank):
        assert bank.settings()["unsigned_after"] == "5m"
""",
        "--bank-seed=8",
        "--strict-markers",
    )
    outcome.assert_outcomes(passed=3)


WRONG = {
    "speed=3": "*does not know speed*",
    "'monday'": "*does not know a value without a name*",
    "scenario='deflaut'": "*there is no such scenario*",
    "scenario='absent.yaml'": "*absent.yaml*",
    "settings={'page_sise': 1}": "*page_size*",
    "at='yesterday'": "*a time is written like*",
}


def test_a_wrong_word_in_a_marker_is_told(run: Run) -> None:
    tests = [f"@pytest.mark.bank({told})\ndef test_{number}(bank):\n    pass\n" for number, told in enumerate(WRONG)]
    outcome = run("import pytest\n" + "".join(tests), "--tb=short")
    outcome.assert_outcomes(errors=len(WRONG))
    outcome.stdout.fnmatch_lines(list(WRONG.values()))
    outcome.stdout.no_fnmatch_line("*sandbox/testing*")  # a sentence, no walk through our code


@pytest.mark.parametrize(
    "option, said",
    [
        ("--bank-waive=nothing", "*a finding is suppressed by `rule: reason`*"),
        ("--bank-waive=no-rule: why", "*no-rule is no rule of the referee*"),
    ],
)
def test_a_wrong_waive_is_told_before_any_test(run: Run, option: str, said: str) -> None:
    outcome = run("def test_it(bank):\n    pass\n", option)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines([said])


@pytest.mark.parametrize(
    "option, said",
    [("--bank-seed=many", "*bank_seed is a whole number*"), ("--bank-frozen=maybe", "*bank_frozen is yes or no*")],
)
def test_a_wrong_option_is_told(run: Run, option: str, said: str) -> None:
    outcome = run("def test_it(bank):\n    pass\n", option)
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([said])


# When a test fails


def test_a_failed_test_leaves_its_film(run: Run, tmp_path: Path) -> None:
    outcome = run(
        PAYING
        + """
    def test_wrong(bank):
        paid(bank)
        assert 0
""",
        "--bank-film=films",
    )
    outcome.stdout.fnmatch_lines(["*- film -*", "*films/test_project.py-test_wrong.html: open it in a browser"])
    assert "payment_initiation" in (tmp_path / "films" / "test_project.py-test_wrong.html").read_text()


def test_a_failed_test_shows_what_its_bank_saw(run: Run) -> None:
    outcome = run(
        PAYING
        + """
    def test_wrong(bank):
        payment = paid(bank)
        with pytest.raises(Refused):
            paid(bank, creditor_iban="BE00539007547034")
        assert bank.tpp.status(payment).status == "ACSC"
"""
    )
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(
        [
            "*- bank -*",
            "http://127.0.0.1:*/worlds/main-test_wrong, its clock frozen at 2027-03-01T09:00:00+01:00",
            "what happened:",
            "  2027-03-01T09:00:00+01:00  *-*-*  RCVD  received",
            "what comes next:",
            "  2027-03-01T09:00:01+01:00  *-*-*  *",
            "the last calls:",
            "  2027-03-01T09:00:00+01:00  POST /payments/sepa-credit-transfers  201  *-*-*",
            "  2027-03-01T09:00:00+01:00  POST /payments/sepa-credit-transfers  400  *-*-*",
            "      INVALID_INPUT GEN-1202-100002 (*): *creditor_account.iban*",
            "  2027-03-01T09:00:00+01:00  GET /payments/sepa-credit-transfers/*/status  200  *-*-*",
        ]
    )


def test_also_on_two_workers_and_when_another_fixture_fails(run_apart: Run) -> None:
    outcome = run_apart(
        """
    import pytest

    @pytest.fixture
    def customer(bank):
        raise ValueError("nobody")

    def test_setup(customer):
        pass

    def test_call(bank):
        assert bank.payments
""",
        *XDIST,
    )
    outcome.assert_outcomes(failed=1, errors=1)
    assert len([line for line in outcome.outlines if "its clock frozen at" in line]) == 2


def test_a_test_that_passes_or_has_no_bank_shows_none(run: Run) -> None:
    outcome = run("def test_passes(bank):\n    pass\ndef test_fails():\n    assert 0\n", "-rA")
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.no_fnmatch_line("*its clock*")


def test_a_bank_that_is_gone_hides_no_failure(run: Run) -> None:
    outcome = run(
        """
    def test_gone(bank):
        bank.controls.base_url = "http://127.0.0.1:1"
        assert False, "the failure itself"
"""
    )
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*the failure itself*", "http://*cannot be asked:*"])


# A server elsewhere


def test_a_server_elsewhere_is_used_and_left_clean(run: Run) -> None:
    with sandbox.running(at="2030-01-01T00:00", frozen=False, seed=77) as elsewhere:
        outcome = run(
            PAYING
            + f"""
    def test_there(bank):
        assert bank.base_url.startswith("{elsewhere.base_url}/worlds/main-")
        assert bank.clock.get().now.year == 2027 and bank.clock.get().mode == "frozen"
        payment = paid(bank)
        bank.psu.approve(payment.sca_address, customer="alice")
        assert bank.await_(payment, "ACSC").status == "ACSC"

    @pytest.mark.bank(settings={{"unsigned_after": "5m"}})
    def test_settings(bank):
        assert bank.settings()["unsigned_after"] == "5m"
""",
            f"--bank-url={elsewhere.base_url}/",
        )
        outcome.assert_outcomes(passed=2)
        assert [row["name"] for row in elsewhere.controls.listed("worlds")] == ["default"]
        assert elsewhere.payments == []


def test_the_environment_names_a_server_elsewhere_unless_an_option_does(
    run_apart: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = "def test_there(bank):\n    print('at', bank.base_url)\n"
    with sandbox.running() as elsewhere:
        for url, options in ((elsewhere.base_url, ()), ("http://127.0.0.1:1", (f"--bank-url={elsewhere.base_url}",))):
            monkeypatch.setitem(QUIET, "SANDBOX_URL", url)
            run_apart(tests, "-s", *options).stdout.fnmatch_lines([f"*at {elsewhere.base_url}/worlds/*"])


def test_two_runs_at_one_server_do_not_meet(run: Run) -> None:
    with sandbox.running() as elsewhere:
        tests = "def test_there(bank):\n    print('named', bank.name)\n"
        names = {line for _ in range(2) for line in run(tests, "-s", f"--bank-url={elsewhere.base_url}").outlines}
    assert len({name for name in names if "named " in name}) == 2


def test_a_server_that_is_not_there_is_told(run: Run) -> None:
    outcome = run("def test_there(bank):\n    pass\n", "--bank-url=http://127.0.0.1:1")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["--bank-url or SANDBOX_URL: http://127.0.0.1:1 cannot be asked: *refused*"])
