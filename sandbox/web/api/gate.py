"""The gate: the checks that every call passes before its body is read, in an order that callers can notice (choice 2).

Theory. A call with two faults is refused for one of them, and a client that repairs the faults one by one sees the
order. So the order is part of the interface: it is the order of the two tables below, and the same for all operations.
Each row of a table has a check and the operations to which the check applies. A check either raises a Refusal, or adds
to the call what it read, so that nothing is parsed twice.

There are two tables because of the lock. The checks of the first one look at the request alone, and run before the call
enters its world. The checks of the second table look at the bank. They run inside the world, together with the view. So
nobody can revoke a token between its check and the payment. The checks of one operation are chosen once, when this
module is imported.
"""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import partial
from sys import intern

from sandbox.bank import tokens
from sandbox.bank.initiations import demand_fresh, find_identical_call
from sandbox.bank.state import Bank
from sandbox.banking import pkce
from sandbox.banking.calendar import BRUSSELS
from sandbox.banking.names import URI_MAX
from sandbox.bulkfiles.admission import FILE_BYTES_MAX
from sandbox.contract.decisions import Decisions
from sandbox.contract.errors import Error, Refusal, make_invalid, make_invalid_header
from sandbox.contract.operations import BY_NAME, OPERATIONS, Authorization, Operation
from sandbox.contract.products import PRODUCTS
from sandbox.web.api import addresses, headers
from sandbox.web.api.call import Call

UUID_4 = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\Z")
REDIRECT_URI_LISTED = ("bulk_status", "accounts", "account", "transactions")  # among their headers (service 4.6, 4.9)
# The query parameters whose name an axis decides, and whether a bank has them.
OWN_PARAMETERS: dict[tuple[str, str], Callable[[Decisions], bool]] = {
    ("transactions", "sca_token"): lambda decisions: decisions.sca_token_request == "query",
    ("consent_addresses", "account"): lambda decisions: decisions.caf_account == "account",
}
Applies = Callable[[Operation], bool]

# For each operation and product: its versions, newest first, and whether the service names none.
OFFERED: dict[tuple[str, str | None], tuple[tuple[int, ...], bool]] = {
    (operation.name, product): (operation.list_versions(product), operation.silent)
    for operation in OPERATIONS
    for product in operation.products or (None,)
}
MEDIA = {key: BY_NAME[key[0]].list_media(key[1]) for key in OFFERED}  # of the body


# Checks that need no bank


def check_product(call: Call) -> None:
    """Refuses a product that the operation does not have (service 4.1). Refuses DELETE for a product whose payments
    cannot be deleted (service 3.4)."""
    product = call.path["product"]
    if (call.operation.name, product) not in OFFERED:
        raise Refusal(Error.NOT_FOUND, input="payment-product")
    if call.operation.method == "DELETE" and product in PRODUCTS and not PRODUCTS[product].deletable:
        # service 3.4: the path exists, the method does not
        if call.decisions.xb_delete == "403":
            raise Refusal(Error.NOT_CANCELLABLE, status=f"of a {PRODUCTS[product].short} payment")
        raise Refusal(Error.METHOD_NOT_ALLOWED, method="DELETE", allow="", clause="service 3.4")


def check_accept(call: Call) -> None:
    """Chooses the version that the header Accept names (service 9.1). Refuses with 406 if the operation has none of the
    named versions. If Accept names no version, the axis `accept_without_version` decides between the newest version and
    406. If the service does not list the versions of the operation, the axis `silent_versions` decides whether it has
    several versions or only the newest."""
    header = call.environ.get("HTTP_ACCEPT")
    offered, silent = OFFERED[call.operation.name, call.path.get("product")]
    if silent and call.decisions.silent_versions == "newest_only":
        offered = offered[:1]
    vendor = call.decisions.vendor
    version = next((number for number in headers.read_versions(header or "", vendor) if number in offered), None)
    if version is None and headers.is_version_missing(header, vendor):
        version = offered[0] if call.decisions.accept_without_version == "newest" else None
    if version is None:
        reason = "it is missing" if header is None else f"offered are {', '.join(map(str, sorted(offered)))}"
        raise Refusal(Error.NOT_ACCEPTABLE, why=reason, decided_by={"offered": sorted(offered)})
    call.version = version


