"""Attempts on the controls' key slow down (choice 10)."""

import threading
from contextlib import nullcontext
from typing import Any

import pytest

from sandbox.app import assemble
from sandbox.contract.errors import Error, Refusal
from sandbox.web.controls.lock import (
    CALLERS_MAX,
    FREE,
    LONGEST_DELAY,
    WAITING_MAX,
    Attempts,
    Lock,
    compute_delay,
    find_network,
)
from sandbox.worlds.registry import WorldRegistry
from tests.console.visitor import PROOF
from tests.tpp import refused

KEY = "a-key-for-the-team"


class Machine:
    """Its seconds pass only while somebody waits, or when they are set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def attempts(machine: Machine) -> Attempts:
    return Attempts(lambda: machine.now)


def attempt(attempts: Attempts, machine: Machine, shown: str, address: str = "192.0.2.1") -> bool:
    return attempts.is_right(shown, KEY, address, machine.wait)


def test_each_further_wrong_key_waits_longer_and_the_right_one_never(attempts: Attempts, machine: Machine) -> None:
    for number in range(FREE + 8):
        assert not attempt(attempts, machine, f"wrong {number}")
        assert attempt(attempts, machine, KEY)
    assert machine.waited == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0]
    assert compute_delay(10**9) == LONGEST_DELAY


def test_the_same_wrong_key_again_is_no_new_attempt(attempts: Attempts, machine: Machine) -> None:
    for _ in range(1_000):
        assert not attempt(attempts, machine, "wrong")
    assert machine.waited == []


def test_another_caller_does_not_wait_but_its_whole_network_does(attempts: Attempts, machine: Machine) -> None:
    for number in range(FREE):
        attempt(attempts, machine, f"wrong {number}", f"2001:db8::{number}")
    attempt(attempts, machine, "wrong a", "2001:db8:0:1::1")
    assert machine.waited == []
    attempt(attempts, machine, "wrong b", "2001:db8::ffff")
    assert len(machine.waited) == 1
    assert find_network("192.0.2.1") == "192.0.2.1" and find_network("") == ""


def test_after_ten_quiet_minutes_it_is_forgotten(attempts: Attempts, machine: Machine) -> None:
    for number in range(FREE + 1):
        attempt(attempts, machine, f"wrong {number}")
    assert len(machine.waited) == 1
    machine.now += 601
    attempt(attempts, machine, "wrong again")
    assert len(machine.waited) == 1


def test_while_wrong_keys_wait_the_right_one_of_the_same_address_always_works(attempts: Attempts) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), []

    def wait(seconds: float) -> None:
        begun.set()
        assert go_on.wait(30)

    for number in range(FREE):
        attempts.is_right(f"wrong {number}", KEY, "192.0.2.1", wait)
    slow = threading.Thread(target=lambda: ended.append(attempts.is_right("wrong", KEY, "192.0.2.1", wait)))
    slow.start()
    assert begun.wait(30)
    for address in ("192.0.2.1", "192.0.2.2"):
        assert all(attempts.is_right(KEY, KEY, address, wait) for _ in range(100))
    with pytest.raises(Refusal) as caught:
        attempts.is_right("another", KEY, "192.0.2.1", wait)
    assert caught.value.error is Error.TOO_MANY_REQUESTS
    go_on.set()
    slow.join(30)
    assert ended == [False] and attempts.is_right(KEY, KEY, "192.0.2.1", wait)


@pytest.mark.parametrize(("own", "most"), [(True, WAITING_MAX), (False, 1)])
def test_only_so_many_refusals_wait_at_once(
    monkeypatch: pytest.MonkeyPatch, attempts: Attempts, own: bool, most: int
) -> None:
    deepest = 0

    def wait(seconds: float) -> None:
        nonlocal deepest
        deepest += 1
        with pytest.raises(Refusal) if deepest == most else _nothing():
            guess(f"10.0.1.{deepest}")

    def guess(address: str) -> None:
        for number in range(FREE + 1):
            attempts.is_right(f"wrong {number}", KEY, address, wait if own else None)

    monkeypatch.setattr("time.sleep", wait)
    guess("10.0.0.1")
    assert deepest == most


class _nothing:  # noqa: N801 - stands where pytest.raises would
    def __enter__(self) -> None:
        pass

    def __exit__(self, *failure: Any) -> None:
        pass


@pytest.mark.parametrize("has_room", [True, False])
def test_a_refusal_waits_on_a_worker_of_its_own_or_not_at_all(worlds: WorldRegistry, has_room: bool) -> None:
    http = assemble(worlds, lock=Lock(KEY)).test_client()
    waited: list[float] = []
    environ = {"sandbox.wait": waited.append, "sandbox.reserve": lambda world: nullcontext(has_room)}
    statuses = [
        http.get("/_sandbox/clock", headers={"X-Sandbox-Key": f"wrong {number}"}, environ_overrides=environ).status_code
        for number in range(FREE + 1)
    ]
    assert statuses == [401] * FREE + [401 if has_room else 429]
    assert waited == ([0.1] if has_room else [])


def test_what_is_kept_of_callers_is_bounded(attempts: Attempts, machine: Machine) -> None:
    for number in range(CALLERS_MAX + 10):
        attempt(attempts, machine, "wrong", f"10.0.{number // 256}.{number % 256}")
    for number in range(500):
        attempt(attempts, machine, f"wrong {number}", "192.0.2.9")
    assert len(attempts._callers) == CALLERS_MAX
    assert max(len(caller.keys) for caller in attempts._callers.values()) == 64


def test_controls_console_and_cookie_share_one_count(worlds: WorldRegistry) -> None:
    http = assemble(worlds, lock=Lock(KEY)).test_client()
    waited: list[float] = []
    environ = {"sandbox.wait": waited.append}
    proof = PROOF.search(http.get("/_sandbox/").text)
    assert proof is not None
    for number in range(FREE):
        reply = http.get("/_sandbox/clock", headers={"X-Sandbox-Key": f"wrong {number}"}, environ_overrides=environ)
        assert refused(reply, 401, "SBX-0401")
    assert waited == []
    form = {"proof": proof[1], "key": "wrong in the form"}
    assert http.post("/_sandbox/console/key", data=form, environ_overrides=environ).status_code == 401
    assert waited == [0.1]
    http.set_cookie("sandbox-console-key", "wrong in the cookie")
    assert http.get("/_sandbox/clock", environ_overrides=environ).status_code == 401
    assert http.get("/_sandbox/", headers={"X-Sandbox-Key": "x"}, environ_overrides=environ).status_code == 401
    assert waited == [0.1, 0.2, 0.4]
    assert http.get("/_sandbox/clock").status_code == 401  # shows none, so it is no attempt
    assert http.get("/_sandbox/clock", headers={"X-Sandbox-Key": KEY}).status_code == 200
