"""The options --bank-referee and --bank-coverage, in a project that uses the fixture."""

import pytest

from tests.plugin.conftest import XDIST, Run

PROJECT = """
    ORDER = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}

    def test_that_looks(bank):
        payment = bank.tpp.pay(**ORDER)
        bank.psu.approve(payment.sca_address, customer="alice")
        assert bank.tpp.status(payment).status == "PDNG"

    def test_that_takes_signed_for_credited(bank):
        payment = bank.tpp.pay(**ORDER)
        bank.psu.approve(payment.sca_address, customer="alice")
"""
WORDS = "status-never-asked (service 1): A client takes a signed payment for credited"


@pytest.mark.parametrize("level, failed", [("error", 0), ("warning", 1), ("advice", 1)])
def test_the_test_in_which_a_finding_arose_fails_from_its_level_on(run: Run, level: str, failed: int) -> None:
    result = run(PROJECT, f"--bank-referee={level}")
    result.assert_outcomes(passed=2 - failed, failed=failed)
    assert any(WORDS in line for line in result.outlines) is bool(failed)


def test_without_the_option_nothing_is_asked(run: Run) -> None:
    run(PROJECT).assert_outcomes(passed=2)


def test_a_finding_is_waved_off_on_the_command_line_or_by_the_marker(run: Run) -> None:
    waive = "status-never-asked: that is another test's"
    run(PROJECT, "--bank-referee=advice", f"--bank-waive={waive}").assert_outcomes(passed=2)
    marked = f"""
    import pytest
    pytestmark = pytest.mark.bank(settings={{"referee_waives": ["{waive}"]}})
    {PROJECT}
    """
    run(marked, "--bank-referee=advice").assert_outcomes(passed=2)


@pytest.mark.parametrize("workers", [(), XDIST], ids=["alone", "xdist"])
def test_the_coverage_of_all_tests_is_told_at_the_end(run: Run, run_apart: Run, workers: tuple[str, ...]) -> None:
    consent = """
    def test_that_consents(bank):
        bank.tpp.consent_addresses()
    """
    result = (run_apart if workers else run)(PROJECT + consent, "--bank-coverage", *workers)
    result.assert_outcomes(passed=3)
    assert ["operation", "3", "of", "16", "18.8", "%"] in [line.split() for line in result.outlines]
