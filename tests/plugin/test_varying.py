"""`pytest --bank-vary`: each test again where the bank differs, and a verdict on each."""

import json
from pathlib import Path

import pytest

from tests.plugin.conftest import ONE_WORKER, XDIST, Run

TESTS = """
    import pytest
    from pathlib import Path

    ORDER = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}

    @pytest.fixture(scope="module")
    def once():
        with Path("once.txt").open("a") as file:
            file.write("up ")
            file.flush()
            yield
            file.write("down ")

    def settled(bank):
        payment = bank.tpp.pay(**ORDER)
        bank.psu.approve(payment.sca_address, customer="alice")
        bank.clock.advance("3h")
        return bank.tpp.status(payment).status

    def test_settled(bank, once):
        assert settled(bank) == "ACSC"

    def test_both(bank, once, tmp_path):
        assert settled(bank) in ("ACSC", "ACSP")
        assert tmp_path.exists() and not list(tmp_path.iterdir())
        (tmp_path / "file").touch()
        found = bank.settings()["variants"]
        assert not {"final_status", "request_id_reuse"} <= set(found)

    @pytest.mark.bank(settings={"variants": {"final_status": "ACSP"}})
    def test_own(bank):
        assert settled(bank) == "ACSP"

    def test_flaky(bank):
        with Path("turns.txt").open("a+") as file:
            file.write("x")
            file.seek(0)
            turns = len(file.read())
        assert settled(bank) and turns != 2

    def test_reads(bank):
        assert bank.accounts

    def test_without():
        pass
"""
VARY = ("--bank-vary", "--bank-vary-axes", "final_status,request_id_reuse,page_size")


@pytest.mark.parametrize("more", [(), XDIST], ids=["alone", "xdist"])
def test_each_test_is_run_where_the_bank_differs_and_told_what_breaks_it(
    run: Run, run_apart: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "known").write_text("final_status=ACSP  test_project.py::test_settled  # soon\n")
    told = ("--bank-vary-allow", "known", "--bank-vary-report", "out.json", "--junitxml=junit.xml")
    outcome = (run_apart if more else run)(TESTS, *VARY, *told, *more)
    outcome.assert_outcomes(passed=5, failed=1)
    outcome.stdout.fnmatch_lines(
        [
            "test_project.py::test_both breaks when final_status is ACSP: it ends at ACSP*, and request_id_reuse is *",
            "Seen: AssertionError*",
            "Call: *",
            "FLAKY  test_project.py::test_flaky passed once and failed once*",
            "No call met 1 axis*",
            "*page_size",
            "0 of 2 axes withstood (0 %), 1 not met; 2 breaks and 1 allowed; 1 flaky; 4 tests, strength 2; *",
        ]
    )
    found = {
        (row["test"].split("::")[1], *row["variants"].items())
        for row in json.loads((tmp_path / "out.json").read_text())["breaks"]
    }
    assert {name for name, *_ in found} == {"test_settled", "test_both"}
    assert ("test_settled", ("final_status", "ACSP")) in found and len(found) == 3
    assert "test_both breaks when" in (tmp_path / "junit.xml").read_text()
    if not more:
        assert (tmp_path / "once.txt").read_text() == "up down "


def test_one_variant_is_chosen_for_all_tests_but_those_that_choose_themselves(run: Run) -> None:
    tests = TESTS.replace("def test_flaky", "def no_test")
    run(tests, "--bank-variants", "final_status=ACSP").assert_outcomes(passed=4, failed=1)


def test_bad_input_is_told(run: Run) -> None:
    outcome = run("def test_one(): pass", "--bank-vary=4")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["*--bank-vary is 1, 2 or 3, not '4'*"])


LIES = """
    ORDER = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}

    def test_checks(bank):
        assert bank.tpp.pay(**ORDER).status == "RCVD"

    def test_believes(bank):
        assert bank.tpp.pay(**ORDER)
"""


@pytest.mark.parametrize("more", [(), XDIST], ids=["alone", "xdist"])
def test_a_lie_that_no_test_notices_fails_the_session_and_is_named(
    run: Run, run_apart: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    run = run_apart if more else run
    told = ("--bank-vary=1", "--bank-vary-axes", "vendor", "--lies", "--bank-vary-report", "out.json")
    outcome = run(LIES, *told, *more)
    outcome.assert_outcomes(passed=2)
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(
        ["UNNOTICED  initiation_payment: *", "*in test_project.py::test_believes", "*, 2 of 3 lies *"]
    )
    lies = json.loads((tmp_path / "out.json").read_text())["lies"]
    assert (lies["met"], lies["noticed"]) == (3, 2)
    rows = {(row["lie"], row["test"].split("::")[1], len(row["noticed_by"])) for row in lies["unnoticed"]}
    assert ("initiation_settled", "test_believes", 1) in rows and len(rows) == 3
    allowed = "".join(f"{row['lie']}  {row['test']}  # soon\n" for row in lies["unnoticed"])
    (tmp_path / "known").write_text(allowed)
    assert run(LIES, *told, "--bank-vary-allow-lies", "known", *(ONE_WORKER if more else ())).ret == 0


def test_a_suite_that_is_not_ready_fails_the_session_and_its_document_is_written(
    run: Run, run_apart: Run, tmp_path: Path
) -> None:
    options = ("--bank-ready=out", "--bank-vary-axes", "vendor")
    outcome = run_apart(LIES, *options, *XDIST)
    outcome.assert_outcomes(passed=2)
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(
        ["fail        initiation *", "*lie/initiation_payment: *", "NOT READY: out/ready.html; *"]
    )
    document = json.loads((tmp_path / "out/ready.json").read_text())
    items = {item["name"]: item for item in document["items"]}
    assert document["tests"] == 2 and len(document["worlds"]) == 2
    assert items["time"]["verdict"] == "pass" and items["files"]["verdict"] == "not_covered"
    names = [row["name"] for item in document["items"] for row in item["findings"]]
    accepted = "".join(f"- {{finding: '{name}', reason: known, date: 2027-03-01}}\n" for name in names)
    (tmp_path / "accepted.yaml").write_text(f"accepted:\n{accepted}")
    assert run(LIES, *options, "--bank-ready-accept", "accepted.yaml").ret == 0
