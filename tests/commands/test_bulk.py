"""`bank-sandbox bulk`: what the bank would say, on the spot."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox.bulkfiles.samples import SAMPLES
from sandbox.cli import main
from tests.bulkfiles.a_file import Bulk, csv, pain, transaction

TODAY = ("--today", "2027-03-01")


def run(*words: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["bulk", *words], input=given)


def checked(content: bytes, *words: str) -> Result:
    return run("check", "-", *TODAY, *words, given=content)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_goes_into_the_check_as_it_says(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(run("sample", name, *TODAY).stdout_bytes)
    outcome = run("check", str(file), *TODAY)
    holds = SAMPLES[name].startswith("holds:")
    assert outcome.exit_code == (0 if holds else 1)
    assert outcome.stdout.startswith("The bank would take the whole file" if holds else "The bank would")


def test_every_fault_is_told_with_its_place() -> None:
    outcome = checked(csv({}, {"creditor_iban": "BE00"}, {"amount": "0"}))
    assert outcome.exit_code == 1
    assert "line 3: IBAN: creditor_iban: BE00 is no valid IBAN" in outcome.stdout
    assert "line 4: AMOUNT: amount: 0 is not above 0" in outcome.stdout


@pytest.mark.parametrize("content", [b"", b"<a>", b"<!DOCTYPE a><a/>"])
def test_what_is_refused_at_the_post_is_told_so(content: bytes) -> None:
    outcome = checked(content, "--kind", "pain.001")
    assert (outcome.exit_code, "at once, with status 400" in outcome.stdout) == (1, True)


def test_the_kind_is_seen_unless_it_is_given() -> None:
    sound = pain(Bulk())
    assert checked(sound).exit_code == checked(b"\xef\xbb\xbf" + sound).exit_code == checked(csv({})).exit_code == 0
    assert "HEADER" in checked(sound, "--kind", "csv").stdout
    assert "well-formed" in checked(csv({}), "--kind", "pain.001").stdout


def test_the_day_counts_and_is_the_machines_when_left_out() -> None:
    sound = pain(Bulk())
    assert checked(sound).exit_code == 0
    assert run("check", "-", "--today", "2027-03-03", given=sound).exit_code == 1
    made = run("sample", "three-bulks.csv").stdout_bytes
    assert run("check", "-", given=made).exit_code == 0


def test_a_sample_can_be_sent_again_under_another_message_id() -> None:
    made = run("sample", "three-bulks.pain.001.001.09.xml", *TODAY, "--message-id", "RUN-2").stdout_bytes
    assert b"<MsgId>RUN-2</MsgId>" in made and checked(made).exit_code == 0


@pytest.mark.parametrize(
    "name, message_id", [("three-bulks.csv", "A"), ("three-bulks.pain.001.001.03.xml", "<b>"), ("no-such-file", "A")]
)
def test_what_cannot_be_made_is_a_wrong_use(name: str, message_id: str) -> None:
    assert run("sample", name, "--message-id", message_id).exit_code == 2


def test_the_samples_are_listed_with_what_they_are_for() -> None:
    lines = run("samples").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(SAMPLES)  # below the heading


def test_a_file_that_is_not_there_is_a_wrong_use() -> None:
    assert run("check", "no-such-file.xml").exit_code == 2


def test_twenty_are_told_by_text_and_all_by_count() -> None:
    nothing = tuple(transaction(f"E-{number}", '<InstdAmt Ccy="EUR">0</InstdAmt>') for number in range(25))
    told = checked(pain(Bulk(nothing))).stdout
    assert told.count("AMOUNT: 0 is not above 0") == 20 and "25 findings in all: AMOUNT 25" in told
