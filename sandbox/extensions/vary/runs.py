"""Runs of the tests against one variant each: started once, kept in a file, and begun again from it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, astuple, dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import BoundedSemaphore, Lock
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
class Run:
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


Trial = Callable[[Variant], Run]
Key = tuple[Variant, int]


@dataclass
class Runs:
    """The runs that were asked for so far, so many of them at once. A caller that waits for a run holds no place."""

    trial: Trial
    keeper: "ResultsFile | None" = None
    tell: Callable[[Variant, Run], None] = lambda variant, run: None
    jobs: int = 1
    expected: int = 1  # runs that are known to come, those that were asked for among them
    _found: "dict[Key, Future[Run]]" = field(default_factory=dict)
    _kept: dict[Key, Run] = field(default_factory=dict)  # of an earlier session; asked for by nobody yet
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._kept.update(self.keeper.kept() if self.keeper is not None else ())
        self._places = BoundedSemaphore(self.jobs)

    @property
    def count(self) -> int:
        """The runs that were asked for, and those of an earlier session."""
        with self._lock:
            return len(self._found) + len(self._kept)

    @property
    def variants(self) -> list[Variant]:
        """All that were asked for and run to their end, in the order of their beginning."""
        with self._lock:
            return [variant for (variant, attempt), found in self._found.items() if not attempt and found.done()]

    @property
    def again(self) -> list[Key]:
        """The further attempts, in the same order."""
        with self._lock:
            return [key for key, found in self._found.items() if key[1] and found.done()]

    def has(self, variant: Variant) -> bool:
        with self._lock:
            return (variant, 0) in self._found

    def of(self, variant: Variant, attempt: int = 0) -> Run:
        """The run of a variant; `attempt` 1 is a second run of the same."""
        key = variant, attempt
        with self._lock:
            found, mine = self._found.get(key), key not in self._found
            if found is None:
                found = self._found[key] = Future()
                if key in self._kept:
                    found.set_result(self._kept.pop(key))
                    return found.result()
        if mine:
            self._start(key, found)
        return found.result()

    def result(self, variant: Variant, test: str, attempt: int = 0) -> Result:
        """How a test went. What today's run has not, such as the command itself, fails only where it is named."""
        run = self.of(variant, attempt)
        if test not in run.tests and test not in self.of(TODAY).tests:
            return UNKNOWN
        return run.result(test)

    def passed(self, variant: Variant, test: str) -> bool:
        """Whether it is known that the test passed."""
        result = self.result(variant, test)
        return result.passed and result is not UNKNOWN

    def failed(self, variant: Variant) -> list[str]:
        names = dict.fromkeys((*self.of(variant).tests, *self.of(TODAY).tests))
        return [name for name in names if not self.result(variant, name).passed]

    def _start(self, key: Key, found: "Future[Run]") -> None:
        try:
            with self._places:
                run = self.trial(key[0])
            if self.keeper is not None:
                self.keeper.keep(key, run)
        except BaseException as error:
            found.set_exception(error)
            raise
        found.set_result(run)
        self.tell(key[0], run)


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

    def kept(self) -> Iterable[tuple[Key, Run]]:
        return self._kept

    def keep(self, key: Key, run: Run) -> None:
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


def _runs_of(lines: Iterable[str]) -> Iterator[tuple[Key, Run]]:
    """Ends at a line that is none."""
    for line in lines:
        try:
            row = json.loads(line)
            variant = Variant.of((axis, value) for axis, value in row["variant"])
            tests = {name: Result(*parts) for name, parts in row["tests"].items()}
            reference = tuple((call, reply) for call, reply in row.get("reference", ()))
            met = frozenset(row["met"])
            run = Run(tests, met, row["seconds"], row["calls"], row["partial"], reference)
            yield (variant, row["attempt"]), run
        except (ValueError, KeyError, TypeError):
            return
