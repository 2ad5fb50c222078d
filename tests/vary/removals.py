"""Removes each assertion of a suite in turn, and asks whether the lies name the test that lost it: `make removals`."""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import process_time
from typing import NamedTuple

import click

import sandbox
from sandbox.client import CallbackRefused, ForeignCallback, Refused, Unreadable
from sandbox.extensions.vary.lie_verdict import LieVerdict, judge_lies, merge_lies
from sandbox.extensions.vary.run_banks import Looks, look_at
from sandbox.extensions.vary.runs import Result, Runs, VariantRun
from sandbox.extensions.vary.space import Variant
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import world_of
from tests.vary import asserting

FAILURES = (AssertionError, LookupError, TypeError, ValueError, CallbackRefused, ForeignCallback, Refused, Unreadable)
NOTICED_LEAST = 0.9
Check = Callable[[BankFixture], None]


class Removal(NamedTuple):
    """A test without its assertion: the lies that only the assertion noticed, and whether each names the test."""

    test: str
    reached: tuple[str, ...]
    is_named: bool


def without_assertion(test: Check) -> Check:
    """Returns the same test, whose last statement is evaluated and not asserted."""
    tree = ast.parse(inspect.getsource(test))
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    last = function.body[-1]
    assert isinstance(last, ast.Assert)
    function.body[-1] = ast.copy_location(ast.Expr(last.test), last)
    names = dict(vars(asserting))
    exec(compile(ast.fix_missing_locations(tree), asserting.__file__, "exec"), names)
    found: Check = names[test.__name__]
    return found


def judge_test(server: BankFixture, name: str, test: Check) -> LieVerdict:
    """Tells a test each lie that it can meet, in worlds of its own."""

    def trial(variant: Variant) -> VariantRun:
        with world_of(server, "w", Start(), variant.axes, variant.extensions) as bank:
            try:
                test(bank)
                result = Result(True)
            except FAILURES as error:
                result = Result(False, f"{type(error).__name__}: {error}"[:300])
            notes = look_at(bank.controls, Looks(lies=True))
        return VariantRun({name: result}, notes.met, calls=len(notes.rows), told=notes.told)

    return judge_lies(Runs(trial))


def judge_suite(server: BankFixture, tests: Sequence[Check]) -> dict[str, LieVerdict]:
    return {test.__name__: judge_test(server, test.__name__, test) for test in tests}


def remove_each(server: BankFixture, verdicts: Mapping[str, LieVerdict], tests: Sequence[Check]) -> Iterator[Removal]:
    """Judges the suite without the assertion of each test. The other tests stay as they are."""
    for test in tests:
        name = test.__name__
        whole, bare = verdicts[name], judge_test(server, name, without_assertion(test))
        reached = tuple(lie for lie in whole.noticed if lie not in bare.noticed)
        others = [verdict for other, verdict in verdicts.items() if other != name]
        named = {row.lie for row in merge_lies([*others, bare]).unnoticed if row.test == name}
        yield Removal(name, reached, set(reached) <= named)


def main(names: list[str]) -> int:
    tests = [test for test in asserting.TESTS if not names or test.__name__ in names]
    began = process_time()
    with sandbox.running(at="now") as server:
        verdicts = judge_suite(server, tests)
        whole = merge_lies(verdicts.values())
        missed = sorted(set(whole.met) - set(whole.noticed))
        click.echo(f"{len(tests)} tests: {whole.score}; nobody notices {', '.join(missed) or 'none'}")
        removals = list(remove_each(server, verdicts, tests))
    for removal in removals:
        word = "not named" if not removal.is_named else "named" if removal.reached else "no lie reaches it"
        click.echo(f"{removal.test}: {word} {', '.join(removal.reached)}".rstrip())
    reached = [removal for removal in removals if removal.reached]
    click.echo(
        f"{sum(removal.is_named for removal in reached)} of {len(reached)} removals that a lie reaches are named; "
        f"{process_time() - began:.0f} s of CPU"
    )
    is_good = all(removal.is_named for removal in removals) and len(whole.noticed) >= NOTICED_LEAST * len(whole.met)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
