"""The verdict on lies: which lies a test noticed, and which tests read a lie and passed nevertheless.

The task: for each lie that could change a reply to the tests' calls, run the tests against a bank with that lie. A test
that fails has noticed the lie. A test that passes is to be blamed only if it read the lie. If a run has only one test,
that test has read the lie. If several tests share a world, one more run, the probe, shows which of them read the lie.
In the probe, a call gets an error in place of a reply that the lie would change. So a test that fails there needs such
a reply. Lies about the same replies share a probe.

The score counts lies: a lie is noticed if any test notices it, because then the suite as a whole does. In addition, the
verdict names each test that read a lie and passed, and the tests that noticed this lie. So a user sees that one test
asserts a value and another test does not.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox.extensions.vary.allow_file import Allowed, normalize_name, read_allow_file, write_allow_file, write_line
from sandbox.extensions.vary.lie_filter import FAILURE, TOLD_AS
from sandbox.extensions.vary.lies import BY_NAME, LIES
from sandbox.extensions.vary.runs import FailsByDefault, NothingMet, Runs, VariantRun
from sandbox.extensions.vary.space import LIE, LISTING, Variant, describe_unknown

HEAD = "# Lies that a test may believe: LIE  TEST  # reason. The run fails on any other that nobody notices.\n"


Reply = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class LieReading:
    """A test that read a lie, and whether the test noticed it. `told` is the wrong value of `field`, and `true` is the
    true value. `allowed` is the user's reason why the test need not notice the lie, or None if there is none."""

    lie: str
    test: str
    noticed: bool
    call: str
    field: str
    told: Any
    true: Any
    allowed: str | None = None


@dataclass(frozen=True)
class LieVerdict:
    """The results of one session about lies. `readings` has a LieReading for each pair of a lie and a test that read
    it. `ended` are lines of --allow-lies that are no longer needed, because the test now notices the lie."""

    readings: tuple[LieReading, ...] = ()
    ended: tuple[str, ...] = ()

    @property
    def met(self) -> tuple[str, ...]:
        names = {reading.lie for reading in self.readings}
        return tuple(lie.name for lie in LIES if lie.name in names)

    @property
    def unseen(self) -> tuple[str, ...]:
        return tuple(lie.name for lie in LIES if lie.name not in self.met)

    def list_noticing_tests(self, lie: str) -> tuple[str, ...]:
        return tuple(reading.test for reading in self.readings if reading.lie == lie and reading.noticed)

    @property
    def noticed(self) -> tuple[str, ...]:
        return tuple(lie for lie in self.met if self.list_noticing_tests(lie))

    @property
    def unnoticed(self) -> tuple[LieReading, ...]:
        """The readings in which a test read a lie and passed. Lies that no test notices come first."""
        green = [reading for reading in self.readings if not reading.noticed]
        return tuple(sorted(green, key=lambda reading: bool(self.list_noticing_tests(reading.lie))))

    @property
    def believed(self) -> tuple[LieReading, ...]:
        """The readings of lies that no test notices and that the user does not allow."""
        return tuple(row for row in self.unnoticed if row.allowed is None and not self.list_noticing_tests(row.lie))

    @property
    def score(self) -> str:
        met_count, noticed_count = len(self.met), len(self.noticed)
        return f"{noticed_count} of {met_count} lies noticed" + (
            f" ({100 * noticed_count // met_count} %)" if met_count else ""
        )


def make_reply_key(row: Mapping[str, Any]) -> Reply:
    """Returns a key for the reply that a lie changed, from a row of the world's list of such replies. No other reply of
    the run has this key, not even in another world."""
    return row["operation"], row["nth"], row["request_id"], row["call"]


def make_telling_variant(lie: str, form: str = "") -> Variant:
    """Returns the variant of a bank that tells this lie. `form` is the value of the setting `lie_as`. If it is empty,
    the setting keeps its default."""
    return Variant.of([(LIE, lie), *([(TOLD_AS, form)] if form else [])])


