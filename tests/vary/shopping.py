"""What a customer does in the demo shop, at a bank that may differ: buys, refuses, and looks at accounts."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from werkzeug.test import TestResponse

from sandbox.client import Manual, NoCallback, Signer
from sandbox.extensions.shop.accounts import RECENT
from sandbox.extensions.shop.app import create_app
from sandbox.extensions.shop.bank_client import BankClient
from sandbox.testing import BankFixture
from tests.shop.guest import HOME, Guest, seen
from tests.vary.steps import BRUSSELS

BUSY = (502, 503)
ACCESS_ENDED = 403
TRIES = 12
SAID = re.compile(r"Your bank says CANC(?: · ([A-Z]\S+))?")
COUNT = re.compile(r"Page 1 of \d+ · (\d+) transactions")


class Customer(Guest):
    """A guest who tries again in a minute where the shop says that the bank is busy, and comes back twice where the
    bank's page sends the browser twice."""

    def __init__(self, bank: BankFixture) -> None:
        def now() -> datetime:
            return bank.clock.get().now

        settings, signer = bank.settings(), None
        if settings["signatures"] == "strict":
            signer = Signer(now)
            bank.controls.call("PUT", "/clients/demo-tpp", {"keys": [signer.public]})
        line = BankClient(
            bank.base_url, "demo-tpp", "demo-secret", f"{HOME}/callback", now, lambda: now().timestamp(),
            Manual.of(settings), signer, bank.controls.http,
        )  # fmt: skip
        self.bank = bank
        super().__init__(create_app(line), bank.controls)

    def _kept(self, reply: TestResponse) -> TestResponse:
        assert reply.status_code < 500 or reply.status_code in BUSY, seen(reply)
        return super()._kept(reply)

    def sign(self, address: str, customer: str | None = "alice", **chosen: Any) -> TestResponse:
        asked = {"address": address, "customer": customer, **chosen}
        way = self.controls.call("POST", "/psu/approve", asked)
        if way.body["redirect"] is None:
            raise NoCallback(way, "the browser did not come back")
        first = self.come_back(way.body["redirect"])
        if way.body.get("times", 1) == 1 or first.status_code != 303:
            return first
        again = self.come_back(way.body["redirect"])
        assert (again.status_code, again.headers["Location"]) == (303, first.headers["Location"]), seen(again)
        return again

    def again(self, ask: Callable[[], TestResponse]) -> TestResponse:
        for _ in range(TRIES):
            reply = ask()
            if reply.status_code not in BUSY:
                return reply
            assert "Try again" in seen(reply) or "does not answer" in seen(reply), seen(reply)
            self.bank.clock.advance("61s")
        raise AssertionError(f"the bank is busy for ever: {seen(reply)}")

    def page(self, path: str) -> str:
        reply = self.again(lambda: self.get(path))
        assert reply.status_code in (200, ACCESS_ENDED), f"{path}: {reply.status_code} {seen(reply)}"
        return seen(reply)

    def waits_for(self, path: str, text: str, step: str = "12h") -> None:
        for _ in range(TRIES):
            if text in (page := self.page(path)):
                return
            self.bank.clock.advance(step)
        raise AssertionError(page)

    def goes(self, path: str, **fields: str) -> str:
        """A form that leads somewhere."""
        reply = self.again(lambda: self.post(path, **fields))
        assert reply.status_code == 303, f"{path}: {reply.status_code} {seen(reply)}"
        return reply.headers["Location"]

    def buys(self) -> tuple[str, str]:
        """The path of the order, and where to sign."""
        self.post("/basket", code="mug")
        address = self.goes("/orders")
        return self.orders()[0], address

    def connects(self, customer: str) -> None:
        """Begins again where the bank was busy as the customer came back."""
        for _ in range(TRIES):
            reply = self.sign(self.goes("/accounts/connect"), customer)
            if reply.status_code == 303:
                return
            assert reply.status_code in BUSY, seen(reply)
            self.bank.clock.advance("61s")
        raise AssertionError("no access is given for ever")


