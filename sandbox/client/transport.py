"""One call of the bank's interface: headers, reply, and the replay of a lost initiation."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any, Self
from urllib.parse import quote, urlencode
from uuid import uuid4

import httpx

from sandbox.client.flows import Flow, new_flow
from sandbox.client.reply import ClientReply, NotJson, Refused, Unreadable, read_json
from sandbox.client.signing import Signer
from sandbox.contract.operations import OPERATIONS

# A good TPP asks for the newest version of an operation (choice 3); a consent's and a token's go by the scope.
VERSIONS = {row.name: row.versions[0] for row in OPERATIONS}
CONSENT_VERSIONS = {"AIS": 4, "CAF": 3}
TOKEN_VERSIONS = {"AIS": 3, "PIS": 3, "CAF": 2}

TIMEOUT = 30.0
# The call never left: nothing can have happened there, so there is no reply to have again.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@lru_cache(maxsize=2)
def tls_context(trust_env: bool) -> SSLContext:
    """Reading the authorities takes longer than a whole story, so connections share them."""
    return httpx.create_ssl_context(trust_env=trust_env)


def context_for(url: str) -> SSLContext:
    """For an address without TLS no authorities are read, so that none is trusted there."""
    return SSLContext(PROTOCOL_TLS_CLIENT) if url.startswith("http://") else tls_context(False)


class Connection:
    """A connection. A given one stays open in the end; a new one is closed, and uses no proxy of the machine."""

    def __init__(self, http: httpx.Client | None, url: str) -> None:
        self._is_ours = http is None
        self.http = http or httpx.Client(timeout=TIMEOUT, trust_env=False, verify=context_for(url))

    def close(self) -> None:
        """Ends the connection, unless it was given from outside."""
        if self._is_ours:
            self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def send(
    http: httpx.Client,
    method: str,
    url: str,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    content: bytes | None,
) -> ClientReply:
    """Sends one request; raises Refused or Unreadable."""
    answer = http.request(method, url, headers=headers, params=query or None, content=content, follow_redirects=False)
    asked = f"{method} {answer.request.url.raw_path.decode()}"
    bare = ClientReply(answer.status_code, None, answer.headers, headers.get("Request-ID"), asked)
    try:
        body = read_json(answer.content)
    except NotJson as error:
        if answer.is_success:
            raise Unreadable(bare, str(error)) from None
        raise Refused(bare) from None
    reply = ClientReply(bare.status, body, bare.headers, bare.request_id, asked)
    if not answer.is_success:
        raise Refused(reply)
    return reply


@dataclass(frozen=True)
class Manual:
    """What a bank's manual says where the service does not; the defaults are this bank's (contract/decisions)."""

    vendor: str = "service"
    scope_in: str = "query"  # or header
    caf_account: str = "iban"  # or account
    sca_token_request: str = "header"  # or query
    signature_over: str = "body"  # or attached, detached, headers

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Manual":
        """The manual of a world, by its settings as the controls give them."""
        decided = {"vendor": settings["vendor"], **settings["variants"]}
        return cls(**{row.name: decided[row.name] for row in fields(cls) if row.name in decided})


@dataclass(frozen=True)
class HttpCaller:
    """A client's credentials, the bank's address, and the connection."""

    http: httpx.Client
    base_url: str
    client_id: str
    secret: str
    redirect_uri: str
    language: str
    manual: Manual
    signer: Signer | None = None

    def flow(self, scope: str) -> Flow:
        """A fresh verifier and a fresh state."""
        return new_flow(scope, self.redirect_uri)

    def accept(self, version: int) -> str:
        return f"application/vnd.{self.manual.vendor}.api+json; version={version}"

    def call(
        self,
        method: str,
        path: str,
        version: int,
        *,
        token: str | None = None,
        flow: Flow | None = None,
        query: Mapping[str, str] | None = None,
        content: bytes | None = None,
        extra: Mapping[str, str] | None = None,
        replay: bool = False,
    ) -> ClientReply:
        """A call with all its headers; with `replay` the identical call is made once more after a lost reply."""
        headers = {
            "Request-ID": str(uuid4()),
            "Accept": self.accept(version),
            "Accept-Language": accept_language(self.language),
            "Client-ID": self.client_id,
            "Redirect-URI": self.redirect_uri if flow is None else flow.redirect_uri,
        }
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        elif flow is not None:  # service 4.1: ignored beside a token
            headers |= {"Code-Challenge-Method": "S256", "Code-Challenge": flow.challenge}
        if self.signer is not None and method == "POST":
            headers |= self.signer.headers(content or b"", self.manual.signature_over, headers["Request-ID"])
        headers |= extra or {}

        def once() -> ClientReply:
            return send(self.http, method, f"{self.base_url}{path}", headers, query or {}, content)

        try:
            return once()
        except NEVER_SENT:
            raise
        except (httpx.TransportError, Unreadable):
            if not replay:
                raise
            return once()

    def ask_token(self, form: Mapping[str, str], version: int) -> ClientReply:
        """POST /token: Basic credentials and a form, neither Client-ID nor language (service 4.8)."""
        credentials = b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        headers = {
            "Request-ID": str(uuid4()),
            "Accept": self.accept(version),
            "Authorization": f"Basic {credentials}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return send(self.http, "POST", f"{self.base_url}/token", headers, {}, form_of(form))


def segment(text: str) -> str:
    """One segment of a path: `/` is encoded, and so are the dots of `.` and `..`, which would shorten the path."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def form_of(fields: Mapping[str, str]) -> bytes:
    return urlencode(fields).encode()


def query_text(query: Mapping[str, Any]) -> dict[str, str]:
    """Query parameters as text; those that are None are left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def languages_of(text: str) -> tuple[str, ...]:
    """The languages of an Accept-Language without their regions, by weight, highest first (service 4.0)."""
    found: dict[str, float] = {}
    for part in text.split(","):
        tag, _, weight = part.partition(";")
        found.setdefault(tag.strip().partition("-")[0].lower(), _weight(weight.strip().removeprefix("q=")))
    return tuple(sorted((tag for tag in found if tag), key=lambda tag: -found[tag]))


def accept_language(text: str) -> str:
    """The header. Behind a language with a region stands the language, as a bank may know no regions."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    named = {part.partition(";")[0].lower() for part in parts}
    rows: list[str] = []
    for part in parts:
        tag, mark, weight = part.partition(";")
        bare = tag.partition("-")[0].lower()
        rows.append(part)
        if bare not in named:
            named.add(bare)
            rows.append(f"{bare}{mark}{weight}")
    return ", ".join(rows)


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0