def check_language(call: Call) -> None:
    """Chooses the language of the bank's pages for this call. Refuses with 406 if Accept-Language is missing or names
    no known language (service 7.3). If the axis `language_region` is `406`, a language with a region, such as `fr-BE`,
    is not known."""
    header = call.environ.get("HTTP_ACCEPT_LANGUAGE") or ""
    languages = headers.read_languages(header)
    if "-" in header and call.decisions.language_region == "406":
        header = ",".join(part for part in header.split(",") if "-" not in part.partition(";")[0])
        languages = headers.read_languages(header)
    if not languages:
        raise Refusal(Error.LANGUAGE_NOT_ACCEPTABLE, decided_by={"sent": header} if header else {})
    call.language = headers.choose_screen_language(languages)


def check_media(call: Call) -> None:
    media_types = MEDIA[call.operation.name, call.path.get("product")]
    content_type = call.environ.get("CONTENT_TYPE")
    if content_type not in media_types and call.request.mimetype not in media_types:
        decided_by = {"sent": content_type} if content_type else {}
        raise Refusal(Error.UNSUPPORTED_MEDIA_TYPE, expected=" or ".join(media_types), decided_by=decided_by)


def check_request_id(call: Call) -> None:
    """Refuses a Request-ID that is not a UUID of version 4 (service 4.0)."""
    call.request_id = call.demand_header("Request-ID")
    if UUID_4.match(call.request_id) is None:
        raise make_invalid_header("Request-ID", "it is not a version 4 UUID", "service 4.0", sent=call.request_id)


# Checks about clients and tokens, which need the bank


def check_client(call: Call, bank: Bank) -> None:
    """Finds the client of the call by the header Client-ID. If the header is missing and the axis `client_id_elsewhere`
    is `optional`, finds the client by the access token. Refuses a call without a client, and a client that is not
    registered, not active, or without the role that the call needs. After that, counts the call for the limit per
    minute, and refuses it if the limit is reached. Also refuses a Request-ID that was used for another call."""
    name = call.environ.get("HTTP_CLIENT_ID")
    if name is None:
        name = headers.find_client_of_token(bank, call.environ.get("HTTP_AUTHORIZATION"))
        if name is None or call.decisions.client_id_elsewhere == "required":
            raise Refusal(Error.HEADER_MISSING, input="Client-ID")
    client = bank.clients.get(name)
    if client is None:
        raise Refusal(Error.CLIENT_UNKNOWN, input="Client-ID", decided_by={"client_id": name})
    if not client.active:
        raise Refusal(Error.TPP_INVALID, client=name, why="is not active", decided_by={"active": False})
    if call.operation.role not in client.roles:
        decided_by = {"roles": sorted(client.roles), "needed": call.operation.role}
        raise Refusal(
            Error.TPP_INVALID, client=name, why=f"lacks the role {call.operation.role}", decided_by=decided_by
        )
    call.client = client
    count_call(call, bank, client.id)
    if call.operation.method != "POST":
        demand_fresh(bank, client.id, call.request_id)
    elif (client.id, call.request_id) in bank.asked:  # an initiation may be the identical call again
        find_identical_call(bank, call.request_key)


def check_host(call: Call, bank: Bank) -> None:
    """Refuses a Host header that is not a host. The bank needs the host for the addresses in its replies (choice 1)."""
    if call.environ.get("HTTP_HOST") is not None and not addresses.find_host(call.request):
        raise make_invalid_header("Host", "it is no host")


def check_redirect_uri(call: Call, bank: Bank) -> None:
    """Refuses a callback address that is too long or that the client has not registered. Refuses a call without the
    address if the operation requires one. For the operations in REDIRECT_URI_LISTED, the axis `redirect_uri_elsewhere`
    decides whether they require one."""
    uri = call.environ.get("HTTP_REDIRECT_URI")
    if uri is None:
        listed = call.operation.name in REDIRECT_URI_LISTED
        if call.operation.redirect_uri or (listed and call.decisions.redirect_uri_elsewhere == "required"):
            raise Refusal(Error.HEADER_MISSING, input="Redirect-URI")
        return
    if len(uri) > URI_MAX:
        raise make_invalid_header("Redirect-URI", f"it is over {URI_MAX} characters long")
    if not addresses.is_registered(call.request, call.client, uri):
        raise make_invalid_header(
            "Redirect-URI", addresses.explain_unregistered(call.request, call.client, uri), sent=uri
        )
    call.redirect_uri = intern(uri)  # many payments have few callbacks: they share one text


