"""Plays the steps of a scenario in its own world, and checks each result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest

import httpx

from sandbox.client import CallbackRefused, ClientReply, ForeignCallback, Refused, Unreadable
from sandbox.player import tester_steps, tpp_steps
from sandbox.player.branches import play_branches
from sandbox.player.expectations import compare_reply, expect, expects_refusal, is_refusal_like
from sandbox.player.orders import Content
from sandbox.player.stage import Capture, ScenarioContext, ScriptFault
from sandbox.player.step_result import StepResult, describe_step
from sandbox.scenarios import ScriptStep
from sandbox.scenarios.step_words import STEPS
from sandbox.scenarios.steps import step_content

# The functions of steps, by the word of the step. This word is also the name of the function.
VERBS: dict[str, Callable[[ScenarioContext, Content], Capture | ClientReply]] = {
    **{verb.__name__: verb for verb in (*tpp_steps.VERBS, *tester_steps.VERBS)},
    **{word: tester_steps.make_control_step(word) for word in tester_steps.CONTROLS},
}


@dataclass
class Outcome:
    """The result of the call of a step. `refusal` and `broken` are the errors of a call that was refused or got no
    readable reply. `faults` are the reasons why the step failed."""

    reply: ClientReply | None = None
    capture: Capture | None = None
    refusal: str | None = None
    broken: str | None = None
    callback_error: str | None = None
    faults: list[str] = field(default_factory=list)


def play(stage: ScenarioContext, machine_time: Callable[[], float]) -> Iterator[StepResult]:
    """Yields the results of the steps in order. After a failed `expect` the next steps are still played. After any
    other failure they are skipped."""
    stage.begin()
    yield from play_steps(stage, stage.scenario.steps, machine_time)


def play_steps(
    stage: ScenarioContext, steps: Sequence[ScriptStep], machine_time: Callable[[], float]
) -> Iterator[StepResult]:
    ended = False
    for step, following in zip_longest(steps, steps[1:]):
        if ended:
            yield StepResult(step, describe_step(step), skipped=True)
            continue
        for result in _play_step(stage, step, following, machine_time):
            ended = ended or result.skipped or (bool(result.faults) and result.step.what != "expect")
            yield result


def _play_step(
    stage: ScenarioContext, step: ScriptStep, following: ScriptStep | None, machine_time: Callable[[], float]
) -> Iterator[StepResult]:
    """Plays a step and yields its results. A `repeat` step ends after the first round that failed. The branches of a
    `parallel` step take turns."""
    if step.what == "parallel":
        played = [partial(play_steps, steps=branch, machine_time=machine_time) for branch in step.inner]
        yield from play_branches(stage, step, played)
    elif step.what == "repeat":
        for number in range(1, step.content["times"] + 1):
            failed = False
            for result in play_steps(stage, step.inner[0], machine_time):
                failed = failed or not result.passed
                yield replace(result, text=f"round {number}: {result.text}")
            if failed:
                return
    else:
        before = machine_time()
        outcome = _perform_step(stage, step, following)
        seconds = max(0.0, machine_time() - before)
        text = describe_step(step, outcome.reply)
        yield StepResult(step, text, tuple(outcome.faults), tuple(stage.transport.exchanges), False, seconds)


def _perform_step(stage: ScenarioContext, step: ScriptStep, following: ScriptStep | None) -> Outcome:
    unfilled = step_content(step)
    if step.what == "hold" and step.as_name is not None:
        unfilled = {"as": step.as_name} | unfilled
    stage.transport.begin_step(unfilled.get("headers") or {} if step.what in CALLS else {})
    outcome = Outcome()
    try:
        content = stage.fill(unfilled)
        if step.what == "expect":
            outcome.faults = expect(stage, content)
            return outcome
        _try(stage, step, content, outcome)
    except ScriptFault as fault:
        outcome.faults.append(f"the script: {fault}")
        return outcome
    except Refused as refused:
        outcome.faults.append(f"the sandbox: {refused}")
        return outcome
    stage.reply = outcome.reply
    capture = outcome.capture or Capture(outcome.reply, str(content.get("client", "demo-tpp")))
    if capture.tokens is not None:
        stage.keys = capture
    if step.as_name is not None:
        capture.at = stage.read_now() if stage.measures else None
        stage.captures[step.as_name] = capture
    waits = following is not None and following.what == "expect" and expects_refusal(step_content(following))
    outcome.faults += _judge(content, outcome, waits)
    return outcome


def _try(stage: ScenarioContext, step: ScriptStep, content: Content, outcome: Outcome) -> None:
    try:
        step_result = VERBS[step.what](stage, content)
    except Refused as refused:
        outcome.reply, outcome.refusal = refused.reply, str(refused)
    except Unreadable as unreadable:
        outcome.reply, outcome.broken = unreadable.reply, str(unreadable)
    except httpx.TransportError as broken:
        outcome.broken = f"the line broke: {broken}"
    except CallbackRefused as no:
        outcome.refusal, outcome.callback_error = f"the callback brings no code: {no}", no.error
    except ForeignCallback as no:
        outcome.refusal = f"the callback brings no code: {no}"
    else:
        outcome.capture = step_result if isinstance(step_result, Capture) else None
        outcome.reply = step_result.reply if isinstance(step_result, Capture) else step_result


def _judge(content: Content, outcome: Outcome, waits: bool) -> Iterator[str]:
    """Yields a sentence for each difference from what the step expects by `refused`, `lost` and `expect`. A refusal
    that nothing expects is also a difference. `waits` is True if the next step expects a refusal of this step. For a
    reply that is lost or cannot be read, checks only whether the step expects it by `lost`."""
    if content.get("lost"):
        if outcome.broken is None:
            yield "lost: expected a reply that is lost or cannot be read; it came"
        return
    if outcome.broken is not None:
        yield outcome.broken
        return
    if "refused" in content:
        if outcome.refusal is None:
            status = "" if outcome.reply is None else f", the status is {outcome.reply.status}"
            yield f"refused: expected {content['refused']}; it was not refused{status}"
        elif not is_refusal_like(content["refused"], outcome.reply, outcome.callback_error):
            yield f"refused: expected {content['refused']}, found {outcome.refusal}"
    expectation = content.get("expect")
    if expectation is not None:
        yield from compare_reply(expectation, outcome.reply)
    expected_refusal = "refused" in content or waits or (expectation is not None and expects_refusal(expectation))
    if outcome.refusal is not None and not expected_refusal:
        yield f"it was refused: {outcome.refusal}"


CALLS = frozenset(name for name, word in STEPS.items() if "lost" in word.keys)
