"""Reports as JUnit XML: a suite for each scenario, a case for each step."""

from collections.abc import Sequence

from sandbox.player.runs import Report
from sandbox.player.step_result import StepResult
from sandbox.referee.report_files import Case, Suite, write_junit


def junit(reports: Sequence[Report]) -> bytes:
    suites = [Suite(one.name, _cases(one), one.name, one.seconds) for one in reports]
    return write_junit(suites, name="scenarios", time=f"{sum(one.seconds for one in reports):.3f}")


def _cases(report: Report) -> list[Case]:
    """A case for each step, and one for an error of the scenario itself."""
    cases = [_case(number, step) for number, step in enumerate(report.steps, 1)]
    if report.trouble is not None:
        cases.append(Case("the scenario is played", "error", report.trouble, type="trouble"))
    return cases


def _case(number: int, step: StepResult) -> Case:
    name = f"{number if step.step.line is None else f'line {step.step.line}'}: {step.text}"
    if step.skipped or not step.faults:
        return Case(name, "skipped" if step.skipped else "", seconds=step.seconds)
    text = "\n".join([*step.faults, *(line for one in step.exchanges for line in one.lines())])
    return Case(name, "failure", step.faults[0], text, step.step.what, step.seconds)
