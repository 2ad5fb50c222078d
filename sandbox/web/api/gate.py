"""The gate: what every call must bring, checked in an order that callers can notice (choice 2)."""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import lru_cache, partial

from sandbox.bank import tokens
from sandbox.bank.initiations import demand_fresh, first_answer
from sandbox.bank.state import Bank
from sandbox.banking import pkce
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.names import URI_MAX
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import BY_NAME, OPERATIONS, Authorization, Operation
from sandbox.contract.products import PRODUCTS
from sandbox.web.api import addresses, headers
from sandbox.web.api.body_schemas import invalid
from sandbox.web.api.call import Call
from sandbox.worlds.counts import Read
from sandbox.worlds.world import World

UUID_4 = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\Z")
REDIRECT_URI_LISTED = ("bulk_status", "accounts", "account", "transactions")  # among their headers (service 4.6, 4.9)
# Query inputs by a name that an axis gives them, and whether it does.
OWN_PARAMETERS: dict[tuple[str, str], Callable[[Decisions], bool]] = {
    ("transactions", "sca_token"): lambda decisions: decisions.sca_token_request == "query",
    ("consent_addresses", "account"): lambda decisions: decisions.caf_account == "account",
}
Applies = Callable[[Operation], bool]

# The versions that each operation has for each of its products, newest first; and whether the service names none.
OFFERED: dict[tuple[str, str | None], tuple[tuple[int, ...], bool]] = {
    (operation.name, product): (operation.versions_for(product), operation.silent)
    for operation in OPERATIONS
    for product in operation.products or (None,)
}
MEDIA = {key: BY_NAME[key[0]].media_for(key[1]) for key in OFFERED}  # of the body


@lru_cache(maxsize=1024)
def same_text_for_all(text: str) -> str:
    """Many payments, few callbacks: one text serves all. Bounded, as a client may send ever new ones."""
    return text


def required(call: Call, name: str, clause: str | None = None) -> str:
    """A header that may not be left out."""
    value = call.header(name)
    if value is None:
        raise Refusal(Error.HEADER_MISSING, input=name, clause=clause)
    return value


def product(call: Call) -> None:
    """A product is part of the path (service 4.1)."""
    named = call.path["product"]
    if (call.operation.name, named) not in OFFERED:
        raise Refusal(Error.NOT_FOUND, input="payment-product")
    if call.operation.method == "DELETE" and named in PRODUCTS and not PRODUCTS[named].deletable:
        # service 3.4: the path is there, the method is not
        if call.decisions.xb_delete == "403":
            raise Refusal(Error.NOT_CANCELLABLE, status=f"of a {PRODUCTS[named].short} payment")
        raise Refusal(Error.METHOD_NOT_ALLOWED, method="DELETE", allow="", clause="service 3.4")


def accept(call: Call) -> None:
    """One media range must name a version that the operation has (service 9.1)."""
    header = call.environ.get("HTTP_ACCEPT")
    offered, silent = OFFERED[call.operation.name, call.path.get("product")]
    if silent and call.decisions.silent_versions == "newest_only":
        offered = offered[:1]
    vendor = call.decisions.vendor
    version = next((number for number in headers.versions_asked(header or "", vendor) if number in offered), None)
    if version is None and headers.names_no_version(header, vendor):
        version = offered[0] if call.decisions.accept_without_version == "newest" else None
    if version is None:
        why = "it is missing" if header is None else f"offered are {', '.join(map(str, sorted(offered)))}"
        raise Refusal(Error.NOT_ACCEPTABLE, why=why, decided={"offered": sorted(offered)})
    call.version = version


def language(call: Call) -> None:
    """Absent or wholly unknown: 406 (service 7.3)."""
    header = call.environ.get("HTTP_ACCEPT_LANGUAGE") or ""
    asked = headers.languages_asked(header)
    if "-" in header and call.decisions.language_region == "406":
        header = ",".join(part for part in header.split(",") if "-" not in part.partition(";")[0])
        asked = headers.languages_asked(header)
    if not asked:
        raise Refusal(Error.LANGUAGE_NOT_ACCEPTABLE, decided={"sent": header} if header else {})
    call.language = headers.screen_language(asked)


def media(call: Call) -> None:
    expected = MEDIA[call.operation.name, call.path.get("product")]
    if call.environ.get("CONTENT_TYPE") not in expected and call.request.mimetype not in expected:
        sent = call.environ.get("CONTENT_TYPE")
        decided = {"sent": sent} if sent else {}
        raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected=" or ".join(expected), decided=decided)


def request_id(call: Call) -> None:
    """A version 4 UUID, unique per call (service 4.0)."""
    value = required(call, "Request-ID")
    if UUID_4.match(value) is None:
        raise Refusal(
            Error.HEADER_INVALID,
            input="Request-ID",
            why="it is not a version 4 UUID",
            clause="service 4.0",
            decided={"sent": value},
        )
    call.request_id = value