def buys(bank: BankFixture) -> None:
    customer = Customer(bank)
    path, address = customer.buys()
    assert "Waiting for your signature" in customer.page(path)
    customer.sign(address)
    assert "more signature" not in (page := customer.page(path))
    assert_thanks(bank, page)
    customer.waits_for(path, "The money is here")


def assert_thanks(bank: BankFixture, page: str) -> None:
    """The shop thanks the right person. Where a call failed, it thanks nobody."""
    calls = [row["status"] for row in bank.requests if row["operation"] in ("token", "payment_details")]
    if any(status >= 400 for status in calls):
        return
    alice = next(row for row in bank.customers if row["customer"] == "alice")
    assert f"Signed by {alice['name']}, from {grouped(alice['accounts'][0])}" in page, page


def grouped(iban: str) -> str:
    return " ".join(iban[place : place + 4] for place in range(0, len(iban), 4))


def refuses(bank: BankFixture) -> None:
    """Nothing is paid, and the shop says so; a second attempt is paid."""
    customer = Customer(bank)
    path, address = customer.buys()
    with suppress(NoCallback):
        customer.refuse(address)
    customer.waits_for(path, "Nothing was paid", "61s")
    said = SAID.search(customer.page(path))
    assert said is not None and said[1] in (None, "PSU_REFUSED", "DS02"), said
    customer.sign(customer.goes(f"{path}/pay"))
    customer.waits_for(path, "The money is here")
    forgotten, _ = customer.buys()
    customer.waits_for(forgotten, "Nothing was paid")


LINES: dict[tuple[int, date], int] = {}  # of each period, as the bank of today shows them: it is always run first


def shows_accounts(bank: BankFixture) -> None:
    """Each transaction once: of 90 days, of a year, and after 91 days with a second authentication."""
    customer, began = Customer(bank), bank.clock.get().now
    account = next(row for row in bank.accounts if row["customer"] == "bram")
    bank.book(account["iban"], "-21.40", counterparty={"name": "Jan Peeters"}, communication="Rent of May")
    customer.connects("bram")
    page = customer.page("/accounts")
    assert grouped(account["iban"]) in page
    others = [row for row in account["balances"] if row["currency"] != "EUR"]
    assert others and all(f"{row['currency']} {Decimal(row['balance']):,.2f}" in page for row in others), page
    assert_statement(customer, 90, began)
    today = began.astimezone(BRUSSELS)
    line = f"{today.day} {today:%b %Y} Jan Peeters Rent of May \N{MINUS SIGN}€ 21.40"
    assert line in (page := customer.page("/accounts/0")), page
    assert "USD" in customer.page("/accounts/0?currency=USD")
    assert_statement(customer, 365, began)
    for _ in "12":
        bank.clock.advance("1d")
        assert grouped(account["iban"]) in customer.page("/accounts")
    bank.clock.advance("91d")
    assert_statement(customer, 90, began)


def shows_balances(bank: BankFixture) -> None:
    customer = Customer(bank)
    accounts = [row for row in bank.accounts if row["customer"] == "alice"]
    customer.connects("alice")
    page = customer.page("/accounts")
    for account in accounts:
        (balance,) = account["balances"]
        assert f"{grouped(account['iban'])} € {Decimal(balance['balance']):,.2f}" in page, page


def assert_statement(customer: Customer, days: int, began: datetime) -> None:
    path = f"/accounts/0?days={days}"
    page = customer.page(path)
    if "wants to know that it is you" in page:
        address = customer.goes(f"/accounts/0/authenticate?days={days}")
        assert customer.sign(address, "bram").status_code == 303
        page = customer.page(path)
    if "Access has ended" in page:
        customer.connects("bram")
        page = customer.page(path)
    found = COUNT.search(page)
    if customer.bank.clock.get().now < began + RECENT:
        assert found is not None and int(found[1]) == LINES.setdefault((days, began.date()), int(found[1])) > 100, page
    else:
        assert "No transactions in this period" in page, page


JOURNEYS: Mapping[str, Callable[[BankFixture], None]] = {
    journey.__name__: journey for journey in (buys, refuses, shows_accounts, shows_balances)
}
