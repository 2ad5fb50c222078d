"""The class of a request to the bank's interface. The checks store in it the values that they read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from flask import Request, Response

from sandbox.bank.initiations import RequestKey
from sandbox.bank.records import Grant, Origin, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.operations import Operation
from sandbox.web.api.addresses import find_root
from sandbox.web.api.replies import ReplyContent, link
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust

# The headers that distinguish two calls with the same Request-ID (choice 2).
FINGERPRINTED = (
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_REDIRECT_URI",
    "HTTP_AUTHORIZATION",
    "HTTP_CODE_CHALLENGE_METHOD",
    "HTTP_CODE_CHALLENGE",
    "HTTP_PAYMENTINFORMATIONID",
)


@dataclass(slots=True)
class Call:
    """A request to the bank's interface. Each check stores here the values that it read, for the later checks and the
    view."""

    operation: Operation
    world: World
    request: Request
    path: dict[str, str]
    decisions: Decisions  # those in force when the call came in; each reading of an axis is noted
    trust: "Trust | None" = None  # whose certificates are trusted
    environ: dict[str, Any] = field(init=False)
    request_id: str = ""
    version: int = 0
    language: str | None = None
    client: RegisteredClient = field(init=False)
    redirect_uri: str = ""
    challenge: tuple[str, str] | None = None
    grant: Grant | None = None  # what the token allows
    subject: str | None = None  # the id of the payment, standing order or file that the call is about
    has_entered: bool = False  # whether the call entered the world, where the bank's checks run

    def __post_init__(self) -> None:
        self.environ = self.request.environ

    def read_header(self, name: str) -> str | None:
        value: str | None = self.environ.get("HTTP_" + name.upper().replace("-", "_"))
        return value

    def demand_header(self, name: str, clause: str | None = None) -> str:
        value = self.read_header(name)
        if value is None:
            raise Refusal(Error.HEADER_MISSING, input=name, clause=clause)
        return value

    def read_query(self, name: str) -> str | None:
        """Returns a query parameter, or None if it was not sent. A parameter that was sent twice does not reach this
        method, because `check_query` refuses it."""
        return self.request.args.get(name) if self.environ.get("QUERY_STRING") else None

    def link(self, path: str) -> dict[str, Any]:
        """Returns a link to a path of the bank. The axis `href` decides whether the link is relative or absolute."""
        return link(path if self.decisions.href == "relative" else f"{find_root(self.request)}{path}")

    @property
    def product(self) -> str:
        return self.path["product"]

    @property
    def kind(self) -> InitiationKind:
        assert self.operation.kind is not None
        return self.operation.kind

    @property
    def token_grant(self) -> Grant:
        """What the access token allows. Only for calls that require a token."""
        assert self.grant is not None
        return self.grant

    @property
    def origin(self) -> Origin:
        customer = None if self.grant is None else self.grant.customer
        return Origin(self.client.id, self.redirect_uri, self.language, self.challenge, customer)

    @property
    def request_key(self) -> RequestKey:
        """The client and the Request-ID, with a fingerprint of the request. Two calls with the same key are identical
        (choice 2)."""
        parts = (self.request.full_path, *map(self.environ.get, FINGERPRINTED))
        fingerprint = blake2b(repr(parts).encode(), digest_size=16)
        fingerprint.update(self.request.get_data())
        return RequestKey(self.client.id, self.request_id, fingerprint.digest())


# A reply, or a function that gives it once the world was left: long work, or the change that a read needs.
Answer = Response | ReplyContent | Callable[[], "Answer"]
View = Callable[[Bank, Call], Answer]
