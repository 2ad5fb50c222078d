"""One redirection of a PSU to the bank and back: PKCE verifier, state and callback (service 5)."""

from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import parse_qsl, quote, urlsplit

ONCE = ("state", "code", "error")  # RFC 6749 3.1: no parameter occurs twice


class ForeignCallback(Exception):
    """Raised for a callback that does not belong to the flow, because its address or its state differs. Also raised if
    the callback repeats a parameter, or lacks the code that the caller needs."""


class CallbackRefused(Exception):
    """Raised for a callback by which the bank reports that the PSU or the bank refused."""

    def __init__(self, error: str, description: str) -> None:
        self.error = error
        self.description = description
        super().__init__(f"{error}: {description}" if description else error)


@dataclass(frozen=True, slots=True)
class Flow:
    """The verifier, state and callback address of one redirection. The TPP stores them until it has the token, and uses
    them once."""

    scope: str
    redirect_uri: str
    verifier: str = field(repr=False)
    state: str

    @property
    def challenge(self) -> str:
        """The PKCE challenge of the verifier, by the method S256 of RFC 7636."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def on(self, address: str) -> str:
        """Returns the bank's address with this flow's state added. The PSU is redirected to this address (service 5.3,
        choice 5)."""
        return f"{address}{'&' if urlsplit(address).query else '?'}state={quote(self.state, safe='')}"


def new_flow(scope: str, redirect_uri: str) -> Flow:
    return Flow(scope, redirect_uri, token_urlsafe(48), token_urlsafe(24))


def returned(callback: str, flow: Flow) -> str | None:
    """Returns the code in a callback, or None if it has none. An initiation that used an access token gets no code
    (service 6.1). Raises ForeignCallback if the callback does not belong to the flow or repeats a parameter of ONCE.
    Raises CallbackRefused if the callback reports a refusal."""
    address, mine = urlsplit(callback), urlsplit(flow.redirect_uri)
    pairs = parse_qsl(address.query, keep_blank_values=True)
    if address[:3] != mine[:3] or not set(parse_qsl(mine.query, keep_blank_values=True)) <= set(pairs):
        raise ForeignCallback("it is not at the redirect_uri")
    query = dict(pairs)
    twice = [name for name in ONCE if [key for key, _ in pairs].count(name) > 1]
    if twice:
        raise ForeignCallback(f"{twice[0]} stands in it twice")  # which one would count?
    if not compare_digest(query.get("state", "").encode(), flow.state.encode()):
        raise ForeignCallback("its state is not the one that was given")
    if "error" in query:
        raise CallbackRefused(query["error"], query.get("error_description", ""))
    return query.get("code")


def code_from(callback: str, flow: Flow) -> str:
    """Returns the code in a callback. Raises ForeignCallback if the callback has no code, does not belong to the flow,
    or repeats a parameter of ONCE. Raises CallbackRefused if the callback reports a refusal."""
    code = returned(callback, flow)
    if not code:
        raise ForeignCallback("it brings no code")
    return code