def client(call: Call, bank: Bank) -> None:
    """Registered, active, and in the role that the call needs."""
    name = call.environ.get("HTTP_CLIENT_ID")
    if name is None:
        name = headers.client_of_token(bank, call.environ.get("HTTP_AUTHORIZATION"))
        if name is None or call.decisions.client_id_elsewhere == "required":
            raise Refusal(Error.HEADER_MISSING, input="Client-ID")
    known = bank.clients.get(name)
    if known is None:
        raise Refusal(Error.CLIENT_UNKNOWN, input="Client-ID", decided={"client_id": name})
    if not known.active:
        raise Refusal(Error.TPP_INVALID, client=name, why="is not active", decided={"active": False})
    if call.operation.role not in known.roles:
        decided = {"roles": sorted(known.roles), "needed": call.operation.role}
        raise Refusal(Error.TPP_INVALID, client=name, why=f"lacks the role {call.operation.role}", decided=decided)
    call.client = known
    if call.decisions.requests_per_minute:
        count_call(call, bank, known.id)
    if call.operation.method != "POST":
        demand_fresh(bank, known.id, call.request_id)
    elif (known.id, call.request_id) in bank.asked:  # an initiation may be the identical call again
        first_answer(bank, call.ask)


def host(call: Call, bank: Bank) -> None:
    """Addresses in replies begin with the host that the caller used (choice 1), so it must be one."""
    if call.environ.get("HTTP_HOST") is not None and not addresses.host_of(call.request):
        raise Refusal(Error.HEADER_INVALID, input="Host", why="it is no host")


def redirect_uri(call: Call, bank: Bank) -> None:
    """A registered callback; required where a redirection follows."""
    uri = call.environ.get("HTTP_REDIRECT_URI")
    if uri is None:
        listed = call.operation.name in REDIRECT_URI_LISTED
        if call.operation.redirect_uri or (listed and call.decisions.redirect_uri_elsewhere == "required"):
            raise Refusal(Error.HEADER_MISSING, input="Redirect-URI")
        return
    if len(uri) > URI_MAX:
        raise Refusal(Error.HEADER_INVALID, input="Redirect-URI", why=f"it is over {URI_MAX} characters long")
    if not addresses.is_registered(call.request, call.client, uri):
        why = addresses.why_unregistered(call.request, call.client, uri)
        raise Refusal(Error.HEADER_INVALID, input="Redirect-URI", why=why, decided={"sent": uri})
    call.redirect_uri = same_text_for_all(uri)


def challenge(call: Call, bank: Bank) -> None:
    """PKCE is mandatory when there is no token, and ignored where one may stand for it (service 4.1, 4.7)."""
    if call.operation.authorization is Authorization.OPTIONAL and "HTTP_AUTHORIZATION" in call.environ:
        return
    clause = "service 4.1" if call.operation.authorization is Authorization.OPTIONAL else None
    method, value = (required(call, name, clause) for name in ("Code-Challenge-Method", "Code-Challenge"))
    if method not in pkce.METHODS:
        raise Refusal(
            Error.HEADER_INVALID,
            input="Code-Challenge-Method",
            why="it must be S256 or plain",
            decided={"sent": method},
        )
    if method == "plain" and call.decisions.pkce_plain == "refused":
        raise Refusal(Error.HEADER_INVALID, input="Code-Challenge-Method", why="it must be S256")
    if not pkce.CHALLENGES[method].fullmatch(value):
        raise Refusal(Error.HEADER_INVALID, input="Code-Challenge", why="its syntax is not that of RFC 7636")
    call.challenge = (same_text_for_all(method), value)


def signature(call: Call, bank: Bank) -> None:
    """Digest, Date and Signature on initiations (choice 9); lenient: each is verified when it is there."""
    mode = call.decisions.signatures
    if mode == "off":
        return
    digest, date, proof = map(call.environ.get, ("HTTP_DIGEST", "HTTP_DATE", "HTTP_SIGNATURE"))
    if mode == "strict":
        for name in ("Digest", "Date", "Signature"):
            required(call, name)
    elif digest is None and date is None and proof is None:
        return
    if (call.request.content_length or 0) > FILE_BYTES_MAX:
        return  # refused for that, unread, when the body's turn comes

    from sandbox.web.api import certificates, signatures  # with the cryptography that most calls never need

    body = call.request.get_data()
    if digest is not None:
        signatures.demand_digest(digest, body)
    if date is not None:
        signatures.demand_date(date, bank.clock.now, call.world.real_time, call.decisions.date_tolerance)
    if proof is not None:
        over = call.decisions.signature_over
        signatures.demand_form(proof, over)
        signed = body if over != "headers" else signatures.header_lines(call.request_id, digest, date)
        certified = partial(
            certificates.seal_key, call.trust, call.client, call.operation.role, call.world.certificate_time
        )
        signatures.demand_signature(proof, signed, call.client.keys, certified)


