"""The cache of test runs, each under one variant, and the file from which a stopped session continues."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from sandbox.extensions.vary.space import DEFAULT_BANK, Variant

HEAD = "bank-sandbox vary"  # of a file of results
FAILURE_MAX = 2_000  # characters of what a test said


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one test in one run: whether it passed. If not, also its error and its last call."""

    passed: bool
    failure: str = ""
    call: str = ""


# The calls of a run in order: for each its method and operation, and the text of the reply.
Reference = Sequence[tuple[str, str]]
NOT_RUN = Result(False, "it did not run")
UNKNOWN = Result(True, "it is not known")


@dataclass(frozen=True, slots=True)
class VariantRun:
    """The results of all tests in one run under a variant, and the axes that the calls of these tests met."""

    tests: Mapping[str, Result]
    met: frozenset[str] = frozenset()
    seconds: float = 0.0
    calls: int = 0
    partial: bool = False  # the command ended before it reported all tests
    reference: Reference = ()  # only of the default run: the calls with which failing runs are compared
    told: Sequence[Mapping[str, Any]] = ()  # rows of the control of lies, where the world lies or lists lies
    findings: Sequence[Mapping[str, Any]] = ()  # of the referee, where they were asked for
    coverage: Sequence[Mapping[str, Any]] = ()
    began: str = ""  # the bank's time at the first call

    def find_result(self, test: str) -> Result:
        return self.tests.get(test, UNKNOWN if self.partial else NOT_RUN)

    @property
    def failed(self) -> list[str]:
        return [name for name, result in self.tests.items() if not result.passed]


class FailsByDefault(Exception):
    """Raised if tests fail on the default bank, so no axis can be the cause."""

    def __init__(self, run: VariantRun) -> None:
        super().__init__(", ".join(run.failed))
        self.run = run


class NothingMet(Exception):
    """Raised if no call of the tests met an axis, or if no lie could change a reply. Then no variant makes a
    difference."""


Trial = Callable[[Variant], VariantRun]
Attempt = tuple[Variant, int]  # the number is 0 for the first run of a variant, 1 for the second, ...


@dataclass
class Runs:
    """The cache of runs. If the result of a variant is asked for and is not in the cache, runs the tests under this
    variant by `trial`.

    `spread` is `map`, or the `map` of a pool with `jobs` threads. Only one thread calls the public methods.
    """

    trial: Trial
    results_file: "ResultsFile | None" = None
    spread: Callable[..., Iterable[Any]] = map
    jobs: int = 1
    report: Callable[[], None] = lambda: None  # called after each run
    probes: bool = False  # whether `trial` can run a variant with a probe (see Variant.add_probe)
    expected: int = 1  # how many runs there will be, as far as known, with those that are done
    _runs: dict[Attempt, VariantRun] = field(default_factory=dict)
    _earlier: dict[Attempt, VariantRun] = field(default_factory=dict)  # of a stopped session, not asked for yet

    def __post_init__(self) -> None:
        if self.results_file is not None:
            self._earlier.update(self.results_file.earlier_runs)

    @property
    def count(self) -> int:
        """The number of runs, including those of an earlier session that was stopped."""
        return len(self._runs) + len(self._earlier)

    @property
    def variants(self) -> list[Variant]:
        """The variants that were run, without probes, in the order in which they were asked for."""
        return [variant for variant, number in self._runs if number == 0 and variant.probed_axis is None]

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for variant in self.variants for name in self.find_run(variant).tests))

    def has(self, variant: Variant) -> bool:
        return (variant, 0) in self._runs

    def add(self, attempt: Attempt, run: VariantRun) -> None:
        """Adds a run that the caller made itself."""
        self._runs[attempt] = run

    def run_all(self, attempts: Iterable[Attempt]) -> None:
        """Makes the runs that are not in the cache, `jobs` at once."""
        missing = [attempt for attempt in dict.fromkeys(attempts) if attempt not in self._runs]
        for attempt, run in zip(missing, self.spread(self._run, missing), strict=True):
            self._runs[attempt] = run
            self.report()

    def _run(self, attempt: Attempt) -> VariantRun:
        if attempt in self._earlier:
            return self._earlier.pop(attempt)
        run = self.trial(attempt[0])
        if self.results_file is not None:
            self.results_file.append(attempt, run)
        return run

    def find_run(self, variant: Variant, number: int = 0) -> VariantRun:
        self.run_all([(variant, number)])
        return self._runs[variant, number]

    def find_result(self, variant: Variant, test: str, number: int = 0) -> Result:
        """Returns the result of a test in one run of a variant. `number` is 0 for the first run. If the run does not
        have the test although the default run has it, returns NOT_RUN, which is a failure. Returns UNKNOWN instead if
        the run is partial, or if the default run does not have the test either. UNKNOWN does not count as a failure."""
        run = self.find_run(variant, number)
        if test not in run.tests and test not in self.find_run(DEFAULT_BANK).tests:
            return UNKNOWN
        return run.find_result(test)

    def fails(self, variant: Variant, test: str) -> bool:
        return not self.find_result(variant, test).passed

    def has_passed(self, variant: Variant, test: str) -> bool:
        """Whether the test passed. False if the result is unknown."""
        result = self.find_result(variant, test)
        return result.passed and result is not UNKNOWN

    def list_failed_tests(self, variant: Variant) -> list[str]:
        names = dict.fromkeys((*self.find_run(variant).tests, *self.find_run(DEFAULT_BANK).tests))
        return [name for name in names if self.fails(variant, name)]

    def find_contradiction(self, test: str) -> str:
        """Returns a sentence that names a variant under which the test both passed and failed. Returns an empty text if
        there is no such variant."""
        for variant, number in [attempt for attempt in self._runs if attempt[1] > 0]:
            first, again = self.find_result(variant, test), self.find_result(variant, test, number)
            if first.passed != again.passed and UNKNOWN not in (first, again):
                failure = (again if first.passed else first).failure
                return f"passed once and failed once with {str(variant) or 'the bank of today'}: {failure}"
        return ""