def check_challenge(call: Call, bank: Bank) -> None:
    """Reads the PKCE challenge. Refuses a call without a challenge, or with a wrong one. Some operations take a token
    instead (service 4.1, 4.7). If such a call has the header Authorization, ignores the challenge."""
    token_may_replace_it = call.operation.authorization is Authorization.OPTIONAL
    if token_may_replace_it and "HTTP_AUTHORIZATION" in call.environ:
        return
    clause = "service 4.1" if token_may_replace_it else None
    method = call.demand_header("Code-Challenge-Method", clause)
    value = call.demand_header("Code-Challenge", clause)
    if method not in pkce.METHODS:
        raise make_invalid_header("Code-Challenge-Method", "it must be S256 or plain", sent=method)
    if method == "plain" and call.decisions.pkce_plain == "refused":
        raise make_invalid_header("Code-Challenge-Method", "it must be S256")
    if not pkce.CHALLENGES[method].fullmatch(value):
        raise make_invalid_header("Code-Challenge", "its syntax is not that of RFC 7636")
    call.challenge = (intern(method), value)


def check_signature(call: Call, bank: Bank) -> None:
    """Verifies Digest, Date and Signature of initiations (choice 9). If the setting `signatures` is `strict`, refuses a
    call that lacks one of them. If it is `lenient`, verifies only the headers that were sent. If it is `off`, verifies
    nothing. Also verifies nothing if the body is too long, because the view refuses such a body."""
    mode = call.decisions.signatures
    if mode == "off":
        return
    digest, date, signature = map(call.environ.get, ("HTTP_DIGEST", "HTTP_DATE", "HTTP_SIGNATURE"))
    if mode == "strict":
        for name in ("Digest", "Date", "Signature"):
            call.demand_header(name)
    elif digest is None and date is None and signature is None:
        return
    if (call.request.content_length or 0) > FILE_BYTES_MAX:
        return  # the view refuses such a body unread

    from sandbox.web.api import certificates, signatures  # with the cryptography that most calls never need

    body = call.request.get_data()
    if digest is not None:
        signatures.demand_digest(digest, body)
    if date is not None:
        signatures.demand_date(date, bank.clock.now, call.world.clock.read_real_time, call.decisions.date_tolerance)
    if signature is not None:
        over = call.decisions.signature_over
        signatures.demand_form(signature, over)
        signed = body if over != "headers" else signatures.write_header_lines(call.request_id, digest, date)
        key_of_certificate = partial(
            certificates.seal_key, call.trust, call.client, call.operation.role, call.world.read_certificate_time
        )
        signatures.demand_signature(signature, signed, call.client.keys, key_of_certificate)


def check_authorization(call: Call, bank: Bank) -> None:
    """Refuses a call whose access token is not valid or has the wrong scope. Refuses a call without a token if the
    operation requires one. If a token is sent to an operation that needs none, it must be valid too (choice 2)."""
    header = call.environ.get("HTTP_AUTHORIZATION")
    if header is None and call.operation.authorization is Authorization.OPTIONAL:
        return
    if header is None:
        raise Refusal(Error.ACCESS_TOKEN_REFUSED, input="Authorization", why="missing")
    token = headers.read_bearer(header)
    if token is None:
        raise Refusal(Error.ACCESS_TOKEN_REFUSED, input="Authorization", why="not given as Bearer")
    grant = tokens.demand_grant(bank, token, call.client.id)
    if grant.scope not in call.operation.scopes and not (
        # A CAF token reads its one account, and its transactions too if an axis says so.
        (call.operation.name, grant.scope) == ("transactions", "CAF") and call.decisions.caf_transactions == "yes"
    ):
        error = Error.ACCESS_DENIED if call.decisions.wrong_scope == "403" else Error.ACCESS_TOKEN_REFUSED
        decided_by = {"scope": grant.scope, "needed": list(call.operation.scopes)}
        raise Refusal(error, input="Authorization", why=f"of the scope {grant.scope}", decided_by=decided_by)
    call.grant = grant


