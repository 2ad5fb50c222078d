"""A visit in a real browser: its page, what it asked for, and what it complained of."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.browser.watched import Watched
from tests.psu.psu import consent_address
from tests.tpp import SCT, Tpp, payment


@dataclass
class Visit(Watched):
    """The bank's own screens."""

    bank: str
    callback: str
    tpp: Tpp

    def address(self, language: str, **changes: Any) -> str:
        body = payment(SCT, **changes)
        reply = self.tpp.initiate(SCT, body, accept_language=language, redirect_uri=self.callback)
        return f"{self.bank}{urlsplit(reply.headers['Location']).path}?state=s-1"

    def consent(self, language: str, iban: str | None = None) -> str:
        path = consent_address(self.tpp, language, iban, redirect_uri=self.callback)
        return f"{self.bank}{path}?response_type=code&client_id=demo-tpp&state=s-1"

    def heading(self) -> str:
        return self.page.locator("h1").inner_text()

    def choose(self, name: str, place: int = 0) -> None:
        self.page.locator(f"input[name={name}]").nth(place).check()
        self.page.locator("button.primary").click()

    def log_in(self, customer: str) -> None:
        self.page.locator(f"input[value={customer}]").check()
        self.page.locator("button.primary").click()

    def type_code(self) -> None:
        """As the drawn card reader shows it."""
        self.page.fill("#code", self.page.locator("#shown").inner_text())
        self.page.locator("button.primary").click()

    def sign(self) -> dict[str, list[str]]:
        """From the review to the callback; the answer is its query."""
        self.page.locator("a.primary").click()
        self.type_code()
        return self.query()

    def query(self) -> dict[str, list[str]]:
        self.page.wait_for_url(f"{self.callback}*")
        return parse_qs(urlsplit(self.page.url).query)

    def demand_quiet(self) -> None:
        self.demand_nobody_but(f"{self.bank}/psu/", self.callback, "data:")
