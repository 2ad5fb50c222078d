"""What a scenario says when it is right (choice 13)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sandbox.bank.rules import AddedFinding, AmountCondition, Psu, RuleEffect
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error
from sandbox.contract.moves import Status
from sandbox.people import load_fixtures
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import (
    ScenarioErrors,
    list_shipped,
    load,
    make_schema,
    read_content,
    read_fault,
    read_scenario,
    read_settings,
)
from sandbox.scenarios.reading import SHIPPED, load_shipped
from sandbox.worlds.faults import Fault, FaultAnswer

STORY = """
scenario: The beneficiary's account is closed, the money comes back
clock: {at: 2027-03-01T09:00, frozen: true}
seed: 7
settings: {unsigned_after: 30m, closed_days: respect}
rules:
  - when: {product: sepa-credit-transfers, creditor_name: "Closed*", amount: {over: 100}, debtor: alice}
    then: [{on: ACSP, after: 2h, move: RJCT, reason: AC04}]
  - title: Alice says yes
    when: {kind: consent, client: demo-tpp}
    psu: {customer: alice, approves: true, after: 2s, accounts: [alice-current, alice-savings]}
  - when: {amount: 0.10}
    timings: {technical_checks: 1d}
  - when: {kind: bulk}
    validation: [{bulk: 2, code: AC01, text: No such account}, {refuse: true, code: FF01}]
  - psu: {approves: true, customer: notaris, second: {customer: griet, refuses: true, after: 1h}}
  - refuse: INSUFFICIENT_FUNDS
faults:
  - when: {operation: payment_status, nth: 3}
    answer: {status: 503, retry_after: 5, body: {any: [thing, 1]}}
  - when: {operation: token, chance: 0.1, from: 2027-03-01, until: 2027-03-02}
    delay: 2s
steps:
  - pay: {creditor_name: Closed Ltd, amount: "250.00", debtor: alice}
    as: rent
  - clock: {advance: 3h}
  - expect: {payment: rent, status: RJCT, reason: AC04}
  - status: rent
  - reset
