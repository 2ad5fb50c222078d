"""A director with a seed: it leads a bank that is kept through short lives full of trouble.

After each step it holds what memory tells against the file or the database, and against what a client was answered.
"""

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from sandbox.app import assemble
from sandbox.storage.store import Store
from sandbox.worlds.registry import Room, WorldRegistry
from tests.simulation import images
from tests.simulation.acts import ACTS, NAMES, Acts
from tests.simulation.faulty import Faults
from tests.tpp import Tpp
from tests.worlds.killed import BEGINNING
from tests.worlds.tenancy import HALF_AN_HOUR, Machine

STEPS = 40  # of one life
FOR_LIFE = 1_000_000.0  # seconds between two times that calls are written, unless the director says so
MOVES = ("payments", "journal", "clock", "timeline")  # by time alone
VIEWS = ("payments", "journal", "faults", "clock", "settings", "timeline")
View = dict[str, Any]


class Deck:
    """Draws words in random order. Each comes as often as it stands there before any comes again."""

    def __init__(self, random: Random, words: Sequence[str]) -> None:
        self.random = random
        self.words = words
        self.left: list[str] = []

    def draw(self) -> str:
        if not self.left:
            self.left = self.random.sample(self.words, len(self.words))
        return self.left.pop()


class Director(ABC):
    """Of one life, on a place of its own."""

    place: Any  # a state file, or the address of a database
    store: Store
    database: Faults
    troubles: list[str]  # what comes while an act is done, as often as it stands there
    afterwards: list[str]  # what comes between two steps

    def __init__(self, folder: Path, seed: str, place: Path | str) -> None:
        self.folder = folder
        self.random = Random(seed)
        self.decks = Deck(self.random, self.troubles), Deck(self.random, self.afterwards)
        self.counts = Counter[str]()
        self.machine = Machine()
        self.acts = Acts(self.random)
        self.past: dict[str, list[Any]] = {name: [] for name in NAMES}
        self.files = 0
        self.journal: dict[str, View] = {}  # what the client was told last, of each world that it knows
        self.open(place)
        self.journal = self.views()

    @abstractmethod
    def opened(self) -> Store:
        """The place, through something that makes it fail."""

    @abstractmethod
    def image(self) -> Path:
        """What is kept now, as a state file that nobody uses."""

    def open(self, place: Path | str) -> None:
        self.place = place
        self.store = self.opened()
        self.worlds = self.worlds_of(self.store)
        self.app = assemble(self.worlds)

    def worlds_of(self, store: Store) -> WorldRegistry:
        """Of one server."""
        worlds = WorldRegistry(BEGINNING, self.machine, store, Room(self.random.choice((1, 2, 100)), HALF_AN_HOUR))
        assert worlds._writer is not None
        worlds._writer.EVERY = FOR_LIFE
        return worlds

    def store_time(self) -> float:
        """What running worlds go by."""
        return self.machine.now

    def close(self) -> None:
        self.store.close()

    def tpp(self, world: str = "default") -> Tpp:
        return Tpp(self.app, world)

    # One step

    def step(self) -> None:
        troubles, afterwards = self.decks
        act, trouble = self.random.choice(ACTS), troubles.draw()
        world = self.random.choice(sorted(self.journal))
        self.last = f"{act} of {world}, with {trouble}"
        replies = getattr(self, f"with_{trouble}")(lambda: getattr(self.acts, act)(self.tpp(world)))
        self.rest()
        self.counts[trouble] += 1
        for reply in replies:
            assert reply.status_code < 500 or reply.status_code == 503, f"{reply.status_code} {reply.text}"
            self.counts[f"{trouble}: {reply.status_code // 100}xx"] += 1
            assert reply.status_code != 503 or trouble != "nothing", reply.text
        self.hold(replies, trouble)
        after = afterwards.draw()
        self.last += f", then {after}"
        self.counts[after] += 1
        getattr(self, after)()
        self.rest()
        self.demand_kept()

    def rest(self) -> None:
        """What goes on beside has ended."""
        self.database.rest()
        for thread in list(self.store._background):
            thread.join()

    # Troubles

    def with_nothing(self, act: Callable[[], Any]) -> list[TestResponse]:
        return self.done(act)

    def with_a_failure(self, act: Callable[[], Any]) -> list[TestResponse]:
        self.database.fail(self.random.randrange(6), self.random.randrange(1, 4))
        return self.done(act)

    def with_a_lie(self, act: Callable[[], Any]) -> list[TestResponse]:
        """The write is reported as failed and is done all the same: memory follows what is stored."""
        self.database.lie()
        return self.done(act)

    def with_a_reader(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Somebody reads while the write is on its way: nothing is told that a kill would undo."""
        before, read = {name: self.paid(name) for name in self.journal}, dict[str, Any]()

        def reads() -> None:
            for name in before:
                read[name] = self.paid(name)

        reader = threading.Thread(target=reads)

        def at_commit() -> None:
            reader.start()
            reader.join(0.02)
            assert all(read[name] in (before[name], None) for name in list(read)), "told before it was kept"

        self.database.at_commit(at_commit)
        replies = self.done(act)
        if reader.ident is not None:
            reader.join()
        return replies

    def with_racers(self, act: Callable[[], Any]) -> list[TestResponse]:
        """Many callers at once, of this world and of others; a write in their midst may fail."""
        if self.random.random() < 0.5:
            self.database.fail(self.random.randrange(4, 40), 1)
        racers = [self.racer(self.random.choice(sorted(self.journal))) for _ in range(3)]
        replies: list[TestResponse] = []
        threads = [threading.Thread(target=lambda: replies.extend(self.done(act)))]
        for tpp in racers:
            threads.append(threading.Thread(target=lambda tpp=tpp: replies.extend(self.acts.race(tpp))))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return replies

    def racer(self, world: str) -> Tpp:
        return self.tpp(world)

    def done(self, act: Callable[[], Any]) -> list[TestResponse]:
        reply = act()
        return list(reply) if isinstance(reply, list) else [reply]

    # What must hold

    def hold(self, replies: list[TestResponse], trouble: str) -> None:
        """What was answered is there, and what was refused left no trace."""
        found = self.views()
        if trouble not in UNSURE and all(reply.status_code >= 400 for reply in replies):
            lost = all(reply.status_code == 503 for reply in replies)
            traces = [what for what in differences(self.journal, found) if lost or not what.startswith("faults")]
            assert not traces, f"what was refused left a trace: {traces}"  # a rule may count what it refuses
        for reply in replies:
            for name, paid in self.acts.paid_by(reply):
                if reply.status_code == 201 and name in found and name not in self.acts.begun:
                    ids = [row["payment_id"] for row in found[name]["payments"]]
                    assert paid in ids, "an answered payment is not there"
        self.acts.begun.clear()
        self.journal = found
        for world in self.worlds.list_all():
            self.past[world.name].append(list(world.log))

    def demand_kept(self) -> None:
        """Memory, what is stored and the client say the same."""
        found = self.views()
        assert not differences(self.journal, found), f"it tells something else: {differences(self.journal, found)}"
        self.journal = found
        memory = images.content(self.worlds)
        file, notes = images.kept(self.image(), self.store_time())
        assert not notes, notes
        assert file == memory, "the store says something else than memory"

    def views(self, app: Flask | None = None) -> dict[str, View]:
        """What a server shows of each world: this one, unless another is named."""
        tpp = Tpp(app or self.app)
        names = [world["name"] for world in tpp.control("GET", "/worlds").get_json()["worlds"]]
        return {name: {what: self.shown(name, what, app) for what in VIEWS} for name in names}

    def shown(self, world: str, what: str, app: Flask | None = None) -> Any:
        reply = Tpp(app or self.app, world).control("GET", f"/{what}")
        if reply.status_code == 503:
            return None
        assert reply.status_code == 200, reply.text
        return reply.get_json() if what in ("clock", "settings") else reply.get_json()[what]

    def paid(self, world: str) -> Any:
        """The payments, or their ids alone where time changes them."""
        found = self.shown(world, "payments")
        return ids(found) if found is not None and self.journal[world]["clock"]["mode"] == "running" else found

    def next_folder(self) -> Path:
        self.files += 1
        return self.folder / f"after-{self.files}"

    # What comes between the steps

    def nothing(self) -> None:  # noqa: B027 - one of them
        pass

    def restart(self) -> None:
        self.store.close()
        self.open(self.place)

    def clock_steps_forward(self) -> None:
        self.machine.now += self.random.choice((1, 60, 86_400))
        found = self.views()
        for name, view in found.items():
            known = self.journal[name]
            assert view["clock"]["now"] >= known["clock"]["now"]
            assert [row["payment_id"] for row in view["payments"]] == [row["payment_id"] for row in known["payments"]]
        self.journal = found

    def clock_steps_back(self) -> None:
        """Bank time does not."""
        self.machine.now -= self.random.choice((1, 3_600))

    def silence(self) -> None:
        """Worlds that nobody calls leave memory."""
        for world in self.worlds.list_in_memory():
            self.worlds.put_away(world)

    def write_calls(self) -> None:
        assert self.worlds._writer is not None
        self.worlds._writer.write_all()


UNSURE = ("a_lie", "racers", "a_kill")


def differences(before: dict[str, View], after: dict[str, View]) -> list[str]:
    """What a client may not be told, once it was told something else. A clock that runs may have gone on."""
    if before.keys() != after.keys():
        return [f"worlds: {sorted(before)} and {sorted(after)}"]
    found = []
    for name, known in before.items():
        runs = known["clock"]["mode"] == "running" and after[name]["clock"]["mode"] == "running"
        if runs and after[name]["clock"]["now"] < known["clock"]["now"]:
            found.append(f"clock of {name} went back")
        for what in VIEWS:
            pair = [ids(view[what]) if runs and what in MOVES else view[what] for view in (known, after[name])]
            if pair[0] != pair[1]:
                found.append(f"{what} of {name}: {pair[0]} and {pair[1]}")
    return found


def ids(view: Any) -> Any:
    """What stays while time passes."""
    return [row["payment_id"] for row in view if "payment_id" in row] if isinstance(view, list) else view["mode"]
