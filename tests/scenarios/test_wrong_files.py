"""Each wrong file is told by its line, its column, a sentence and a hint (choice 13)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sandbox.contract.decisions import Decisions
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import ScenarioError, ScenarioErrors, make_schema, read_content, read_scenario, read_settings
from tests.scenarios.wrong import EVERY, NOT_YAML, WrongFile

TREES = [wrong for wrong in EVERY if wrong not in NOT_YAML]
VALIDATOR = Draft202012Validator(make_schema())


def errors_of(text: str) -> list[ScenarioError]:
    with pytest.raises(ScenarioErrors) as caught:
        read_scenario(text, "wrong.yaml")
    return list(caught.value.errors)


@pytest.mark.parametrize("wrong", EVERY, ids=lambda wrong: wrong.says[:40])
def test_a_wrong_file_is_told_by_line_column_and_hint(wrong: WrongFile) -> None:
    said = [error for error in errors_of(wrong.text) if wrong.says in error.text]
    assert said, errors_of(wrong.text)
    assert (said[0].line, said[0].column) == (wrong.line, wrong.column)
    assert (said[0].hint or "").startswith(wrong.hint or "") and bool(said[0].hint) == bool(wrong.hint)


@pytest.mark.parametrize("wrong", [wrong for wrong in TREES if wrong.schema], ids=lambda wrong: wrong.says[:40])
def test_the_schema_refuses_it_too(wrong: WrongFile) -> None:
    assert not VALIDATOR.is_valid(read_yaml(wrong.text, "wrong.yaml").to_python())


@pytest.mark.parametrize("wrong", TREES, ids=lambda wrong: wrong.says[:40])
def test_the_same_as_json_is_told_by_its_path(wrong: WrongFile) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        read_content(read_yaml(wrong.text, "wrong.yaml").to_python(), "wrong")
    told = [error for error in caught.value.errors if wrong.says in error.text]
    assert told
    assert all(error.line is None and error.path for error in told)


def test_a_sentence_reads_like_a_compiler_s() -> None:
    assert str(errors_of("scenario: x\nrules:\n  - {refuse: FORBIDEN}")[0]) == (
        "wrong.yaml:3:14: 'FORBIDEN' is no error of the bank (did you mean 'FORBIDDEN'?)"
    )


def test_a_path_names_the_place_in_json() -> None:
    with pytest.raises(ScenarioErrors, match=r"story:rules\[0\]\.then\[1\]\.move: 'GONE' is no status"):
        read_content({"rules": [{"then": [{"on": "PDNG", "move": "RJCT"}, {"on": "PDNG", "move": "GONE"}]}]}, "story")


def test_all_that_is_wrong_is_told_in_the_order_of_the_lines() -> None:
    text = "seed: x\nrules:\n  - when: {kind: pay, nth: 0}\nfaults:\n  - {when: {chance: 2}, cut: up}\nsetings: {}"
    assert [error.line for error in errors_of(text)] == [1, 3, 3, 3, 5, 5, 6]


def test_faults_of_a_parent_are_told_with_its_own_name() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        read_scenario("extends: parent\nseed: x", "child.yaml", {"parent": "extends: null\nseed: y"})
    assert [(error.file, error.line) for error in caught.value.errors] == [("child.yaml", 2), ("parent.yaml", 2)]


@pytest.mark.parametrize("content", [5, "x", [], {"seed": float("nan")}, {5: 1}, {"about": b"x"}, {"seed": True}])
def test_junk_as_json_is_refused(content: object) -> None:
    with pytest.raises(ScenarioErrors):
        read_content(content, "junk")


PIECES = st.sampled_from(
    ["rules:", "faults:", "steps:", "bank:", "clock:", "extends:", "when:", "then:", "psu:", "\n", "\n  ", "\n  - ",
     "\n    ", " ", "- ", "{", "}", "[", "]", ",", ": ", "&a", "*a", "<<", "!", "!!x ", "%YAML 1.1\n", "---", "...",
     '"', "'", "\\U99999999", "\\x", "|", ">-", "?", "#", "~", "true", "5", "0x", "1e999", ".inf", "-1", "2027-01-01",
     "5m", "alice", "default", "null", "pay", "on", "move", "RJCT", "\x00", "\u2028", "\ud800", "\ufeff", "\t"]
)  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
KEYS = ["scenario", "extends", "seed", "clock", "bank", "settings", "rules", "faults", "steps"]
ROWS = st.dictionaries(st.sampled_from(["when", "then", "psu", "answer", "pay", "as", "refuse"]), PLAIN, max_size=3)
KNOWN = st.dictionaries(st.sampled_from(KEYS), PLAIN | st.lists(ROWS, max_size=2), max_size=3)


def faults_of(text: str) -> tuple[Any, ...]:
    try:
        read_scenario(text, "junk.yaml")
    except ScenarioErrors as faults:
        return faults.errors or (None,)
    return ()


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_junk_is_read_or_refused_but_never_breaks_the_reader(text: str) -> None:
    assert all(error.line and error.column and error.text for error in faults_of(text))


@settings(max_examples=60, deadline=None)
@given(KNOWN)
def test_junk_of_the_right_shape_never_breaks_the_reader(content: dict[str, Any]) -> None:
    assert all(error.line and error.column and error.text for error in faults_of(json.dumps(content)))
    with suppress(ScenarioErrors):
        read_content(content, "junk")


@pytest.mark.parametrize("count", [50, 51, 20_000])
def test_of_many_errors_the_first_are_told_and_no_more_is_read(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sandbox.reader.shapes.suggest", lambda name, known: asked.append(name))
    unknown = {f"unsigned_afte{number}": 1 for number in range(count)}
    for read in (
        lambda: read_content({"settings": unknown}, "many"),
        lambda: read_settings(unknown, Decisions()),
        lambda: read_content({"clock": unknown}, "many"),
    ):
        asked.clear()
        with pytest.raises(ScenarioErrors) as caught:
            read()
        assert len(caught.value.errors) == min(count, 51) and len(asked) <= 51
        assert ("the rest is not listed" in caught.value.errors[-1].text) == (count > 50)


def test_a_long_key_is_told_cut_short() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        read_content({"settings": {"a" * 900_000: 1}}, "long")
    assert len(str(caught.value)) < 1_000
