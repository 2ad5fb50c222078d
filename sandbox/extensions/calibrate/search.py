"""Finds the values of the axes with which the bank explains a recording.

Theory. A hypothesis is a bank with a value for each axis. It explains a call if the played bank, in the state that the
calls before it led to, gives the recorded reply. The hypotheses that explain all calls are the version space. There are
far too many of them to list. Three properties make a search of single values enough.

First, the code of the bank notes each axis that it reads. Another value of an axis changes nothing before the first
call that reads this axis. After that call, either the bank is in another state, or it is in the same state and the
value changes nothing before the next call that reads the axis. So the search plays a recording with other values only
from call to call that reads them, and in between only while the state differs. The result is the same as if the whole
recording was played. `replay` does this.

Second, a reply is compared in many places, so each axis with a wrong value shows a difference of its own, and a right
value makes places equal and no place unequal. So the search climbs: at each call that differs, it tries the values of
the axes that were read, and keeps those with which the calls until then have fewer differences.

Third, a value is excluded only by a contradiction: the best hypothesis explains a place of a reply, and the best
hypothesis with this one value instead does not. Two axes may hide each other's effect. So each contradiction is tried
again with every second value that touches the same places. If such a pair explains the whole recording, the value is
not excluded. An axis is decided if all its values except one are excluded. Values that are not tried, cannot be told
apart, or matter only in calls that no hypothesis explains stay open, and are never decided by chance.

A value that explains some calls better and others worse may need partners. If it explains more with at most two other
values, all of them join the best hypothesis, and all values are tried again.
"""

import re
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from sandbox.bank.ledger import Compartment
from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.comparison import OF_LENGTH, OF_NONE, Differences, generalize_place, weigh_places
from sandbox.extensions.calibrate.playing import BY_ITSELF, CallResult, Player, RecordedStep, Scene

Beginning = Callable[[int, Mapping[Compartment, Decimal]], Scene]  # of a seed, with corrections of balances
SEEDS = (5, 11)  # differences between banks of two seeds are chance
Choice = tuple[str, str]  # an axis and one of its values
PROOFS_WANTED = 2
ROUNDS_MAX = 4
JOINED_MAX = 3  # the most values that join the best hypothesis together
THIRD_MAX = 1_000  # calls that are played for the partners of one value; after that, no third value is tried
REFUTED_MAX = 3  # a value that explains this many calls worse is not tried at further calls
ALIKE_MAX = 2  # after this many unexplained differences at a place, no earlier value is tried for that place
HIDING = 100  # a difference of this weight, such as another status, hides all other differences of its call
BACK_MAX = 12  # the number of earlier calls whose axes are tried for a call
SCENES_MAX = 1_000  # the most scenes that are stored
# Axes that are not tried. A recording shows neither connections nor pieces of bodies, and only a server with
# certificates can ask for client certificates.
NOT_TRIED = frozenset(("client_certificates", "certificate_clock", "connection", "body_pieces"))
OF_BALANCES = re.compile(rf"body\.balance|{BY_ITSELF}")  # places that depend on the balances before the recording


class Contradiction(NamedTuple):
    """A call that contradicts a value, and the places of its reply that do so."""

    step: int
    places: frozenset[str]


@dataclass
class Trial:
    """The results of trying a value that the best hypothesis does not have."""

    proofs: list[Contradiction] = field(default_factory=list)
    # Calls in which it explains a place that the best hypothesis does not explain.
    better: list[int] = field(default_factory=list)
    partner: Choice | None = None  # a second value with which it explains the calls that contradict it

    @property
    def is_excluded(self) -> bool:
        return bool(self.proofs) and self.partner is None and not self.better


