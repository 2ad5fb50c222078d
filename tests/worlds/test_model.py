"""A model of how servers share a log, tried exhaustively: two servers, three acts, and a fault at every step.

The model has what `sandbox/worlds/world.py` and `sandbox/storage/store.py` do, one step for each moment at which
something else may come in between: lock, look, do, send the commit, learn its outcome, answer. In every order of these
steps, with a crash of a server, a lost line, or a failover that loses the end of the log at any moment, the promises
below hold. The broken variants show that the model would notice.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

Log = tuple[str, ...]


class Server(NamedTuple):
    """What a server knows. `act` is the act at hand, and `step` says how far the call is."""

    cache: Log | None = None  # its copy of the bank, by the acts in it
    known: Log = ()  # the position that it believes its copy to have
    step: str = "idle"
    act: str = ""
    number: int = 0  # of the change, which makes its ids differ from those of all others


class State(NamedTuple):
    log: Log  # of the database
    lock: int | None  # the server whose transaction holds the world's row
    servers: tuple[Server, Server]
    left: int  # acts that nobody asked for yet
    made: int  # changes that were begun
    crashes: int  # that may still happen
    failovers: int
    answered: frozenset[str]  # acts whose call was answered, and that no failover lost
    lost: frozenset[str]  # acts that a failover lost
    wrong: str = ""


class Rules(NamedTuple):
    """What the program does; a broken variant leaves one thing out."""

    locks: bool = True
    throws_away: bool = True  # the cache, when a commit fails
    asks: bool = True  # for the outcome of a commit of which no answer came
    looks: bool = True  # before it answers a call that only reads
    salts: bool = True  # ids are drawn with the number of the change
    compares: bool = True  # the end of its cache with the log's, not the length alone


def put(state: State, which: int, server: Server, **changes: object) -> State:
    servers = (server, state.servers[1]) if which == 0 else (state.servers[0], server)
    return state._replace(servers=servers, **changes)  # type: ignore[arg-type]


def followed(server: Server, log: Log, rules: Rules) -> Server:
    """The server after a look: its copy is right, extended by what follows it, or read anew."""
    known, cache = server.known, server.cache
    if cache is None or (rules.compares and known != log[: len(known)]):
        return server._replace(cache=log, known=log)
    return server._replace(cache=cache + log[len(known) :], known=log)


def steps(state: State, rules: Rules) -> Iterator[State]:
    """Every state that may come next."""
    for which in (0, 1):
        yield from steps_of(state, which, rules)
    if state.failovers and state.log:  # the new primary lacks the last act; the old one's transactions are gone
        gone = state.log[-1]
        servers = tuple(
            server._replace(step="failed") if server.step not in ("idle", "unknown") else server
            for server in state.servers
        )
        yield state._replace(
            log=state.log[:-1],
            lock=None,
            servers=servers,  # type: ignore[arg-type]
            failovers=state.failovers - 1,
            answered=state.answered - {gone},
            lost=state.lost | {gone},
        )


def steps_of(state: State, which: int, rules: Rules) -> Iterator[State]:
    server = state.servers[which]
    free = state.lock is None or not rules.locks
    held = which if rules.locks else None
    unlocked = None if state.lock == which else state.lock
    if state.crashes and server.step != "idle":  # the process is killed; the database ends its transaction
        yield put(state, which, Server(), lock=unlocked, crashes=state.crashes - 1)
        if server.step == "sent":  # its commit may have arrived before
            yield put(commit(state, which), which, Server(), lock=unlocked, crashes=state.crashes - 1)
    match server.step:
        case "idle":
            if state.left and free:  # a call that changes something: lock and look
                begun = followed(server, state.log, rules)._replace(step="locked", number=state.made + 1)
                yield put(state, which, begun, lock=held, left=state.left - 1, made=state.made + 1)
            looks = rules.looks or server.cache is None
            yield read(put(state, which, followed(server, state.log, rules) if looks else server), which)
        case "locked":  # do it: the copy of the bank has it from now on
            assert server.cache is not None
            drawn = f"id {len(server.cache) + 1}" + (f"/{server.number}" if rules.salts else "")
            yield put(state, which, server._replace(cache=(*server.cache, drawn), act=drawn, step="sent"))
        case "sent":
            yield answer(commit(state, which), which, unlocked)
            yield put(commit(state, which), which, server._replace(step="unknown"), lock=unlocked)  # the line broke
            yield put(state, which, server._replace(step="unknown"), lock=unlocked)  # before the commit arrived
            yield put(state, which, server._replace(step="failed"), lock=unlocked)  # the database refused it
        case "unknown":
            if not rules.asks:
                yield answer(state, which, unlocked)
            elif free:  # the lock waits for the end of the transaction; then it is there, or it is not
                if server.act in state.log:
                    yield answer(state, which, unlocked)
                else:
                    yield put(state, which, server._replace(step="failed"))
        case "failed":  # 503; the copy is read again at the next call
            kept = Server() if rules.throws_away else Server(server.cache, server.known)
            yield put(state, which, kept, lock=unlocked)


def commit(state: State, which: int) -> State:
    server = state.servers[which]
    act = server.act
    if server.known != state.log:
        return state._replace(wrong=f"{act} was judged by another log than the one that it is added to")
    if act in state.lost:
        return state._replace(wrong=f"{act} was lost by a failover, and is given again")
    if act in state.log:
        return state._replace(wrong=f"{act} is given twice")
    return state._replace(log=(*state.log, act))


def answer(state: State, which: int, lock: int | None) -> State:
    server = state.servers[which]
    answered = state.answered | {server.act}
    known = (*server.known, server.act)
    return put(state, which, Server(server.cache, known), lock=lock, answered=answered)


def read(state: State, which: int) -> State:
    """A call that only reads shows every answered act, and none that is not in the log."""
    shown = set(state.servers[which].cache or ())
    missing, extra = state.answered - shown, shown - set(state.log)
    if missing:
        return state._replace(wrong=f"answered, and not shown: {sorted(missing)}")
    return state._replace(wrong=f"shown, and not in the log: {sorted(extra)}") if extra else state


def demand(state: State) -> str:
    if state.wrong:
        return state.wrong
    missing = state.answered - set(state.log)
    if missing:
        return f"answered, and not in the log: {sorted(missing)}"
    return "" if len(set(state.log)) == len(state.log) else "an act is there twice"


def tried(rules: Rules, crashes: int = 1, failovers: int = 1) -> tuple[int, str]:
    """The number of states that can be reached, and the first broken promise."""
    first = State((), None, (Server(), Server()), 3, 0, crashes, failovers, frozenset(), frozenset())
    seen, ahead = {first}, [first]
    while ahead:
        state = ahead.pop()
        broken = demand(state)
        if broken:
            return len(seen), broken
        for after in steps(state, rules):
            if after not in seen:
                seen.add(after)
                ahead.append(after)
    return len(seen), ""


def test_the_promises_hold_in_every_order_of_steps_and_faults() -> None:
    states, broken = tried(Rules(), crashes=2)
    assert broken == ""
    assert states > 5_000


@pytest.mark.parametrize("left_out", Rules._fields)
def test_without_any_one_rule_a_promise_breaks(left_out: str) -> None:
    _, broken = tried(Rules(**{left_out: False}))
    assert broken
