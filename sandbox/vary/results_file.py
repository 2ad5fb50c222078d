"""The file of finished runs, from which a stopped run goes on: a line of JSON each."""

import json
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from sandbox.vary.runs import Key, Result, Run
from sandbox.vary.space import Variant

HEAD = "bank-sandbox vary"


def fingerprint(*parts: Any) -> str:
    """What a run is about: only runs of the same command and the same axes go on from each other."""
    return blake2b(json.dumps(parts, sort_keys=True, default=list).encode(), digest_size=16).hexdigest()


class ResultsFile:
    """Runs are added as they end; `kept` gives those of an earlier run that was stopped."""

    def __init__(self, path: Path, about: str, fresh: bool = False) -> None:
        self.path = path
        self._lock = Lock()
        self._kept = [] if fresh else self._read(about)
        if not self._kept:
            path.write_text(json.dumps({HEAD: about}) + "\n", encoding="utf-8")

    def kept(self) -> Iterable[tuple[Key, Run]]:
        return self._kept

    def keep(self, key: Key, run: Run) -> None:
        variant, attempt = key
        tests = {name: [one.passed, one.failure, one.call] for name, one in run.tests.items()}
        row = {"variant": variant.changes, "attempt": attempt, "tests": tests, "met": sorted(run.met)}
        row |= {"seconds": run.seconds, "calls": run.calls, "partial": run.partial, "reference": run.reference}
        line = json.dumps(row)
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def end(self) -> None:
        """Nothing is left to go on with."""
        self.path.unlink(missing_ok=True)

    def _read(self, about: str) -> list[tuple[Key, Run]]:
        """The runs of the same command. The last line may be torn; a file of another command counts for nothing."""
        try:
            head, *lines = self.path.read_text(encoding="utf-8").split("\n")
            if json.loads(head) != {HEAD: about}:
                return []
        except (FileNotFoundError, ValueError):
            return []
        found = []
        for line in lines[:-1]:
            try:
                found.append(_run_of(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                break
        self._rewrite(about, lines[: len(found)])
        return found

    def _rewrite(self, about: str, lines: list[str]) -> None:
        """Without what is torn, so that the next line begins at a line's begin."""
        self.path.write_text("\n".join([json.dumps({HEAD: about}), *lines, ""]), encoding="utf-8")


def _run_of(row: dict[str, Any]) -> tuple[Key, Run]:
    variant = Variant.of((axis, value) for axis, value in row["variant"])
    tests = {name: Result(*parts) for name, parts in row["tests"].items()}
    reference = tuple((call, reply) for call, reply in row.get("reference", ()))
    met = frozenset(row["met"])
    return (variant, row["attempt"]), Run(tests, met, row["seconds"], row["calls"], row["partial"], reference)
