"""Many callers at once: nothing is lost, nothing is crossed, and a world that is dropped is gone."""

import gc
import weakref
from collections.abc import Callable
from threading import Barrier, Thread
from uuid import uuid4

import pytest
from flask import Flask

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.tpp import ISCT, Tpp, payment

THREADS = 50
EACH = 8


def together(work: Callable[[int], None]) -> None:
    """All threads begin at one moment; what fails in one fails the test."""
    start = Barrier(THREADS)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:  # told to the test's own thread below
            failed.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def reference(thread: int, number: int) -> str:
    return f"THREAD-{thread}-{number}"


def test_fifty_threads_on_fifty_worlds_cross_nothing(worlds: WorldRegistry, app: Flask) -> None:
    ids: dict[int, list[str]] = {}

    def work(thread: int) -> None:
        tpp = Tpp(app, f"world-{thread}")
        ids[thread] = [tpp.initiated(endtoend_identification=reference(thread, n)) for n in range(EACH)]
        tpp.advance(f"{thread + 1}s")

    together(work)
    for thread in range(THREADS):
        tpp = Tpp(app, f"world-{thread}")
        held = tpp.listed("payments")
        assert [row["payment_id"] for row in held] == ids[thread]
        assert [row["order"]["endtoend_identification"] for row in held] == [reference(thread, n) for n in range(EACH)]
        assert {row["status"] for row in held} == {"PATC"}
        assert len(tpp.listed("requests")) == EACH
    assert len({one for own in ids.values() for one in own}) == THREADS * EACH
    assert Tpp(app).listed("payments") == []


def test_fifty_threads_on_one_world_lose_nothing(worlds: WorldRegistry, app: Flask) -> None:
    ids: dict[str, str] = {}

    def work(thread: int) -> None:
        tpp = Tpp(app, client_id="demo-tpp" if thread % 2 else "other-tpp")
        for number in range(EACH):
            name = reference(thread, number)
            ids[name] = tpp.initiated(endtoend_identification=name)
            assert tpp.status(ids[name]).status_code == 200
            if thread == 0:
                tpp.advance("1s")

    together(work)
    held = Tpp(app).listed("payments")
    assert {row["order"]["endtoend_identification"]: row["payment_id"] for row in held} == ids
    assert len(set(ids.values())) == THREADS * EACH
    for row in held:
        thread = int(row["order"]["endtoend_identification"].split("-")[1])
        assert row["client_id"] == ("demo-tpp" if thread % 2 else "other-tpp")

    world = worlds.get("default")
    assert [fact.seq for fact in world.bank.journal] == list(range(1, len(world.bank.journal) + 1))
    exchanges = world.calls.list_after(0)
    assert [one.seq for one in exchanges] == list(range(1, 2 * THREADS * EACH + 1))
    again = replay(world.beginning, world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)


def test_one_initiation_sent_by_fifty_threads_is_one_payment(app: Flask) -> None:
    request_id, replies = str(uuid4()), []
    together(lambda thread: replies.append(Tpp(app).initiate(request_id=request_id)))
    assert {(reply.status_code, reply.data) for reply in replies} == {(201, replies[0].data)}
    assert len(Tpp(app).listed("payments")) == 1


def test_a_world_first_called_by_fifty_threads_is_made_once(app: Flask) -> None:
    together(lambda thread: str(Tpp(app, "fresh").initiated()))  # type: ignore[arg-type]
    assert len(Tpp(app, "fresh").listed("payments")) == THREADS


def test_money_that_suffices_once_is_spent_once(app: Flask) -> None:
    """Fifty instant payments of all that an account has: one of them is signed."""
    tpp = Tpp(app)
    iban = tpp.iban_of("griet")
    balance = next(row for row in tpp.listed("accounts") if row["iban"] == iban)["balances"][0]["balance"]
    body = {"debtor_account__iban": iban, "instructed_amount__amount": f"{balance:.2f}"}
    signs_at = [tpp.initiate(ISCT, payment(ISCT, **body)).headers["Location"] for _ in range(THREADS)]
    statuses: list[int] = []
    together(
        lambda thread: statuses.append(Tpp(app).control("POST", "/psu/approve", address=signs_at[thread]).status_code)
    )
    assert sorted(statuses) == [200] + [403] * (THREADS - 1)
    after = next(row for row in tpp.listed("accounts") if row["iban"] == iban)["balances"][0]["balance"]
    assert after == 0


def test_a_thousand_worlds_stand_side_by_side(worlds: WorldRegistry, app: Flask) -> None:
    ids = [Tpp(app, f"w{number}").initiated() for number in range(1000)]
    assert len(worlds.list_all()) == 1001
    assert len(set(ids)) == 1000
    for number in (0, 500, 999):
        assert [row["payment_id"] for row in Tpp(app, f"w{number}").listed("payments")] == [ids[number]]


@pytest.mark.parametrize("used", [False, True], ids=["unused", "used"])
def test_dropping_a_world_frees_it(worlds: WorldRegistry, app: Flask, used: bool) -> None:
    gc.freeze()  # the collection below searches only what is made from here on
    tpp = Tpp(app, "gone")
    tpp.control("GET", "/clock")
    if used:
        tpp.initiated()
        tpp.listed("accounts")
    world = weakref.ref(worlds.find("gone"))
    assert Tpp(app).control("DELETE", "/worlds/gone").status_code == 204
    gc.collect()
    assert world() is None


def test_a_world_begun_anew_frees_the_old_bank(worlds: WorldRegistry, app: Flask) -> None:
    Tpp(app).initiated()
    log = weakref.ref(worlds.get("default").log)
    assert Tpp(app).control("POST", "/reset").status_code == 200
    gc.collect()
    assert log() is None
