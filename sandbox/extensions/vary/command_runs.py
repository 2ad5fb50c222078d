"""Runs a test command against a world of its own for each variant, and reads the JUnit file that the command wrote."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from lxml import etree

from sandbox.extensions.vary.call_comparison import RunCalls
from sandbox.extensions.vary.run_banks import Banks, Looks
from sandbox.extensions.vary.runs import FAILURE_MAX, Reference, Result, VariantRun
from sandbox.extensions.vary.space import DEFAULT_BANK, LISTING, Variant
from sandbox.machine.operating_system import kill_with_children

CAUSE_MAX = 4  # axes; only the calls under smaller variants are analysed, because larger ones are rarely causes
OUTPUT_MAX = 20_000  # characters of the end of an output
# Error lines of Python, JavaScript, Go and Java.
ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b.*: .+|\S+_test\.go:\d+: .+|panic: .+|AssertionError\b.*")
TIMEOUT_MIN = 60.0  # seconds
TIMEOUT_FACTOR = 5  # times the duration of the default run
BYTES_MAX = 100_000_000
NAME_MAX = 300
FAILED = ("failure", "error")
# The line of a pytest failure that has the error. Of other failures the first line says most.
PYTEST_ERROR = re.compile(r"^E {2,}(?=\S)(.+)$", re.MULTILINE)


@dataclass
class CommandRuns:
    """Runs the command under a variant: makes a world, runs the command, reads its results and drops the world."""

    command: Sequence[str]
    banks: Banks
    stopwatch: Callable[[], float]
    begin: Mapping[str, Any] = field(default_factory=dict)  # the body with which each world is made
    junit: Path | None = None  # where the command writes its report by itself
    timeout: float | None = None
    world_suffix: str = ""  # of the names of worlds, because other commands may use the same server
    referee: bool = False  # whether to ask for its findings, and for the coverage
    default_output: str = ""  # the end of the command's output if it fails on the default bank
    reference: Reference = ()  # the calls of the default run
    _alive: "set[subprocess.Popen[bytes]]" = field(default_factory=set)
    _worlds: set[str] = field(default_factory=set)  # of the runs that are under way
    _stopped: bool = False
    _lock: Lock = field(default_factory=Lock)

    @property
    def name(self) -> str:
        """The name under which the whole command counts as a test."""
        return " ".join(self.command)

    def __call__(self, variant: Variant) -> VariantRun:
        return self.run(variant)[0]

    def run(self, variant: Variant, export: bool = False) -> tuple[VariantRun, list[str]]:
        """Runs the command under the variant and returns its results. With `export`, also returns the worlds of the run
        as texts, else an empty list."""
        with self.free_world(variant) as world:
            return self._run_in(world, variant, export)

    @contextmanager
    def free_world(self, variant: Variant) -> Iterator[str]:
        """Yields a name for a world under this variant. No other run uses the name within the block. If the same
        variant is running already, the name has a number."""
        names = (f"{variant.name}{'' if number == 1 else f'.{number}'}{self.world_suffix}" for number in count(1))
        with self._lock:
            world = next(name for name in names if name not in self._worlds)
            self._worlds.add(world)
        try:
            yield world
        finally:
            with self._lock:
                self._worlds.discard(world)

    def _run_in(self, world: str, variant: Variant, export: bool) -> tuple[VariantRun, list[str]]:
        is_small = len(variant.changes) <= CAUSE_MAX
        looks = Looks(bool(variant.extensions), is_small, self.referee and variant == LISTING, export)
        bank = self.banks.begin(world, self.begin, variant, looks)
        try:
            with tempfile.TemporaryDirectory(prefix="bank-sandbox-vary-") as folder:
                report = self.junit or Path(folder) / "junit.xml"
                if self.junit is not None:
                    self.junit.unlink(missing_ok=True)
                code, output, seconds = self.execute(bank.url, world, report, Path(folder))
                tests = self.read_results(code, output, report)
            failed = [name for name, result in tests.items() if not result.passed]
            notes = bank.read_notes(replace(looks, replies=is_small and (bool(failed) or variant == DEFAULT_BANK)))
            calls = RunCalls(bank.controls, notes.rows, variant, self.reference)
            self.reference = calls.reference
            if failed:
                if variant in (DEFAULT_BANK, LISTING):
                    self.default_output = output
                if is_small:
                    is_one_test = self.name in tests
                    texts = [calls.describe_last()] * len(failed) if is_one_test else calls.describe_each(len(failed))
                    tests |= {name: replace(tests[name], call=text) for name, text in zip(failed, texts, strict=True)}
        finally:
            bank.end()
        reference = self.reference if variant == DEFAULT_BANK else ()
        run = notes.make_run(tests, seconds=seconds, partial=self.name in tests, reference=reference)
        return run, notes.exports

    def use_as_reference(self, default_run: VariantRun) -> None:
        """Stores the calls of the default run, with which the calls of failing runs are compared. If the user gave no
        timeout, sets the timeout to a multiple of the duration of the default run, and to TIMEOUT_MIN at least."""
        self.reference = default_run.reference
        if self.timeout is None:
            self.timeout = max(TIMEOUT_MIN, TIMEOUT_FACTOR * default_run.seconds)

    def execute(self, url: str, world: str, report: Path, folder: Path) -> tuple[int | None, str, float]:
        """Runs the command to its end, or until the timeout. The command finds the bank's address `url` in its words
        and in its environment. It writes its JUnit file to the path `report`. Its output goes to a file in `folder`.

        Returns the exit code of the command (None after a timeout), the end of its output, and its duration in seconds.
        """
        words = [fill(word, {"url": url, "world": world, "junit": str(report)}) for word in self.command]
        with (folder / "output").open("w+b") as output:
            started = self.stopwatch()
            code = self._wait(words, os.environ | self.make_environment(url), output)
            seconds = self.stopwatch() - started
            output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_MAX))
            return code, output.read().decode(errors="replace"), seconds

    def make_environment(self, url: str) -> dict[str, str]:
        """Returns the environment of the command, with the addresses of its bank and the key of the controls."""
        key = {} if self.banks.key is None else {"SANDBOX_KEY": self.banks.key}
        return {"SANDBOX_URL": url, "BANK_BASE_URL": url, **key}

    def _wait(self, words: list[str], environment: Mapping[str, str], output: Any) -> int | None:
        """Runs the command and returns its exit code. Kills it after the timeout, and then returns None. Also kills all
        processes that the command left running. Raises KeyboardInterrupt if `stop` was called."""
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._alive.add(process)
        try:
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            kill_with_children(process)
            self._alive.discard(process)
        if self._stopped:  # the command was killed, so its failure says nothing about the variant
            raise KeyboardInterrupt
        return code

    def stop(self) -> None:
        """Kills the running commands after an interrupt, and lets no more start."""
        with self._lock:
            self._stopped = True
            alive = tuple(self._alive)
        for process in alive:
            kill_with_children(process)

    def read_results(self, code: int | None, output: str, report: Path) -> dict[str, Result]:
        """Returns the results of the tests in the file `report`, by name. `code` is the exit code of the command, or
        None if it did not end in time.

        The command itself counts as a test if there is no file or no test in it, if the command did not end in time, or
        if it failed although each test passed. If the file cannot be read, the command is the only test and has failed.
        """
        results: dict[str, Result] = {}
        if report.exists():
            try:
                results = read_report(report)
            except UnreadableReport as error:
                return {self.name: Result(False, str(error)[:FAILURE_MAX])}
        if code is None:
            return results | {self.name: Result(False, f"it did not end within {self.timeout:.0f} s")}
        explained = any(not result.passed for result in results.values())
        if not results or (code and not explained):
            failure = "" if code == 0 else f"{find_last_line(output)} (exit code {code})"
            return results | {self.name: Result(code == 0, failure)}
        return results


def fill(word: str, values: Mapping[str, str]) -> str:
    """Replaces {url}, {world} and {junit} in a word of the command by their values. Other braces stay."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def find_last_line(output: str) -> str:
    """Returns the last line of the output that looks like an error, else the last line. Returns `nothing was said` if
    the output is empty."""
    lines = [line.strip()[:FAILURE_MAX] for line in output.splitlines() if line.strip()]
    return next(filter(ERROR.match, reversed(lines)), lines[-1] if lines else "nothing was said")


