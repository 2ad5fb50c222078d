"""The table of lies, and a world that tells one of them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

import sandbox
from sandbox.bulkfiles.samples import fill_sample
from sandbox.client import Controls, ForeignCallback, Refused, Tokens
from sandbox.contract.operations import BY_NAME as OPERATIONS
from sandbox.extensions.vary.lie_filter import find_first_difference
from sandbox.extensions.vary.lies import CALLBACK, LIES
from sandbox.testing import BankFixture, Start
from sandbox.testing.start import world_of

ORDER: dict[str, Any] = {"creditor_iban": "BE68539007547034", "creditor_name": "Jan Peeters", "amount": "12.50"}
# What the flow below cannot meet: it has no refused payment, no CAF consent, and no line that is pending.
NOT_MET = {"refused_as_paid", "token_account", "pending_as_booked"}


@pytest.fixture(scope="module")
def server() -> Iterator[BankFixture]:
    with sandbox.running(at="now") as server:
        yield server


@pytest.fixture
def world(server: BankFixture) -> Iterator[BankFixture]:
    with world_of(server, "w", Start()) as bank:
        yield bank


def lying(bank: BankFixture, *lines: str) -> BankFixture:
    bank.settings(extensions=list(lines))
    return bank


def signed(bank: BankFixture, **more: Any) -> tuple[Any, Tokens]:
    payment = bank.tpp.pay(**ORDER, **more)
    assert payment.sca_address is not None
    return payment, bank.tpp.tokens_from(bank.psu.approve(payment.sca_address, customer="alice"), payment.flow)


def use_all(bank: BankFixture) -> None:
    """Calls every operation that a lie could be told in."""
    tpp, today = bank.tpp, bank.clock.get().now.date()
    payment, tokens = signed(bank, unstructured="Invoice 7", on=today)
    tpp.details(payment, tokens)
    tpp.status(payment)
    refused = tpp.pay(**ORDER)
    assert refused.sca_address is not None
    bank.psu.refuse(refused.sca_address, customer="alice")
    tpp.status(refused)
    bank.clock.advance("30m")
    tpp.refresh(tokens)
    bank.clock.advance("3h")
    tpp.status(payment)
    ends: dict[str, Any] = {
        "start_date": today + timedelta(1),
        "end_date": today + timedelta(200),
        "frequency": "MONTHLY",
    }
    order = tpp.pay_regularly(**ORDER, **ends)
    assert order.sca_address is not None
    tokens = tpp.tokens_from(bank.psu.approve(order.sca_address, customer="alice"), order.flow)
    tpp.details(order, tokens)
    tpp.status(order)
    tpp.cancel(order, tokens)
    tpp.status(order)
    for name in ("PAID", "STOPPED", "REFUSED"):
        day = today if name == "REFUSED" else bank.clock.get().now.date()
        file = tpp.send_file(fill_sample("three-bulks.pain.001.001.03.xml", day, name), reference=name)
        bank.clock.advance("10m")
        address = tpp.status(file).sca_address
        if name == "PAID":
            assert address is not None
            bank.psu.approve(address)
            bank.clock.advance("5d")
        elif name == "STOPPED":
            tpp.cancel(file)
        tpp.status(file)
    consent = tpp.consent_addresses()
    access = tpp.tokens_from(bank.psu.approve(consent.address, customer="bram"), consent.flow)
    entry = tpp.accounts(access)[0]
    tpp.account(entry.logical_id, access)
    list(tpp.pages(entry.logical_id, access, pagesize=2, date_from=today - timedelta(40)))


def test_each_row_has_a_name_of_its_own_a_clause_and_a_harm() -> None:
    assert len({lie.name for lie in LIES}) == len(LIES) >= 30
    for lie in LIES:
        assert set(lie.operations) <= {*OPERATIONS, CALLBACK} and lie.operations
        assert lie.clause.startswith(("service ", "choice ")) and lie.says.endswith(".") and lie.harm.endswith(".")


def test_a_bank_that_lists_its_lies_says_the_truth_and_names_what_each_would_change(world: BankFixture) -> None:
    use_all(lying(world, "lie: listed"))
    rows = world.controls.listed("lies")
    assert {lie.name for lie in LIES} - {row["lie"] for row in rows} == NOT_MET
    assert all(row["told"] != row["true"] for row in rows if row["lie"] != "line_reference")
    payment, tokens = signed(world)
    assert world.tpp.details(payment, tokens)["instructed_amount"]["amount"] == "12.50"


def test_a_lie_is_the_same_each_time_and_also_after_a_reset(server: BankFixture) -> None:
    controls = server.controls.make_world("liar", seed=1, extensions=["lie: details_amount"])
    bank = BankFixture(controls, "default")
    for _ in range(2):
        payment, tokens = signed(bank)
        assert [bank.tpp.details(payment, tokens)["instructed_amount"]["amount"] for _ in "ab"] == ["125.00"] * 2
        controls.reset()
    rows = controls.listed("lies")
    assert [(row["field"], row["told"], row["true"]) for row in rows] == [
        ("instructed_amount.amount", "125.00", "12.50")
    ] * 4
    assert rows[0]["call"].startswith("GET /payments/") and rows[0]["request_id"]
    server.controls.drop_world("liar")


def test_a_lie_at_the_callback_brings_the_state_of_the_flow_before(world: BankFixture) -> None:
    first, _ = signed(world)
    lying(world, "lie: callback_state")
    with pytest.raises(ForeignCallback):
        signed(world)
    (row,) = world.controls.listed("lies")
    assert row["field"] == "state" and row["told"] != row["true"]
    assert first.flow.state != row["true"]


def test_a_page_that_names_itself_is_read_twice_and_no_more(world: BankFixture) -> None:
    consent = world.tpp.consent_addresses()
    tokens = world.tpp.tokens_from(world.psu.approve(consent.address, customer="bram"), consent.flow)
    entry, since = world.tpp.accounts(tokens)[0], world.clock.get().now.date() - timedelta(40)

    def count() -> int:
        query = {"pagesize": 5, "date_from": since}
        return len(list(world.tpp.all_transactions(entry.logical_id, tokens, **query)))

    before = count()
    lying(world, "lie: page_repeats")
    assert before < count() <= 2 * before
    assert count() == before  # each page was repeated once


def test_a_reply_that_would_be_a_lie_fails_where_that_is_asked(world: BankFixture) -> None:
    payment, tokens = signed(world)
    lying(world, "lie: details_amount", "lie_as: failure")
    assert world.tpp.status(payment).status
    with pytest.raises(Refused) as refused:
        world.tpp.details(payment, tokens)
    assert refused.value.status == 500


def test_an_unknown_lie_is_refused_with_the_nearest_name(server: BankFixture) -> None:
    controls: Controls = server.controls
    with pytest.raises(Refused) as refused:
        controls.make_world("liar", extensions=["lie: details_amout"])
    assert refused.value.status == 400 and "details_amount" in str(refused.value)


@pytest.mark.parametrize(
    "true, told, expected",
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ("a.b[1]", 3, 2)),
        ({"a": [1, 2]}, {"a": [1]}, ("a", "1 entries", "2 entries")),
        ({"code": "secret-code"}, {"error": "no"}, ("code", "nothing", "secret...")),
        ({"a": "x"}, {"a": None}, ("a", None, "x")),
    ],
)
def test_the_first_difference_names_its_place(true: Any, told: Any, expected: Any) -> None:
    assert find_first_difference(true, told) == expected