def judge_lies(runs: Runs) -> LieVerdict:
    """Runs the tests under each lie that could change a reply to their calls, and returns the verdict. If there are
    several tests, also makes the probes that show which test read which lie (see `list_readings`). Raises
    FailsByDefault if a test fails without a lie, and NothingMet if no lie would change a reply."""
    listed = runs.find_run(LISTING)
    if listed.failed:
        raise FailsByDefault(listed)
    places: dict[str, set[Reply]] = defaultdict(set)
    for row in listed.told:
        places[row["lie"]].add(make_reply_key(row))
    if not places:
        raise NothingMet
    probes: dict[frozenset[Reply], Variant] = {}
    if len(listed.tests) > 1:
        for lie, replies in places.items():
            probes.setdefault(frozenset(replies), make_telling_variant(lie, FAILURE))
    variants = [*map(make_telling_variant, places), *probes.values()]
    runs.expected = runs.count + len(variants)
    runs.run_all((variant, 0) for variant in variants)
    readings: list[LieReading] = []
    for lie, replies in places.items():
        run, probe = runs.find_run(make_telling_variant(lie)), probes.get(frozenset(replies))
        if run.told:
            readings += list_readings(lie, run, listed, None if probe is None else runs.find_run(probe))
    return LieVerdict(tuple(readings))


def list_readings(lie: str, run: VariantRun, listed: VariantRun, probe: VariantRun | None) -> Iterable[LieReading]:
    """Yields a LieReading for each test that read the lie. In `run`, the bank told the lie. In the run `probe`, each
    reply that the lie would have changed was an error. A test has read the lie if it failed in one of these two runs.
    It has noticed the lie if it failed in `run`. From `listed`, a run without a lie, only the names of the tests are
    used.

    If `probe` is None, every test counts as a reader. If no reader is found, yields one LieReading that names all
    tests.
    """
    tests = list(dict.fromkeys((*listed.tests, *run.tests)))
    noticing = [test for test in tests if not run.find_result(test).passed]
    needing = tests if probe is None else [test for test in tests if not probe.find_result(test).passed]
    readers = [test for test in tests if test in noticing or test in needing] or [", ".join(tests)]
    rows = run.told if len(run.told) == len(readers) else [run.told[0]] * len(readers)
    for test, row in zip(readers, rows, strict=True):
        call = f"{row['call']}, Request-ID {row['request_id']}" if row["request_id"] else row["call"]
        yield LieReading(lie, test, test in noticing, call, row["field"], row["told"], row["true"])


def merge_lies(verdicts: Iterable[LieVerdict]) -> LieVerdict:
    """Joins the verdicts on different tests."""
    return LieVerdict(tuple(reading for verdict in verdicts for reading in verdict.readings))


def read_allowed_lies(text: str) -> Allowed[str]:
    """Reads the text of an --allow-lies file. Returns the user's reasons by lie and test. Raises ValueError with the
    number of the wrong line."""
    return read_allow_file(text, r"\S+", "the name of a lie, of a test and", check_name)


def check_name(lie: str) -> str:
    if lie not in BY_NAME:
        raise ValueError(describe_unknown("lie", lie, tuple(BY_NAME)))
    return lie


def allow_lies(verdict: LieVerdict, allowed: Allowed[str]) -> LieVerdict:
    """Returns the verdict in which each allowed reading has the user's reason. `ended` lists the lines of the
    --allow-lies file that are no longer needed, because the test now notices the lie."""
    readings = tuple(
        row if row.noticed else replace(row, allowed=allowed.get((row.lie, normalize_name(row.test))))
        for row in verdict.readings
    )
    noticed = {(row.lie, normalize_name(row.test)) for row in readings if row.noticed}
    ended = tuple(write_line(*key, reason) for key, reason in allowed.items() if key in noticed)
    return replace(verdict, readings=readings, ended=ended)


def write_allowed_lies(verdict: LieVerdict) -> str:
    """Returns the text of an --allow-lies file with the lies that no test notices. Allowed lies keep their reason."""
    rows = [row for row in verdict.unnoticed if not verdict.list_noticing_tests(row.lie)]
    return write_allow_file(HEAD, {(row.lie, row.test): row.allowed for row in rows})
