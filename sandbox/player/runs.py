"""Plays whole scenarios in parallel, each in its own world, on a new or a running server."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_hex

import httpx

from sandbox.app import assemble, make_first_beginning
from sandbox.client import Controls, Refused, Unreadable
from sandbox.client.transport import tls_context
from sandbox.player.playback import play
from sandbox.player.stage import ScenarioContext
from sandbox.player.step_result import RecordingTransport, StepResult
from sandbox.reader.tree import read_yaml
from sandbox.scenarios import Scenario, ScenarioError, ScenarioErrors, load
from sandbox.scenarios.reading import SHIPPED
from sandbox.server.server import serve_in_background
from sandbox.web.html.reports import Case, Suite, write_junit
from sandbox.worlds.beginning import Beginning
from sandbox.worlds.registry import PlayedStep, WorldRegistry

SEED = 1  # of a server that is started for a run, so that all runs are equal
OPENING = datetime.fromisoformat("2027-03-01T09:00:00+01:00")  # a Monday; the start time of scenarios that give none
TIMEOUT = 60.0
HOST = "http://127.0.0.1"  # the address of an application of this process
NAME_MAX = 48  # characters of a scenario's name that the name of its world has

MachineTime = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Script:
    """A scenario, with its text as it is sent to the server."""

    scenario: Scenario
    text: str


@dataclass(frozen=True, slots=True)
class ScenarioReport:
    """The result of a scenario. `trouble` is the error that ended it early."""

    script: Script
    steps: tuple[StepResult, ...]
    trouble: str | None = None
    seconds: float = 0.0
    world: str = ""  # the name of its world, which is kept if the scenario failed

    @property
    def name(self) -> str:
        return self.script.scenario.name

    @property
    def passed(self) -> bool:
        return self.trouble is None and all(step.passed for step in self.steps)

    @property
    def failure(self) -> str:
        """The first step that failed, and why. If no step failed, the error that ended the scenario early, or `it was
        not played`."""
        failed = next((step for step in self.steps if step.faults), None)
        if failed is None:
            return self.trouble or "it was not played"
        return f"{failed.place}{failed.text}: {failed.faults[0]}"


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file that cannot be played, and its errors."""

    name: str
    errors: tuple[ScenarioError, ...]


@dataclass(frozen=True, slots=True)
class Differing:
    """How the world of a script differs from its scenario, for a run under a variant.

    `look` is called with the controls of the world after the run, before the world is dropped. `extensions` are lines
    for the setting `extensions`."""

    variants: Mapping[str, str] = field(default_factory=dict)
    look: Callable[[Controls], None] | None = None
    seed: int | None = None  # the seed of the world; None: a seed made from the name of the world
    extensions: Sequence[str] = ()


AS_IT_IS = Differing()


def read_file(name_or_path: str) -> Script | UnreadableFile:
    """Returns a shipped scenario or a file as a script. If it cannot be read, returns its errors."""
    try:
        return read_script(name_or_path)
    except ScenarioErrors as faults:
        return UnreadableFile(Path(name_or_path).stem, faults.errors)


def read_script(name_or_path: str) -> Script:
    """Returns a shipped scenario or a file as a script. Raises ScenarioErrors if it cannot be read."""
    scenario = load(name_or_path)
    if name_or_path in SHIPPED:
        return Script(scenario, SHIPPED[name_or_path])
    with open(name_or_path, encoding="utf-8-sig") as file:
        return Script(scenario, file.read())


@contextmanager
def serve_worlds(machine_time: MachineTime, jobs: int, beginning: Beginning | None = None) -> Iterator[str]:
    """Serves on a free loopback port within the block, and yields the URL. Worlds start as `beginning` says. Without
    it, they start at OPENING with seed SEED, and their clocks are frozen."""
    worlds = WorldRegistry(beginning or make_first_beginning(SEED, OPENING, rate=0.0), machine_time)
    with serve_in_background(assemble(worlds), threads=jobs + 2) as url:
        yield url


def run(
    scripts: Iterable[Script],
    url: str,
    machine_time: MachineTime,
    jobs: int = 2,
    key: str | None = None,
    apart: str = "",
    differing: Differing = AS_IT_IS,
) -> Iterator[ScenarioReport]:
    """Plays scripts, `jobs` at once. Yields the reports in the order of the scripts.

    `apart` is added to the names of the worlds, so that two runs have different worlds. The seed of a world depends on
    its name, unless `differing` has a seed.
    """
    todo = list(scripts)
    count: Counter[str] = Counter()
    names = []
    for script in todo:
        count[script.scenario.name] += 1
        again = count[script.scenario.name]
        names.append(make_world_name(script, f"{apart}{'' if again == 1 else f'.{again}'}"))
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda script, name: run_one(script, url, machine_time, key, name, differing), todo, names)


def make_world_name(script: Script, apart: str = "") -> str:
    """Returns a valid world name made from the scenario's name, with `apart` at its end."""
    signs = (sign if sign.isascii() and sign.isalnum() else "-" for sign in script.scenario.name)
    name = "".join(signs).strip("-")[:NAME_MAX] + apart or "scenario"
    return "default-scenario" if name == "default" else name  # because every server has a world `default`