def authorization(call: Call, bank: Bank) -> None:
    """A present token must hold, also where none is needed (choice 2)."""
    header = call.environ.get("HTTP_AUTHORIZATION")
    if header is None and call.operation.authorization is Authorization.OPTIONAL:
        return
    if header is None:
        raise Refusal(Error.ACCESS_TOKEN_REFUSED, input="Authorization", why="missing")
    token = headers.bearer_of(header)
    if token is None:
        raise Refusal(Error.ACCESS_TOKEN_REFUSED, input="Authorization", why="not given as Bearer")
    grant = tokens.grant_of(bank, token, call.client.id)
    if grant.scope not in call.operation.scopes and not (
        # A CAF token reads its one account, and where an axis says so its transactions too.
        (call.operation.name, grant.scope) == ("transactions", "CAF") and call.decisions.caf_transactions == "yes"
    ):
        error = Error.ACCESS_DENIED if call.decisions.wrong_scope == "403" else Error.ACCESS_TOKEN_REFUSED
        decided = {"scope": grant.scope, "needed": list(call.operation.scopes)}
        raise Refusal(error, input="Authorization", why=f"of the scope {grant.scope}", decided=decided)
    call.grant = grant


def query(call: Call, bank: Bank) -> None:
    """A query input that the operation does not know, or that comes twice, is refused (choice 4)."""
    if not call.environ.get("QUERY_STRING"):
        return
    for name, values in call.request.args.lists():
        is_own = OWN_PARAMETERS.get((call.operation.name, name))
        if name not in call.operation.query and not (is_own and is_own(call.decisions)):
            raise invalid(name[:100], "it is unknown")
        if len(values) > 1:
            raise invalid(name[:100], "it is given twice")


def attendance(call: Call, bank: Bank) -> None:
    """Reads of an account without its PSU, where a setting bounds them. A further page is no new read."""
    logical_id = call.path["logical_id"]
    if call.decisions.reads_per_day and call.query("psu_involved") != "true" and not call.query("next"):
        count_read(call.world, bank, (call.client.id, logical_id, call.operation.name))


# Each check, and the operations that it is made for. The first check to fail is the one that the caller hears of, so
# these orders are part of the interface.
OPEN_CHECKS: tuple[tuple[Callable[[Call], None], Applies], ...] = (
    (product, lambda operation: bool(operation.products)),
    (accept, lambda operation: True),
    (language, lambda operation: operation.bank_headers),
    (media, lambda operation: bool(operation.media)),
    (request_id, lambda operation: True),
)
BANK_CHECKS: tuple[tuple[Callable[[Call, Bank], None], Applies], ...] = (
    (client, lambda operation: operation.bank_headers),
    (host, lambda operation: True),
    (redirect_uri, lambda operation: operation.bank_headers),
    (challenge, lambda operation: operation.pkce),
    (signature, lambda operation: operation.success == 201),
    (authorization, lambda operation: operation.authorization in (Authorization.OPTIONAL, Authorization.REQUIRED)),
    (query, lambda operation: True),
    (attendance, lambda operation: "<logical_id>" in operation.path),
)
# The checks of each operation, in order.
CHECKS = {
    operation.name: (
        tuple(check for check, applies in OPEN_CHECKS if applies(operation)),
        tuple(check for check, applies in BANK_CHECKS if applies(operation)),
    )
    for operation in OPERATIONS
}


def check_request(call: Call) -> None:
    """The checks that need no bank."""
    for check in CHECKS[call.operation.name][0]:
        check(call)


def check_client(bank: Bank, call: Call) -> None:
    """The checks about clients and tokens, which need the bank; after them comes the body."""
    for check in CHECKS[call.operation.name][1]:
        check(call, bank)


def count_call(call: Call, bank: Bank, client_id: str) -> None:
    """Calls of a client and minute, or as an axis says of a PSU or an address."""
    most = call.decisions.requests_per_minute
    seconds = call.world.limits.count_call(counted_as(call, bank, client_id), bank.clock.now, most) if most else None
    if seconds is not None:
        decided = {"requests_per_minute": most, "retry_after_seconds": seconds}
        raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided=decided)


def counted_as(call: Call, bank: Bank, client_id: str) -> str:
    match call.decisions.limits_count:
        case "address":
            return str(call.request.remote_addr)
        case "psu":
            _, _, token = (call.header("Authorization") or "").partition(" ")
            key = bank.access_tokens.get(token.strip())
            return client_id if key is None else f"{client_id} {key[1]}"
        case _:
            return client_id


def count_read(world: World, bank: Bank, read: Read) -> None:
    """Reads of an account and day; the next day begins at midnight in Brussels."""
    if not world.limits.count_read(read, bank.clock.today, bank.decisions.reads_per_day):
        midnight = datetime.combine(bank.clock.today + timedelta(days=1), time(), BRUSSELS)
        seconds = int((midnight - bank.clock.now).total_seconds()) + 1
        decided = {"reads_per_day": bank.decisions.reads_per_day, "again_from": midnight}
        raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided=decided)
