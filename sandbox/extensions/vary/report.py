"""The verdict of `vary` as sentences for a terminal, and as files: one HTML page, JUnit, SARIF or JSON."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sandbox.contract.decisions import AXES
from sandbox.extensions.vary.lie_report import (
    describe_lie,
    describe_lies,
    describe_values,
    group_by_lie,
    lies_as_json,
    lies_as_suite,
    make_lie_results,
    make_lie_rules,
)
from sandbox.extensions.vary.lie_verdict import LieVerdict
from sandbox.extensions.vary.lies import BY_NAME as LIES
from sandbox.extensions.vary.search import Break
from sandbox.extensions.vary.space import Choice, Variant
from sandbox.extensions.vary.verdict import Verdict
from sandbox.web.html.reports import (
    Case,
    Suite,
    clean,
    draw_report,
    make_run,
    make_suppression,
    write_junit,
)

STYLE = """
h1{line-height:1.2}h2{font-size:1.1rem;margin:.2rem 0}section{margin:2.5rem 0}summary{cursor:pointer;padding:.15rem 0}
pre{font:13px/1.45 var(--mono);white-space:pre-wrap;margin:.3rem 0 .8rem;
padding:.5rem .7rem;background:var(--gone-tint)}
dl{columns:22rem;column-gap:2rem}dl div{break-inside:avoid;margin:0 0 .5rem}dt{font-weight:600}dd{margin:0}
nav a{margin-right:1.2rem;white-space:nowrap}
"""
CAUSES_SHOWN = 10  # by a terminal


def describe_choice(choice: Choice) -> str:
    """Returns a text such as `final_status is ACSP: it ends at ACSP (service 3.1)`."""
    axis = AXES[choice[0]]
    does = axis.find_value(choice[1]).does.strip().rstrip(".")
    if does[1:2].islower() or does[1:2] == " ":
        does = does[:1].lower() + does[1:]
    return f"{choice[0]} is {choice[1]}: {does} ({axis.clause})"


def describe_variant(variant: Variant) -> str:
    return ", and ".join(map(describe_choice, variant.changes))


def describe_break(broken: Break) -> str:
    """Returns a text such as `test_pay breaks when final_status is ACSP: it ends at ACSP (service 3.1)`."""
    return f"{broken.test} breaks when {describe_variant(broken.variant)}"


def describe_cause(variant: Variant) -> Iterator[str]:
    """Yields a line for each axis of a cause: what the axis is about, and which mistakes of a client it shows."""
    for axis, _ in variant.changes:
        yield f"{axis}: {AXES[axis].about.rstrip('.')}. It brings to light: {AXES[axis].brings.rstrip('.')}."


def describe_details(broken: Break, again: str) -> Iterator[str]:
    """Yields the lines that follow a break: the error and the call at which the test probably failed, if they are
    known; which mistakes of a client the axes show; how to run the test again. If the test fails for certain only under
    a larger variant (`rerun`), says so. If the break is allowed, also yields the user's reason. `again` is the option
    of the command or of pytest that takes the variant."""
    if broken.result.failure:
        yield f"Seen: {broken.result.failure}"
    if broken.result.call:
        yield f"Call: {broken.result.call}"
    yield from describe_cause(broken.variant)
    yield f"Again: {again} {broken.rerun or broken.variant}"
    if broken.rerun is not None:
        yield "The tests share a bank: this one meets the call only where those before it have failed."
    if broken.allowed is not None:
        yield f"Allowed: {broken.allowed}"


def describe_whole_break(broken: Break, again: str) -> str:
    return "\n".join([describe_break(broken), *describe_details(broken, again)])


def describe_verdict(verdict: Verdict) -> Iterator[str]:
    """Yields the verdict in lines. Each cause comes once, followed by the tests that it breaks. After CAUSES_SHOWN
    causes, one line counts the others. All other results come after the causes."""
    causes = group_by_cause(verdict.breaks)
    for breaks in causes[:CAUSES_SHOWN]:
        first = breaks[0]
        yield f"{'allowed  ' if first.allowed is not None else 'BREAKS  '}{describe_breaks(breaks)}."
        if len(breaks) > 1:
            yield from (f"        in {broken.test}" for broken in breaks)
        yield from (f"        {line}" for line in "\n".join(describe_details(first, verdict.again)).splitlines())
    if len(causes) > CAUSES_SHOWN:
        more = causes[CAUSES_SHOWN:]
        yield f"and {len(more)} more causes, which break {sum(map(len, more))} times. --report FILE.html lists all."
    yield from describe_rest(verdict)


def describe_breaks(breaks: Sequence[Break]) -> str:
    """Returns one sentence about all breaks that have the same cause."""
    if len(breaks) == 1:
        return describe_break(breaks[0])
    return f"{len(breaks)} tests break when {describe_variant(breaks[0].variant)}"


def describe_rest(verdict: Verdict) -> Iterator[str]:
    """Yields the lines that are not about breaks: flaky tests, lines of the --allow file that are no longer needed,
    axes that no call met, lies and the summary."""
    for test, text in verdict.flaky.items():
        yield f"FLAKY  {test} {text}"
        yield "        Nothing is blamed for it: mend the test, then run again."
    for line in verdict.ended:
        yield f"ended  {line}"
        yield "        It breaks no longer: take this line out of the file of allowed breaks."
    if verdict.never_met:
        yield f"No call met {count(verdict.never_met, 'axis', 'axes')}, so nothing is known about them:"
        yield f"        {', '.join(verdict.never_met)}"
    if verdict.lies is not None:
        yield from describe_lies(verdict.lies)
    yield write_summary(verdict)


def write_summary(verdict: Verdict) -> str:
    """Returns one line with the scores, and with the counts of axes, breaks and runs."""
    return f"{write_scores(verdict)}, {write_rest_of_summary(verdict)}"


def write_scores(verdict: Verdict) -> str:
    """Returns the score of the axes, if axes were varied, and the score of the lies, if lies were told."""
    rows = ([verdict.score] if verdict.varied else []) + ([verdict.lies.score] if verdict.lies else [])
    return ", ".join(rows)


def write_rest_of_summary(verdict: Verdict) -> str:
    """Returns the part of the summary after the scores: how many axes no call met, how many breaks there are, and how
    many tests and runs. If the session did not vary axes, the text counts the lies that could change no reply, in place
    of axes and breaks."""
    if not verdict.varied:
        unseen = len(verdict.lies.unseen) if verdict.lies else 0
        return f"{unseen} not met; {count(verdict.tests, 'test')}; {verdict.runs} runs."
    allowed = len(verdict.breaks) - len(verdict.new_breaks)
    parts = [
        f"{len(verdict.never_met)} not met",
        f"{count(verdict.new_breaks, 'break')}{f' and {allowed} allowed' if allowed else ''}",
        *([f"{len(verdict.flaky)} flaky"] if verdict.flaky else []),
        f"{count(verdict.tests, 'test')}, strength {verdict.strength}",
        f"{verdict.variants} variants, {verdict.runs} runs",
    ]
    return "; ".join(parts) + "."


def count(things: Collection[object], singular: str, plural: str = "") -> str:
    return f"{len(things)} {singular if len(things) == 1 else plural or singular + 's'}"


# Files


def as_junit(verdict: Verdict) -> bytes:
    """Returns the content of a JUnit file with a case for each test. A test with a break that is not allowed is a
    failure, and a flaky test is skipped. If lies were told, the file also has a case for each lie."""
    properties = (("score", write_scores(verdict)), ("never_met", ", ".join(verdict.never_met)))
    cases = [_make_case(test, verdict) for test in verdict.tests]
    suites = [Suite("vary", cases, "vary", properties=properties)]
    return write_junit([*suites, lies_as_suite(verdict.lies)] if verdict.lies else suites)


def _make_case(test: str, verdict: Verdict) -> Case:
    breaks = [broken for broken in verdict.breaks if broken.test == test]
    text = "\n\n".join(describe_whole_break(broken, verdict.again) for broken in breaks)
    if new := [describe_break(broken) for broken in breaks if broken.allowed is None]:
        return Case(test, "failure", "; ".join(new), text, "break")
    if test in verdict.flaky:
        return Case(test, "skipped", f"flaky: {verdict.flaky[test]}")
    return Case(test, "system-out", text=text) if breaks else Case(test)


def as_sarif(verdict: Verdict) -> dict[str, Any]:
    """Returns SARIF 2.1.0 with a rule for each axis and a result for each break. The result of an allowed break is
    suppressed. If lies were told, there are also rules and results for lies."""
    names = tuple(verdict.space.axes)
    rules = [
        {
            "id": name,
            "shortDescription": {"text": AXES[name].about},
            "help": {"text": f"It brings to light: {AXES[name].brings} ({AXES[name].clause})"},
            "properties": {"clause": AXES[name].clause, "met": name in verdict.met},
        }
        for name in names
    ]
    results = []
    for broken in verdict.breaks:
        axis = broken.variant.changes[0][0]
        result = {
            "ruleId": axis,
            "ruleIndex": names.index(axis),
            "level": "error",
            "message": {"text": clean(describe_whole_break(broken, verdict.again))},
            "locations": [{"logicalLocations": [{"name": broken.test, "fullyQualifiedName": broken.test}]}],
            "properties": {"variants": dict(broken.variant.changes), "call": broken.result.call},
        }
        results.append(result | make_suppression(broken.allowed))
    if verdict.lies is not None:
        results += make_lie_results(verdict.lies, len(rules))
        rules += make_lie_rules(verdict.lies)
    return make_run("vary", rules, results, {"summary": write_summary(verdict)})


def as_page(verdict: Verdict) -> str:
    lies = verdict.lies or LieVerdict()
    return draw_report(
        "sandbox.extensions.vary",
        "vary_report.html",
        write_scores(verdict),
        STYLE,
        verdict=verdict,
        lies=lies,
        scores=write_scores(verdict),
        rest_of_summary=write_rest_of_summary(verdict),
        causes=group_by_cause(verdict.breaks),
        unnoticed=group_by_lie(lies.unnoticed),
        noticed={lie: LIES[lie].says for lie in lies.noticed},
        unseen={lie: LIES[lie].says for lie in lies.unseen} if verdict.lies else {},
        withstood={name: f"{AXES[name].about} ({AXES[name].clause})" for name in verdict.withstood},
        never_met={name: f"{AXES[name].about} ({AXES[name].clause})" for name in verdict.never_met},
        LIES=LIES,
        count=count,
        describe_breaks=describe_breaks,
        describe_cause=describe_cause,
        describe_lie=describe_lie,
        describe_values=describe_values,
    )


def group_by_cause(breaks: Iterable[Break]) -> list[list[Break]]:
    """Groups the breaks by cause. Allowed and other breaks of the same cause are two groups. Groups of allowed breaks
    come after all other groups. Apart from that, larger groups come first."""
    groups: dict[tuple[Variant, bool], list[Break]] = {}
    for broken in breaks:
        groups.setdefault((broken.variant, broken.allowed is not None), []).append(broken)
    return sorted(groups.values(), key=lambda group: (group[0].allowed is not None, -len(group), str(group[0].variant)))


def as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "score": {"withstood": len(verdict.withstood), "met": len(verdict.met), "axes": len(verdict.space.axes)},
        "summary": write_summary(verdict),
        "strength": verdict.strength,
        "variants": verdict.variants,
        "runs": verdict.runs,
        "tests": list(verdict.tests),
        "breaks": [_break_as_json(broken) for broken in verdict.breaks],
        "flaky": [{"test": test, "seen": text} for test, text in verdict.flaky.items()],
        "withstood": list(verdict.withstood),
        "never_met": list(verdict.never_met),
        "ended": list(verdict.ended),
    } | ({} if verdict.lies is None else {"lies": lies_as_json(verdict.lies)})


def _break_as_json(broken: Break) -> dict[str, Any]:
    rows = [
        {
            "axis": name,
            "value": value,
            "does": AXES[name].find_value(value).does,
            "about": AXES[name].about,
            "brings_to_light": AXES[name].brings,
            "clause": AXES[name].clause,
        }
        for name, value in broken.variant.changes
    ]
    return {
        "test": broken.test,
        "text": describe_break(broken),
        "variants": dict(broken.variant.changes),
        "axes": rows,
        "seen": broken.result.failure,
        "call": broken.result.call,
        "allowed": broken.allowed,
    }


def _write_json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


FORMATS: dict[str, Callable[[Verdict], bytes]] = {
    ".html": lambda verdict: as_page(verdict).encode(),
    ".xml": as_junit,
    ".sarif": lambda verdict: _write_json(as_sarif(verdict)),
    ".json": lambda verdict: _write_json(as_json(verdict)),
}


def read_report_path(name: str) -> Path:
    """Returns the path of a report. Raises ValueError if the name's ending is not a format of reports, or if the folder
    does not exist."""
    path = Path(name)
    if path.suffix not in FORMATS:
        raise ValueError(f"{name!r:.200}: a report ends with {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise ValueError(f"{name!r:.200}: there is no folder {path.parent}")
    return path


def write_report(path: Path, verdict: Verdict) -> None:
    path.write_bytes(FORMATS[path.suffix](verdict))
