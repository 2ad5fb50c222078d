"""Views of payments and standing orders: read, act, write (service 4.1 to 4.5)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson
from flask import Response
from orjson import Fragment

from sandbox.bank import initiations, payments, standing_orders
from sandbox.bank.entries import debit_reference
from sandbox.bank.records import Order
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Bulk, Contract, Initiation
from sandbox.banking.money import Money
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.kinds import Kind
from sandbox.web.api import bodies, replies
from sandbox.web.api.addresses import root_of
from sandbox.web.api.body_reader import AMOUNTS, invalid
from sandbox.web.api.body_schemas import order_fields
from sandbox.web.api.call import Call
from sandbox.web.api.standing_order_bodies import read_contract

ISO_REASONS = {"TIME_OUT": "TM01", "PSU_REFUSED": "DS02", "CONTRACT_ENDED": "DS02"}
FILE_NUMBERS = ("control_sum", "number_of_transactions")
CAMEL = {
    "payment_id": "paymentId",
    "endtoend_identification": "endToEndIdentification",
    "sca_redirect": "scaRedirect",
}
OTHER_HOSTS = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
ID_TYPES = ("INTERNAL", "EXTERNAL")


class Row(NamedTuple):
    """What the views of one kind read and do."""

    read: Callable[[Any, Call], Any]
    initiate: Callable[..., initiations.InitiationReply]
    cancel: Callable[..., None]


ROWS: dict[Kind, Row] = {
    kinds.PAYMENT: Row(bodies.read_payment, payments.initiate, payments.cancel),
    kinds.STANDING_ORDER: Row(read_contract, standing_orders.initiate, standing_orders.delete),
}


def initiation(bank: Bank, call: Call) -> Response:
    kind, content = call.kind, bodies.read_json(body_of(call))
    if kind is kinds.PAYMENT and call.version == 1:
        return _earlier_initiation(call, content)
    row = ROWS[kind]
    initiated = call.world.do(row.initiate, row.read(content, call), call.origin, call.ask)
    call.subject = initiated.payment_id
    address = signing_address(call, initiated.sca_token)
    path = f"/{kind.path}/{call.product}/{initiated.payment_id}"
    content = replies.initiation_content(path, initiated, address, call.link)
    response = replies.json_response(vary_initiation(call, content), 201)
    if call.decisions.sca_address_in != "links":
        response.headers["Location"] = address
    return response


def _earlier_initiation(call: Call, content: Any) -> Response:
    """Version 1: replied are the bank's id and the reference of the debit to come; the address is in Location alone."""
    order = bodies.read_earlier(content, call)
    try:
        initiated = call.world.do(payments.initiate, order, call.origin, call.ask)
    except Refusal as refusal:
        raise bodies.in_its_words(refusal) from None
    call.subject = initiated.payment_id
    content = {"payment_id": initiated.payment_id, "transaction_ref": debit_reference(initiated.payment_id)}
    response = replies.json_response(content, 201)
    response.headers["Location"] = signing_address(call, initiated.sca_token)
    return response


def status(bank: Bank, call: Call) -> Response:
    """A token may be left out; one that is shown speaks for its own PSU (choice 2)."""
    found = own(bank, call, call.grant.customer if call.grant else None)
    call.subject = found.id
    content = replies.status_content(found.id, spelled(call, found.status.value), found.reason)
    return replies.json_response(vary_status(call, content))


def own(bank: Bank, call: Call, customer: str | None) -> Initiation:
    external, group, reference = is_external(call), call.kind.group_of(call.path["product"]), call.path["payment_id"]
    return initiations.find(bank, call.client.id, group, reference, customer=customer, external=external)


def details(bank: Bank, call: Call) -> Response:
    """The fields of service 2.4, and every other one of the initiation."""
    found = own(bank, call, call.token_grant.customer)
    assert not isinstance(found, Bulk)
    call.subject = found.id
    content: dict[str, Any] = {"payment_id": found.id, "status": spelled(call, found.status.value)}
    if found.customer:  # once one is known (choice 5)
        content["psu_name"] = bank.customers[found.customer].name
    content |= order_fields(found.order, found.debtor)
    return replies.json_response(vary_details(call, found.order, content))


def cancellation(bank: Bank, call: Call) -> Response:
    external, payment_id, customer = is_external(call), call.path["payment_id"], call.token_grant.customer
    call.subject = None if external else payment_id
    with without_conflict(call):
        call.world.do(ROWS[call.kind].cancel, call.client.id, customer, call.product, payment_id, external)
    return replies.no_content()


