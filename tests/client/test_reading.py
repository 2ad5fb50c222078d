"""Consent, tokens and account information (service 4.7 to 4.10; choice 3, 8)."""

from base64 import b64encode
from datetime import date
from decimal import Decimal
from urllib.parse import parse_qs, parse_qsl

import httpx
import pytest

from sandbox.client import Client, ClientReply, Tokens, Unreadable
from tests.client.contract import BANK, PAIR, Bank, answer

TOKENS = Tokens("access-1", "refresh-1", 3600, "AIS", ClientReply(200, None, {}), sca_token="sca-1")
FRENCH, DUTCH = ({"language": tongue, "consent_uri": f"{BANK}/psu/consent/{tongue}"} for tongue in ("fr", "nl"))


def item(ref: str) -> dict[str, object]:
    return {"transaction_ref": ref, "amount": -12.5, "currency": "EUR", "execution_date": "2027-03-01", "new": 1}


def listed(*refs: str, following: str | None = None) -> dict[str, object]:
    embedded: dict[str, object] = {"transactions": [item(ref) for ref in refs]}
    return {"_embedded": embedded | ({} if following is None else {"next_page_key": following})}


@pytest.mark.parametrize(
    "scope, iban, version, query",
    [("AIS", None, "4", "scope=AIS"), ("CAF", "BE1", "3", "scope=CAF&iban=BE1")],
)
def test_each_scope_has_its_version_of_consent(
    bank: Bank, scope: str, iban: str | None, version: str, query: str
) -> None:
    consent = bank.says(answer(200, [FRENCH])).client.consent_addresses(scope, iban)
    assert bank.path == f"/consent-uris?{query}"
    assert bank.last.headers["Accept"].endswith(f"version={version}")
    assert bank.last.headers["Code-Challenge"] == consent.flow.challenge
    assert consent.address == f"{BANK}/psu/consent/fr?state={consent.flow.state}"


def test_of_two_consent_addresses_the_clients_language_is_taken(bank: Bank) -> None:
    assert "/consent/fr?" in bank.says(answer(200, [DUTCH, FRENCH])).client.consent_addresses().address
    assert "/consent/nl?" in bank.says(answer(200, [DUTCH])).client.consent_addresses().address


@pytest.mark.parametrize(
    "language, header, place",
    [
        ("nl-BE, fr;q=0.5", "nl-BE, nl, fr;q=0.5", "nl"),
        ("nl;q=0.4,fr-BE;q=0.6", "nl;q=0.4, fr-BE;q=0.6, fr;q=0.6", "fr"),
        ("de, nl, nl-NL", "de, nl, nl-NL", "nl"),
        ("en", "en", "nl"),
        ("fr;q=much, nl; q=0.1", "fr;q=much, nl; q=0.1", "nl"),
    ],
)
def test_the_language_that_is_liked_best_is_taken_and_a_region_does_not_stand_alone(
    language: str, header: str, place: str
) -> None:
    asked: list[httpx.Request] = []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(200, [DUTCH, FRENCH])

    client = Client(BANK, language=language, http=httpx.Client(transport=httpx.MockTransport(serve)))
    assert f"/consent/{place}?" in client.consent_addresses().address
    assert asked[0].headers["Accept-Language"] == header


@pytest.mark.parametrize("body", [[], {}, [{"language": "fr"}]])
def test_consent_without_an_address_breaks_the_contract(bank: Bank, body: object) -> None:
    with pytest.raises(Unreadable):
        bank.says(answer(200, body)).client.consent_addresses()


@pytest.mark.parametrize("scope, version", [("AIS", "3"), ("PIS", "3"), ("CAF", "2")])
def test_a_code_is_exchanged_with_basic_credentials_and_a_form(bank: Bank, scope: str, version: str) -> None:
    flow = bank.client.caller.flow(scope)
    bank.says(answer(200, PAIR | {"scope": scope})).client.exchange("c&1", flow)
    sent = bank.last.headers
    assert bank.path == "/token"
    assert sent["Authorization"] == f"Basic {b64encode(b'demo-tpp:demo-secret').decode()}"
    assert sent["Content-Type"] == "application/x-www-form-urlencoded"
    assert sent["Accept"].endswith(f"version={version}")
    assert {"Client-ID", "Accept-Language", "Transfer-Encoding"}.isdisjoint(sent)
    assert dict(parse_qsl(bank.last.content.decode())) == {
        "grant_type": "authorization_code",
        "code": "c&1",
        "redirect_uri": flow.redirect_uri,
        "code_verifier": flow.verifier,
    }


