"""Finds the values of the axes with which the bank explains a recording.

Theory. A hypothesis is a bank with a value for each axis. It explains a call if the played bank, in the state that the
calls before it led to, gives the recorded reply. The hypotheses that explain all calls are the version space. There are
far too many of them to list. Three properties make one pass over the calls enough.

First, the code of the bank notes each axis that it reads, and a call depends on the axes alone that were read until
then. Second, a reply is compared in many places, so each axis with a wrong value shows a difference of its own, and a
right value makes places equal and no place unequal. So the search climbs: at the first call that differs it tries the
values of the axes that were read, and keeps those that explain more.

Third, a value is excluded only by a contradiction: the best hypothesis explains a place of a reply, and the best
hypothesis with this one value instead does not. Two axes may hide each other's effect. So each contradiction is tried
again with every second value that touches the same places. If such a pair explains the whole recording, the value is
not excluded. An axis is decided if all its values except one are excluded. Values that are not tried, cannot be told
apart, or matter only in calls that no hypothesis explains stay open, and are never decided by chance.

For speed a recording is cut into windows of successive calls. If possible, no token or payment is used on both sides of
a cut. A scene is the state of the bank and of its client at one moment. A value is tried from the scene before its axis
is first read in a window. It is tried in the windows after that one only if it changes the scene at the end of a
window. If only one call contradicts the value, the value is tried once more from the beginning of the recording. Two
values that together explain more than the best hypothesis join it. If the hypothesis changes, the trials stay. Only the
calls that they explained better or worse are played again, and the kinds of calls whose results have changed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf
from typing import Any, NamedTuple

from sandbox.bank.ledger import Compartment
from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.comparison import OF_LENGTH, OF_NONE, generalize_place, weigh_places
from sandbox.extensions.calibrate.playing import CallResult, Player, RecordedStep, Scene
from sandbox.extensions.calibrate.windows import list_windows

Beginning = Callable[[int, Mapping[Compartment, Decimal]], Scene]  # of a seed, with corrections of balances
SEEDS = (5, 11)  # differences between banks of two seeds are chance
Choice = tuple[str, str]  # an axis and one of its values
CallKind = tuple[Any, ...]  # the question of a call and the form of its answer
PROOFS_WANTED = 2
SAME_MEETINGS_MAX = 2  # windows without a contradiction that have calls of one kind after the axis was read
ROUNDS_MAX = 4
IMPROVED_AT_ONCE = 10  # values that are tried in one round
EARLIER_MAX = 5  # windows in which values that explain a call equally well are compared
REFUTED_MAX = 3  # a value that explains so many calls worse is not tried at further calls
ALIKE_MAX = 2  # after so many unexplained calls with equal differences, no earlier value is tried at further ones
# Axes that are not tried. A recording shows neither connections nor pieces of bodies, and only a server with
# certificates can ask for client certificates.
BALANCE = re.compile(r"body\.balance")
NOT_TRIED = frozenset(("client_certificates", "certificate_clock", "connection", "body_pieces"))


class SettledWindow(NamedTuple):
    """A window for which no better hypothesis was found: the scene before it, its steps, and the axes that the steps
    met."""

    scene: Scene
    steps: Sequence[RecordedStep]
    met: frozenset[str]


class Contradiction(NamedTuple):
    """A call that contradicts a value. `places` are the places of its reply that do so. `scene` is before the step
    `scene_step`, from which the call can be played again."""

    step: int
    places: frozenset[str]
    scene: Scene
    scene_step: int


@dataclass
class Trial:
    """The results of trying a value that the best hypothesis does not have."""

    proofs: list[Contradiction] = field(default_factory=list)
    meetings: Counter[CallKind] = field(default_factory=Counter)  # the kinds of calls that did not contradict it
    # Calls in which it explains a place that the best hypothesis does not explain.
    better: list[int] = field(default_factory=list)
    partner: Choice | None = None  # a second value with which it explains the calls that contradict it
    changes: int | None = None  # the number of a window in which it changes the state, but no reply
    is_tried_far: bool = False  # whether the windows after that window were tried too, and did not contradict it

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
        self.windows = list_windows(steps)
        self.trials: dict[Choice, Trial] = {}
        self.results: list[CallResult] = []
        # values that together explain more than the best hypothesis in some call
        self._pairs: list[tuple[Choice, ...]] = []
        # the results under the hypothesis with which values were last compared
        self._tried_results: list[CallResult] = []
        self._vain: set[tuple[Choice, ...]] = set()  # values that do not explain more than the best hypothesis
        self._doubtful: set[tuple[str, str]] = set()  # operations and places that the best hypothesis does not explain
        self._unsure: set[str] = set()  # operations that have a reply with a list of another length
        self._settled: list[SettledWindow] = []
        self._states: set[tuple[Choice, ...]] = set()
        self._refuted: Counter[Choice] = Counter()
        self._unexplained: Counter[tuple[str, frozenset[str]]] = Counter()
        self.scenes: list[Scene] = []  # the scene before each window, under the best hypothesis

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

    def play(self, scene: Scene, variants: Mapping[str, str], steps: Sequence[RecordedStep]) -> list[CallResult]:
        self.player.go_to(scene, variants)
        return [self.player.play(step) for step in steps]

    # The best hypothesis

    def find(self) -> None:
        """Finds the best hypothesis, one window after the other. Then plays the whole recording under this hypothesis,
        tries all other values, and improves the hypothesis until no value explains more."""
        scene = self.begin
        for window in self.windows:
            scene = self._settle(scene, [self.steps[at] for at in window])
        corrections = scene.session.corrections
        self.begin, other_begin = (self.make_begin(seed, corrections) for seed in SEEDS)
        for number in range(ROUNDS_MAX):
            self._note_noise(other_begin)
            self._recheck_trials()
            for try_values in (self.exclude, self.exclude_far, self.find_pairs):
                try_values()
                if number < ROUNDS_MAX - 1 and self._improve():
                    break
            else:
                break

    def _note_noise(self, other_begin: Scene) -> None:
        """Plays the whole recording with another seed too. Places that differ between the two seeds depend on chance,
        so they are no differences."""
        self.player.noise = {}
        self.confirm()
        others = self.play(other_begin, self.variants, self.steps)
        self.player.noise = {
            step.number: result.differences.keys() ^ other.differences.keys()
            for step, result, other in zip(self.steps, self.results, others, strict=True)
            if result.differences.keys() != other.differences.keys()
        }
        self.results = [
            result._replace(differences=self.player.without_noise(step, result.differences))
            for step, result in zip(self.steps, self.results, strict=True)
        ]
        self._note_doubts()

    def _settle(self, scene: Scene, steps: Sequence[RecordedStep]) -> Scene:
        """Changes the hypothesis until no change explains more calls of a window. Returns the scene after the
        window."""
        unexplained: set[int] = set()
        while True:
            self.player.go_to(scene, self.variants)
            scenes, results = [], []
            place = None
            for number, step in enumerate(steps):
                scenes.append(self.player.copy_scene())
                results.append(self.player.play(step))
                if results[-1].differences and number not in unexplained:
                    place = number
                    break
            if place is None:
                met = list_axes(results)
                self._settled.append(SettledWindow(scene, steps, met))
                return self.player.copy_scene()
            chosen = self._climb_at(steps[place], scenes[place], results[place])
            likeness = steps[place].operation, frozenset(map(generalize_place, results[place].differences))
            if not chosen and self._unexplained[likeness] < ALIKE_MAX:
                chosen = self._climb_before(scenes, steps[: place + 1], results)
                if not chosen:
                    self._unexplained[likeness] += 1
            if chosen:
                self.variants.update(chosen)
            if not chosen or not self._is_new():
                unexplained.add(place)

    def _is_new(self) -> bool:
        """Whether the search has this hypothesis for the first time. Stores the hypothesis for later checks."""
        state = tuple(sorted(self.variants.items()))
        is_new = state not in self._states
        self._states.add(state)
        return is_new

    def _climb_at(self, step: RecordedStep, scene: Scene, result: CallResult) -> dict[str, str]:
        """Returns values under which this call alone has fewer differences. Returns an empty dictionary if there are
        none."""
        least, chosen = weigh_places(result.differences), dict[str, str]()
        met = result.met
        while least:
            gains = []
            for choice in self._list_worth_trying(met - chosen.keys()):
                tried = self._try(scene, self.with_values(*chosen.items(), choice), step)
                if weigh_places(tried.differences) < least:
                    gains.append((weigh_places(tried.differences), choice))
                elif not chosen and tried.differences.keys() - result.differences.keys():
                    self._refuted[choice] += 1
            if not gains:
                return chosen
            for _, choice in sorted(gains):
                if choice[0] in chosen:
                    continue
                tried = self._try(scene, self.with_values(*chosen.items(), choice), step)
                if weigh_places(tried.differences) < least:
                    chosen[choice[0]], least, met = choice[1], weigh_places(tried.differences), met | tried.met
        return chosen

    def _list_worth_trying(self, axes: Iterable[str]) -> list[Choice]:
        return [choice for choice in self.list_others(axes) if self._refuted[choice] < REFUTED_MAX]

    def _try(self, scene: Scene, variants: Mapping[str, str], step: RecordedStep) -> CallResult:
        return self.play(scene, variants, [step])[0]

    def _climb_before(
        self, scenes: Sequence[Scene], steps: Sequence[RecordedStep], results: Sequence[CallResult]
    ) -> dict[str, str]:
        """Returns values under which these steps together have fewer differences: one value, else two values. If
        several values are equally good, returns the one that explains earlier windows best. Returns an empty dictionary
        if no value is better.

        The first of two values leads to another difference of the last step that weighs as much, so that the bank reads
        axes that it did not read before. Only values of these axes are tried with it.
        """
        weights = [weigh_places(result.differences) for result in results]
        least = sum(weights)
        best: list[Choice] = []
        firsts: list[tuple[Choice, frozenset[str]]] = []
        begins, met = find_first_reads(results), list_axes(results)
        for choice in self._list_worth_trying(begins):
            begin = begins[choice[0]]
            known = sum(weights[:begin])
            tried = self._try_until(scenes[begin], self.with_values(choice), steps[begin:], least - known + 1)
            weight = known + compute_total_weight(tried)
            if weight < least:
                least, best = weight, [choice]
            elif weight == least and best:
                best.append(choice)
            elif weight == least and tried[-1].differences != results[-1].differences:
                firsts.append((choice, list_axes(tried) - met))
        if len(best) > 1:
            best.sort(key=self._weigh_earlier)
        if best:
            return dict(best[:1])
        for first, axes in firsts:
            begin = begins[first[0]]
            known = sum(weights[:begin])
            for second in self.list_others(axes):
                tried = self._try_until(scenes[begin], self.with_values(first, second), steps[begin:], least - known)
                if known + compute_total_weight(tried) < least:
                    return dict([first, second])
        return {}

    def _try_until(
        self, scene: Scene, variants: Mapping[str, str], steps: Sequence[RecordedStep], most: float
    ) -> list[CallResult]:
        """Plays steps until the weight of their differences reaches `most`."""
        weight, results = 0, []
        self.player.go_to(scene, variants)
        for step in steps:
            results.append(self.player.play(step))
            weight += weigh_places(results[-1].differences)
            if weight >= most:
                break
        return results

    def _weigh(
        self, scene: Scene, variants: Mapping[str, str], steps: Sequence[RecordedStep], most: float = inf
    ) -> int:
        """Returns the weight of all differences of these steps, or at least `most` if the weight reaches it."""
        return compute_total_weight(self._try_until(scene, variants, steps, most))

    def _weigh_earlier(self, choice: Choice) -> int:
        windows = [row for row in self._settled if choice[0] in row.met][-EARLIER_MAX:]
        return sum(self._weigh(row.scene, self.with_values(choice), row.steps) for row in windows)

    def confirm(self) -> None:
        """Plays the whole recording under the best hypothesis. Stores all results, and the scene before each window."""
        self.player.go_to(self.begin, self.variants)
        self.results, self.scenes = [], []
        for window in self.windows:
            self.scenes.append(self.player.copy_scene())
            self.results += [self.player.play(self.steps[at]) for at in window]
        self._note_doubts()

    def _note_doubts(self) -> None:
        self._doubtful = {
            (step.operation, generalize_place(place))
            for step, result in zip(self.steps, self.results, strict=True)
            for place in result.differences
        }
        self._unsure = {operation for operation, place in self._doubtful if place.endswith((OF_LENGTH, OF_NONE))}

    def _improve(self) -> bool:
        """Adds values to the best hypothesis that explain more than they contradict, one after the other. Returns
        whether the hypothesis has changed."""
        better = {choice: len(trial.better) for choice, trial in self.trials.items() if trial.better}
        single = [(choice,) for choice in sorted(better, key=lambda choice: -better[choice])]
        improved = False
        for choices in [*self._pairs, *single][:IMPROVED_AT_ONCE]:
            if choices not in self._vain and self._explains_more(choices):  # else it is a coincidence of some calls
                self.variants, improved = self.with_values(*choices), True
                self._forget_trials(dict(choices))
                self.confirm()
                self._vain.clear()
            self._vain.add(choices)
        self._pairs = []
        return improved

    def _forget_trials(self, axes: Iterable[str]) -> None:
        for axis in axes:
            for value in AXES[axis].names:
                self.trials.pop((axis, value), None)

    def _explains_more(self, choices: Sequence[Choice]) -> bool:
        """Whether the recording has fewer differences with these values. Counts differences from the first window that
        reads one of the axes."""
        number = self._find_first_window(*dict(choices))
        begin = self.windows[number][0]
        least = compute_total_weight(self.results[begin:])
        return self._weigh(self.scenes[number], self.with_values(*choices), self.steps[begin:], least) < least

    def _find_first_window(self, *axes: str) -> int:
        """Returns the number of the first window that reads one of these axes, or of the last window."""
        reads = (at for at, result in enumerate(self.results) if not result.met.isdisjoint(axes))
        return self._find_window(next(reads, len(self.results) - 1))

    def _find_window(self, step: int) -> int:
        return next(number for number, window in enumerate(self.windows) if step in window)

    # Excluding values

    def _recheck_trials(self) -> None:
        """Updates the trials after a change of the hypothesis. Plays again each call that a value explained better or
        worse, and deletes it from the trial if the hypothesis explains it equally well now. The values will be tried
        again with calls of a kind of which a result has changed."""
        changed = {
            make_call_kind(step)
            for step, result, earlier in zip(self.steps, self.results, self._tried_results, strict=False)
            if result.differences.keys() != earlier.differences.keys()
        }
        self._tried_results = self.results
        trials, self.trials = self.trials, {}
        for choice in self.list_others(find_first_reads(self.results)):
            trial = trials.get(choice)
            if trial is None:
                continue
            again = self.trials[choice] = Trial()
            again.meetings = Counter({kind: n for kind, n in trial.meetings.items() if kind not in changed})
            again.changes, again.is_tried_far = trial.changes, trial.is_tried_far
            for step in [proof.step for proof in trial.proofs] + trial.better:
                number = self._find_window(step)
                self._contradict(again, range(self.windows[number][0], step + 1), self.scenes[number], [choice])

    def exclude(self) -> None:
        """Tries each other value of each axis that was read. Stops trying a value when `PROOFS_WANTED` calls contradict
        it."""
        for number, (window, scene) in enumerate(zip(self.windows, self.scenes, strict=True)):
            steps, results = [self.steps[at] for at in window], [self.results[at] for at in window]
            first_read = find_first_reads(results)
            kinds = [make_call_kind(step) for step in steps]
            alive = [
                choice
                for choice in self.list_others(first_read)
                if self._is_worth(choice, kinds[first_read[choice[0]] :])
            ]
            if not alive:
                continue
            scenes = self._list_scenes(scene, steps)
            for choice in alive:
                begin, trial = first_read[choice[0]], self.trials[choice]
                if not self._contradict(trial, window[begin:], scenes[begin], [choice], (scene, window[0])):
                    trial.meetings.update(kinds[begin:])
                    if trial.changes is None and self._has_changed(number + 1):
                        trial.changes = number

    def _has_changed(self, number: int) -> bool:
        """Whether the player's scene before this window is another one than that of the best hypothesis."""
        return number < len(self.windows) and not self.player.copy_scene().is_same(self.scenes[number])

    def _list_scenes(self, scene: Scene, steps: Sequence[RecordedStep]) -> list[Scene]:
        """Returns the scene before each step, under the best hypothesis."""
        self.player.go_to(scene, self.variants)
        scenes = []
        for step in steps:
            scenes.append(self.player.copy_scene())
            self.player.play(step)
        return scenes

    def _is_worth(self, choice: Choice, kinds: Sequence[CallKind]) -> bool:
        trial = self.trials.setdefault(choice, Trial())
        if len(trial.proofs) >= PROOFS_WANTED:
            return False
        return any(trial.meetings[kind] < SAME_MEETINGS_MAX for kind in kinds)

    def exclude_far(self) -> None:
        """Tries values in more than one window.

        A value that nothing contradicts may change the replies of a later window, so it is tried in all windows after
        a change of the state. A single contradiction may be false: the calls before its window were played without the
        value, so their counts and tokens may be others. So this value is tried once more, in the whole recording.
        """
        for choice in self.list_others(find_first_reads(self.results)):
            trial = self.trials.setdefault(choice, Trial())
            if trial.better or len(trial.proofs) >= PROOFS_WANTED:
                continue
            if trial.proofs:
                trial.proofs = []
                self._contradict_far(trial, self._find_first_window(choice[0]), choice)
            elif trial.changes is not None and not trial.is_tried_far:
                self._contradict_far(trial, trial.changes, choice)
                trial.is_tried_far = not trial.proofs and not trial.better

    def _contradict_far(self, trial: Trial, number: int, *choices: Choice) -> None:
        """Plays the windows from this number on until one contradicts the values or is explained better."""
        scene = self.scenes[number]
        for window in self.windows[number:]:
            if self._contradict(trial, window, scene, choices):
                return
            scene = self.player.copy_scene()

    def _contradict(
        self,
        trial: Trial,
        numbers: Sequence[int],
        scene: Scene,
        choices: Sequence[Choice],
        start: tuple[Scene, int] | None = None,
    ) -> bool:
        """Plays steps under these values until a reply contradicts them or is explained better. Notes that in the
        trial. Returns whether there was such a reply. A partner of the values is tried from `start`, because it may
        matter to earlier steps than they do."""
        self.player.go_to(scene, self.with_values(*choices))
        for number in numbers:
            differences = self.player.play(self.steps[number]).differences
            known = self.results[number].differences
            added = differences.keys() - known.keys()
            if weigh_places(differences) < weigh_places(known) or (added and known.keys() - differences.keys()):
                trial.better.append(number)
                return True
            places = self._find_sure_places(number, added)
            if places:
                trial.proofs.append(Contradiction(number, places, *(start or (scene, numbers[0]))))
                return True
        return False

    def _find_sure_places(self, number: int, added: Iterable[str]) -> frozenset[str]:
        """Returns the added differences of a reply that prove something.

        A place proves nothing if the best hypothesis leaves a difference there in any call. If the length of a list is
        such a place, the bodies of that operation prove something only in calls without any difference. The reason is
        that the other lists do not have the right items to compare.
        """
        operation = self.steps[number].operation
        is_unsure = operation in self._unsure and self.results[number].differences
        return frozenset(
            place
            for place in set(map(generalize_place, added))
            - set(map(generalize_place, self.results[number].differences))
            if (operation, place) not in self._doubtful and not (is_unsure and place.startswith("body"))
        )

    def recheck_balances(self) -> None:
        """Deletes contradictions in balances alone if the value explains the recording with other first balances. The
        first balances of the bank were made to fit the best hypothesis, so they prove nothing against another value."""
        for choice, trial in self.trials.items():
            sure = [proof for proof in trial.proofs if not all(map(BALANCE.match, proof.places))]
            if sure:
                trial.proofs = sure
            elif trial.proofs:
                self.play(self.make_begin(SEEDS[0], {}), self.with_values(choice), self.steps)
                begin = self.make_begin(SEEDS[0], self.player.session.corrections)
                again = Trial()
                if not self._contradict(again, range(len(self.steps)), begin, [choice]) or again.better:
                    trial.proofs = sure

    def find_pairs(self) -> None:
        """Looks for a partner of each contradicted value: a value of another axis, such that both values together
        explain the whole recording. If there is a partner, both values stay open. A value that explains some calls
        better and others worse may join the hypothesis with a partner that explains these others."""
        self.recheck_balances()
        touched = {
            choice: frozenset[tuple[str, str]]().union(*map(self._touches, trial.proofs))
            for choice, trial in self.trials.items()
        }
        for choice, trial in self.trials.items():
            proof = trial.proofs[0] if trial.proofs else self._find_first_worse(choice) if trial.better else None
            if proof is not None and trial.partner is None:
                self._find_partner(choice, trial, proof, touched)

    def _find_first_worse(self, choice: Choice) -> Contradiction | None:
        """Returns the first call of the recording that a value explains worse than the best hypothesis does."""
        number = self._find_first_window(choice[0])
        scene = self.scenes[number]
        for window in self.windows[number:]:
            self.player.go_to(scene, self.with_values(choice))
            for at in window:
                differences, known = self.player.play(self.steps[at]).differences, self.results[at].differences
                if weigh_places(differences) > weigh_places(known):
                    places = frozenset(map(generalize_place, differences.keys() - known.keys()))
                    return Contradiction(at, places, scene, window[0])
            scene = self.player.copy_scene()
        return None

    def _touches(self, proof: Contradiction) -> set[tuple[str, str]]:
        operation = self.steps[proof.step].operation
        return {(operation, place) for place in proof.places}

    def _find_partner(
        self,
        choice: Choice,
        trial: Trial,
        proof: Contradiction,
        touched: Mapping[Choice, frozenset[tuple[str, str]]],
    ) -> None:
        """Looks for a second value with which the value explains the calls up to a contradiction. Tries the values of
        axes that the bank reads before the first unexplained call, each from the call that first reads its axis: no
        other value can change that call."""
        numbers = range(proof.scene_step, proof.step + 1)
        places = self._touches(proof)
        self.player.go_to(proof.scene, self.with_values(choice))
        scenes, alone = [], []
        for number in numbers:
            scenes.append(self.player.copy_scene())
            alone.append(self.player.play(self.steps[number]))
            if not self._is_explained(number, alone[-1]):
                break
        begins = find_first_reads(alone)
        for second in self.list_others(begins.keys() - {choice[0]}):
            other, begin = self.trials.get(second, Trial()), begins[second[0]]
            if other.proofs and not (touched[second] & places):
                continue
            self.player.go_to(scenes[begin], self.with_values(choice, second))
            if not all(self._is_explained(at, self.player.play(self.steps[at])) for at in numbers[begin:]):
                continue
            together = Trial()
            self._contradict_far(together, self._find_first_window(choice[0], second[0]), choice, second)
            if not together.proofs:
                trial.partner = second
                if together.better:
                    self._pairs.append((choice, second))
                if other.proofs:
                    other.partner = choice
                return

    def _is_explained(self, number: int, result: CallResult) -> bool:
        """Whether a result differs from the recorded reply only in places where the best hypothesis differs too."""
        return set(map(generalize_place, result.differences)) <= set(
            map(generalize_place, self.results[number].differences)
        )


def make_call_kind(step: RecordedStep) -> CallKind:
    """Returns a key made of a call's question and its answer. Calls with the same key usually read the same axes."""
    call, reply = step.call, step.call.reply_json
    words = tuple(str(reply.get(name)) for name in ("status", "reason", "error"))
    return step.operation, step.facts.status, frozenset(call.query), call.access_token is None, *words


def compute_total_weight(results: Iterable[CallResult]) -> int:
    return sum(weigh_places(result.differences) for result in results)


def list_axes(results: Iterable[CallResult]) -> frozenset[str]:
    """Returns the axes that the bank read in these calls."""
    return frozenset[str]().union(*(result.met for result in results))


def find_first_reads(results: Sequence[CallResult]) -> dict[str, int]:
    """Returns the number of the first call that read each axis."""
    first: dict[str, int] = {}
    for number, result in enumerate(results):
        for axis in result.met:
            first.setdefault(axis, number)
    return first
