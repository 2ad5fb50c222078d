"""Names and defaults in logs and exports outlive every rename: what was once written stays readable."""

import json
from dataclasses import MISSING
from enum import Enum
from inspect import Parameter
from pathlib import Path
from typing import Any

import pytest

import sandbox.storage.transfer.form
import sandbox.worlds.world  # noqa: F401  # its records too
from sandbox.bank.verbs import NAMES, VERBS, list_parameters
from sandbox.contract.decisions import Decisions
from sandbox.people.fixtures import load_fixtures
from sandbox.storage import checkpoint
from sandbox.storage.codec import encode, list_defaults
from sandbox.storage.format import RECORDS
from sandbox.storage.transfer.form import SHIPPED, SHIPPED_FIXTURES, compute_people_digest
from sandbox.worlds import call_history

WRITTEN = json.loads((Path(__file__).parents[1] / "data" / "names.json").read_text())
Names = dict[str, dict[str, Any]]  # of records or verbs: their fields or parameters, each with what it is left out at


def described(default: Any) -> Any:
    return "required" if default in (MISSING, Parameter.empty) else {"default": encode(default)}


def stored_names() -> dict[str, Any]:
    """All names that this program stores."""
    classes = {name: kind for name, kind in sorted(RECORDS.items()) if kind is not Decisions}
    return {
        "verbs": {
            name: {parameter.name: described(parameter.default) for parameter in list_parameters(name)}
            for name in sorted(VERBS)
        },
        "records": {
            name: {field: described(default) for field, default in list_defaults(kind)}
            for name, kind in classes.items()
            if not issubclass(kind, Enum)
        },
        "words": {name: [member.value for member in kind] for name, kind in classes.items() if issubclass(kind, Enum)},
    }


@pytest.mark.parametrize("of", ["verbs", "records"])
def test_every_name_that_a_log_may_hold_is_still_known_with_the_same_default(of: str) -> None:
    known = stored_names()[of]
    for name, written in WRITTEN[of].items():
        assert {part: known[name].get(part) for part in written} == written, name
        later = {part: default for part, default in known[name].items() if part not in written}
        assert "required" not in later.values(), f"{name}: what is new has a default"


def test_every_word_that_a_log_may_hold_is_still_known() -> None:
    known = stored_names()
    for name, words in WRITTEN["words"].items():
        assert set(words) <= set(known["words"][name]), name


def test_a_new_name_is_written_down_before_it_is_released() -> None:
    assert stored_names() == WRITTEN


def test_each_verb_has_one_name() -> None:
    assert len(NAMES) == len(VERBS)


def test_the_shipped_people_can_be_named_by_an_export() -> None:
    assert SHIPPED_FIXTURES[compute_people_digest(load_fixtures(SHIPPED))] == SHIPPED


def test_all_people_that_were_ever_shipped_still_are() -> None:
    for name in SHIPPED_FIXTURES.values():
        load_fixtures(name)


@pytest.mark.parametrize("part", [*checkpoint.PROGRAM, *call_history.PARTS])
def test_each_part_of_the_program_changes_its_digest(part: str) -> None:
    assert checkpoint.digest_of_parts([part], b"") != checkpoint.digest_of_parts([], b"")


def test_a_part_of_the_program_that_is_missing_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        checkpoint.digest_of_parts(["nowhere"], b"")