def run_one(
    script: Script,
    url: str,
    machine_time: MachineTime,
    key: str | None = None,
    world: str | None = None,
    differing: Differing = AS_IT_IS,
) -> ScenarioReport:
    """Plays a script in a new world and returns the report. Drops the world if the script passed. Keeps the world of a
    failed script for inspection. If `differing.look` is set, calls it with the world's controls and always drops the
    world."""
    name = world or make_world_name(script)
    before = machine_time()
    steps: list[StepResult] = []
    trouble = None
    transport = RecordingTransport(httpx.HTTPTransport(verify=tls_context(True)))
    with httpx.Client(transport=transport, timeout=TIMEOUT) as line:
        server = Controls(url, line, key)
        try:
            stage = make_stage(script, server, name, transport, differing)
            for step in play(stage, machine_time):
                steps.append(step)
        except (Refused, Unreadable, httpx.TransportError) as fault:
            trouble = str(fault) or type(fault).__name__
        report = ScenarioReport(script, tuple(steps), trouble, max(0.0, machine_time() - before), name)
        if differing.look is not None:
            differing.look(server.world(name))
        if report.passed or differing.look is not None:
            server.drop_world(name)
    return report


def make_stage(
    script: Script,
    server: Controls,
    name: str,
    transport: RecordingTransport,
    differing: Differing = AS_IT_IS,
) -> ScenarioContext:
    """Makes the world of a script on the server. Freezes its clock, unless the scenario sets a rate. Returns the
    context in which the steps are played. Raises httpx.TransportError if the server refuses the scenario."""
    controls = server.make_world(name, seed=differing.seed)
    kind, content = _make_content(script, differing)
    headers = {"Content-Type": kind} | server.headers
    reply = server.http.put(f"{controls.base_url}/_sandbox/scenario", content=content, headers=headers)
    if reply.is_error:
        raise httpx.TransportError(f"the server does not take it: {reply.status_code} {reply.text[:2_000]}")
    if script.scenario.rate is None:
        controls.clock.freeze()
    return ScenarioContext(script.scenario, transport, controls)


def _make_content(script: Script, differing: Differing) -> tuple[str, bytes]:
    """Returns the media type and the body of the call that loads the scenario into its world. The body has the variants
    and extensions of `differing`, so that a reset keeps them. Axes that the scenario sets by itself keep their values.
    """
    if not differing.variants and not differing.extensions:
        return "application/yaml", script.text.encode()
    content = read_yaml(script.text, script.scenario.name).to_python()
    content = dict(content) if isinstance(content, dict) else {}
    settings = dict(content.get("settings") or {})
    settings["variants"] = {**differing.variants, **(settings.get("variants") or {})}
    if differing.extensions:
        settings["extensions"] = [*(settings.get("extensions") or ()), *differing.extensions]
    return "application/json", json.dumps({"scenario": content | {"settings": settings}}).encode()


# Reports as JUnit XML, with a suite for each scenario and a case for each step


def write_junit_of_scenarios(results: Sequence[ScenarioReport | UnreadableFile]) -> bytes:
    suites = [_make_suite(result) for result in results]
    return write_junit(suites, name="scenarios", time=f"{sum(result.seconds for result in suites):.3f}")


def _make_suite(result: ScenarioReport | UnreadableFile) -> Suite:
    if isinstance(result, ScenarioReport):
        return Suite(result.name, _make_cases(result), result.name, result.seconds)
    text = "\n".join(map(str, result.errors))
    case = Case("the file is read", "error", str(result.errors[0]), text, "unreadable")
    return Suite(result.name, [case], result.name)


def _make_cases(report: ScenarioReport) -> list[Case]:
    """Returns a test case for each step, and one for an error that ended the scenario."""
    cases = [_make_case(number, step) for number, step in enumerate(report.steps, 1)]
    if report.trouble is not None:
        cases.append(Case("the scenario is played", "error", report.trouble, type="trouble"))
    return cases


def _make_case(number: int, step: StepResult) -> Case:
    name = f"{number if step.step.line is None else f'line {step.step.line}'}: {step.text}"
    if step.skipped or not step.faults:
        return Case(name, "skipped" if step.skipped else "", seconds=step.seconds)
    text = "\n".join([*step.faults, *(line for exchange in step.exchanges for line in exchange.write_lines())])
    return Case(name, "failure", step.faults[0], text, step.step.what, step.seconds)


# Playing within the process of a server, for the console, which shows each step when it ends


class WithinTransport(httpx.WSGITransport):
    """Calls an application in this process. Raises ReadError if a fault rule cuts off the reply."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response = super().handle_request(request)
            response.read()
        except ConnectionError as broken:
            raise httpx.ReadError(str(broken), request=request) from None
        return response


def play_within(worlds: WorldRegistry, machine_time: MachineTime, name: str) -> Iterator[PlayedStep]:
    """Plays a scenario for the console, in a world of its own that is not dropped. First yields the name of the world,
    and then each step when it ends. If an error ends the scenario early, yields a last, failed step with the error."""
    script = read_script(name)
    world = make_world_name(script, f".{token_hex(3)}")
    app = assemble(worlds)  # without a lock, because only this process can reach it
    transport = RecordingTransport(WithinTransport(app=app))
    yield PlayedStep("world", world)
    try:
        with httpx.Client(transport=transport) as line:
            for step in play(make_stage(script, Controls(HOST, line), world, transport), machine_time):
                word = "skipped" if step.skipped else "holds" if step.passed else "fails"
                yield PlayedStep(word, step.text, step.faults)
    except (Refused, Unreadable, httpx.TransportError) as fault:
        yield PlayedStep("fails", "the run ended early", (str(fault) or type(fault).__name__,))
