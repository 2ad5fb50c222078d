"""What holds and what does not, value by value."""

from decimal import Decimal
from typing import Any

import pytest

from sandbox.scenarios.matching import find_differences, find_missing_in_order, find_value

BODY = {"status": "PDNG", "amount": Decimal("250.00"), "bulks": [{"status": "RJCT"}, {"status": "ACSC"}], "a.b": 1}

HOLDS: list[tuple[Any, Any]] = [
    ("PDNG", "PDNG"),
    ("*error=access_denied*", "http://x/?error=access_denied&state=1"),
    ("*", "anything"),
    ("*[1]*", "a [1] b"),
    (None, None),
    (True, True),
    (250, Decimal("250.00")),
    (250.0, Decimal("250.00")),
    ("250.00", Decimal("250")),
    (250, "250.00"),
    ({"status": "PDNG"}, BODY),
    ({"missing": None}, BODY),
    ({"bulks[1].status": "ACSC"}, BODY),
    ({"bulks": [{"status": "RJCT"}, {}]}, BODY),
    ({"bulks": {"count": 2, "some": {"status": "ACSC"}, "none": {"status": "PATC"}}}, BODY),
    ({"bulks": {"first": {"status": "RJCT"}, "last": {"status": "ACSC"}}}, BODY),
    ({"over": 249, "under": "251"}, Decimal("250")),
]
FAILS: list[tuple[Any, Any, str]] = [
    ("PDNG", "PATC", "expected PDNG, found PATC"),
    ("a*", "ba", "expected a*, found ba"),
    ("*", None, "found nothing"),
    (None, 0, "expected nothing, found 0"),
    (True, 1, "expected True, found 1"),
    (1, True, "expected 1, found True"),
    ("nan", Decimal("1"), "expected nan"),
    (251, Decimal("250.00"), "expected 251, found 250.00"),
    ({"status": "RJCT"}, BODY, "status: expected RJCT, found PDNG"),
    ({"missing": "*"}, BODY, "missing: expected *, found nothing"),
    ({"bulks": [{}]}, BODY, "expected 1 of them, found 2"),
    ({"bulks": {"count": 3}}, BODY, "their number: expected 3, found 2"),
    ({"bulks": {"some": {"status": "PATC"}}}, BODY, "none of the 2 fits"),
    ({"bulks": {"none": {"status": "ACSC"}}}, BODY, "none was to fit"),
    ({"bulks": {"first": {"status": "ACSC"}}}, BODY, "the first.status: expected ACSC, found RJCT"),
    ({"bulks": {"status": "RJCT"}}, BODY, "a list has no status"),
    ({"over": 250}, Decimal("250"), "expected over 250, found 250"),
    ({"under": 9}, "text", "expected under 9, found text"),
]


@pytest.mark.parametrize("wanted, found", HOLDS)
def test_it_holds(wanted: Any, found: Any) -> None:
    assert list(find_differences(wanted, found, "it")) == []


@pytest.mark.parametrize("wanted, found, told", FAILS)
def test_it_does_not_hold_and_says_so(wanted: Any, found: Any, told: str) -> None:
    (sentence,) = find_differences(wanted, found, "it")
    assert told in sentence


def test_a_name_with_a_dot_is_found_before_a_path() -> None:
    assert find_value(BODY, "a.b") == 1
    assert find_value(BODY, "bulks[-1].status") == "ACSC"


def test_entries_stand_in_order_with_others_between() -> None:
    rows = [{"to": "RCVD"}, {"to": "PATC"}, {"to": "PDNG"}]
    assert list(find_missing_in_order([{"to": "RCVD"}, {"to": "PDNG"}], rows, "journal")) == []
    (sentence,) = find_missing_in_order([{"to": "PDNG"}, {"to": "RCVD"}], rows, "journal")
    assert "journal[1]: nothing fits {'to': 'RCVD'}" in sentence
    (sentence,) = find_missing_in_order([{"to": "PDNG"}], [], "journal")
    assert "there is none" in sentence
