"""Views of payments and standing orders (service 4.1 to 4.5)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from flask import Response

from sandbox.bank import fees, initiations, payments, standing_orders
from sandbox.bank.entries import debit_reference
from sandbox.bank.records import BulkFile, Initiation, Payment, PaymentRequest, StandingOrderRequest
from sandbox.bank.state import Bank
from sandbox.banking.money import Money
from sandbox.contract import kinds
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.kinds import InitiationKind
from sandbox.contract.products import PRODUCTS
from sandbox.web.api import bodies, replies
from sandbox.web.api.addresses import find_root
from sandbox.web.api.bodies import read_contract
from sandbox.web.api.body_schemas import list_order_fields
from sandbox.web.api.call import Call
from sandbox.web.api.replies import ReplyContent

OTHER_HOSTS = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
ID_TYPES = ("INTERNAL", "EXTERNAL")


class InitiationActions(NamedTuple):
    """The functions for one kind of initiation. `read` reads the body, and `initiate` and `cancel` change the bank."""

    read: Callable[[Any, Call], Any]
    initiate: Callable[..., initiations.InitiationOutcome]
    cancel: Callable[..., None]


INITIATION_ACTIONS: dict[InitiationKind, InitiationActions] = {
    kinds.PAYMENT: InitiationActions(bodies.read_payment, payments.initiate, payments.cancel),
    kinds.STANDING_ORDER: InitiationActions(read_contract, standing_orders.initiate, standing_orders.delete),
}


def initiation(bank: Bank, call: Call) -> ReplyContent:
    kind, content = call.kind, bodies.read_json(read_body(call))
    if kind is kinds.PAYMENT and call.version == 1:
        return _initiate_version_1(call, content)
    row = INITIATION_ACTIONS[kind]
    initiated = call.world.do(row.initiate, row.read(content, call), call.origin, call.request_key)
    call.subject = initiated.payment_id
    address = make_signing_address(call, initiated.sca_token)
    path = f"/{kind.path}/{call.product}/{initiated.payment_id}"
    content = replies.make_initiation_content(path, initiated, address, call.link)
    return ReplyContent(content, 201, {"Location": address})


def _initiate_version_1(call: Call, content: Any) -> ReplyContent:
    """Replies to an initiation of version 1 with the bank's id and the reference of the debit. The SCA address is only
    in the header Location."""
    order = bodies.read_earlier(content, call)
    try:
        initiated = call.world.do(payments.initiate, order, call.origin, call.request_key)
    except Refusal as refusal:
        raise bodies.rename_to_version_1(refusal) from None
    call.subject = initiated.payment_id
    content = {"payment_id": initiated.payment_id, "transaction_ref": debit_reference(initiated.payment_id)}
    return ReplyContent(content, 201, {"Location": make_signing_address(call, initiated.sca_token)})


def status(bank: Bank, call: Call) -> ReplyContent:
    """Replies with the status of an initiation. The call needs no token. But if a token is sent, the initiation must
    belong to the PSU of the token (choice 2)."""
    initiation = find_own(bank, call, call.grant.customer if call.grant else None)
    call.subject = initiation.id
    return ReplyContent(replies.make_status_content(initiation.id, initiation.status.value, initiation.reason))


def find_own(bank: Bank, call: Call, customer: str | None) -> Initiation:
    external, group, reference = is_external(call), call.kind.make_group(call.path["product"]), call.path["payment_id"]
    return initiations.find(bank, call.client.id, group, reference, customer=customer, external=external)


def details(bank: Bank, call: Call) -> ReplyContent:
    """Replies with all fields of the initiation (service 2.4)."""
    initiation = find_own(bank, call, call.token_grant.customer)
    assert not isinstance(initiation, BulkFile)
    call.subject = initiation.id
    content: dict[str, Any] = {"payment_id": initiation.id, "status": initiation.status.value}
    if initiation.customer:  # once one is known (choice 5)
        content["psu_name"] = bank.customers[initiation.customer].name
    content |= list_order_fields(initiation.order, initiation.debtor)
    if isinstance(initiation, Payment) and initiation.debtor and not PRODUCTS[initiation.order.product].sepa:
        content |= _list_exchange_fields(bank, initiation)
    return ReplyContent(content, amounts=list_amounts(initiation.order))


def _list_exchange_fields(bank: Bank, payment: Payment) -> dict[str, Any]:
    """Returns the fields about the exchange rate and the charges of a cross-border payment. Returns no fields if the
    axis `exchange_details` is `absent`."""
    if bank.decisions.exchange_details == "absent":
        return {}
    exchange = fees.compute_exchange_cost(bank, payment)
    rate = {} if exchange.rate is None else {"exchange_rate": f"{exchange.rate.normalize():f}"}
    amounts = {"debited_amount": exchange.debited, "charges": exchange.charges}
    written = {name: {"currency": money.currency, "amount": money.text()} for name, money in amounts.items()}
    return {"exchange_details": rate | written}


def cancellation(bank: Bank, call: Call) -> Response:
    external, payment_id, customer = is_external(call), call.path["payment_id"], call.token_grant.customer
    call.subject = None if external else payment_id
    with replace_conflict(call):
        call.world.do(
            INITIATION_ACTIONS[call.kind].cancel, call.client.id, customer, call.product, payment_id, external
        )
    return replies.make_empty_reply()


@contextmanager
def replace_conflict(call: Call) -> Iterator[None]:
    """Within the block, replaces a refusal that has the status 409. The new refusal has 404 if the axis
    `ambiguous_delete` is `404`, else 400. The bank refuses an ambiguous reference with 409, but the service does not
    give DELETE this status (service 4.4, choice 5)."""
    try:
        yield
    except Refusal as refusal:
        if refusal.error is not Error.CONFLICT:
            raise
        if call.decisions.ambiguous_delete == "404":
            raise Refusal(Error.NOT_FOUND, input=refusal.facts["input"]) from None
        raise make_invalid(
            str(refusal.facts["input"]), "it fits several initiations", "choice 5", **refusal.decided_by
        ) from None


def read_body(call: Call) -> bytes:
    longest = call.decisions.body_size_max
    if (call.request.content_length or 0) > longest:
        reason = f"it is longer than {longest} bytes"
        raise make_invalid("body", reason, bytes=call.request.content_length, most=longest)
    return call.request.get_data()


def is_external(call: Call) -> bool:
    """Whether the path has the TPP's own reference (EXTERNAL) and not the bank's id (INTERNAL, the default). A query
    parameter says which. Refuses any other value of this parameter (choice 5)."""
    parameter = call.kind.id_type
    id_type = call.request.args.get(parameter, "INTERNAL") if call.environ.get("QUERY_STRING") else "INTERNAL"
    if id_type not in ID_TYPES:
        raise make_invalid(parameter, "it must be INTERNAL or EXTERNAL", "choice 5", sent=id_type)
    return id_type == "EXTERNAL"


def make_signing_address(call: Call, token: str) -> str:
    """Returns the SCA address for a token. By default it has the host of the request and no query. The axes `sca_host`
    and `sca_address_query` can change this."""
    address = f"{find_root(call.request)}/psu/sign/{token}"
    if call.decisions.sca_host == "other":
        scheme, _, host_and_path = address.partition("://")
        host, slash, path = host_and_path.partition("/")
        name, colon, port = host.partition(":")
        address = f"{scheme}://{OTHER_HOSTS.get(name, name)}{colon}{port}{slash}{path}"
    return address if call.decisions.sca_address_query == "none" else f"{address}?flow=sign"


def list_amounts(order: PaymentRequest | StandingOrderRequest) -> dict[str, Money]:
    """Returns the amounts of an order by their names in the API."""
    if isinstance(order, PaymentRequest):
        return {"amount": order.amount}
    amounts = {"amount": order.amount, "minimal_amount": order.minimal, "maximal_amount": order.maximal}
    return {name: money for name, money in amounts.items() if money is not None}
