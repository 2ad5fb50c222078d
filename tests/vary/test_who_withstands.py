"""The table of the flows that show the axes is whole: no axis is left out, and each reason is one."""

from pathlib import Path

from sandbox.contract.decisions import AXES
from sandbox.contract.reference_flows import FLOWS as TABLE
from sandbox.contract.reference_flows import SHOP, describe_evidence, list_axes
from sandbox.web.docs.reference_tables import PAGES, find_table
from tests.vary.flows import FLOWS

ELSEWHERE = {
    "pays_on_lines_that_end": "test_it_withstands_connections_that_end_and_bodies_in_pieces",
    "refuses_forgeries": "test_it_refuses_exactly_the_callbacks_that_it_must",
    "shows_a_certificate": "test_the_reference_client_shows_its_certificate",
}
TESTS = Path(__file__).parents[1]
VARY = TESTS.parent / "docs" / "vary.md"


def test_each_axis_is_shown_by_one_flow_or_has_a_reason() -> None:
    for axis in AXES.values():
        flows = [flow for flow in axis.shown_by if flow != SHOP]
        assert len(flows) == (0 if axis.unfelt else 1) and set(flows) <= set(TABLE), axis.name


def test_each_flow_of_the_table_is_run() -> None:
    assert set(TABLE) == set(FLOWS) | set(ELSEWHERE)
    sources = "".join(
        (TESTS / place).read_text() for place in ("vary/test_the_reference_client.py", "pki/test_flows.py")
    )
    assert all(f"def {test}(" in sources for test in ELSEWHERE.values())


def test_a_reason_is_a_sentence_and_the_default_needs_none() -> None:
    for axis in AXES.values():
        reasons = [axis.unfelt, *(value.unfelt for value in axis.values)]
        assert all(reason.endswith(".") for reason in reasons if reason) and not axis.values[0].unfelt, axis.name
    assert set(AXES) > set(list_axes(SHOP))


def test_the_reference_says_of_each_axis_who_shows_it() -> None:
    page = PAGES["axes"]()
    for name, axis in AXES.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert describe_evidence(axis) in line and axis.about[:30] in line
    for name, words in TABLE.items():
        assert f"| `{name}` | {words} | {', '.join(list_axes(name))} |" in page
    head, rows = find_table("variants")
    place = head.index("withstood")
    expected = {name: describe_evidence(axis).replace("`", "") for name, axis in AXES.items()}
    assert {row[0]: row[place] for row in rows} == expected


def test_the_guide_counts_as_the_table_does() -> None:
    felt = len([axis for axis in AXES.values() if not axis.unfelt])
    text = " ".join(VARY.read_text().split())
    assert f"{len(TABLE)} flows show {felt} of the {len(AXES)} axes" in text
    assert f"the other {len(AXES) - felt}" in text and f"the demo shop meets {len(list_axes(SHOP))}." in text
