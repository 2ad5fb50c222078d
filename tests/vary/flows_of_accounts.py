"""What the reference client does with consents, tokens and accounts at a bank that may differ."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from sandbox.client import AccountCopy, Refused, Tokens, TransactionInfo, code_from, returned
from sandbox.extensions.shop.bank_client import read_seconds
from sandbox.testing import BankFixture
from tests.vary.steps import (
    BUSY,
    approve,
    attempt,
    consent,
    day,
    demand_refusal,
    iban_of,
    logical_id,
    now,
    own_reference,
    pay,
    sign,
    status,
)

HOUR = 3600  # seconds
OVER = ("NO_ACTIVE_CONSENT", "FAILED_SECURITY_VALIDATION")


def looks_at_accounts(bank: BankFixture) -> None:
    """Balances and currencies of accounts of one and of several currencies."""
    for customer in ("alice", "bram", "atelier"):
        tokens = consent(bank, customer)
        for entry in bank.tpp.accounts(tokens):
            account = bank.tpp.account(entry.logical_id, tokens)
            assert (account.iban, account.currency) == (entry.iban, "EUR")
            assert account.multicurrency == bool(account.other_compartments)
            assert account.balance > 0 and all(part.balance > 0 for part in account.other_compartments)
            assert account.type


def reads(bank: BankFixture) -> None:
    """Each line once, with its sign, its currency and bare dates, however the bank cuts its pages."""
    tokens = consent(bank, "bram")
    place = logical_id(bank, tokens, iban_of(bank, "bram"))
    since = day(bank, -21)
    every = list(bank.tpp.all_transactions(place, tokens, date_from=since, currency="EUR"))
    assert len(every) > 10
    assert all(line.execution_date >= since.isoformat() and len(line.execution_date) == 10 for line in every)
    assert all(line.value_date is None or len(line.value_date) == 10 for line in every)
    assert {line.amount < 0 for line in every} == {True, False}
    whole = list(bank.tpp.all_transactions(place, tokens, date_from=since, currency="EUR", pagesize=len(every)))
    assert contents(whole) == contents(every) and len({line.transaction_ref for line in whole}) > 1
    small = bank.tpp.all_transactions(place, tokens, date_from=since, currency="EUR", pagesize=10, psu_involved=True)
    assert contents(list(small)) == contents(every)
    mixed = list(bank.tpp.all_transactions(place, tokens, date_from=since))
    assert contents([line for line in mixed if line.currency == "EUR"]) == contents(every)
    foreign = attempt(lambda: bank.tpp.transactions(place, tokens, date_from=since, currency="JPY"))
    assert isinstance(foreign, Refused) or foreign.transactions == ()


def contents(lines: list[TransactionInfo]) -> Counter[Any]:
    """How often each line occurs; a reference may be another one at each read, so it is not looked at."""
    return Counter(replace(line, transaction_ref="") for line in lines)


def keeps_a_copy(bank: BankFixture) -> None:
    """Each line is in the copy once, equal ones too, and a payment keeps its id from the order to the booking."""
    iban, tokens = iban_of(bank, "alice"), consent(bank)
    place, copy = logical_id(bank, tokens, iban), AccountCopy(day(bank, -20))
    copy.update(bank.tpp, place, tokens)
    total, balance, own = copy.total, booked_balance(bank, iban), own_reference(bank, "COFFEE")
    order = pay(bank, debtor_iban=iban, requested_execution_date=day(bank, 2), amount="17.17")
    approve(bank, order)
    for _ in "12":
        bank.book(iban, "-2.50", counterparty={"name": "Coffee bar"}, communication=own)
    bank.clock.advance("1m")
    copy.update(bank.tpp, place, tokens)
    assert copy.total - total == booked_balance(bank, iban) - balance
    known = [(line.info.counterparty_info, line.info.communication) for line in copy.booked]
    assert known.count(("Coffee bar", own)) == 2
    ids = {line.id: line.info.amount for line in copy.lines}
    bank.clock.advance("5d")
    tokens = bank.tpp.refresh(tokens)
    for _ in "12":
        copy.update(bank.tpp, place, tokens)
        assert copy.total - total == booked_balance(bank, iban) - balance
        kept = {line.id: line.info.amount for line in copy.booked}
        assert len(kept) == len(copy.lines) and kept.items() >= ids.items()
        ids = kept
        bank.clock.advance("1m")


def booked_balance(bank: BankFixture, iban: str) -> Decimal:
    """As the tester sees it."""
    balances = next(row for row in bank.accounts if row["iban"] == iban)["balances"]
    return next(Decimal(str(row["balance"])) for row in balances if row["currency"] == "EUR")


def reads_history(bank: BankFixture) -> None:
    """Pages of the last year: where the bank wants the customer for one, it says so, and the reading goes on there."""
    tokens = consent(bank)
    place = logical_id(bank, tokens, iban_of(bank, "alice"))
    old: dict[str, Any] = {"date_from": day(bank, -270), "date_to": day(bank, -120), "currency": "EUR"}
    silent = attempt(lambda: bank.tpp.transactions(place, tokens, with_sca=False, **old))
    assert isinstance(silent, Refused) or silent.transactions == ()
    if isinstance(silent, Refused) and silent.says("SCA_REQUIRED"):
        assert silent.sca_address is not None
    found, key, more = 0, None, True
    while more:
        page = partial(
            bank.tpp.transactions,
            place,
            tokens,
            psu_involved=True,
            pagesize=50,
            next_page_key=key,
            **old,
        )
        answer = attempt(page)
        if isinstance(answer, Refused):
            answer = authenticated(bank, tokens, answer, page)
        found, key = found + len(answer.transactions), answer.next_page_key
        more = key is not None
        bank.clock.advance("6m")
    assert found > 100


def authenticated(bank: BankFixture, tokens: Tokens, refused: Refused, page: Callable[[], Any]) -> Any:
    """The page again, after the customer was at the bank."""
    assert refused.says("SCA_REQUIRED"), refused
    again = bank.tpp.renewal(refused)
    assert returned(bank.psu.approve(again.address, customer="alice"), again.flow) is None
    return page()


def renews(bank: BankFixture) -> None:
    """After 91 days and after 191: what wants the customer leads to them, and without consent there is a new one."""
    tokens = consent(bank)
    assert 0 < tokens.expires_in <= HOUR
    for days in (91, 100):
        bank.clock.advance(f"{days}d")
        fresh = attempt(partial(bank.tpp.refresh, tokens))
        if isinstance(fresh, Refused):
            assert fresh.says(*OVER), fresh
            fresh = consent(bank)
        tokens = fresh
        place = logical_id(bank, tokens, iban_of(bank, "alice"))
        for read in (bank.tpp.account, bank.tpp.transactions):
            answer = attempt(partial(read, place, tokens))
            if isinstance(answer, Refused):
                authenticated(bank, tokens, answer, partial(read, place, tokens))


def consents_late(bank: BankFixture) -> None:
    """The address of a consent is over: a new one is asked for."""
    asked = bank.tpp.consent_addresses()
    bank.clock.advance("5m")
    callback = attempt(partial(bank.psu.approve, asked.address, customer="alice"))
    if isinstance(callback, Refused):
        asked = bank.tpp.consent_addresses()
        callback = bank.psu.approve(asked.address, customer="alice")
    assert bank.tpp.accounts(bank.tpp.tokens_from(callback, asked.flow))


def consents_again(bank: BankFixture) -> None:
    """A second consent for another account: what the newest tokens list is what may be read, by its IBAN."""
    ibans = [iban_of(bank, "bakkerij", place) for place in range(2)]
    first = consent(bank, "bakkerij", ibans[:1])
    before = logical_id(bank, first, ibans[0])
    second = consent(bank, "bakkerij", ibans[1:])
    attempt(partial(bank.tpp.accounts, first))
    listed = {entry.iban: entry.logical_id for entry in bank.tpp.accounts(second)}
    assert ibans[1] in listed
    if ibans[0] not in listed:
        demand_refusal(partial(bank.tpp.account, before, second))
        second = consent(bank, "bakkerij", ibans)
        listed = {entry.iban: entry.logical_id for entry in bank.tpp.accounts(second)}
    for iban in ibans:
        assert bank.tpp.account(listed[iban], second).iban == iban


def serves_two_customers(bank: BankFixture) -> None:
    """One customer's tokens may end when another comes: that one is asked again, and each reads their own."""
    for customer, other in (("alice", "bram"), ("bram", "alice")):
        tokens = consent(bank, customer)
        consent(bank, other)
        entries = attempt(partial(bank.tpp.accounts, tokens))
        if isinstance(entries, Refused):
            demand_refusal(partial(bank.tpp.refresh, tokens))
            entries = bank.tpp.accounts(consent(bank, customer))
        assert iban_of(bank, customer) in {entry.iban for entry in entries}