def compute_fingerprint(*parts: Any) -> str:
    """Returns a digest of these parts, such as the command and its axes. A session uses only results that were stored
    with the same digest."""
    return blake2b(json.dumps(parts, sort_keys=True, default=list).encode(), digest_size=16).hexdigest()


class ResultsFile:
    """A file to which each run is written when it ends. After an interrupt, the next session continues from this file.
    `about` is a digest of the session (see `compute_fingerprint`). Runs that were stored with another digest are
    dropped. With `fresh`, all stored runs are dropped."""

    def __init__(self, path: Path, about: str, fresh: bool = False) -> None:
        self.path = path
        self._lock = Lock()
        lines = [] if fresh else self._read(about)
        self.earlier_runs = list(_read_runs(lines))
        # Leaves out a last line that was cut, so that the next line starts a new line.
        whole = [json.dumps({HEAD: about}), *lines[: len(self.earlier_runs)], ""]
        path.write_text("\n".join(whole), encoding="utf-8")

    def append(self, attempt: Attempt, run: VariantRun) -> None:
        variant, number = attempt
        line = json.dumps([variant.changes, number, asdict(run) | {"met": sorted(run.met)}])
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def end(self) -> None:
        """Deletes the file when the session is complete."""
        self.path.unlink(missing_ok=True)

    def _read(self, about: str) -> list[str]:
        """Returns the lines of the runs in the file. Leaves out an incomplete last line. Returns no lines if there is
        no such file, or if its first line has another digest than `about`."""
        try:
            head, *lines = self.path.read_text(encoding="utf-8").split("\n")
            return lines[:-1] if json.loads(head) == {HEAD: about} else []
        except (FileNotFoundError, ValueError):
            return []


def _read_runs(lines: Iterable[str]) -> Iterator[tuple[Attempt, VariantRun]]:
    """Yields the runs in these lines. Stops at the first line that is not a run, such as an incomplete line."""
    for line in lines:
        try:
            changes, number, row = json.loads(line)
            values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()} | {
                "tests": {name: Result(**result) for name, result in row["tests"].items()},
                "met": frozenset(row["met"]),
                "reference": tuple((call, reply) for call, reply in row["reference"]),
            }
            yield (Variant.of((axis, value) for axis, value in changes), number), VariantRun(**values)
        except (ValueError, KeyError, TypeError):
            return
