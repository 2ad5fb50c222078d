"""Runs are kept in a file, and a stopped run goes on from it; reports are read as JUnit."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from sandbox.extensions.vary.command_runs import CommandRuns, UnreadableReport, fill, read_report
from sandbox.extensions.vary.ready_command import ReadyOptions, collect
from sandbox.extensions.vary.run_banks import Banks
from sandbox.extensions.vary.runs import NothingMet, Result, ResultsFile, Runs, VariantRun
from sandbox.extensions.vary.space import DEFAULT_BANK, Variant
from sandbox.extensions.vary.verdict import judge
from sandbox.machine import stopwatch
from tests.vary.toys import Toys, breaking, space_of

SPACE = space_of(2, 3, 2, 2, 3)
TESTS = {"one": breaking("a=1"), "two": breaking("b=2,d=1")}


def stopped_after(number: int, path: Path) -> Toys:
    """Begins to judge, and is interrupted."""
    toys = Toys(SPACE, TESTS)

    def trial(found: Variant) -> VariantRun:
        if len(toys.asked) == number:
            raise KeyboardInterrupt
        return toys.trial(found)

    with pytest.raises(KeyboardInterrupt):
        judge(Runs(trial, ResultsFile(path, "about")), SPACE, 2, 1)
    return toys


def test_a_stopped_run_goes_on_where_it_was_and_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "results"
    whole = Toys(SPACE, TESTS)
    wanted = judge(whole.runs, SPACE, 2, 1)
    stopped_after(5, path)
    with path.open("a") as file:
        file.write('{"variant": [["a", "1"')  # killed while it wrote
    rest = Toys(SPACE, TESTS)
    runs = Runs(rest.trial, ResultsFile(path, "about"))
    assert runs.count == 5
    assert judge(runs, SPACE, 2, 1).breaks == wanted.breaks
    assert len(rest.asked) == len(whole.asked) - 5


def test_the_results_of_another_command_or_no_results_at_all_count_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results"
    assert ResultsFile(path, "about").earlier_runs == []
    stopped_after(3, path)
    assert len(list(ResultsFile(path, "about").earlier_runs)) == 3
    assert ResultsFile(path, "about", fresh=True).earlier_runs == []
    stopped_after(3, path)
    assert ResultsFile(path, "other").earlier_runs == []
    for text in ("", "nonsense", '{"bank-sandbox vary": "about"}\n[1, 2]\n'):
        path.write_text(text)
        assert ResultsFile(path, "about").earlier_runs == []


def test_the_calls_of_today_are_kept_for_what_is_compared_with_them_later(tmp_path: Path) -> None:
    run = VariantRun({"one": Result(True)}, frozenset("ab"), 1.5, 2, reference=(("GET status", '{"status": "RCVD"}'),))
    ResultsFile(tmp_path / "results", "about").append((DEFAULT_BANK, 0), run)
    assert list(ResultsFile(tmp_path / "results", "about").earlier_runs) == [((DEFAULT_BANK, 0), run)]


def test_ready_compares_with_the_calls_of_today_that_were_kept(tmp_path: Path) -> None:
    reference, compared = (("GET status", "{}"),), []
    ResultsFile(tmp_path / "results", "about").append(
        (DEFAULT_BANK, 0), VariantRun({"one": Result(True)}, frozenset(), 1.5, 2, reference=reference)
    )
    runs = Runs(
        lambda variant: VariantRun({"one": Result(True)}, frozenset(), 1.5, 2),
        ResultsFile(tmp_path / "results", "about"),
    )
    trial = SimpleNamespace(use_as_reference=lambda run: compared.append(run.reference))
    with pytest.raises(NothingMet):
        collect(runs, cast(CommandRuns, trial), cast(ReadyOptions, SimpleNamespace(strength=1, seed=1)))
    assert compared == [reference]


def test_after_its_end_nothing_is_left(tmp_path: Path) -> None:
    kept = ResultsFile(tmp_path / "results", "about")
    kept.end()
    kept.end()
    assert list(tmp_path.iterdir()) == []


REPORT = """<testsuites><testsuite>
<testcase classname="pay" name="test_one"/><testcase classname="pay" name="test_two"><skipped/></testcase>
<testcase classname="pay" name="test_three"><failure message="AssertionError: a &lt; b
 assert 1"/></testcase>
<testcase name="test four"><error>  setup
E       TypeError: no float
more</error></testcase><testcase classname="pay" name="test_three"/>
</testsuite></testsuites>"""


def test_junit_is_read_test_by_test(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(REPORT)
    found = read_report(path)
    assert {name: one.passed for name, one in found.items()} == {
        "pay::test_one": True,
        "pay::test_three": False,
        "test four": False,
    }
    assert found["pay::test_three"].failure == "AssertionError: a < b assert 1"
    assert found["test four"].failure == "TypeError: no float"


@pytest.mark.parametrize("text", ["", "<a", "no xml", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&c;"])
def test_what_is_no_junit_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(text)
    with pytest.raises(UnreadableReport):
        read_report(path)


def test_no_entity_of_a_report_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush")
    path = tmp_path / "junit.xml"
    path.write_text(f"""<!DOCTYPE a [<!ENTITY b SYSTEM "{tmp_path}/secret">]>
    <a><testcase name="x"><failure>&b;</failure></testcase></a>""")
    assert "hush" not in read_report(path)["x"].failure


def test_only_known_placeholders_are_filled() -> None:
    values = {"url": "http://a", "junit": "b.xml"}
    assert [fill(word, values) for word in ("{url}/x", "{print $1}", "--junitxml={junit}", "{}")] == [
        "http://a/x",
        "{print $1}",
        "--junitxml=b.xml",
        "{}",
    ]


def test_a_command_that_was_stopped_has_no_result(tmp_path: Path) -> None:
    """It was killed, so its failure would be blamed on the variant when the session continues."""
    trial = CommandRuns(("sleep", "600"), cast(Banks, SimpleNamespace(key=None)), stopwatch)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(trial.execute, "http://bank", "world", tmp_path / "junit.xml", tmp_path)
        while not trial._alive:
            assert not running.done()
        trial.stop()
        with pytest.raises(KeyboardInterrupt):
            running.result(20)


def test_runs_of_the_same_variant_at_once_have_worlds_of_their_own() -> None:
    """Else one of them ends the world of the other, and the test counts as flaky."""
    trial = CommandRuns(("true",), cast(Banks, None), stopwatch, world_suffix=".end")
    with trial.free_world(DEFAULT_BANK) as one, trial.free_world(DEFAULT_BANK) as other:
        assert (one, other) == ("today.end", "today.2.end")
    with trial.free_world(DEFAULT_BANK) as again:
        assert again == one


def test_a_command_that_ends_by_itself_has_its_exit_code(tmp_path: Path) -> None:
    trial = CommandRuns(("false",), cast(Banks, SimpleNamespace(key=None)), stopwatch)
    code, output, _ = trial.execute("http://bank", "world", tmp_path / "junit.xml", tmp_path)
    assert (code, output) == (1, "")