def exchanges_twice(bank: BankFixture) -> None:
    """A code is exchanged twice, or with another flow's verifier: where its tokens are lost, there is a new consent."""
    asked = bank.tpp.consent_addresses()
    code = code_from(bank.psu.approve(asked.address, customer="alice"), asked.flow)
    tokens = bank.tpp.exchange(code, asked.flow)
    demand_refusal(partial(bank.tpp.exchange, code, asked.flow))
    assert_reads_or_begins_again(bank, attempt(partial(bank.tpp.refresh, tokens)))
    asked = bank.tpp.consent_addresses()
    code = code_from(bank.psu.approve(asked.address, customer="alice"), asked.flow)
    wrong = replace(asked.flow, verifier=asked.flow.verifier[::-1])
    demand_refusal(partial(bank.tpp.exchange, code, wrong))
    assert_reads_or_begins_again(bank, attempt(partial(bank.tpp.exchange, code, asked.flow)))


def assert_reads_or_begins_again(bank: BankFixture, tokens: Tokens | Refused) -> None:
    if isinstance(tokens, Refused):
        assert tokens.status == 401
        tokens = consent(bank)
    assert bank.tpp.accounts(tokens)


def loses_access(bank: BankFixture) -> None:
    """Withdrawn, of another scope, of another client: none of that is tried again, and none is taken for another."""
    tokens = consent(bank)
    bank.psu.withdraw("demo-tpp", "alice")
    demand_refusal(partial(bank.tpp.accounts, tokens), *OVER)
    assert bank.tpp.accounts(consent(bank))
    payment = pay(bank)
    demand_refusal(partial(bank.tpp.accounts, sign(bank, payment)))
    stranger = bank.client("other-tpp", "other-secret")
    refused = demand_refusal(partial(stranger.status, payment))
    assert refused.status in (403, 404)


