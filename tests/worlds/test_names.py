"""Names in logs and exports outlive every rename: what was once written stays readable."""

import json
from inspect import signature
from pathlib import Path

import pytest

from sandbox.bank.verbs import NAMES, VERBS
from sandbox.people.fixtures import load_fixtures
from sandbox.storage import checkpoint
from sandbox.storage.record_names import RECORDS
from sandbox.storage.transfer.form import EDITIONS, SHIPPED, people_print
from sandbox.worlds import call_history

WRITTEN = json.loads((Path(__file__).parents[1] / "data" / "names.json").read_text())


def test_every_verb_that_a_log_may_hold_is_still_known_and_takes_what_it_took() -> None:
    for name, written in WRITTEN["verbs"].items():
        parameters = list(signature(VERBS[name]).parameters.values())[1:]
        assert [parameter.name for parameter in parameters[: len(written)]] == written, name
        later = parameters[len(written) :]
        assert all(parameter.default is not parameter.empty for parameter in later), name


def test_every_record_that_a_log_may_hold_is_still_known() -> None:
    import sandbox.storage.transfer.form  # noqa: F401  # its records too

    assert set(WRITTEN["records"]) <= set(RECORDS)


def test_a_new_verb_or_record_is_written_down_before_it_is_released() -> None:
    assert set(VERBS) == set(WRITTEN["verbs"])
    assert set(RECORDS) == set(WRITTEN["records"])


def test_each_verb_has_one_name() -> None:
    assert len(NAMES) == len(VERBS)


def test_the_shipped_people_can_be_named_by_an_export() -> None:
    assert EDITIONS[people_print(load_fixtures(SHIPPED))] == SHIPPED


def test_every_edition_of_the_shipped_people_is_still_shipped() -> None:
    for edition in EDITIONS.values():
        load_fixtures(edition)


@pytest.mark.parametrize("part", [*checkpoint.PROGRAM, *call_history.ROOMS])
def test_each_part_of_the_program_changes_its_digest(part: str) -> None:
    assert checkpoint.print_of([part], b"") != checkpoint.print_of([], b"")


def test_a_part_of_the_program_that_is_missing_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        checkpoint.print_of(["nowhere"], b"")
