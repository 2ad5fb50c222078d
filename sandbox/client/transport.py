"""How the client calls the bank: headers, signature, reply, and the repetition of an initiation whose reply was lost.

The problem: a reply may be lost after the bank has acted. A client that then pays again pays twice, and a client that
gives up does not know whether it has paid. The service's answer is the Request-ID. If the bank gets an initiation with
a Request-ID that it knows, it does nothing and sends its first reply again (choice 2). So the client sends an
initiation once more, with the same headers and bytes, if its reply was lost or cannot be read.

All other calls are sent once. A GET can be repeated by the caller of this client. A code or a refresh token is used up
by the first call. If the connection was never made, the bank has done nothing, and the error is raised.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from email.utils import format_datetime
from functools import lru_cache
from hashlib import sha256
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any, Self
from urllib.parse import quote, urlencode
from uuid import uuid4

import httpx

from sandbox.client.flows import Flow, new_flow
from sandbox.contract.operations import OPERATIONS

# A good TPP asks for the newest version of an operation (choice 3); a consent's and a token's depend on the scope.
VERSIONS = {row.name: row.versions[0] for row in OPERATIONS}
CONSENT_VERSIONS = {"AIS": 4, "CAF": 3}
TOKEN_VERSIONS = {"AIS": 3, "PIS": 3, "CAF": 2}

TIMEOUT = 30.0  # seconds
# The call was not sent, so the bank has done nothing and no reply was lost.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
ALGORITHM = "ES256"
ADDRESS = re.compile(r"https?://[^\s()]+")
Types = type[Any] | tuple[type[Any], ...]


@dataclass(frozen=True, slots=True)
class ClientReply:
    """A reply. Numbers with decimals are read as Decimal, because they are amounts of money."""

    status: int
    body: Any
    headers: Mapping[str, str]
    request_id: str | None = None
    asked: str = ""  # the method and the path

    @property
    def response_id(self) -> str | None:
        return self.headers.get("Response-ID")

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")


class Refused(Exception):
    """Raised if the server refused the call. `retry_after` is the time that the server asks the client to wait, or
    None. The client does not wait by itself."""

    def __init__(self, reply: ClientReply) -> None:
        self.reply = reply
        content = reply.body if isinstance(reply.body, dict) else {}
        self.status = reply.status
        self.error = str(content.get("error", ""))
        self.error_code = str(content.get("error_code", ""))
        self.error_description = str(content.get("error_description", ""))
        self.response_id = reply.response_id
        self.retry_after = reply.headers.get("Retry-After")
        super().__init__(
            f"{reply.asked}: {self.status} {self.error} {self.error_code} {self.error_description}".strip()
        )

    def says(self, *errors: str) -> bool:
        """Whether the reply's `error` is one of these words. Its code and description are not compared, because a bank
        may change them."""
        return self.error.upper() in errors

    @property
    def sca_address(self) -> str | None:
        """The address where the PSU must authenticate again (choice 4), without the state of a flow. It is the link of
        the reply. If there is no link and the error is SCA_REQUIRED, it is the address in the text of the error. None
        if there is neither."""
        in_text = ADDRESS.search(self.error_description) if self.says("SCA_REQUIRED") else None
        return sca_link(self.reply.body) or (in_text and in_text[0])


class Unreadable(Exception):
    """Raised for a reply that breaks the contract: it is not JSON, or a field is missing or has a wrong value."""

    def __init__(self, reply: ClientReply, why: str) -> None:
        self.reply = reply
        super().__init__(f"{reply.asked}: {reply.status}, {why}")


class NotJson(ValueError):
    """Raised for a body that is not JSON."""


def read_json(text: bytes) -> Any:
    """Returns the value of a JSON body, or None for an empty body. Raises NotJson if the body is not JSON."""
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError:
        raise NotJson("the body is not JSON") from None


def field(reply: ClientReply, name: str, kind: Types = str, within: Any = None) -> Any:
    """Returns a mandatory field of the reply. `within` is the object that has it, by default the body. Raises
    Unreadable if the field is missing or is not of the type `kind`."""
    place = reply.body if within is None else within
    value = place.get(name) if isinstance(place, dict) else None
    if not isinstance(value, kind):
        raise Unreadable(reply, f"{name} is missing or of another type")
    return value


def maybe(reply: ClientReply, name: str, kind: Types = str, within: Any = None) -> Any:
    """Returns an optional field of the reply, or None if it is missing. Raises Unreadable if it is not of the type
    `kind`."""
    place = reply.body if within is None else within
    return None if not isinstance(place, dict) or place.get(name) is None else field(reply, name, kind, place)


def demand_same(reply: ClientReply, name: str, expected: str | None) -> None:
    """Raises Unreadable if a field of the reply has another value than the call had. A missing field is accepted, and
    so is any value if `expected` is None."""
    value = maybe(reply, name)
    if value is not None and expected is not None and value != expected:
        raise Unreadable(reply, f"{name} is {value!r:.60}, and the call was about {expected!r:.60}")


def number(reply: ClientReply, name: str, within: Any = None) -> Decimal:
    """Returns a mandatory field of the reply as a number. Raises Unreadable if it is missing or no finite number."""
    text = str(field(reply, name, (int, Decimal, str), within))
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise Unreadable(reply, f"{name} is no number")
    return value


def sca_link(body: Any) -> str | None:
    """Returns the address where the PSU signs or authenticates, or None if the body has none."""
    for name in ("_links", "sca_redirect", "href"):
        body = body.get(name) if isinstance(body, dict) else None
    return body if isinstance(body, str) else None


@lru_cache(maxsize=2)
def tls_context(trust_env: bool) -> SSLContext:
    """Returns the TLS context that all connections share. It is cached, because loading the certificates of the
    authorities takes longer than a whole payment."""
    return httpx.create_ssl_context(trust_env=trust_env)


def context_for(url: str) -> SSLContext:
    """Returns the TLS context for an address. For an http address, which uses no TLS, loads no certificates."""
    return SSLContext(PROTOCOL_TLS_CLIENT) if url.startswith("http://") else tls_context(False)


class Connection:
    """An HTTP connection: the one that the caller gives, or a new one. `close` leaves the caller's connection open. A
    new connection ignores the proxy settings of the machine."""

    def __init__(self, http: httpx.Client | None, url: str) -> None:
        self._is_ours = http is None
        self.http = http or httpx.Client(timeout=TIMEOUT, trust_env=False, verify=context_for(url))

    def close(self) -> None:
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
    """Sends one request and returns the reply. Raises Refused if the status is not 2xx, and Unreadable if a reply with
    2xx has a body that is not JSON."""
    answer = http.request(method, url, headers=headers, params=query or None, content=content, follow_redirects=False)
    request_line = f"{method} {answer.request.url.raw_path.decode()}"

    def reply_with(body: Any) -> ClientReply:
        return ClientReply(answer.status_code, body, answer.headers, headers.get("Request-ID"), request_line)

    try:
        reply = reply_with(read_json(answer.content))
    except NotJson as error:
        reply = reply_with(None)
        if answer.is_success:
            raise Unreadable(reply, str(error)) from None
    if not answer.is_success:
        raise Refused(reply)
    return reply


@dataclass(frozen=True)
class Manual:
    """The bank's answers to the questions that the service leaves open, as a TPP reads them in the bank's manual. The
    defaults are those of the sandbox (contract/decisions)."""

    vendor: str = "service"
    scope_in: str = "query"  # or header
    caf_account: str = "iban"  # or account
    sca_token_request: str = "header"  # or query
    signature_over: str = "body"  # or attached, detached, headers

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Manual":
        """Returns the Manual for a world of the sandbox. `settings` is the reply of the control that lists the world's
        settings."""
        values = {"vendor": settings["vendor"], **settings["variants"]}
        return cls(**{row.name: values[row.name] for row in fields(cls) if row.name in values})


class Signer:
    """Signs initiations (service 5.8, choice 9). It makes a new key pair. The bank must get its public key, `public`,
    before it can check a signature.

    `now` returns the time for the header Date.
    """

    def __init__(self, now: Callable[[], datetime], key_id: str = "reference-client") -> None:
        from joserfc.jwk import ECKey  # imports cryptography, which a client without a signature does not need

        self._now = now
        self._key = ECKey.generate_key("P-256", {"kid": key_id})
        self._header = {"alg": ALGORITHM, "kid": key_id}

    @property
    def public(self) -> dict[str, Any]:
        """The public key, in the form in which it is registered at the bank."""
        return self._key.as_dict(private=False)

    def headers(self, content: bytes, over: str = "body", request_id: str = "") -> dict[str, str]:
        """Returns the headers Digest, Date and Signature. `over` is the field `signature_over` of the Manual.

        If it is `headers`, the signature is over the Request-ID, the Digest and the Date, else over the body. If it is
        `attached`, the header Signature contains the body too.
        """
        from joserfc import jws

        digest = f"SHA-256={b64encode(sha256(content).digest()).decode()}"
        date = format_datetime(self._now().astimezone(UTC), usegmt=True)
        lines = f"request-id: {request_id}\ndigest: {digest}\ndate: {date}".encode()
        whole = jws.serialize_compact(self._header, lines if over == "headers" else content, self._key)
        head, _, signature = whole.split(".")
        proof = whole if over == "attached" else f"{head}..{signature}"
        return {"Digest": digest, "Date": date, "Signature": proof}


@dataclass(frozen=True)
class HttpCaller:
    """Calls the bank for a client. It has the client's credentials, the bank's address and the connection."""

    http: httpx.Client
    base_url: str
    client_id: str
    secret: str
    redirect_uri: str
    language: str
    manual: Manual
    signer: Signer | None = None

    def flow(self, scope: str) -> Flow:
        """Returns a new flow, with a verifier and a state of its own."""
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
        """Makes a call with all its headers. With `replay`, makes the same call once more if its reply was lost or
        cannot be read, but not if no connection could be made."""
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

        def send_once() -> ClientReply:
            return send(self.http, method, f"{self.base_url}{path}", headers, query or {}, content)

        try:
            return send_once()
        except NEVER_SENT:
            raise
        except (httpx.TransportError, Unreadable):
            if not replay:
                raise
            return send_once()

    def ask_token(self, form: Mapping[str, str], version: int) -> ClientReply:
        """Calls POST /token, with Basic credentials and a form, and without Client-ID and language (service 4.8)."""
        credentials = b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        headers = {
            "Request-ID": str(uuid4()),
            "Accept": self.accept(version),
            "Authorization": f"Basic {credentials}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return send(self.http, "POST", f"{self.base_url}/token", headers, {}, form_of(form))


def segment(text: str) -> str:
    """Encodes a text as one segment of a path, also its `/`. The texts `.` and `..` are encoded too, because HTTP
    clients would shorten the path by them."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def form_of(fields: Mapping[str, str]) -> bytes:
    return urlencode(fields).encode()


def query_text(query: Mapping[str, Any]) -> dict[str, str]:
    """Returns the query parameters as texts. Leaves out those that are None."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def languages_of(text: str) -> tuple[str, ...]:
    """Returns the languages of an Accept-Language header without their regions. The language with the highest weight is
    the first (service 4.0)."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        tag, _, weight = part.partition(";")
        weights.setdefault(tag.strip().partition("-")[0].lower(), _weight(weight.strip().removeprefix("q=")))
    return tuple(sorted((tag for tag in weights if tag), key=lambda tag: -weights[tag]))


def _weight(text: str) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 0.0


def accept_language(text: str) -> str:
    """Returns the header Accept-Language. After a language with a region, such as `fr-BE`, adds the language alone
    (`fr`) with the same weight, unless the text already has it. A bank may know no regions."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    bare_languages = {part.partition(";")[0].lower() for part in parts}
    rows: list[str] = []
    for part in parts:
        tag, mark, weight = part.partition(";")
        bare = tag.partition("-")[0].lower()
        rows.append(part)
        if bare not in bare_languages:
            bare_languages.add(bare)
            rows.append(f"{bare}{mark}{weight}")
    return ", ".join(rows)
