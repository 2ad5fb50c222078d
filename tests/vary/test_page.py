"""The reports: what breaks by its cause, and apart from it what no call met; as a page, as JUnit, as SARIF."""

import re
from pathlib import Path

from lxml import etree

from sandbox.extensions.vary.report import as_junit, as_page, as_sarif
from sandbox.extensions.vary.runs import Result
from sandbox.extensions.vary.search import Break
from sandbox.extensions.vary.space import Variant, make_space
from sandbox.extensions.vary.verdict import Verdict

ALONE, PAIR = Variant.of([("gateway", "502")]), Variant.of([("final_status", "ACSP"), ("vendor", "bank.example")])
FAILURE = Result(False, "TypeError: <b>", "GET /accounts 502\n  +<html>")
BREAKS = (
    Break("two", PAIR, FAILURE),
    *(Break(test, ALONE, FAILURE) for test in ("one", "two & three")),
    Break("four", ALONE, FAILURE, "mended soon"),
)
VERDICT = Verdict(
    make_space(["gateway", "final_status", "vendor", "page_size"]),
    2,
    ("one", "two", "two & three", "four"),
    frozenset({"gateway", "final_status", "vendor"}),
    BREAKS,
    {"five": "passed once and failed once"},
    again="--bank-variants",
)


def test_tests_that_break_by_the_same_cause_stand_together_the_most_first_and_the_allowed_last() -> None:
    page = as_page(VERDICT)
    titles = re.findall(r"<article[^>]*><h2>([^:<]*)", page)
    assert titles == [
        "2 tests break when gateway is 502",
        "two breaks when final_status is ACSP",
        "four breaks when gateway is 502",
        "five",
    ]
    assert "Allowed: mended soon" in page and "--bank-variants gateway=502" in page


def test_what_no_call_met_is_a_list_of_its_own_and_nothing_is_markup_of_others() -> None:
    page = as_page(VERDICT)
    unmet = page.partition('id="unmet"')[2]
    assert "1 axis" in unmet and re.findall("<dt><code>(.*?)</code>", unmet) == ["page_size"]
    assert "TypeError: &lt;b&gt;" in page and "+&lt;html&gt;" in page and "two &amp; three" in page
    assert "<b>" not in page and "Withstood" not in page


JUNIT = Path(__file__).parents[1] / "player" / "junit.xsd"


def test_junit_has_a_case_for_each_test_and_is_valid() -> None:
    root = etree.fromstring(as_junit(VERDICT))
    etree.XMLSchema(etree.parse(JUNIT)).assertValid(root)
    found = {case.get("name"): [part.tag for part in case] for case in root.iter("testcase")}
    assert found == {"one": ["failure"], "two": ["failure"], "two & three": ["failure"], "four": ["system-out"]}
    messages = [str(one.get("message")) for one in root.iter("failure")]
    assert root.get("failures") == "3" and "breaks when gateway is 502" in messages[0]


def test_sarif_has_a_rule_for_each_axis_and_a_result_for_each_break() -> None:
    (run,) = as_sarif(VERDICT)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(VERDICT.space.axes)
    assert len(run["results"]) == len(BREAKS)
    for result, found in zip(run["results"], BREAKS, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == found.variant.changes[0][0]
        assert result["level"] == "error" and found.result.failure in result["message"]["text"]
        assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == found.test
        assert [one["justification"] for one in result.get("suppressions", [])] == [found.allowed][
            : bool(found.allowed)
        ]