def confirms(bank: BankFixture) -> None:
    """The balance of one account, for a shop that wants to know whether funds are there."""
    iban = iban_of(bank, "bram")
    asked = attempt(partial(bank.tpp.consent_addresses, "CAF", iban=iban))
    if isinstance(asked, Refused):
        assert asked.says("INVALID_TPP"), asked
        bank.controls.call("PUT", "/clients/demo-tpp", {"roles": ["PIS", "AIS", "CAF"]})
        asked = bank.tpp.consent_addresses("CAF", iban=iban)
    tokens = bank.tpp.tokens_from(bank.psu.approve(asked.address, customer="bram"), asked.flow)
    tokens = bank.tpp.refresh(tokens)
    assert tokens.logical_id is not None
    account = bank.tpp.account(tokens.logical_id, tokens)
    assert account.iban == iban and account.balance > 0
    attempt(partial(bank.tpp.transactions, tokens.logical_id, tokens))


def asks_in_two_languages(bank: BankFixture) -> None:
    """The customer's page is in the language that they like best, and a refusal is known by its word."""
    tpp = bank.client(language="nl-BE, fr;q=0.5")
    asked = tpp.consent_addresses()
    assert asked.address == asked.addresses["nl"]
    tokens = tpp.tokens_from(bank.psu.approve(asked.address, customer="bram"), asked.flow)
    demand_refusal(partial(tpp.account, "nobody", tokens))
    refused = demand_refusal(partial(tpp.pay, creditor_iban="BE00", creditor_name="Jan", amount="1.00"))
    assert refused.says("INVALID_INPUT") and refused.error_description


def waits_as_asked(bank: BankFixture) -> None:
    """A bank that is busy is asked again when it says, or later; what is lost on its way at once."""
    payment = pay(bank)
    for _ in range(25):
        patient(bank, partial(status, bank, payment))
    reader = Reader(bank, "alice")
    for _ in range(6):
        patient(bank, reader.balance)
    bank.settings(requests_per_minute=4)
    bank.clock.advance("2m")
    other = bank.client("other-tpp", "other-secret")
    patient(bank, reader.renew)
    for _ in range(3):
        patient(bank, partial(status, bank, payment))
    demand_refusal(partial(patient, bank, partial(other.status, payment)))
    patient(bank, reader.read)


class Reader:
    """A customer's balance, with tokens that are renewed before each call, as one may come days after the other."""

    def __init__(self, bank: BankFixture, customer: str) -> None:
        self.bank, self.tokens = bank, consent(bank, customer)
        self.place = logical_id(bank, self.tokens, iban_of(bank, customer))

    def renew(self) -> None:
        self.tokens = self.bank.tpp.refresh(self.tokens)

    def read(self) -> Decimal:
        return self.bank.tpp.account(self.place, self.tokens).balance

    def balance(self) -> Decimal:
        self.renew()
        return self.read()


def patient(bank: BankFixture, call: Callable[[], object]) -> object:
    """The answer, after as many waits as it takes: as long as the bank says, else twice as long each time."""
    for tries in range(40):
        try:
            return call()
        except Refused as refused:
            if refused.status not in BUSY:
                raise
            if refused.status == 429:
                seconds = read_seconds(refused.retry_after, now(bank))
                bank.clock.advance(f"{seconds if refused.retry_after else min(seconds << tries, 86400)}s")
    raise AssertionError("the bank is busy for ever")
