"""The shipped banks that others extend: each names its sources, plays, and is documented."""

import re
from pathlib import Path

import pytest

from sandbox.contract.decisions import AXES
from sandbox.scenarios import load, read_scenario
from sandbox.scenarios.reading import SHIPPED
from sandbox.testing import Start
from sandbox.testing.start import world_of
from tests.vary.flows import FLOWS
from tests.vary.line import bank_here, same_chance
from tests.vary.steps import patiently

ROOT = Path(__file__).parents[2]
FACTS = sorted(file.stem for file in (ROOT / "scenarios" / "facts").glob("*.yaml"))
PLAYED = ("pays", "reads", "sends", "is_refused", "keeps_books")


def variants_of(name: str) -> dict[str, str]:
    return dict(load(name).settings.variants)


def test_there_are_facts_and_all_are_shipped() -> None:
    assert len(FACTS) >= 5 and set(FACTS) <= set(SHIPPED)


@pytest.mark.parametrize("name", FACTS)
def test_each_fact_has_its_source_right_before_it(name: str) -> None:
    lines = SHIPPED[name].split("  variants:\n")[1].splitlines()
    assert lines[0].startswith("    # ")
    values = [line for line in lines if not line.startswith("    # ")]
    assert all(re.fullmatch(r'    [a-z_0-9]+: "?[\w:]+"?', line) for line in values)
    assert variants_of(name).keys() <= {value.strip().partition(":")[0] for value in values}


@pytest.mark.parametrize("name", FACTS)
def test_flows_of_the_reference_client_run_there(name: str) -> None:
    variants = variants_of(name)
    shown = [flow for flow in FLOWS if any(flow in AXES[axis].shown_by for axis in variants)]
    with bank_here() as (server, way):
        for flow in dict.fromkeys(("pays", *(flow for flow in PLAYED if flow in shown))):
            way.patient = True
            with world_of(server, "w", Start(name)) as bank, same_chance():
                patiently(FLOWS[flow], bank)


@pytest.mark.parametrize("name", FACTS)
def test_a_scenario_that_extends_it_has_its_decisions_and_no_more(name: str) -> None:
    scenario = read_scenario(f"extends: {name}\nsettings: {{variants: {{vendor: bank.example}}}}", "mine")
    assert dict(scenario.settings.variants) == variants_of(name) | {"vendor": "bank.example"}
    assert scenario.steps == () and scenario.rules == load("default").rules


def test_each_is_documented() -> None:
    page = (ROOT / "docs" / "facts.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == FACTS
