"""A hundred hidden banks with random values, each recorded by the flows of the reference client: `make calibrate`.

Says how many values were decided, and whether a wrong one was. A recording shows a value if the same calls, played on
the same bank with any other value of its axis, get another reply at least once. Of the shown values, it says how many
were decided. With `follow`, it follows what is proposed after a third of the flows."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from time import process_time

import click
from flask import request_finished

from sandbox.bank.state import Bank
from sandbox.contract.decisions import AXES, DEFAULTS
from sandbox.extensions.calibrate.calibration import Calibration, calibrate_calls, is_playable
from sandbox.extensions.calibrate.played_bank import Moment, PlayedBank
from sandbox.extensions.calibrate.playing import ClientSession, Player, Scene, list_steps
from sandbox.extensions.calibrate.reconstruction import Shown
from sandbox.extensions.calibrate.search import NOT_TRIED
from sandbox.extensions.vary.space import make_space
from sandbox.recordings.reading import read_recording
from sandbox.recordings.recorded_calls import RecordedCall
from sandbox.storage.bank_copy import copy_bank
from tests.calibrate.following import follow_all
from tests.calibrate.recorder import WORLD, har, hidden_bank, record, run_flows, without_customers
from tests.documented import RECORDER
from tests.vary.flows import FLOWS

THIRD = tuple(FLOWS)[::3]


def random_variants(chance: Random) -> dict[str, str]:
    """A value for each axis that a right client can be at; pairs that exclude each other are drawn again."""
    space = make_space()
    while True:
        variants = {axis: chance.choice(values) for axis, values in space.axes.items()}
        if space.allows(list(variants.items())):
            return variants


def recorded_calls(variants: Mapping[str, str], flows: Sequence[str], seed: int, *, alone: bool) -> list[RecordedCall]:
    entries = record(variants, flows, seed)
    return list(read_recording(har(without_customers(entries) if alone else entries)).calls)


class TrueBank:
    """Plays a recording on the bank of which it is."""

    def __init__(self, calls: Sequence[RecordedCall], variants: Mapping[str, str], seed: int) -> None:
        calls = [call for call in calls if is_playable(call)]
        began = calls[0].began
        assert began is not None
        self.variants = variants
        self.steps = list_steps(calls, began)
        has_controls = any(step.is_control for step in self.steps)
        self.player = Player(PlayedBank(), Shown(calls, began), has_controls=has_controls)
        self.player.go_to(
            Scene(Moment(self._first_state(seed), ({}, None, {}), frozenset()), ClientSession()), variants
        )
        self.scenes, self.results = [], []
        for step in self.steps:
            self.scenes.append(self.player.copy_scene())
            self.results.append(self.player.play(step))

    def _first_state(self, seed: int) -> Bank:
        with hidden_bank(self.variants, seed) as (_, way):
            bank = way.worlds.get(WORLD).ask(copy_bank)
        key = json.dumps(self.player.signer.public)
        bank.clients = {name: replace(client, keys=(*client.keys, key)) for name, client in bank.clients.items()}
        return bank

    def shown_among(self, axes: Iterable[str]) -> set[str]:
        first: dict[str, int] = {}
        for number, result in enumerate(self.results):
            first = dict.fromkeys(result.met, number) | first
        return {
            axis
            for axis in axes
            if axis in first and axis not in NOT_TRIED
            if all(
                self._differs({**self.variants, axis: value}, first[axis])
                for value in AXES[axis].names
                if value != self.variants.get(axis, DEFAULTS[axis])
            )
        }

    def _differs(self, variants: Mapping[str, str], first: int) -> bool:
        self.player.go_to(self.scenes[first], variants)
        return any(
            self.player.play(step).differences.keys() != result.differences.keys()
            for step, result in zip(self.steps[first:], self.results[first:], strict=True)
        )


def wrong_in(found: Calibration, true: Mapping[str, str]) -> dict[str, str]:
    return {axis: row.value for axis, row in found.decided.items() if row.value != true[axis]}


def main(first: int, last: int, kind: str) -> int:
    request_finished.disconnect(RECORDER.hear)  # the replies are those of the tests of `vary`
    totals, open_axes, slowest = Counter[str](), Counter[str](), 0.0
    for number in range(first, last):
        variants = random_variants(Random(number))
        true = DEFAULTS | variants
        calls = recorded_calls(variants, THIRD if kind == "third" else tuple(FLOWS), number, alone=kind == "alone")
        began = process_time()
        found = calibrate_calls(calls)
        seconds = process_time() - began
        slowest = max(slowest, seconds)
        wrong = wrong_in(found, true)
        excluded = [axis for axis, values in found.excluded.items() if true[axis] in values]
        shown_open = TrueBank(calls, variants, number).shown_among(found.open)
        open_axes.update(shown_open)
        totals.update(wrong=len(wrong), decided=len(found.decided), open=len(shown_open), outside=len(found.outside))
        shown = len(found.decided) - len(wrong) + len(shown_open)
        click.echo(
            f"{number}: {len(found.decided)} decided of {shown} shown, {len(found.outside)} outside, "
            f"{seconds:.0f} s of CPU; wrong: {wrong or 'none'}; true but excluded: {excluded or 'none'}; "
            f"shown but open: {', '.join(sorted(shown_open)) or 'none'}"
        )
    shown = totals["decided"] - totals["wrong"] + totals["open"]
    click.echo(
        f"{totals['decided']} decided, {totals['wrong']} wrong, {shown} shown, {totals['outside']} outside; "
        f"{slowest:.0f} s of CPU at most; shown but open most often: {open_axes.most_common(20)}"
    )
    return 1 if totals["wrong"] else 0


def main_of_following(first: int, last: int) -> int:
    """Of each bank: follows what is proposed after a third of the flows, and compares that with all flows."""
    request_finished.disconnect(RECORDER.hear)
    totals = Counter[str]()
    for number in range(first, last):
        variants = random_variants(Random(number))
        true = DEFAULTS | variants
        whole = recorded_calls(variants, tuple(FLOWS), number, alone=False)
        full = calibrate_calls(whole)
        with hidden_bank(variants, number) as (bank, way):
            run_flows(bank, THIRD)
            rounds = list(follow_all(bank, way))
        third, last_found = rounds[0].found, rounds[-1].found
        rest = full.decided.keys() - third.decided.keys()
        wrong = {axis: value for row in rounds for axis, value in wrong_in(row.found, true).items()}
        named = {axis for row in rounds for axis in row.named}
        counts = {
            "decided by all flows": len(full.decided),
            "calls of all flows": bank_calls(whole),
            "decided by a third": len(third.decided),
            "calls of a third": rounds[0].calls,
            "decided after following": len(last_found.decided),
            "calls after following": rounds[-1].calls,
            "rest": len(rest),
            "rest decided": len(rest & last_found.decided.keys()),
            "named": len(named),
            "named and decided": len(named & last_found.decided.keys()),
            "wrong": len(wrong),
        }
        totals.update(counts)
        click.echo(f"{number}: {counts}; {len(rounds)} rounds; wrong: {wrong or 'none'}")
        click.echo(f"   open of the rest: {', '.join(sorted(rest - last_found.decided.keys()))}")
        click.echo(f"   named and open: {', '.join(sorted(named - last_found.decided.keys()))}")
    click.echo(f"all: {dict(totals)}")
    return 1 if totals["wrong"] else 0


def bank_calls(calls: Iterable[RecordedCall]) -> int:
    return sum(call.path[0] != "_sandbox" for call in calls)


if __name__ == "__main__":
    FIRST, LAST = (int(word) for word in sys.argv[1:3] or ("0", "100"))
    KIND = sys.argv[3] if len(sys.argv) > 3 else "all"
    sys.exit(main_of_following(FIRST, LAST) if KIND == "follow" else main(FIRST, LAST, KIND))
