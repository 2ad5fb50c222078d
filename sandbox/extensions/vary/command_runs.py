"""Runs a test command against a world of its own for each variant, and reads the JUnit file that it wrote."""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from lxml import etree

from sandbox.client import Controls, Refused
from sandbox.extensions.vary.meeting import Rows, axes_met, last_call, last_calls, reference_of
from sandbox.extensions.vary.runs import FAILURE_MAX, Reference, Result, VariantRun
from sandbox.extensions.vary.space import TODAY, Variant

CAUSE_MAX = 4  # axes of a variant that may be a cause, so that its calls are looked at
OUTPUT_MAX = 20_000  # characters of the end of an output
# Of Python and JavaScript, of Go, of Java.
ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*: .+|\S+_test\.go:\d+: .+|panic: .+|AssertionError\b.*")
PATIENCE_LEAST = 60.0  # seconds; a client that waits for ever is ended
PATIENCE_TIMES = 5  # as long as today's run
BYTES_MAX = 100_000_000
NAME_MAX = 300
FAILED = ("failure", "error")
# Of a Python test the line with the error begins so; of others the first line says most.
PYTEST_ERROR = re.compile(r"^E {2,}(?=\S)(.+)$", re.MULTILINE)


@dataclass
class CommandRuns:
    """The trial of `vary`: begins a world, runs the command, reads what it says and what it met, drops the world."""

    command: Sequence[str]
    server: Controls
    stopwatch: Callable[[], float]
    begin: Mapping[str, Any] = field(default_factory=dict)  # of each world, beside its variants
    junit: Path | None = None  # where the command writes its report by itself
    patience: float | None = None
    apart: str = ""  # keeps the names of worlds from those of other runs at the same server
    outputs: dict[Variant, str] = field(default_factory=dict)
    reference: Reference = ()  # the calls of today's run
    _alive: "set[subprocess.Popen[bytes]]" = field(default_factory=set)
    _stopped: bool = False
    _lock: Lock = field(default_factory=Lock)

    @property
    def name(self) -> str:
        """The command as the one test that it is where it writes no report."""
        return " ".join(self.command)

    def __call__(self, variant: Variant) -> VariantRun:
        world = f"{variant.name}{self.apart}"
        controls = self.make_world(world, variant)
        try:
            with tempfile.TemporaryDirectory(prefix="bank-sandbox-vary-") as folder:
                report = self.junit or Path(folder) / "junit.xml"
                if self.junit is not None:
                    self.junit.unlink(missing_ok=True)
                code, output, seconds = self.execute(controls.base_url, world, report, Path(folder))
                tests = self.results(code, output, report)
            calls = controls.listed("requests")
            met = axes_met(controls, calls)
            if variant == TODAY and not self.reference:
                self.reference = reference_of(controls, calls)
            if not all(one.passed for one in tests.values()):
                self.outputs[variant] = output
                if len(variant.changes) <= CAUSE_MAX:
                    tests = self.with_calls(tests, controls, calls, variant)
        finally:
            with suppress(Refused):
                self.server.drop_world(world)
        reference = self.reference if variant == TODAY else ()
        return VariantRun(tests, met, seconds, len(calls), self.name in tests, reference)

    def with_calls(
        self, tests: dict[str, Result], controls: Controls, calls: Rows, variant: Variant
    ) -> dict[str, Result]:
        """Adds to each failure the call after which it came."""
        failed = [name for name, one in tests.items() if not one.passed]
        if self.name in tests:
            found = [last_call(controls, calls, variant, self.reference)] * len(failed)
        else:
            found = last_calls(controls, calls, variant, self.reference, len(failed))
        return tests | {name: replace(tests[name], call=call) for name, call in zip(failed, found, strict=True)}

    def learn(self, today: VariantRun) -> None:
        """What failing runs are compared with, and how long a command may take, if nothing else was said."""
        self.reference = today.reference
        if self.patience is None:
            self.patience = max(PATIENCE_LEAST, PATIENCE_TIMES * today.seconds)

    def make_world(self, name: str, variant: Variant) -> Controls:
        return self.server.make_world(name, **self.begin, variants=dict(variant.changes), replace=True)

    def execute(self, url: str, world: str, report: Path, folder: Path) -> tuple[int | None, str, float]:
        """Runs the command to its end, with the address in its words and in its environment.

        Gives its exit code (None: its time was over), the end of its output, and how many seconds it took."""
        words = [fill(word, {"url": url, "world": world, "junit": str(report)}) for word in self.command]
        with (folder / "output").open("w+b") as output:
            started = self.stopwatch()
            code = self._wait(words, os.environ | self.environment(url), output)
            seconds = self.stopwatch() - started
            output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_MAX))
            return code, output.read().decode(errors="replace"), seconds

    def environment(self, url: str) -> dict[str, str]:
        """Where the command finds its bank, and the key of its controls."""
        key = {} if self.server.key is None else {"SANDBOX_KEY": self.server.key}
        return {"SANDBOX_URL": url, "BANK_BASE_URL": url, **key}

    def _wait(self, words: list[str], environment: Mapping[str, str], output: Any) -> int | None:
        """The exit code; None where its time was over."""
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            done = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._alive.add(done)
        try:
            return done.wait(self.patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_group(done)
            self._alive.discard(done)

    def stop(self) -> None:
        """Ends the commands that run and starts no more: the caller was interrupted."""
        with self._lock:
            self._stopped = True
            alive = tuple(self._alive)
        for one in alive:
            end_group(one)

    def results(self, code: int | None, output: str, report: Path) -> dict[str, Result]:
        """The tests of the report; without one the command is the test. A failure that no test explains is its own."""
        found: dict[str, Result] = {}
        if report.exists():
            try:
                found = read_report(report)
            except UnreadableReport as error:
                return {self.name: Result(False, str(error)[:FAILURE_MAX])}
        if code is None:
            return found | {self.name: Result(False, f"it did not end within {self.patience:.0f} s")}
        explained = any(not one.passed for one in found.values())
        if not found or (code and not explained):
            failure = "" if code == 0 else f"{last_line(output)} (exit code {code})"
            return found | {self.name: Result(code == 0, failure)}
        return found


def fill(word: str, values: Mapping[str, str]) -> str:
    """Replaces {url}, {world} and {junit}; other braces stay."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def last_line(output: str) -> str:
    """What the command said: its last line that looks like an error, else its last."""
    lines = [line.strip()[:FAILURE_MAX] for line in output.splitlines() if line.strip()]
    return next(filter(ERROR.match, reversed(lines)), lines[-1] if lines else "nothing was said")


def end_group(command: "subprocess.Popen[bytes]") -> None:
    """Ends the command and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(command.pid, signal.SIGKILL)
    command.wait()


class UnreadableReport(Exception):
    """The file is no JUnit report."""


def read_report(path: Path) -> dict[str, Result]:
    """The tests of a JUnit file by name; skipped ones are left out. Of tests with one name, one that failed counts."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UnreadableReport(f"{path} is over {BYTES_MAX} bytes")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.fromstring(path.read_bytes(), parser)
    except (etree.XMLSyntaxError, OSError, ValueError) as error:
        raise UnreadableReport(f"{path} is no JUnit report: {error}") from None
    found: dict[str, Result] = {}
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            continue
        name = name_of(case.get("classname", ""), case.get("name", ""))
        failed = next((part for kind in FAILED if (part := case.find(kind)) is not None), None)
        if failed is not None:
            found[name] = Result(False, failure_in(failed.get("message", ""), failed.text or ""))
        else:
            found.setdefault(name, Result(True))
    return found


def name_of(group: str, name: str) -> str:
    return " ".join(f"{group}::{name}".strip(":").split())[:NAME_MAX] or "a test without a name"


def failure_in(message: str, text: str) -> str:
    """The error in one line, from the message or from the text below it."""
    message = " ".join(message.split())
    found = PYTEST_ERROR.search(text)
    first = message or (found[1] if found else next((line for line in text.splitlines() if line.strip()), ""))
    return first.strip()[:FAILURE_MAX]