def test_tokens_are_refreshed_and_the_sca_token_stays(bank: Bank) -> None:
    pair = {name: value for name, value in PAIR.items() if name != "sca_token"} | {"access_token": "access-2"}
    fresh = bank.says(answer(200, pair)).client.refresh(TOKENS)
    assert parse_qs(bank.last.content.decode()) == {"grant_type": ["refresh_token"], "refresh_token": ["refresh-1"]}
    assert (fresh.access, fresh.sca_token) == ("access-2", "sca-1")


def test_tokens_are_not_shown() -> None:
    assert "access-1" not in repr(TOKENS) and "sca-1" not in repr(TOKENS) and "refresh-1" not in repr(TOKENS)


def test_another_type_of_token_is_not_taken(bank: Bank) -> None:
    with pytest.raises(Unreadable, match="token_type"):
        bank.says(answer(200, PAIR | {"token_type": "mac"})).client.exchange("c", bank.client.caller.flow("AIS"))


def test_accounts_of_a_consent(bank: Bank) -> None:
    entry = {"iban": "BE1", "logical_id": "l/1", "currency": "EUR", "_links": {}}
    (found,) = bank.says(answer(200, {"_embedded": {"accounts": [entry]}})).client.accounts(TOKENS)
    assert (found.iban, found.logical_id, found.currency) == ("BE1", "l/1", "EUR")
    assert bank.last.headers["Authorization"] == "Bearer access-1"


def test_an_account_with_its_compartments(bank: Bank) -> None:
    body = {
        "type": "current-account",
        "iban": "BE1",
        "currency": "EUR",
        "balance": 10.20,
        "multicurrency": True,
        "other_compartments": [{"currency": "USD", "balance": 3}],
    }
    account = bank.says(answer(200, body)).client.account("l/1", TOKENS)
    assert bank.path == "/accounts/l%2F1"
    assert (account.balance, account.multicurrency) == (Decimal("10.2"), True)
    assert [(part.currency, part.balance) for part in account.other_compartments] == [("USD", Decimal(3))]


def test_a_page_is_asked_for_as_the_contract_writes_it(bank: Bank) -> None:
    page = bank.says(answer(200, listed("t-1"))).client.transactions(
        "l-1", TOKENS, date_from=date(2027, 1, 1), date_to="2027-02-01", psu_involved=True, pagesize=5, currency="USD"
    )
    query = "date_from=2027-01-01&date_to=2027-02-01&psu_involved=true&pagesize=5&currency=USD"
    assert bank.path == f"/accounts/l-1/transactions?{query}"
    assert bank.last.headers["SCA-Token"] == "sca-1"
    assert (page.transactions[0].amount, page.transactions[0].communication) == (Decimal("-12.5"), None)
    assert page.next_page_key is None


def test_the_sca_token_may_stay_at_home(bank: Bank) -> None:
    bank.says(answer(200, listed())).client.transactions("l-1", TOKENS, with_sca=False)
    assert "SCA-Token" not in bank.last.headers


def test_pages_are_walked_by_their_keys(bank: Bank) -> None:
    bank.says(
        answer(200, listed("a", "b", following="k 1")), answer(200, listed("c", following="k2")), answer(200, listed())
    )
    found = bank.client.all_transactions("l-1", TOKENS, pagesize=2)
    assert [transaction.transaction_ref for transaction in found] == ["a", "b", "c"]
    queries = [dict(parse_qsl(request.url.query.decode())) for request in bank.asked]
    assert queries == [{"pagesize": "2"}, {"pagesize": "2", "next": "k 1"}, {"pagesize": "2", "next": "k2"}]


def test_the_iterator_asks_for_no_page_before_its_turn(bank: Bank) -> None:
    found = bank.says(answer(200, listed("a", following="k"))).client.all_transactions("l-1", TOKENS)
    assert next(found).transaction_ref == "a"
    assert len(bank.asked) == 1


def test_a_client_closes_the_line_that_it_opened_and_no_other(bank: Bank) -> None:
    with Client(BANK) as own:
        line = own.caller.http
    assert line.is_closed
    bank.client.close()
    assert not bank.client.caller.http.is_closed


def test_a_token_of_another_scope_breaks_the_contract(bank: Bank) -> None:
    bank.says(answer(200, PAIR | {"scope": "AIS"}), answer(200, PAIR | {"scope": "PIS"}))
    with pytest.raises(Unreadable, match="scope is 'AIS', and the call was about 'PIS'"):
        bank.client.exchange("code", bank.client.caller.flow("PIS"))
    with pytest.raises(Unreadable, match="scope is 'PIS'"):
        bank.client.refresh(TOKENS)
