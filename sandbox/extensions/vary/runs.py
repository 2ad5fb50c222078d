"""Runs of the tests against one variant each: started once, kept in a file, and begun again from it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any

from sandbox.extensions.vary.space import TODAY, Variant

HEAD = "bank-sandbox vary"  # of a file of results
FAILURE_MAX = 2_000  # characters of what a test said


@dataclass(frozen=True, slots=True)
class Result:
    """One test in one run: whether it passed, else what it said and the call that was its last."""

    passed: bool
    failure: str = ""
    call: str = ""


# The calls of a run in order: of each its method with its operation, and the text of the reply.
Reference = Sequence[tuple[str, str]]
NOT_RUN = Result(False, "it did not run")
UNKNOWN = Result(True, "it is not known")


@dataclass(frozen=True, slots=True)
class VariantRun:
    """All tests against one variant, and the axes that their calls met."""

    tests: Mapping[str, Result]
    met: frozenset[str] = frozenset()
    seconds: float = 0.0
    calls: int = 0
    partial: bool = False  # it ended as a whole before it said how each test went
    reference: Reference = ()  # of today's run: what a failing run is compared with

    def result(self, test: str) -> Result:
        return self.tests.get(test, UNKNOWN if self.partial else NOT_RUN)

    @property
    def failed(self) -> list[str]:
        return [name for name, result in self.tests.items() if not result.passed]


Trial = Callable[[Variant], VariantRun]
Attempt = tuple[Variant, int]  # the number is 0 for the first run of a variant, 1 for the second, ...


@dataclass
class Runs:
    """The cache of runs: a variant is run when somebody first asks for it, and its result is kept.

    `spread` does the same work with each thing as `map` does, `jobs` of them at once where it is the `map` of a pool.
    """

    trial: Trial
    results_file: "ResultsFile | None" = None
    spread: Callable[..., Iterable[Any]] = map
    jobs: int = 1
    report: Callable[[], None] = lambda: None  # called after each run
    expected: int = 1  # runs that are known to come, those that were asked for among them
    _runs: dict[Attempt, VariantRun] = field(default_factory=dict)
    _earlier: dict[Attempt, VariantRun] = field(default_factory=dict)  # of a stopped session, asked for by nobody yet

    def __post_init__(self) -> None:
        self._earlier.update(self.results_file.kept() if self.results_file is not None else ())

    @property
    def count(self) -> int:
        """The runs that were asked for, and those of a stopped session."""
        return len(self._runs) + len(self._earlier)

    @property
    def variants(self) -> list[Variant]:
        """All variants that were run, in the order in which they were asked for."""
        return [variant for variant, number in self._runs if number == 0]

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for variant in self.variants for name in self.of(variant).tests))

    def has(self, variant: Variant) -> bool:
        return (variant, 0) in self._runs

    def add(self, attempt: Attempt, run: VariantRun) -> None:
        """Adds a run that was made elsewhere."""
        self._runs[attempt] = run

    def run_all(self, attempts: Iterable[Attempt]) -> None:
        """Runs those that were not run yet, `jobs` at once."""
        missing = [attempt for attempt in dict.fromkeys(attempts) if attempt not in self._runs]
        for attempt, run in zip(missing, self.spread(self._run, missing), strict=True):
            self._runs[attempt] = run
            self.report()

    def _run(self, attempt: Attempt) -> VariantRun:
        if attempt in self._earlier:
            return self._earlier.pop(attempt)
        run = self.trial(attempt[0])
        if self.results_file is not None:
            self.results_file.keep(attempt, run)
        return run

    def of(self, variant: Variant, number: int = 0) -> VariantRun:
        self.run_all([(variant, number)])
        return self._runs[variant, number]

    def result(self, variant: Variant, test: str, number: int = 0) -> Result:
        """How a test went. What today's run does not have, such as the command itself, fails only where it is named."""
        run = self.of(variant, number)
        if test not in run.tests and test not in self.of(TODAY).tests:
            return UNKNOWN
        return run.result(test)

    def fails(self, variant: Variant, test: str) -> bool:
        return not self.result(variant, test).passed

    def passed(self, variant: Variant, test: str) -> bool:
        """Whether it is known that the test passed."""
        result = self.result(variant, test)
        return result.passed and result is not UNKNOWN

    def failed_tests(self, variant: Variant) -> list[str]:
        names = dict.fromkeys((*self.of(variant).tests, *self.of(TODAY).tests))
        return [name for name in names if self.fails(variant, name)]

    def contradiction(self, test: str) -> str:
        """Says where a test passed once and failed once under the same variant; empty where it did not."""
        for variant, number in filter(itemgetter(1), self._runs):
            first, again = self.result(variant, test), self.result(variant, test, number)
            if first.passed != again.passed and UNKNOWN not in (first, again):
                failure = (again if first.passed else first).failure
                return f"passed once and failed once with {str(variant) or 'the bank of today'}: {failure}"
        return ""


def fingerprint(*parts: Any) -> str:
    """What a run is about: only runs of the same command and the same axes go on from each other."""
    return blake2b(json.dumps(parts, sort_keys=True, default=list).encode(), digest_size=16).hexdigest()


class ResultsFile:
    """Runs are added as they end; `kept` gives those of an earlier run that was stopped."""

    def __init__(self, path: Path, about: str, fresh: bool = False) -> None:
        self.path = path
        self._lock = Lock()
        lines = [] if fresh else self._read(about)
        self._kept = list(_runs_of(lines))
        # Without what is torn, so that the next line begins at a line's begin.
        whole = [json.dumps({HEAD: about}), *lines[: len(self._kept)], ""]
        path.write_text("\n".join(whole), encoding="utf-8")

    def kept(self) -> Iterable[tuple[Attempt, VariantRun]]:
        return self._kept

    def keep(self, key: Attempt, run: VariantRun) -> None:
        variant, attempt = key
        tests = {name: astuple(one) for name, one in run.tests.items()}
        row = {"variant": variant.changes, "attempt": attempt} | asdict(run) | {"tests": tests, "met": sorted(run.met)}
        line = json.dumps(row)
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def end(self) -> None:
        """Nothing is left to go on with."""
        self.path.unlink(missing_ok=True)

    def _read(self, about: str) -> list[str]:
        """The lines of the same command, the last of which may be torn; a file of another one counts for nothing."""
        try:
            head, *lines = self.path.read_text(encoding="utf-8").split("\n")
            return lines[:-1] if json.loads(head) == {HEAD: about} else []
        except (FileNotFoundError, ValueError):
            return []


def _runs_of(lines: Iterable[str]) -> Iterator[tuple[Attempt, VariantRun]]:
    """Ends at a line that is none."""
    for line in lines:
        try:
            row = json.loads(line)
            variant = Variant.of((axis, value) for axis, value in row["variant"])
            tests = {name: Result(*parts) for name, parts in row["tests"].items()}
            reference = tuple((call, reply) for call, reply in row.get("reference", ()))
            met = frozenset(row["met"])
            run = VariantRun(tests, met, row["seconds"], row["calls"], row["partial"], reference)
            yield (variant, row["attempt"]), run
        except (ValueError, KeyError, TypeError):
            return