@contextmanager
def without_conflict(call: Call) -> Iterator[None]:
    """A DELETE has no 409 (service 4.4): a reference that fits several is an input that is not accepted (choice 5)."""
    try:
        yield
    except Refusal as refusal:
        if refusal.error is not Error.CONFLICT:
            raise
        if call.decisions.ambiguous_delete == "404":
            raise Refusal(Error.NOT_FOUND, input=refusal.facts["input"]) from None
        raise invalid(
            str(refusal.facts["input"]), "it fits several initiations", "choice 5", **refusal.decided
        ) from None


def body_of(call: Call) -> bytes:
    longest = call.decisions.body_size_max
    if (call.request.content_length or 0) > longest:
        why = f"it is longer than {longest} bytes"
        raise invalid("body", why, bytes=call.request.content_length, most=longest)
    return call.request.get_data()


def is_external(call: Call) -> bool:
    """INTERNAL (the default) or EXTERNAL (choice 5)."""
    parameter = call.kind.id_type
    asked = call.request.args.get(parameter, "INTERNAL") if call.environ.get("QUERY_STRING") else "INTERNAL"
    if asked not in ID_TYPES:
        raise invalid(parameter, "it must be INTERNAL or EXTERNAL", "choice 5", sent=asked)
    return asked == "EXTERNAL"


# What differs in the replies by the axes of a world (contract/decisions).


def signing_address(call: Call, token: str) -> str:
    """The SCA address: on the API's host, without a query, unless an axis says otherwise."""
    address = f"{root_of(call.request)}/psu/sign/{token}"
    if call.decisions.sca_host == "other":
        scheme, _, rest = address.partition("://")
        host, slash, path = rest.partition("/")
        name, colon, port = host.partition(":")
        address = f"{scheme}://{OTHER_HOSTS.get(name, name)}{colon}{port}{slash}{path}"
    return address if call.decisions.sca_address_query == "none" else f"{address}?flow=sign"


def spelled(call: Call, status: str) -> str:
    return call.decisions.status_spelling if status == "PDNG" else status


def vary_status(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    if "reason" in content and content["reason"] in ISO_REASONS and call.decisions.reason_codes == "iso":
        content["reason"] = ISO_REASONS[content["reason"]]
    match call.decisions.reason:
        case "always":
            content.setdefault("reason", None)
        case "never":
            content.pop("reason", None)
    if call.decisions.status_names_payment == "no":
        del content["payment_id"]
    return content


def vary_details(call: Call, order: Order | Contract, content: dict[str, Any]) -> dict[str, Any]:
    if "psu_name" not in content and call.decisions.psu_name_before_login == "null":
        content["psu_name"] = None
    inner = content["instructed_amount"]
    match call.decisions.details_amount:
        case "number":
            content["instructed_amount"] = inner | {name: Fragment(inner[name]) for name in AMOUNTS if name in inner}
        case "as_sent":
            content["instructed_amount"] = inner | {
                name: f"{money.number:f}" for name, money in amounts_of(order).items()
            }
    return content


def amounts_of(order: Order | Contract) -> dict[str, Money]:
    """By the names of the API."""
    if isinstance(order, Order):
        return {"amount": order.amount}
    amounts = {"amount": order.amount, "minimal_amount": order.minimal, "maximal_amount": order.maximal}
    return {name: money for name, money in amounts.items() if money is not None}


def vary_bulk(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    """The status of a file and of its bulks."""
    for row in (content, *content.get("bulks", ())):
        row["status"] = spelled(call, row["status"])
    if not content["bulks"] and call.decisions.bulks_while_rcvd == "absent":
        del content["bulks"]
    elif content["bulks"] and call.decisions.file_numbers == "strings":
        for row in content["bulks"]:
            row |= {name: orjson.dumps(row[name]).decode() for name in FILE_NUMBERS}
    return content


def vary_initiation(call: Call, content: dict[str, Any]) -> dict[str, Any]:
    """The body of the reply; where Location alone has the address, its link is left out."""
    links = content["_links"]
    few = call.decisions.initiation_fields == "few"
    if call.decisions.sca_address_in == "location":
        del links["sca_redirect"]
    if few:
        links = {name: one for name, one in links.items() if name == "sca_redirect"}
        content = {"payment_id": content["payment_id"], "_links": links}
    if call.decisions.initiation_field_names == "camel":
        content = {CAMEL.get(name, name): value for name, value in content.items()}
        content["_links"] = {CAMEL.get(name, name): value for name, value in links.items()}
    return content
