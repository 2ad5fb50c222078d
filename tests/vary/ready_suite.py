"""The reference client and the demo shop as a suite for `pytest --bank-ready`: `make ready`."""

from collections.abc import Iterator, Mapping

import pytest

from sandbox.testing import BankFixture
from tests.vary.flows import FLOWS, IMPATIENT
from tests.vary.line import Way, bank_here
from tests.vary.shopping import JOURNEYS
from tests.vary.steps import patiently

CONTROLS_SAY = "the tester's controls say what became of it"
ON_PURPOSE = "this is what the flow tries"
UNASKED = "status-never-asked"
# What the referee finds in a flow, and why that is no mistake of the client.
WAIVED: Mapping[str, Mapping[str, str]] = {
    **{
        name: {UNASKED: CONTROLS_SAY}
        for name in ("loses_a_reply", "keeps_to_limits", "pays_from_any_account", "keeps_books", "pays_with_a_token",
                     "orders_by_the_month", "books_a_file", "keeps_a_copy")
    },
    **{
        name: {UNASKED: CONTROLS_SAY, "initiation-doubled": ON_PURPOSE}
        for name in ("begins_again", "finds_its_own", "sends_a_file_twice")
    },
    **{name: {"cancel-impossible": ON_PURPOSE} for name in ("cancels", "orders")},
    "rents": {UNASKED: CONTROLS_SAY, "consent-anew": "each look is one of another day"},
    "forgets_an_order": {"sca-opened-late": ON_PURPOSE},
    "sends_a_table": {"bulk-address-unused": "the flow is about the table, and nobody signs it"},
    "reads_history": {"history-without-sca": ON_PURPOSE},
    "consents_again": {"logical-id-stale": ON_PURPOSE, "token-replaced": ON_PURPOSE},
    "exchanges_twice": {
        "code-twice": ON_PURPOSE, "pkce-verifier-wrong": ON_PURPOSE, "consent-anew": "the tokens were lost",
    },
    "loses_access": {UNASKED: CONTROLS_SAY, "scope-wrong": ON_PURPOSE},
    "confirms": {"scope-wrong": ON_PURPOSE},
    "asks_in_two_languages": {"logical-id-stale": ON_PURPOSE},
    "waits_as_asked": {"status-too-fast": ON_PURPOSE, "token-refreshed-always": ON_PURPOSE},
}  # fmt: skip


@pytest.fixture(scope="session")
def line() -> Iterator[tuple[BankFixture, Way]]:
    with bank_here() as found:
        yield found


@pytest.fixture(scope="session")
def bank_server(line: tuple[BankFixture, Way]) -> BankFixture:
    return line[0]


@pytest.fixture
def way(line: tuple[BankFixture, Way]) -> Way:
    return line[1]


@pytest.mark.parametrize("name", FLOWS)
def test_client(bank: BankFixture, way: Way, name: str) -> None:
    use_client(bank, way, name)


@pytest.mark.parametrize("name", JOURNEYS)
def test_shop(bank: BankFixture, way: Way, name: str) -> None:
    use_shop(bank, way, name)


def use_client(bank: BankFixture, way: Way, name: str) -> None:
    way.patient = name not in IMPATIENT
    if rules := WAIVED.get(name):
        bank.settings(referee_waives=[f"{rule}: {reason}" for rule, reason in rules.items()])
    patiently(FLOWS[name], bank)


def use_shop(bank: BankFixture, way: Way, name: str) -> None:
    way.patient = False
    JOURNEYS[name](bank)
