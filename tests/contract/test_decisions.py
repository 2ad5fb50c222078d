"""The record of decisions: its types, its axes, its changes, and that reading an axis is noted (choice 13)."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any, Literal, get_args, get_origin

import pytest

from sandbox.bank.state import Bank, change_settings
from sandbox.banking.durations import read_instant
from sandbox.contract.decision_rows import Axis
from sandbox.contract.decisions import (
    AXES,
    SETTINGS,
    Decisions,
    find_axis_value,
    list_settings,
    note_reads,
    with_changes,
)
from sandbox.people import open_bank
from sandbox.people.fixtures import load_fixtures
from sandbox.storage.bank_copy import copy_bank
from sandbox.storage.codec import decode, encode
from tests.payer import signed
from tests.tpp import Tpp

OF_FIELD = {field: axis for axis in AXES.values() for field in axis.fields}


def bank_with(decisions: Decisions = Decisions()) -> Bank:  # noqa: B008 - it is frozen
    return open_bank(load_fixtures(), 7, read_instant("2027-03-01T09:00:00+01:00"), decisions)


# The table


@pytest.mark.parametrize("field", fields(Decisions), ids=lambda field: field.name)
def test_the_type_of_a_decision_holds_its_words(field: Any) -> None:
    words = get_args(field.type) if get_origin(field.type) is Literal else ()
    axis = OF_FIELD.get(field.name)
    assert not words or field.default in words
    if words and axis is not None:
        assert words == axis.names == tuple(dict(value.fields)[field.name] for value in axis.values)
    assert axis is not None or field.name in SETTINGS or field.name == "named"


@pytest.mark.parametrize("axis", AXES.values(), ids=lambda axis: axis.name)
def test_each_value_of_an_axis_is_another_bank(axis: Axis) -> None:
    usual = Decisions()
    assert find_axis_value(usual, axis) == axis.default
    for value in axis.names[1:]:
        changed = with_changes(usual, {"variants": ((axis.name, value),)})
        assert changed.variants == ((axis.name, value),) and find_axis_value(changed, axis) == value
        names = {field.name for field in fields(changed) if getattr(changed, field.name) != getattr(usual, field.name)}
        assert names <= axis.fields | {"named"}
        assert with_changes(changed, {"variants": ((axis.name, axis.default),)}) == usual


def test_a_value_that_no_axis_has_is_an_error() -> None:
    with pytest.raises(KeyError):
        with_changes(Decisions(), {"variants": (("cancel_again", "205"),)})
    with pytest.raises(KeyError):
        with_changes(Decisions(), {"variants": (("cancel_twice", "204"),)})
    with pytest.raises(TypeError):
        with_changes(Decisions(), {"page_sise": 5})


def test_what_is_kept_of_a_record_names_settings_and_variants() -> None:
    record = with_changes(Decisions(page_size=7), {"variants": (("cancel_again", "204"), ("settlement", "slow"))})
    rows = list_settings(record)
    assert "cancel_again" not in rows and rows["variants"] == (("cancel_again", "204"), ("settlement", "slow"))
    assert decode(encode(record)) == record


# Reading is noted


def test_an_axis_is_noted_when_it_is_read_and_a_mere_setting_is_not() -> None:
    read: list[str] = []
    decisions = note_reads(Decisions(), read.append)
    assert read == []
    assert decisions.cancel_again == "403" and decisions.settlement_ends == timedelta(minutes=1)
    assert decisions.unsigned_after == timedelta(hours=1)
    assert read == ["cancel_again", "settlement_ends"]


def test_an_axis_is_noted_at_each_read_where_the_bank_differs() -> None:
    read: list[str] = []
    usual, other = note_reads(Decisions(), read.append), note_reads(Decisions(cancel_again="204"), read.append)
    assert (usual.xb_delete, usual.xb_delete) == ("405", "405") and read == ["xb_delete"]
    assert (other.xb_delete, other.xb_delete) == ("405", "405") and read == ["xb_delete"] * 3


def test_what_is_no_decision_is_an_error_and_noted_nowhere() -> None:
    read: list[str] = []
    with pytest.raises(AttributeError):
        note_reads(Decisions(), read.append).cancel_twice  # type: ignore[attr-defined]  # noqa: B018
    assert read == []


def test_a_bank_reads_its_settings_as_they_are_and_its_twin_tells_nobody() -> None:
    bank, read = bank_with(), list[str]()
    bank.note_decisions(read.append)
    change_settings(bank, (("variants", (("cancel_again", "204"),)),))
    twin = copy_bank(bank)
    assert twin.decisions.cancel_again == "204" and read == []
    assert bank.decisions.cancel_again == "204" and read == ["cancel_again"]
    assert bank.settings.cancel_again == "204" and read == ["cancel_again"]
    bank.settings = replace(bank.settings, cancel_again="404")
    assert (bank.decisions.cancel_again, twin.decisions.cancel_again) == ("404", "204")


def met(tpp: Tpp) -> set[str]:
    return {row["name"] for row in tpp.listed("variants") if row["met"]}


def test_a_world_knows_which_axes_of_settings_it_met(tpp: Tpp) -> None:
    tpp.initiated()
    before = met(tpp)
    assert before >= {"technical_checks", "sca_address_life", "final_status", "first_status"}
    assert before.isdisjoint({"settlement", "closed_days", "instant_settlement", "recycling_tries", "cancel_again"})
    signed(tpp)
    assert met(tpp) - before >= {"settlement", "closed_days"}
    assert met(tpp).isdisjoint({"instant_settlement", "recycling_tries", "page_size", "request_id_reuse"})