def check_query(call: Call, bank: Bank) -> None:
    """Refuses a query parameter that the operation does not have, or that comes twice (choice 4)."""
    if not call.environ.get("QUERY_STRING"):
        return
    for name, values in call.request.args.lists():
        is_own = OWN_PARAMETERS.get((call.operation.name, name))
        if name not in call.operation.query and not (is_own and is_own(call.decisions)):
            raise make_invalid(name[:100], "it is unknown")
        if len(values) > 1:
            raise make_invalid(name[:100], "it is given twice")


def check_reads(call: Call, bank: Bank) -> None:
    """Refuses a read without the PSU, if the client has reached the daily limit of such reads for this account and
    operation. A further page does not count as a read. A new day begins at midnight in Brussels."""
    most = call.decisions.reads_per_day
    if not most or call.read_query("psu_involved") == "true" or call.read_query("next"):
        return
    read_key = (call.client.id, call.path["logical_id"], call.operation.name)
    if not call.world.calls.limits.count_read(read_key, bank.clock.today, most):
        midnight = datetime.combine(bank.clock.today + timedelta(days=1), time(), BRUSSELS)
        seconds = int((midnight - bank.clock.now).total_seconds()) + 1
        decided_by = {"reads_per_day": most, "again_from": midnight}
        raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided_by=decided_by)


def count_call(call: Call, bank: Bank, client_id: str) -> None:
    """Counts a call, and refuses it if the limit per minute is reached (service 4.1). The limit holds for each client,
    or under the axis `limits_count` for each PSU or each IP address."""
    most = call.decisions.requests_per_minute
    if not most:
        return
    counted = client_id
    match call.decisions.limits_count:
        case "address":
            counted = str(call.request.remote_addr)
        case "psu":
            token = (call.read_header("Authorization") or "").partition(" ")[2].strip()
            key = bank.access_tokens.get(token)
            counted = client_id if key is None else f"{client_id} {key[1]}"
    seconds = call.world.calls.limits.count_call(counted, bank.clock.now, most)
    if seconds is not None:
        decided_by = {"requests_per_minute": most, "retry_after_seconds": seconds}
        raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided_by=decided_by)


# The two tables: each check, and the operations that it is made for.
REQUEST_CHECKS: tuple[tuple[Callable[[Call], None], Applies], ...] = (
    (check_product, lambda operation: bool(operation.products)),
    (check_accept, lambda operation: True),
    (check_language, lambda operation: operation.bank_headers),
    (check_media, lambda operation: bool(operation.media)),
    (check_request_id, lambda operation: True),
)
CLIENT_CHECKS: tuple[tuple[Callable[[Call, Bank], None], Applies], ...] = (
    (check_client, lambda operation: operation.bank_headers),
    (check_host, lambda operation: True),
    (check_redirect_uri, lambda operation: operation.bank_headers),
    (check_challenge, lambda operation: operation.pkce),
    (check_signature, lambda operation: operation.success == 201),
    (
        check_authorization,
        lambda operation: operation.authorization in (Authorization.OPTIONAL, Authorization.REQUIRED),
    ),
    (check_query, lambda operation: True),
    (check_reads, lambda operation: "<logical_id>" in operation.path),
)
CHECKS = {
    operation.name: (
        tuple(check for check, applies in REQUEST_CHECKS if applies(operation)),
        tuple(check for check, applies in CLIENT_CHECKS if applies(operation)),
    )
    for operation in OPERATIONS
}


def pass_request_checks(call: Call) -> None:
    for check in CHECKS[call.operation.name][0]:
        check(call)


def pass_client_checks(bank: Bank, call: Call) -> None:
    call.has_entered = True
    for check in CHECKS[call.operation.name][1]:
        check(call, bank)
