"""The table of the flows that show the axes is whole: no axis is left out, and each reason is one."""

from pathlib import Path

from sandbox.contract.decisions import AXES
from sandbox.contract.reference_flows import FLOWS as TABLE
from sandbox.contract.reference_flows import NOT_FELT, SHOP, evidence
from sandbox.web.docs.reference_tables import PAGES, table_of
from tests.vary.flows import FLOWS

ELSEWHERE = {
    "pays_on_lines_that_end": "test_it_withstands_connections_that_end_and_bodies_in_pieces",
    "refuses_forgeries": "test_it_refuses_exactly_the_callbacks_that_it_must",
    "shows_a_certificate": "test_the_reference_client_shows_its_certificate",
}
TESTS = Path(__file__).parents[1]
VARY = TESTS.parent / "docs" / "vary.md"


def test_each_axis_is_shown_by_one_flow_or_has_a_reason() -> None:
    shown = [axis for row in TABLE.values() for axis in row.axes]
    whole = {axis for axis in NOT_FELT if "=" not in axis}
    assert len(shown) == len(set(shown)) and not whole & set(shown)
    assert whole | set(shown) == set(AXES)


def test_each_flow_of_the_table_is_run() -> None:
    assert set(TABLE) == set(FLOWS) | set(ELSEWHERE)
    sources = "".join(
        (TESTS / place).read_text() for place in ("vary/test_the_reference_client.py", "pki/test_flows.py")
    )
    assert all(f"def {test}(" in sources for test in ELSEWHERE.values())


def test_a_reason_is_of_an_axis_or_of_one_of_its_values() -> None:
    for name, reason in NOT_FELT.items():
        axis, mark, value = name.partition("=")
        assert reason.endswith(".") and (value in AXES[axis].names[1:] if mark else axis in AXES), name
    assert set(AXES) > SHOP


def test_the_reference_says_of_each_axis_who_shows_it() -> None:
    page = PAGES["axes"]()
    for name, axis in AXES.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert evidence(name) in line and axis.about[:30] in line
    for name, row in TABLE.items():
        assert f"| `{name}` | {row.words}" in page
    head, rows = table_of("variants")
    place = head.index("withstood")
    assert {row[0]: row[place] for row in rows} == {name: evidence(name).replace("`", "") for name in AXES}


def test_the_guide_counts_as_the_table_does() -> None:
    felt = len({axis for row in TABLE.values() for axis in row.axes})
    text = " ".join(VARY.read_text().split())
    assert f"{len(TABLE)} flows show {felt} of the {len(AXES)} axes" in text
    assert f"the other {len(AXES) - felt}" in text and f"the demo shop meets {len(SHOP)}." in text
