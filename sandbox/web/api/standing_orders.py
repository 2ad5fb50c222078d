"""Views of standing orders: read, act, write (service 4.5)."""

from flask import Response

from sandbox.bank import initiations, standing_orders
from sandbox.bank.standing_order_records import StandingOrder
from sandbox.bank.state import Bank
from sandbox.web.api import bodies, replies, standing_order_bodies
from sandbox.web.api.addresses import sca_address
from sandbox.web.api.gate import Call
from sandbox.web.api.payments import asker, body_of, is_external, whose, without_conflict

KIND = standing_orders.KIND


def standing_order_initiation(call: Call) -> Response:
    contract = standing_order_bodies.read_contract(bodies.read_json(body_of(call)))
    initiated = call.world.act(standing_orders.initiate, contract, call.origin, call.ask)
    call.subject = initiated.payment_id
    return replies.initiation_reply(KIND, call.product, initiated, sca_address(call.request, initiated.sca_token))


def standing_order_status(call: Call) -> Response:
    return call.world.ask(_status, call, is_external(call, "paymentIdType"))


def _status(bank: Bank, call: Call, external: bool) -> Response:
    order = initiations.own(bank, *asker(call), KIND, call.path["payment_id"], external=external)
    call.subject = order.id
    return replies.status_reply(order.id, order.status.value, order.reason)


def standing_order_details(call: Call) -> Response:
    return call.world.ask(_details, call, is_external(call, "paymentIdType"))


def _details(bank: Bank, call: Call, external: bool) -> Response:
    order = initiations.own(bank, *whose(call), KIND, call.path["payment_id"], external=external)
    assert isinstance(order, StandingOrder)
    name = bank.customers[order.customer].name if order.customer else None
    call.subject = order.id
    fields = standing_order_bodies.contract_fields(order.order, order.debtor)
    return replies.details_reply(order.id, order.status.value, name, fields)


def standing_order_cancellation(call: Call) -> Response:
    external = is_external(call, "paymentIdType")
    call.subject = None if external else call.path["payment_id"]
    with without_conflict():
        call.world.act(standing_orders.delete, *whose(call), call.product, call.path["payment_id"], external)
    return replies.no_content()
