"""What the reference client does at a bank that may differ: payments, accounts, standing orders, files, funds."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from sandbox.client import CallbackRefused, Initiation, NoCallback, Reference, Refused, Tokens, Unreadable, returned
from sandbox.contract.variants import AXES
from sandbox.files.samples import sample
from sandbox.testing import Bank, Start
from sandbox.testing.server import world_of
from sandbox.vary.axes import space_of
from sandbox.vary.meeting import axes_met
from sandbox.vary.runs import Result, Run, Runs, Trial
from sandbox.vary.space import Variant
from sandbox.vary.verdict import Verdict, judge

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
SCT = "sepa-credit-transfers"
BAD_FILE = "one-bad-bulk.pain.001.001.03.xml"
FILE = "three-bulks.pain.001.001.03.xml"
SIGNED = ("PDNG", "PNDG", "ACSP")
PAID = ("ACSC", "ACSP")
BUSY = (429, 502, 503, 504)
TRIES = 30
FAILURES = (AssertionError, LookupError, TypeError, ValueError, Refused, Unreadable)

Flow = Callable[[Bank], None]


def sign(bank: Bank, initiation: Initiation) -> Tokens:
    assert initiation.sca_address is not None
    callback = bank.psu.approve(initiation.sca_address, customer="alice")
    return bank.tpp.tokens_from(callback, initiation.flow)


def pays(bank: Bank) -> None:
    payment = bank.tpp.pay(**ORDER)
    tokens = sign(bank, payment)
    assert bank.tpp.status(payment).status in SIGNED
    bank.clock.advance("5d")
    assert bank.tpp.status(payment).status in PAID
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
    """Each line once, with its sign and bare dates, wherever the period reaches."""
    asked = {"date_from": "2027-01-04", "pagesize": 20, "currency": "EUR"}
    lines = list(bank.tpp.all_transactions(logical_id, tokens, **asked))
    assert len({line.transaction_ref for line in lines}) == len(lines) > 20
    assert all(line.execution_date >= "2027-01-04" for line in lines)
    assert all(
        len(day) == 10 for line in lines for day in (line.execution_date, line.value_date or line.execution_date)
    )
    assert {line.amount < 0 for line in lines} == {True, False}


def orders(bank: Bank) -> None:
    """A standing order, from its signature over its first execution to its end."""
    today = bank.clock.get().now.date()
    order = bank.tpp.pay_regularly(**ORDER, start_date=today + timedelta(1), frequency="WEEKLY")
    tokens = sign(bank, order)
    bank.clock.advance("8d")
    assert bank.tpp.status(order).status == "ACWP"
    tokens = bank.tpp.refresh(tokens)
    details = bank.tpp.details(order, tokens)
    assert Decimal(str(details["instructed_amount"]["amount"])) == Decimal("12.50")
    bank.tpp.cancel(order, tokens)
    assert bank.tpp.status(order).status == "CANC"


def sends(bank: Bank) -> None:
    """A file of three bulks, from its validation to the money."""
    own = f"MARCH-{len(bank.bulk_payments)}"
    sent = bank.tpp.send_file(sample(FILE, bank.clock.get().now.date(), own), reference=own)
    bank.tpp.status(sent)
    bank.clock.advance("10m")
    found = bank.tpp.status(sent)
    assert found.sca_address is not None
    sums = {row.payment_information_id: (row.number_of_transactions, row.control_sum) for row in found.bulks}
    assert sums["A-WAGES"] == (2, Decimal("4310.00"))
    bank.psu.approve(found.sca_address)
    bank.clock.advance("5d")
    done = bank.tpp.status(sent.external)
    assert {done.status, *(row.status for row in done.bulks)} <= set(PAID)


def confirms(bank: Bank) -> None:
    """The balance of one account, for a shop that wants to know whether funds are there."""
    (iban, *_) = next(row["accounts"] for row in bank.customers if row["customer"] == "bram")
    if bank.settings()["variants"].get("caf_role") == "own":
        bank.controls.call("PUT", "/clients/demo-tpp", {"roles": ["PIS", "AIS", "CAF"]})
    consent = bank.tpp.consent_addresses("CAF", iban=iban)
    tokens = bank.tpp.tokens_from(bank.psu.approve(consent.address, customer="bram"), consent.flow)
    tokens = bank.tpp.refresh(tokens)
    assert tokens.logical_id is not None
    account = bank.tpp.account(tokens.logical_id, tokens)
    assert account.iban == iban and account.balance > 0


def renews(bank: Bank) -> None:
    """Reads on after 91 days: what wants the customer leads to a second authentication, after which all is there."""
    consent = bank.tpp.consent_addresses()
    tokens = bank.tpp.tokens_from(bank.psu.approve(consent.address, customer="alice"), consent.flow)
    entry = bank.tpp.accounts(tokens)[0]
    bank.clock.advance("181d" if bank.settings()["variants"].get("sca_renewal_after") else "91d")
    fresh = attempt(lambda: bank.tpp.refresh(tokens))
    if isinstance(fresh, Refused):
        assert fresh.status in (401, 403)  # a consent of 90 days is over
        return
    needed = attempt(lambda: bank.tpp.transactions(entry.logical_id, fresh, currency="EUR"))
    assert isinstance(needed, Refused)
    again = bank.tpp.renewal(needed)
    assert returned(bank.psu.approve(again.address, customer="alice"), again.flow) is None
    assert bank.tpp.account(entry.logical_id, fresh).balance > 0
    bank.tpp.transactions(entry.logical_id, fresh, currency="EUR")


def errs(bank: Bank) -> None:
    """What goes wrong is a refusal that can be read, or a status; nothing else."""
    tpp, own = bank.tpp, f"OWN-{len(bank.requests)}"
    alice, *others = next(row["accounts"] for row in bank.customers if row["customer"] == "alice")
    demand_refusal(lambda: tpp.status(Reference(SCT, "nobody")))
    demand_refusal(lambda: tpp.pay(**ORDER | {"amount": "99999999.00"}, debtor_iban=alice))
    for debtor in (alice, *others):
        attempt(partial(tpp.pay, **ORDER | {"creditor_iban": alice}, debtor_iban=debtor))
    later = bank.clock.get().now.date() + timedelta(20)
    first = tpp.pay(**ORDER, endtoend_identification=own, requested_execution_date=later)
    attempt(lambda: tpp.pay(**ORDER, endtoend_identification=own, requested_execution_date=later))
    attempt(lambda: tpp.status(first.external))
    tokens = sign(bank, first)
    assert tpp.status(first).status in SIGNED
    demand_refusal(lambda: tpp.accounts(tokens))
    attempt(lambda: tpp.cancel(first, tokens))
    assert tpp.status(first).status == "CANC"
    attempt(lambda: tpp.cancel(first, tokens))
    unsigned = tpp.pay(**ORDER)
    assert unsigned.sca_address is not None
    with pytest.raises((CallbackRefused, NoCallback)):
        returned(bank.psu.refuse(unsigned.sca_address, customer="alice"), unsigned.flow)
    forgotten = tpp.pay(**ORDER)
    bank.clock.advance("61m")
    assert {tpp.status(one).status for one in (unsigned, forgotten)} == {"CANC"}
    faulty = tpp.send_file(sample(BAD_FILE, bank.clock.get().now.date(), own), reference=own)
    bank.clock.advance("10m")
    assert "RJCT" in {row.status for row in tpp.status(faulty).bulks}


def attempt(call: Callable[[], Any]) -> Any:
    """The reply, or the refusal; a bank that is busy is no refusal."""
    try:
        return call()
    except Refused as refused:
        if refused.status in BUSY or refused.status // 100 != 4 or not (refused.error and refused.error_code):
            raise
        return refused


def demand_refusal(call: Callable[[], Any]) -> None:
    assert isinstance(attempt(call), Refused)


FLOWS: Mapping[str, Flow] = {flow.__name__: flow for flow in (pays, reads, orders, sends, confirms, renews, errs)}


def patiently(flow: Flow, bank: Bank) -> None:
    """Where the bank is busy or a gateway answers, the customer begins again."""
    for _ in range(TRIES):
        try:
            return flow(bank)
        except Refused as refused:
            if refused.status not in BUSY:
                raise
            bank.clock.advance("61s")
    raise AssertionError("the bank is busy for ever")


def trial_of(server: Bank, flow: Flow) -> Trial:
    """Runs the flow in a world of its own for each variant."""

    def trial(found: Variant) -> Run:
        with world_of(server, f"{flow.__name__}-{found.name}", Start(), dict(found.changes)) as bank:
            try:
                patiently(flow, bank)
                result = Result(True)
            except FAILURES as error:
                result = Result(False, f"{type(error).__name__}: {error}"[:300])
            return Run({flow.__name__: result}, axes_met(bank.controls, bank.requests))

    return trial


def verdict_on(server: Bank, flow: Flow, strength: int, seed: int = 1) -> Verdict:
    return judge(Runs(trial_of(server, flow)), space_of(AXES), strength, seed)


def breaks_of(verdict: Verdict) -> list[str]:
    flaky = [f"flaky: {text}" for text in verdict.flaky.values()]
    return [f"{one.variant}: {one.result.failure}" for one in verdict.breaks] + flaky
