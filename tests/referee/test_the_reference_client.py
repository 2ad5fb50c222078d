"""The reference client through whole flows: nothing to find."""

from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest

from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import CallbackRefused, Client, Controls, code_from, returned
from tests.client.contract import ORDER
from tests.conftest import HERE


@pytest.fixture
def tpp(http: httpx.Client) -> Client:
    return Client(HERE, http=http)


@pytest.fixture
def controls(http: httpx.Client) -> Iterator[Controls]:
    """After every flow the referee is asked."""
    given = Controls(HERE, http)
    yield given
    assert given.call("GET", "/referee").body["findings"] == []


def owned(controls: Controls, customer: str) -> str:
    return next(str(row["accounts"][0]) for row in controls.listed("customers") if row["customer"] == customer)


def test_a_payment_and_the_next_one_with_its_tokens(tpp: Client, controls: Controls) -> None:
    payment = tpp.pay(**ORDER)
    assert payment.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(payment.sca_address, "alice"), payment.flow)
    controls.clock.advance("61s")
    assert tpp.status(payment).status == "ACSC"
    assert tpp.details(payment, tokens)["status"] == "ACSC"
    controls.clock.advance("61m")
    fresh = tpp.refresh(tokens)
    second = tpp.pay(token=fresh, **ORDER)
    assert second.sca_address is not None
    assert returned(controls.psu.approve(second.sca_address), second.flow) is None
    found = tpp.poll(
        second,
        lambda status: status.status == "ACSC",
        pause=lambda span: controls.clock.advance(timedelta(seconds=span)),
    )
    assert found.status == "ACSC"


def test_payments_that_are_refused_cancelled_and_timed_out(tpp: Client, controls: Controls) -> None:
    refused = tpp.pay(**ORDER)
    assert refused.sca_address is not None
    with pytest.raises(CallbackRefused):
        code_from(controls.psu.refuse(refused.sca_address), refused.flow)
    assert tpp.status(refused).status == "CANC"
    future = tpp.pay(**ORDER, requested_execution_date="2027-03-15")
    assert future.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(future.sca_address, "alice"), future.flow)
    assert tpp.status(future).status == "PDNG"
    tpp.cancel(future, tokens)
    late = tpp.pay(**ORDER)
    controls.clock.advance("61m")
    assert tpp.status(late).status == "CANC"


def test_a_standing_order(tpp: Client, controls: Controls) -> None:
    order = tpp.pay_regularly(**ORDER, start_date="2027-04-01", frequency="MONTHLY")
    assert order.sca_address is not None
    tokens = tpp.tokens_from(controls.psu.approve(order.sca_address, "alice"), order.flow)
    controls.clock.advance("2s")
    assert tpp.status(order).status == "ACWP"
    assert tpp.details(order.external, tokens)["frequency"] == "MONTHLY"
    tpp.cancel(order, tokens)
    assert tpp.status(order).status == "CANC"


@pytest.mark.parametrize("name", ["three-bulks.pain.001.001.09.xml", "three-bulks.csv"])
def test_a_file(tpp: Client, controls: Controls, name: str) -> None:
    content = fill_sample(name, controls.clock.get().now.date())
    sent = tpp.send_file(content, "csv" if name.endswith("csv") else "pain.001")
    assert tpp.status(sent).sca_address is None
    controls.clock.advance("120s")
    found = tpp.status(sent)
    assert found.sca_address is not None and found.flow is not None
    assert returned(controls.psu.approve(found.sca_address), found.flow) is None
    controls.clock.advance("1d")
    assert tpp.status(sent).status == "ACSC"


def test_a_consent_and_every_page(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses()
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, "alice"), consent.flow)
    entry = next(row for row in tpp.accounts(tokens) if row.iban == owned(controls, "alice"))
    tpp.account(entry.logical_id, tokens)
    assert len(list(tpp.all_transactions(entry.logical_id, tokens, date_from="2026-01-01", pagesize=50))) > 400
    controls.clock.advance("2h")
    tokens = tpp.refresh(tokens)
    assert list(tpp.all_transactions(entry.logical_id, tokens, date_from="2027-01-01"))


def test_a_consent_of_one_account(tpp: Client, controls: Controls) -> None:
    consent = tpp.consent_addresses("CAF", iban=owned(controls, "bram"))
    tokens = tpp.tokens_from(controls.psu.approve(consent.address, "bram"), consent.flow)
    assert tokens.logical_id is not None
    tpp.account(tokens.logical_id, tokens)
    controls.clock.advance("59m")
    tpp.account(tokens.logical_id, tpp.refresh(tokens))
