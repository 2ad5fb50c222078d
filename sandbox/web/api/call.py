"""A request on its way in, with what each check found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from flask import Request, Response

from sandbox.bank.grants import Grant
from sandbox.bank.initiations import RequestKey
from sandbox.bank.records import Origin, RegisteredClient
from sandbox.bank.state import Bank
from sandbox.contract.decisions import Decisions
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.operations import Operation
from sandbox.web.api.addresses import root_of
from sandbox.web.api.replies import ReplyContent, link
from sandbox.worlds.world import World

if TYPE_CHECKING:
    from sandbox.pki.trust import Trust


@cache
def environ_key(name: str) -> str:
    """Where WSGI keeps a header; names come from our own rows only, so they are few."""
    return "HTTP_" + name.upper().replace("-", "_")


@dataclass(slots=True)
class Call:
    """A request on its way in; each check adds what it found."""

    operation: Operation
    world: World
    request: Request
    path: dict[str, str]
    decisions: Decisions  # in force as it came in; what is read of them is noted
    trust: "Trust | None" = None  # whose certificates are believed
    environ: dict[str, Any] = field(init=False)
    request_id: str = ""
    version: int = 0
    language: str | None = None
    client: RegisteredClient = field(init=False)
    redirect_uri: str = ""
    challenge: tuple[str, str] | None = None
    grant: Grant | None = None  # what the token allows
    subject: str | None = None  # what it turned out to be about

    def __post_init__(self) -> None:
        self.environ = self.request.environ

    def header(self, name: str) -> str | None:
        value: str | None = self.environ.get(environ_key(name))
        return value

    def query(self, name: str) -> str | None:
        """A query parameter; the gate has seen that it is there once at the most."""
        return self.request.args.get(name) if self.environ.get("QUERY_STRING") else None

    def link(self, path: str) -> dict[str, Any]:
        """A link to a path of the bank: relative, or absolute as consent addresses are."""
        return link(path if self.decisions.href == "relative" else f"{root_of(self.request)}{path}")

    @property
    def product(self) -> str:
        return self.path["product"]

    @property
    def kind(self) -> InitiationKind:
        assert self.operation.kind is not None
        return self.operation.kind

    @property
    def token_grant(self) -> Grant:
        """What the token allows, of a call that needs one."""
        assert self.grant is not None
        return self.grant

    @property
    def origin(self) -> Origin:
        customer = None if self.grant is None else self.grant.customer
        return Origin(self.client.id, self.redirect_uri, self.language, self.challenge, customer)

    @property
    def ask(self) -> RequestKey:
        """This call by its Request-ID, with a print of all that makes it this call (choice 2)."""
        parts = (self.request.full_path, *map(self.environ.get, PRINTED))
        call_print = blake2b(repr(parts).encode(), digest_size=16)
        call_print.update(self.request.get_data())
        return RequestKey(self.client.id, self.request_id, call_print.digest())


PRINTED = (
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_REDIRECT_URI",
    "HTTP_AUTHORIZATION",
    "HTTP_CODE_CHALLENGE_METHOD",
    "HTTP_CODE_CHALLENGE",
    "HTTP_PAYMENTINFORMATIONID",
)

# What is replied, or what is done for it after the world was left: long work, and the change that a read needs.
Answer = Response | ReplyContent | Callable[[], "Answer"]
View = Callable[[Bank, Call], Answer]