"""
PARENT = """
extends: null
bank: default
seed: 1
clock: {at: 2027-01-01T00:00, rate: 60}
settings: {unsigned_after: 5m, code_life: 5m}
rules: [{refuse: FORBIDDEN}]
faults: [{delay: 1s}]
steps: [reset]
"""
VALIDATOR = Draft202012Validator(make_schema())


def iban(name: str) -> str:
    return load_fixtures().names[name]


def test_a_story_is_read_whole() -> None:
    story = read_scenario(STORY, "story.yaml")
    assert (story.name, story.title[:15], story.extends) == ("story", "The beneficiary", "default")
    assert (story.at, story.rate, story.seed) == (datetime(2027, 3, 1, 8, tzinfo=UTC), 0.0, 7)
    assert story.settings == Decisions(unsigned_after=timedelta(minutes=30), closed_days="respect")
    assert story.fixtures == load_fixtures()


def test_rules_become_records() -> None:
    closed, consent, cent, bulk, second, broke = read_scenario(STORY, "story.yaml").rules[:6]
    assert (closed.title, consent.title) == ("story, rule 1", "Alice says yes")
    assert closed.when.debtor == iban("alice-current")
    assert closed.when.amount == AmountCondition(over=Decimal(100))
    assert closed.then == (RuleEffect(Status.ACSP, Status.RJCT, timedelta(hours=2), "AC04"),)
    accounts = (iban("alice-current"), iban("alice-savings"))
    assert consent.psu == Psu("approves", "alice", None, accounts, timedelta(seconds=2))
    assert cent.when.amount == AmountCondition(equal=Decimal("0.10"))
    assert cent.with_timings(Decisions()).technical_checks == timedelta(days=1)
    assert bulk.validation == (
        AddedFinding(2, "AC01", "No such account"),
        AddedFinding(0, "FF01", "The scenario says so."),
    )
    assert second.psu is not None and second.psu.then == Psu("refuses", "griet", after=timedelta(hours=1))
    assert broke.refuse == Error.FUNDS_MISSING.name


def test_faults_become_records() -> None:
    status, token = read_scenario(STORY, "story.yaml").faults
    assert status.answer == FaultAnswer(503, 5, {"any": ["thing", 1]})
    assert (token.delay, token.when.chance, token.when.since) == (2.0, 0.1, datetime(2027, 2, 28, 23, tzinfo=UTC))


def test_a_fault_may_answer_as_a_gateway_does() -> None:
    story = "faults: [{answer: {status: 504, body: <p>, content_type: text/html}}]"
    assert read_scenario(story, "story.yaml").faults[0].answer == FaultAnswer(504, None, "<p>", "text/html")


def test_steps_keep_their_content_and_place() -> None:
    pay, *_, status, reset = read_scenario(STORY, "story.yaml").steps
    assert (pay.what, pay.as_name, pay.line, pay.column) == ("pay", "rent", 24, 5)
    assert pay.content == {"creditor_name": "Closed Ltd", "amount": "250.00", "debtor": "alice"}
    assert (status.content, reset.content) == ("rent", None)


def test_json_says_the_same_without_places() -> None:
    told = read_content(read_yaml(STORY, "story.yaml").to_python(), "story")
    story = read_scenario(STORY, "story.yaml")
    assert (told.rules, told.faults, told.settings) == (story.rules, story.faults, story.settings)
    assert [(step.what, step.content, step.line) for step in told.steps] == [
        (step.what, step.content, None) for step in story.steps
    ]


@pytest.mark.parametrize("empty", ["", "---", "{}", "# nothing", "~"])
def test_an_empty_file_is_the_default_bank(empty: str) -> None:
    told, default = read_scenario(empty, "empty.yaml"), load("default")
    assert (told.rules, told.fixtures, told.settings, told.steps) == (default.rules, default.fixtures, Decisions(), ())


def test_words_and_times_of_yaml_1_2_stay_texts() -> None:
    story = read_scenario("scenario: no\nabout: 12:30:00", "x.yaml")
    assert (story.title, story.about) == ("no", "12:30:00")


# Inheriting


def test_a_child_adds_before_its_parent() -> None:
    text = "extends: parent\nsettings: {code_life: 1m}\nrules: [{refuse: INVALID_TPP}]\nfaults: [{cut: within}]"
    child = read_scenario(text, "child.yaml", {"parent": PARENT})
    assert [rule.title for rule in child.rules] == ["child, rule 1", "parent, rule 1"]
    assert [fault.title for fault in child.faults] == ["child, fault 1", "parent, fault 1"]
    assert child.settings == Decisions(unsigned_after=timedelta(minutes=5), code_life=timedelta(minutes=1))
    assert (child.seed, child.rate, child.steps) == (1, 60.0, ())
    assert child.at == datetime(2026, 12, 31, 23, tzinfo=UTC)


def test_a_child_s_clock_and_seed_go_before_its_parent_s() -> None:
    child = read_scenario("extends: parent\nseed: 2\nclock: {frozen: false}", "child.yaml", {"parent": PARENT})
    assert (child.seed, child.rate, child.at) == (2, 1.0, datetime(2026, 12, 31, 23, tzinfo=UTC))


def test_nothing_is_inherited_from_null() -> None:
    alone = read_scenario("extends: null", "alone.yaml")
    assert (alone.extends, alone.rules, alone.fixtures.customers, alone.rate) == (None, (), {}, None)


def test_people_are_added_or_replaced_by_name() -> None:
    text = """
    bank:
      customers: {zoe: {name: Zoe, kind: private, language: fr}, alice: {name: Alix, kind: private, language: nl}}
      accounts: {zoe-current: {number: 5, owners: [zoe], opening: {EUR: "5.00"}}}
      clients: {my-tpp: {secret: mine, name: Mine}}
    rules: [{when: {debtor: zoe, client: my-tpp, customer: zoe}, refuse: FORBIDDEN}]
    """
    people = read_scenario(text, "people.yaml").fixtures
    assert (people.customers["alice"].name, people.customers["zoe"].name) == ("Alix", "Zoe")
    assert {"bram", "zoe"} <= set(people.customers) and {"demo-tpp", "my-tpp"} <= set(people.clients)
    assert people.digest != load_fixtures().digest
    assert people.digest == read_scenario(text, "again.yaml").fixtures.digest


def test_a_grandchild_keeps_the_people_of_both() -> None:
    one = "extends: parent\nbank: {customers: {zoe: {name: Zoe, kind: private, language: fr}}}"
    library = {"parent": PARENT, "one": one}
    two = "extends: one\nbank: {customers: {yan: {name: Yan, kind: private, language: nl}}}"
    assert {"alice", "zoe", "yan"} <= set(read_scenario(two, "two.yaml", library).fixtures.customers)


@pytest.mark.parametrize(
    "library", [{"a": "extends: a"}, {"a": "extends: b", "b": "extends: a"}, {"a": "extends: x", "x": "seed: 1"}]
)
def test_a_circle_is_told(library: dict[str, str]) -> None:
    library = {**library, "default": "extends: x", "x": library.get("x", "seed: 1")}
    with pytest.raises(ScenarioErrors, match="it extends itself: .* -> "):
        read_scenario("extends: a", "start.yaml", library)


# The library


def test_each_shipped_scenario_is_read_once() -> None:
    first = [load_shipped(name) for name in SHIPPED]
    assert all(load_shipped(name) is scenario for name, scenario in zip(SHIPPED, first, strict=True))


def test_the_shipped_scenarios_are_listed_with_their_titles() -> None:
    assert ("default", "The bank as it is, with well-known values") in [row[:2] for row in list_shipped()]
    assert all(title and about for _, title, about in list_shipped())


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "rent.yaml"
    file.write_text("scenario: Rent", encoding="utf-8")
    assert (load(str(file)).name, load(str(file)).title) == ("rent", "Rent")


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match=r"there is no such scenario \(did you mean 'default'\?\)"):
        load("defualt")
    with pytest.raises(ScenarioErrors, match="the file cannot be read: No such file"):
        load(str(tmp_path / "none.yaml"))
    (tmp_path / "latin.yaml").write_bytes(b"scenario: \xe9")
    with pytest.raises(ScenarioErrors, match="it is not UTF-8"):
        load(str(tmp_path / "latin.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_the_schema_knows_what_is_shipped(name: str) -> None:
    assert list(VALIDATOR.iter_errors(read_yaml(SHIPPED[name], name).to_python())) == []


def test_the_schema_is_one_and_takes_the_story() -> None:
    Draft202012Validator.check_schema(make_schema())
    assert list(VALIDATOR.iter_errors(read_yaml(STORY, "story.yaml").to_python())) == []


# The well-known values


def test_no_well_known_value_hinders_an_ordinary_initiation() -> None:
    for rule in load("default").rules:
        name, reference = rule.when.creditor_name, rule.when.endtoend_identification
        assert (name or "").startswith("Test ") or (reference or "").startswith("TEST-")


def test_each_well_known_value_has_one_rule_and_a_title() -> None:
    whens = [rule.when for rule in load("default").rules]
    titles = [rule.title for rule in load("default").rules]
    assert len(set(whens)) == len(whens) and len(set(titles)) == len(titles)


# A running world


def test_settings_of_a_running_world_are_changed_by_name() -> None:
    assert read_settings({"page_size": 5}, Decisions()) == Decisions(page_size=5)
    with pytest.raises(ScenarioErrors, match="settings:page_size: a number from 1 to 50"):
        read_settings({"page_size": 500}, Decisions())


def test_a_fault_of_a_running_world_is_read_alone() -> None:
    fault = read_fault({"when": {"client": "new-tpp"}, "cut": "before"}, "added")
    assert (fault.title, fault.cut, fault.when.client) == ("added", "before", "new-tpp")
    assert isinstance(fault, Fault)
    with pytest.raises(ScenarioErrors, match="is no client"):
        read_fault({"when": {"client": "new-tpp"}, "cut": "before"}, "added", load_fixtures())