class UnreadableReport(Exception):
    """Raised if a file cannot be read as a JUnit report."""


def read_report(path: Path) -> dict[str, Result]:
    """Returns the result of each test in a JUnit file by the test's name. Leaves out skipped tests. If several tests
    have the same name and any of them failed, the result is a failure. Raises UnreadableReport if the file is too
    large, cannot be read or is not XML."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UnreadableReport(f"{path} is over {BYTES_MAX} bytes")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.fromstring(path.read_bytes(), parser)
    except (etree.XMLSyntaxError, OSError, ValueError) as error:
        raise UnreadableReport(f"{path} is no JUnit report: {error}") from None
    results: dict[str, Result] = {}
    for case in root.iter("testcase"):
        if case.find("skipped") is not None:
            continue
        name = name_test(case.get("classname", ""), case.get("name", ""))
        failed = next((part for kind in FAILED if (part := case.find(kind)) is not None), None)
        if failed is not None:
            results[name] = Result(False, find_failure(failed.get("message", ""), failed.text or ""))
        else:
            results.setdefault(name, Result(True))
    return results


def name_test(group: str, name: str) -> str:
    return " ".join(f"{group}::{name}".strip(":").split())[:NAME_MAX] or "a test without a name"


def find_failure(message: str, text: str) -> str:
    """Returns the error of a failed test in one line: the message in its JUnit case if it has one, else the line of its
    text in which pytest writes the error, else the first line of its text."""
    message = " ".join(message.split())
    error_match = PYTEST_ERROR.search(text)
    first = message or (
        error_match[1] if error_match else next((line for line in text.splitlines() if line.strip()), "")
    )
    return unescape(first.strip())[:FAILURE_MAX]  # some runners escape twice
