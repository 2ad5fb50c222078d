"""The reference client withstands what the bank could have decided otherwise within the service's word."""

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

import sandbox
from sandbox.client import Refused, Tokens, Unreadable
from sandbox.contract.variants import AXES
from sandbox.testing import Bank, Start
from sandbox.testing.server import world_of
from sandbox.vary.axes import space_of
from sandbox.vary.meeting import axes_met
from sandbox.vary.runs import Result, Run, Runs
from sandbox.vary.space import Variant
from sandbox.vary.verdict import judge

ORDER = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
FINAL = ("ACSC", "ACSP")
BUSY = (429, 502, 503, 504)
TRIES = 12
SLOW = ("body_pieces",)  # real pauses between the pieces of each reply


def pays(bank: Bank) -> None:
    payment = bank.tpp.pay(**ORDER)  # type: ignore[arg-type]
    assert payment.sca_address is not None
    callback = bank.psu.approve(payment.sca_address, customer="alice")
    tokens = bank.tpp.tokens_from(callback, payment.flow)
    bank.clock.advance("5d")
    assert bank.tpp.status(payment).status in FINAL
    tokens = bank.tpp.refresh(tokens)
    details = bank.tpp.details(payment, tokens)
    assert Decimal(str(details["instructed_amount"]["amount"])) == Decimal("12.50")


def reads(bank: Bank) -> None:
    consent = bank.tpp.consent_addresses()
    tokens = bank.tpp.tokens_from(bank.psu.approve(consent.address, customer="bram"), consent.flow)
    for entry in bank.tpp.accounts(tokens):
        account = bank.tpp.account(entry.logical_id, tokens)
        assert account.iban == entry.iban and account.multicurrency == bool(account.other_compartments)
        assert_lines(bank, entry.logical_id, tokens)


def assert_lines(bank: Bank, logical_id: str, tokens: Tokens) -> None:
    """Each line once, with its sign and a bare date, wherever the period reaches."""
    asked = {"date_from": "2027-01-04", "pagesize": 20, "currency": "EUR"}
    lines = list(bank.tpp.all_transactions(logical_id, tokens, **asked))
    assert len({line.transaction_ref for line in lines}) == len(lines) > 20
    assert all(line.execution_date >= "2027-01-04" and len(line.execution_date) == 10 for line in lines)
    assert {line.amount < 0 for line in lines} == {True, False}


def patiently(flow: Callable[[Bank], None], bank: Bank) -> None:
    """Where the bank is busy or a gateway answers, the customer begins again."""
    for _ in range(TRIES):
        try:
            return flow(bank)
        except Refused as refused:
            if refused.status not in BUSY:
                raise
            bank.clock.advance("61s")
    raise AssertionError("the bank is busy for ever")


@pytest.fixture(scope="module")
def server() -> Iterator[Bank]:
    with sandbox.running() as bank:
        yield bank


@pytest.mark.parametrize("flow", [pays, reads])
def test_it_withstands_every_axis_that_it_meets(server: Bank, flow: Callable[[Bank], None]) -> None:
    def trial(found: Variant) -> Run:
        with world_of(server, f"{flow.__name__}-{found.name}", Start(), dict(found.changes)) as bank:
            try:
                patiently(flow, bank)
                result = Result(True)
            except (AssertionError, LookupError, TypeError, ValueError, Refused, Unreadable) as error:
                result = Result(False, f"{type(error).__name__}: {error}"[:300])
            return Run({flow.__name__: result}, axes_met(bank.controls, bank.requests))

    space = space_of(AXES)
    verdict = judge(Runs(trial), space.only(space.axes.keys() - {*SLOW}), 1, 1)
    assert [f"{one.variant}: {one.result.failure}" for one in verdict.breaks] == []
    assert len(verdict.withstood) > 20
