"""The report as a page: what breaks by its cause, and apart from it what no call met."""

import re

from sandbox.contract.variants import AXES
from sandbox.vary.axes import space_of
from sandbox.vary.page import as_page
from sandbox.vary.runs import Result
from sandbox.vary.space import Variant
from sandbox.vary.verdict import Break, Verdict

ALONE, PAIR = Variant.of([("gateway", "502")]), Variant.of([("final_status", "ACSP"), ("vendor", "bank.example")])
FAILURE = Result(False, "TypeError: <b>", "GET /accounts 502\n  +<html>")
BREAKS = (
    Break("two", PAIR, FAILURE),
    *(Break(test, ALONE, FAILURE) for test in ("one", "two & three")),
    Break("four", ALONE, FAILURE, "mended soon"),
)
VERDICT = Verdict(
    space_of(AXES, ["gateway", "final_status", "vendor", "page_size"]),
    2,
    ("one", "two", "two & three", "four"),
    frozenset({"gateway", "final_status", "vendor"}),
    BREAKS,
    {"five": "passed once and failed once"},
    again="--bank-variants",
)


def test_tests_that_break_by_the_same_cause_stand_together_the_most_first_and_the_allowed_last() -> None:
    page = as_page(VERDICT, AXES)
    titles = re.findall(r"<article[^>]*><h2>([^:<]*)", page)
    assert titles == [
        "2 tests break when gateway is 502",
        "two breaks when final_status is ACSP",
        "four breaks when gateway is 502",
        "five",
    ]
    assert "Allowed: mended soon" in page and "--bank-variants gateway=502" in page


def test_what_no_call_met_is_a_list_of_its_own_and_nothing_is_markup_of_others() -> None:
    page = as_page(VERDICT, AXES)
    unmet = page.partition('id="unmet"')[2]
    assert "1 axis" in unmet and re.findall("<dt><code>(.*?)</code>", unmet) == ["page_size"]
    assert "TypeError: &lt;b&gt;" in page and "+&lt;html&gt;" in page and "two &amp; three" in page
    assert "<b>" not in page and "Withstood" not in page
