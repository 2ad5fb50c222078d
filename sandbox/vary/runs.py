"""Runs of the tests against one variant each: started once, kept, and begun again from a file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock
from typing import Protocol

from sandbox.vary.space import TODAY, Variant

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


class Keeper(Protocol):
    """Keeps runs over a restart."""

    def kept(self) -> Iterable[tuple[Key, Run]]: ...

    def keep(self, key: Key, run: Run) -> None: ...


@dataclass
class Runs:
    """The runs that were asked for so far, so many of them at once. A caller that waits for a run holds no place."""

    trial: Trial
    keeper: Keeper | None = None
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
