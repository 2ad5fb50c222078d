"""Runs of the tests against one variant each: started once, kept, and begun again from a file."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from sandbox.vary.space import Variant

FAILURE_MAX = 2_000  # characters of what a test said


@dataclass(frozen=True, slots=True)
class Result:
    """One test in one run: whether it passed, else what it said and the call that was its last."""

    passed: bool
    failure: str = ""
    call: str = ""


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
    """The runs so far. Callers in several threads that want the same run wait for one."""

    trial: Trial
    keeper: Keeper | None = None
    tell: Callable[[Variant, Run], None] = lambda variant, run: None
    _found: "dict[Key, Future[Run]]" = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    expected: int = 1  # runs that are known to come

    def __post_init__(self) -> None:
        for key, run in self.keeper.kept() if self.keeper is not None else ():
            self._found[key] = Future()
            self._found[key].set_result(run)

    @property
    def count(self) -> int:
        return len(self._found)

    @property
    def variants(self) -> list[Variant]:
        """All that were run to their end, in the order of their beginning."""
        with self._lock:
            return [variant for (variant, attempt), found in self._found.items() if not attempt and found.done()]

    def of(self, variant: Variant, attempt: int = 0) -> Run:
        """The run of a variant; `attempt` 1 is a second run of the same."""
        key = variant, attempt
        with self._lock:
            found, mine = self._found.get(key), key not in self._found
            if found is None:
                found = self._found[key] = Future()
        if mine:
            self._start(key, found)
        return found.result()

    def _start(self, key: Key, found: "Future[Run]") -> None:
        try:
            run = self.trial(key[0])
            if self.keeper is not None:
                self.keeper.keep(key, run)
        except BaseException as error:
            found.set_exception(error)
            raise
        found.set_result(run)
        self.tell(key[0], run)