class ValueSearch:
    """The search for the axis values of one recording. `variants` is the best hypothesis so far."""

    def __init__(
        self, steps: Sequence[RecordedStep], player: Player, begin: Beginning, variants: Mapping[str, str]
    ) -> None:
        self.steps = steps
        self.player = player
        self.make_begin = begin
        self.begin = begin(SEEDS[0], {})
        self.variants: dict[str, str] = dict(variants)
        self.trials: dict[Choice, Trial] = {}
        # Of the calls that were played under the best hypothesis:
        self.results: list[CallResult] = []
        self._weights: list[int] = []
        self._reads: defaultdict[str, list[int]] = defaultdict(list)  # the calls that read an axis
        self._scenes: dict[int, Scene] = {}  # the scene before each call, or before each nth of many calls
        self._stride = 1 + len(steps) // SCENES_MAX
        self._inert: defaultdict[int, set[Choice]] = defaultdict(set)  # values that change nothing at a call
        self._thirds_end = 0  # the number of played calls after which no third value is tried
        self._refuted: Counter[Choice] = Counter()  # calls that a value explains worse
        self._unexplained: Counter[tuple[str, str]] = Counter()  # by operation and place
        self._differing: list[int] = []  # the calls that the best hypothesis does not explain
        self._doubtful: set[tuple[str, str]] = set()  # operations and places that the best hypothesis does not explain
        self._unsure: set[str] = set()  # operations that have a reply with a list of another length
        # Values for which no partner was found, with the results of their trial at that time.
        self._alone: dict[Choice, tuple[list[Contradiction], list[int]]] = {}

    def find_value(self, axis: str) -> str:
        return self.variants.get(axis, DEFAULTS[axis])

    def list_others(self, axes: Iterable[str]) -> list[Choice]:
        """Returns the values of these axes that the best hypothesis does not have."""
        return [
            (axis, value)
            for axis in sorted(axes)
            if axis not in NOT_TRIED
            for value in AXES[axis].names
            if value != self.find_value(axis)
        ]

    def with_values(self, *choices: Choice) -> dict[str, str]:
        return {**self.variants, **dict(choices)}

    # Playing

    def replay(
        self, choices: Sequence[Choice], begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, CallResult]]:
        """Of the calls from number `begin` to the one before `end` (default: of all calls from `begin` on), plays those
        whose result may change with these values, and yields their numbers and new results. Leaves out calls at which a
        value is known to change nothing. The caller does not use the player meanwhile."""
        variants, axes = self.with_values(*choices), [axis for axis, _ in choices]
        end = len(self.results) if end is None else end
        at = self._next_read(axes, begin)
        while at < end:
            read = [choice for choice in choices if choice[0] in self.results[at].met]
            if len(read) == 1 and read[0] in self._inert[at]:
                at = self._next_read(axes, at + 1)
                continue
            first, is_same = at, False
            self._go_before(at, variants)
            while at < end and not is_same:
                result, known = self.player.play(self.steps[at]), self.results[at]
                is_same = at + 1 in self._scenes and self.player.is_at(self._scenes[at + 1])
                is_equal = is_same and result.differences == known.differences and result.met <= known.met
                if is_equal and at == first and len(read) == 1:
                    self._inert[at].add(read[0])
                at += 1
                yield at - 1, result
            at = self._next_read(axes, at)

    def _next_read(self, axes: Iterable[str], at: int) -> int:
        """Returns the first call from `at` on that reads one of these axes, or the number of calls if there is none."""
        reads = (self._reads[axis] for axis in axes)
        return min(row[bisect_left(row, at)] if row and row[-1] >= at else len(self.results) for row in reads)

    def _go_before(self, at: int, variants: Mapping[str, str]) -> None:
        """Sets the player to the scene before a call under the best hypothesis, and its axes to these values."""
        begin = at - at % self._stride
        if begin == at:
            self.player.go_to(self._scenes[at], variants)
            return
        self.player.go_to(self._scenes[begin], self.variants)
        for step in self.steps[begin:at]:
            self.player.play(step)
        self.player.go_to(self.player.copy_scene(), variants)

    def make_scene_before(self, at: int) -> Scene:
        """Returns the state of the bank and of the client's session just before call number `at`. The axes have the
        values of the best hypothesis so far."""
        self._go_before(at, self.variants)
        return self.player.copy_scene()

    def _play_all(self, end: int) -> None:
        """Plays the first `end` calls of the recording under the best hypothesis, and stores results and scenes."""
        self.results, self._weights, self._reads, self._scenes = [], [], defaultdict(list), {0: self.begin}
        self.player.go_to(self.begin, self.variants)
        for at in range(end):
            self._store(at, self.player.play(self.steps[at]))

    def _store(self, at: int, result: CallResult) -> None:
        """Stores the result of a call under the best hypothesis, and the scene after it."""
        earlier = self.results[at].met if at < len(self.results) else frozenset()
        for axis in result.met - earlier:
            insort(self._reads[axis], at)
        for axis in earlier - result.met:
            self._reads[axis].remove(at)
        self._inert.pop(at, None)
        self.results[at : at + 1] = [result]
        self._weights[at : at + 1] = [weigh_places(result.differences)]
        if (at + 1) % self._stride == 0:
            self._scenes[at + 1] = self.player.copy_scene()

    def _adopt(self, *choices: Choice) -> None:
        """Gives the best hypothesis other values, and updates the results of the calls that were played."""
        for at, result in self.replay(choices):
            self._store(at, result)
        self.variants = self.with_values(*choices)

    def _compute_gain(self, choices: Sequence[Choice], end: int | None = None) -> int:
        """Returns by how much these values reduce the weight of the differences of the first `end` calls (default: of
        all calls that were played), or 0 if they do not reduce it."""
        return self._compare(choices, 0, len(self.results) if end is None else end)[0]

    def _compare(self, choices: Sequence[Choice], begin: int, end: int) -> tuple[int, CallResult | None]:
        """Returns by how much these values reduce the weight of the differences of the calls from number `begin` to the
        one before `end`, or 0 if they do not reduce it. Also returns the result of the last of these calls, or None if
        it was not played. Stops, and returns 0 and None, as soon as there can be no gain."""
        gain, better, worse, last = 0, 0, 0, None
        for at, result in self.replay(choices, begin, end):
            change = self._weights[at] - weigh_places(result.differences)
            gain, better, worse = gain + change, better + (change > 0), worse + (change < 0)
            if gain + sum(self._weights[at + 1 : end]) < 0 or worse > better + 1:
                return 0, None
            last = result if at == end - 1 else None
        return max(gain, 0), last

    # The best hypothesis

    def find(self) -> None:
        """Finds the best hypothesis, one call after the other. Then tries all other values, and improves the hypothesis
        until no value explains more."""
        self._play_all(0)
        for at, step in enumerate(self.steps):
            self._go_before(at, self.variants)
            self._store(at, self.player.play(step))
            while self.results[at].differences and (self._climb_at(at) or self._climb_before(at)):
                pass
        self._go_before(len(self.steps), self.variants)
        corrections = self.player.session.corrections
        self.begin, other_begin = (self.make_begin(seed, corrections) for seed in SEEDS)
        for number in range(ROUNDS_MAX):
            self._note_noise(other_begin)
            self.trials = {choice: self._try(choice) for choice in self.list_others(self._reads)}
            self.recheck_balances()
            joined = self.find_partners()
            if number == ROUNDS_MAX - 1 or not self._improve(joined):
                break

    def _note_noise(self, other_begin: Scene) -> None:
        """Plays the whole recording with another seed too. Places that differ between the two seeds depend on chance,
        so they do not count as differences from then on."""
        self.player.noise = {}
        self.player.go_to(other_begin, self.variants)
        others = [self.player.play(step) for step in self.steps]
        self._play_all(len(self.steps))
        self.player.noise = {
            step.number: result.differences.keys() ^ other.differences.keys()
            for step, result, other in zip(self.steps, self.results, others, strict=True)
            if result.differences.keys() != other.differences.keys()
        }
        self.results = [
            result._replace(differences=self.player.without_noise(step, result.differences))
            for step, result in zip(self.steps, self.results, strict=True)
        ]
        self._weights = [weigh_places(result.differences) for result in self.results]
        self._differing = [at for at, result in enumerate(self.results) if result.differences]
        self._doubtful = {
            (step.operation, generalize_place(place))
            for step, result in zip(self.steps, self.results, strict=True)
            for place in result.differences
        }
        self._unsure = {operation for operation, place in self._doubtful if place.endswith((OF_LENGTH, OF_NONE))}

    def _climb_at(self, at: int) -> bool:
        """Adopts values of axes that a call reads, if they explain this call better and the calls until then have
        fewer differences. Returns whether a value was adopted."""
        known, scene = self.results[at].differences, self.make_scene_before(at)
        gains = []
        for choice in self._worth_trying(self.results[at].met):
            self.player.go_to(scene, self.with_values(choice))
            differences = self.player.play(self.steps[at]).differences
            if weigh_places(differences) < self._weights[at]:
                gains.append((weigh_places(differences), choice))
            elif differences.keys() - known.keys():
                self._refuted[choice] += 1
        adopted = set[str]()
        for _, choice in sorted(gains):
            if choice[0] not in adopted and self._compute_gain([choice], at + 1):
                self._adopt(choice)
                adopted.add(choice[0])
        return bool(adopted)

    def _worth_trying(self, axes: Iterable[str]) -> list[Choice]:
        return [choice for choice in self.list_others(axes) if self._refuted[choice] < REFUTED_MAX]

    def _climb_before(self, at: int) -> bool:
        """Adopts a value of an axis that one of the last BACK_MAX calls read, or two values, if the calls until this
        one have fewer differences with them. Returns whether it did.

        Two values are tried in this way. The first one gains nothing alone, but changes the differences of this call,
        and the bank may then read axes that it did not read in the last calls. Only values of these axes are tried as
        the second. If a difference of this call hides all others (HIDING), each value that does not make the last calls
        clearly worse is tried as the first, and values of all axes that this call reads are tried as the second.
        """
        known = self.results[at]
        alike = {(self.steps[at].operation, generalize_place(place)) for place in known.differences}
        if all(self._unexplained[place] >= ALIKE_MAX for place in alike):
            return False
        begin, end = max(0, at - BACK_MAX), at + 1
        recent = join_axes(self.results[begin:end])
        gains: list[tuple[int, Choice]] = []
        firsts: list[tuple[Choice, CallResult]] = []
        for choice in self._worth_trying(recent):
            gain, last = self._compare([choice], begin, end)
            if gain and (gain := self._compute_gain([choice], end)):
                gains.append((-gain, choice))
            elif last is not None:
                firsts.append((choice, last))
        if gains:
            self._adopt(min(gains)[1])
            return True
        for first, last in firsts:
            if self._weights[at] >= HIDING:
                axes = known.met | last.met
            elif last.differences != known.differences:
                axes = last.met - recent
            else:
                continue
            scene = self._make_scene_with(first, begin, at)
            for second in self.list_others(axes - {first[0]}):
                self.player.go_to(scene, self.with_values(first, second))
                weight = weigh_places(self.player.play(self.steps[at]).differences)
                if weight < self._weights[at] and self._compute_gain([first, second], end):
                    self._adopt(first, second)
                    return True
        self._unexplained.update(alike)
        return False

    def _make_scene_with(self, choice: Choice, begin: int, at: int) -> Scene:
        """Returns the scene before a call if the bank has this value from the call `begin` on."""
        played = [number for number, _ in self.replay([choice], begin, at)]
        return self.player.copy_scene() if at - 1 in played else self.make_scene_before(at)

    def _improve(self, joined: Sequence[Sequence[Choice]]) -> bool:
        """Adopts values that together explain more than they contradict. Returns whether it adopted any."""
        better = sorted(
            (choice for choice, trial in self.trials.items() if trial.better),
            key=lambda choice: -len(self.trials[choice].better),
        )
        improved = False
        for choices in (*joined, *([choice] for choice in better)):
            if self._compute_gain(choices):
                self._adopt(*choices)
                improved = True
        return improved

    # What cannot be

    def _try(self, choice: Choice) -> Trial:
        """Plays the recording with a value until PROOFS_WANTED calls contradict it. After a call that contradicts the
        value, or that the value explains better, goes on at the next call that reads its axis, in the state of the best
        hypothesis.

        If calls contradict the value, also tries it at each single call that the best hypothesis does not explain,
        until it explains one of them better. Such a value may be right in spite of the contradictions.
        """
        trial, begin = Trial(), 0
        while begin < len(self.steps) and len(trial.proofs) < PROOFS_WANTED:
            played = self.replay([choice], begin)
            noted = (at for at, result in played if self._note_difference(trial, at, result.differences))
            begin = next(noted, len(self.steps)) + 1
        for at in self._differing if trial.proofs else ():
            if not trial.better:
                replayed = self.replay([choice], at, at + 1)
                trial.better += [at for _, row in replayed if weigh_places(row.differences) < self._weights[at]]
        return trial

    def _note_difference(self, trial: Trial, at: int, differences: Differences) -> bool:
        """Notes in the trial if call number `at` contradicts the tried value or is explained better by it.
        `differences` are those of the call with this value. Returns whether one of the two was noted."""
        known = self.results[at].differences
        added = differences.keys() - known.keys()
        if weigh_places(differences) < self._weights[at] or (added and known.keys() - differences.keys()):
            trial.better.append(at)
            return True
        places = self._sure_places(at, added)
        if places:
            trial.proofs.append(Contradiction(at, places))
        return bool(places)

    def _sure_places(self, at: int, added: Iterable[str]) -> frozenset[str]:
        """Returns the added differences of a reply that prove something.

        A place proves nothing if the best hypothesis leaves a difference there in any call. If the length of a list is
        such a place, the bodies of that operation prove something only in calls without any difference. The reason is
        that the items of lists of different length may be compared with the wrong items. What the bank did by itself
        proves nothing if the recording lacks the acts of customers, because a customer may have done it.
        """
        operation = self.steps[at].operation
        is_unsure = operation in self._unsure and self.results[at].differences
        return frozenset(
            place
            for place in set(map(generalize_place, added)) - set(map(generalize_place, self.results[at].differences))
            if (operation, place) not in self._doubtful
            and not (is_unsure and place.startswith("body"))
            and not (place.startswith(BY_ITSELF) and not self.player.has_controls)
        )

    def recheck_balances(self) -> None:
        """Deletes contradictions in balances and in what the bank booked by itself, if the value explains the recording
        with other first balances. The first balances of the bank were made to fit the best hypothesis, so they prove
        nothing against another value."""
        for choice, trial in self.trials.items():
            sure = [proof for proof in trial.proofs if not all(map(OF_BALANCES.match, proof.places))]
            if trial.proofs and not sure:
                corrections: Mapping[Compartment, Decimal] = {}
                for _ in range(2):
                    self.player.go_to(self.make_begin(SEEDS[0], corrections), self.with_values(choice))
                    again = Trial()
                    for at, step in enumerate(self.steps):
                        self._note_difference(again, at, self.player.play(step).differences)
                        if corrections and again.proofs:
                            break
                    corrections = self.player.session.corrections
                if again.proofs and not again.better:
                    continue
            trial.proofs = sure

    # Values that belong together

    def find_partners(self) -> list[Sequence[Choice]]:
        """Looks for a partner of each contradicted value: a value of another axis, such that both values together
        explain the whole recording. If there is a partner, both values stay open. Returns values that together explain
        more than the best hypothesis."""
        joined = []
        for choice, trial in self.trials.items():
            was_alone = self._alone.get(choice) == (trial.proofs, trial.better)
            if was_alone or trial.partner or not (trial.proofs or trial.better):
                continue
            self._thirds_end = self.player.played + THIRD_MAX
            together = self._join([choice], JOINED_MAX if trial.better else 2)
            if together is None:
                self._alone[choice] = trial.proofs, trial.better
            else:
                joined.append(together)
                self._pair(together)
        return joined

    def _pair(self, choices: Sequence[Choice]) -> None:
        """Notes in the trial of each of these values that the next one is its partner."""
        for choice, partner in zip(choices, [*choices[1:], choices[0]], strict=True):
            if choice != partner and choice in self.trials:
                self.trials[choice].partner = partner

    def list_partners(self, choice: Choice) -> list[Choice]:
        """Returns the value and the partners with which it explains the calls."""
        together = [choice]
        while len(together) < JOINED_MAX:
            partner = self.trials.get(together[-1], Trial()).partner
            if partner is None or partner in together:
                break
            together.append(partner)
        return together

    def _join(self, choices: Sequence[Choice], most: int) -> Sequence[Choice] | None:
        """Returns these values and others, at most `most` in all, that together explain all calls that the best
        hypothesis explains. Returns None if there are none.

        Looks for the first call that the given values explain worse. Tries as a further value those of the axes that
        the bank read in this call or in the BACK_MAX calls before. Leaves out a value that calls contradict, unless
        they do so in an operation and place in which that first call differs.
        """
        for at, result in self.replay(choices):
            if self._is_worse(at, result):
                break
        else:
            return choices
        if len(choices) >= most or (len(choices) > 1 and self.player.played > self._thirds_end):
            return None
        begin, end = max(0, at - BACK_MAX), at + 1
        places = {(self.steps[at].operation, generalize_place(place)) for place in result.differences}
        met = join_axes(self.results[begin:end]).union(*(row.met for _, row in self.replay(choices, begin, end)))
        for second in self.list_others(met - dict(choices).keys()):
            together = [*choices, second]
            if (
                self._may_explain(second, places)
                and not self._is_worse_in(together, begin, end)
                and not self._is_worse_in(together, 0, end)
            ):
                joined = self._join(together, most)
                if joined is not None:
                    return joined
        return None

    def _is_worse_in(self, choices: Sequence[Choice], begin: int, end: int) -> bool:
        return any(self._is_worse(at, result) for at, result in self.replay(choices, begin, end))

    def _is_worse(self, at: int, result: CallResult) -> bool:
        """Whether `result` explains call number `at` worse than the best hypothesis does."""
        added = result.differences.keys() - self.results[at].differences.keys()
        return weigh_places(result.differences) > self._weights[at] or bool(self._sure_places(at, added))

    def _may_explain(self, choice: Choice, places: set[tuple[str, str]]) -> bool:
        """Whether calls contradict the value in one of these operations and places, or do not contradict it at all."""
        trial = self.trials.get(choice, Trial())
        return not trial.proofs or any(
            (self.steps[proof.step].operation, place) in places for proof in trial.proofs for place in proof.places
        )


def join_axes(results: Iterable[CallResult]) -> frozenset[str]:
    """Returns the axes that the bank read in these calls."""
    return frozenset[str]().union(*(result.met for result in results))
