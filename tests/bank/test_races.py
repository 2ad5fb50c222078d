"""Two who act at one moment, in real threads: one wins, every time, and the books and the log stay right."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from threading import Barrier, Thread
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from sandbox.storage.state_hash import hash_state
from sandbox.worlds.registry import WorldRegistry
from sandbox.worlds.snapshot import replay
from tests.payer import (
    Begun,
    a_code,
    approve,
    balance,
    begin,
    cancel,
    code_form,
    cosign,
    is_balanced,
    post_form,
    refresh_form,
    refuse,
    signed,
    status,
    tokens,
)
from tests.spec.bodies import ALICE
from tests.tpp import ISCT, Tpp

ROUNDS = 8
Act = Callable[[Tpp], TestResponse]


@pytest.fixture
def rounds(crowd_app: Flask, crowd: WorldRegistry, request: pytest.FixtureRequest) -> Iterator[tuple[Tpp, Any]]:
    """The same race again and again, each in a world of its own; afterwards its log makes the same bank again."""

    def run() -> Iterator[tuple[Tpp, Any]]:
        for number in range(ROUNDS):
            name = f"{request.node.name[5:40]}-{number}"
            world = crowd.make(name, crowd.beginning)
            yield Tpp(crowd_app, name), world.bank
            assert is_balanced(world.bank)
            again = replay(world.beginning, world.log, world.bank.clock.now)
            assert hash_state(again) == hash_state(world.bank)
            crowd.drop(name)

    return run()


def race(tpp: Tpp, *acts: Act) -> list[int]:
    """Each act in a thread and a connection of its own, begun at one moment; the statuses in the order of the acts."""
    start = Barrier(len(acts))
    found: dict[int, int] = {}

    def run(number: int, act: Act) -> None:
        own = Tpp(tpp.http.application, tpp.prefix.rpartition("/")[2], tpp.client_id)
        start.wait()
        found[number] = act(own).status_code

    threads = [Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(len(acts))]


def test_of_two_signatures_at_one_address_one_counts(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, bank in rounds:
        begun = begin(tpp, ISCT, debtor_account__iban=ALICE)
        before = balance(bank, ALICE)
        both: Act = lambda own, begun=begun: approve(own, begun.address)  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, both, both)) == [200, 409]
        assert (status(tpp, begun), before - balance(bank, ALICE)) == ("ACSP", Decimal("12.5"))


def test_of_two_further_signatures_of_one_person_one_counts(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, bank in rounds:
        iban = tpp.iban_of("notaris")
        begun = begin(tpp, debtor_account__iban=iban)
        approve(tpp, begun.address, "notaris")
        both: Act = lambda own, begun=begun: cosign(own, begun.id, "griet")  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, both, both)) == [200, 409]
        assert bank.reserved == {(iban, "EUR"): 12.5}


def test_of_a_signature_and_a_refusal_one_counts(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, _ in rounds:
        begun = begin(tpp, debtor_account__iban=ALICE)
        signing, refusing = race(tpp, lambda own: approve(own, begun.address), lambda own: refuse(own, begun.address))  # noqa: B023
        assert sorted((signing, refusing)) == [200, 409]
        assert status(tpp, begun) == ("PDNG" if signing == 200 else "CANC")


def test_a_cancellation_meets_the_settlement_and_one_of_them_happens(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, bank in rounds:
        begun = signed(tpp, debtor_account__iban=ALICE, requested_execution_date="2027-03-02")
        tpp.control("POST", "/clock", set="2027-03-02T05:59:59+01:00")
        before, pair = balance(bank, ALICE), tokens(tpp)
        deleting, advancing = race(
            tpp,
            lambda own, begun=begun, pair=pair: cancel(own, begun, pair),  # type: ignore[misc]
            lambda own: own.control("POST", "/clock", advance="1s"),
        )
        assert (deleting, advancing) in ((204, 200), (403, 200))
        assert status(tpp, begun) == ("CANC" if deleting == 204 else "ACSP")
        tpp.advance("1h")
        assert status(tpp, begun) == ("CANC" if deleting == 204 else "ACSC")
        assert before - balance(bank, ALICE) == (1 if deleting == 204 else 13.5)  # the tokens came with one euro
        assert not bank.reserved and not bank.reserved_later


def test_of_two_cancellations_one_counts(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, _ in rounds:
        pair, begun = tokens(tpp), begin(tpp, debtor_account__iban=ALICE)
        both: Act = lambda own, begun=begun, pair=pair: cancel(own, begun, pair)  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, both, both)) == [204, 403]


def test_a_code_that_two_exchange_gives_one_pair_and_kills_it(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, bank in rounds:
        form = code_form(a_code(tpp))
        both: Act = lambda own, form=form: post_form(own, form)  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, both, both)) == [200, 401]
        assert not bank.pairs  # the second use ends what the first gave (choice 8)


def test_of_two_refreshes_one_gets_the_new_pair(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, bank in rounds:
        form = refresh_form(tokens(tpp)["refresh_token"])
        both: Act = lambda own, form=form: post_form(own, form)  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, both, both)) == [200, 401]
        (pair,) = bank.pairs.values()
        assert tpp.initiate(authorization=f"Bearer {pair.access_token}").status_code == 201


def test_many_at_once_are_no_more_than_one(rounds: Iterator[tuple[Tpp, Any]]) -> None:
    for tpp, _ in rounds:
        begun: Begun = begin(tpp, debtor_account__iban=ALICE)
        both: Act = lambda own, begun=begun: approve(own, begun.address)  # type: ignore[misc] # noqa: E731
        assert sorted(race(tpp, *[both] * 12)) == [200, *[409] * 11]
