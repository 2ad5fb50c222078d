"""A TPP that reads accounts in a test: from a consent address to tokens, and from page to page."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

from werkzeug.test import TestResponse

from tests.tpp import CALLBACK, VERIFIER, Tpp, version

AIS, CAF = "AIS", "CAF"
CONSENT_VERSIONS = {AIS: 4, CAF: 3}
TOKEN_VERSIONS = {AIS: 3, CAF: 2}

Form = Mapping[str, Any] | list[tuple[str, str]]


def consent_uris(tpp: Tpp, query: str = "scope=AIS", number: int = 4, **changes: str | None) -> TestResponse:
    return tpp.call("GET", f"/consent-uris?{query}", **{"accept": version(number), **changes})


def consent_address(tpp: Tpp, scope: str = AIS, iban: str | None = None, **changes: str | None) -> str:
    """One address to consent at, in French."""
    asked = {"scope": scope} if iban is None else {"scope": scope, "iban": iban}
    reply = consent_uris(tpp, urlencode(asked), CONSENT_VERSIONS[scope], **changes)
    assert reply.status_code == 200, reply.text
    return str(reply.get_json()[0]["consent_uri"])


def approve(tpp: Tpp, address: str, customer: str | None = None, **chosen: Any) -> TestResponse:
    if customer is not None:
        chosen["customer"] = customer
    return tpp.control("POST", "/psu/approve", address=address, **chosen)


def approved(tpp: Tpp, address: str, customer: str | None = None, **chosen: Any) -> str:
    """The callback after a yes."""
    reply = approve(tpp, address, customer, **chosen)
    assert reply.status_code == 200, reply.text
    return str(reply.get_json()["redirect"])


def code_of(callback: str) -> str:
    return dict(parse_qsl(urlsplit(callback).query))["code"]


def consented(tpp: Tpp, customer: str = "alice", scope: str = AIS, iban: str | None = None, **chosen: Any) -> str:
    """The code of a consent."""
    return code_of(approved(tpp, consent_address(tpp, scope, iban), customer, **chosen))


def post_token(
    tpp: Tpp,
    form: Form,
    number: int = 3,
    credentials: tuple[str, str] | None = None,
    **changes: str | None,
) -> TestResponse:
    sent: dict[str, str | None] = {"Request-ID": str(uuid4()), "Accept": version(number)}
    sent |= {name.replace("_", "-").title(): value for name, value in changes.items()}
    given = {name: value for name, value in sent.items() if value is not None}
    own = (tpp.client_id, f"{tpp.client_id.removesuffix('-tpp')}-secret")
    content = urlencode(form) if isinstance(form, list) else form
    more = {"content_type": "application/x-www-form-urlencoded"} if isinstance(form, list) else {}
    if "Authorization" in changes or "authorization" in changes:
        return tpp.http.post(f"{tpp.prefix}/token", data=content, headers=given, **more)
    return tpp.http.post(f"{tpp.prefix}/token", data=content, headers=given, auth=credentials or own, **more)


def code_form(code: str, **changes: str | None) -> dict[str, str]:
    """A good form for a code; a change of None takes a field away."""
    form: dict[str, str | None] = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        **changes,
    }
    return {name: value for name, value in form.items() if value is not None}


def refresh_form(token: str, **changes: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": token, **changes}


class Reader:
    """A TPP with the tokens of one consent."""

    def __init__(
        self, tpp: Tpp, customer: str = "alice", scope: str = AIS, iban: str | None = None, **chosen: Any
    ) -> None:
        self.tpp, self.customer, self.scope = tpp, customer, scope
        reply = post_token(tpp, code_form(consented(tpp, customer, scope, iban, **chosen)), TOKEN_VERSIONS[scope])
        assert reply.status_code == 200, reply.text
        self.take(reply.get_json())
        self.sca: str = reply.get_json()["sca_token"]
        self.logical_id: str | None = reply.get_json().get("logical_id")

    def take(self, tokens: Mapping[str, Any]) -> None:
        self.access, self.refresh = str(tokens["access_token"]), str(tokens["refresh_token"])

    def renew(self) -> None:
        """A new pair, as a TPP does every hour."""
        reply = post_token(self.tpp, refresh_form(self.refresh), TOKEN_VERSIONS[self.scope])
        assert reply.status_code == 200, reply.text
        self.take(reply.get_json())

    def get(self, path: str, **changes: str | None) -> TestResponse:
        asked = {"accept": version(2), "authorization": f"Bearer {self.access}", **changes}
        return self.tpp.call("GET", path, **asked)

    def listed(self, **changes: str | None) -> TestResponse:
        return self.get("/accounts", **changes)

    @property
    def ids(self) -> dict[str, str]:
        """Logical ids by IBAN."""
        return {row["iban"]: row["logical_id"] for row in self.listed().get_json()["_embedded"]["accounts"]}

    @property
    def first(self) -> str:
        """The logical id of the customer's first account."""
        return self.logical_id or self.ids[self.tpp.iban_of(self.customer)]

    def account(self, logical_id: str | None = None, **changes: str | None) -> TestResponse:
        return self.get(f"/accounts/{logical_id or self.first}", **changes)

    def transactions(self, logical_id: str | None = None, query: Any = (), **changes: str | None) -> TestResponse:
        asked = urlencode(query)
        path = f"/accounts/{logical_id or self.first}/transactions"
        return self.get(f"{path}?{asked}" if asked else path, **changes)

    def page(self, logical_id: str | None = None, query: Any = (), **changes: str | None) -> dict[str, Any]:
        """What is embedded in a page that was given."""
        reply = self.transactions(logical_id, query, **changes)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.get_json()["_embedded"]
        return found

    def full(self, logical_id: str | None = None, **query: Any) -> list[dict[str, Any]]:
        """Every line of the full history, by as many calls as it takes."""
        pages = self.walk(logical_id, sca_token=self.sca, **query)
        return [row for page in pages for row in page]

    def walk(
        self, logical_id: str | None = None, between: Any = None, sca_token: str | None = None, **query: Any
    ) -> list[list[dict[str, Any]]]:
        """Pages from first to last, each after the first by its key alone; `between` happens in between."""
        aim, pages = logical_id or self.first, []
        asked: dict[str, Any] = query
        while True:
            found = self.page(aim, asked, sca_token=sca_token)
            pages.append(found["transactions"])
            if "next_page_key" not in found:
                return pages
            asked = {"next": found["next_page_key"]}
            if between is not None:
                between()


def book(tpp: Tpp, iban: str, amount: str = "1.00", **more: Any) -> dict[str, Any]:
    """A transaction made by hand (choice 10)."""
    reply = tpp.control("POST", f"/accounts/{iban}/transactions", amount=amount, **more)
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = reply.get_json()
    return found


def refs(rows: list[dict[str, Any]]) -> list[str]:
    return [row["transaction_ref"] for row in rows]


def embedded(reply: TestResponse) -> list[dict[str, Any]]:
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.get_json()["_embedded"]["transactions"]
    return found
