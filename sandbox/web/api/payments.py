"""Views of single payments: read, act, write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Response

from sandbox.bank import initiations, payments
from sandbox.bank.records import Payment
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.products import PRODUCTS
from sandbox.web.api import bodies, replies, version_1
from sandbox.web.api.addresses import sca_address
from sandbox.web.api.gate import Call

ID_TYPES = ("INTERNAL", "EXTERNAL")


def payment_initiation(call: Call) -> Response:
    content = bodies.read_json(body_of(call))
    if call.version == 1:
        return _earlier_initiation(call, content)
    order = bodies.read_payment(content, PRODUCTS[call.product])
    initiated = call.world.act(payments.initiate, order, call.origin, call.ask)
    call.subject = initiated.payment_id
    return replies.initiation_reply("payments", call.product, initiated, sca_address(call.request, initiated.sca_token))


def _earlier_initiation(call: Call, content: Any) -> Response:
    order = version_1.read_earlier(content)
    try:
        initiated = call.world.act(payments.initiate, order, call.origin, call.ask)
    except Refusal as refusal:
        raise version_1.in_its_words(refusal) from None
    call.subject = initiated.payment_id
    return replies.earlier_initiation_reply(initiated, sca_address(call.request, initiated.sca_token))


def payment_status(call: Call) -> Response:
    external = is_external(call, "paymentIdType")
    return call.world.ask(_status, call, external)


def _status(bank: Bank, call: Call, external: bool) -> Response:
    payment = initiations.own(bank, *asker(call), call.product, call.path["payment_id"], external=external)
    call.subject = payment.id
    return replies.status_reply(payment.id, payment.status.value, payment.reason)


def payment_details(call: Call) -> Response:
    return call.world.ask(_details, call, is_external(call, "paymentIdType"))


def _details(bank: Bank, call: Call, external: bool) -> Response:
    payment = initiations.own(bank, *whose(call), call.product, call.path["payment_id"], external=external)
    assert isinstance(payment, Payment)
    name = bank.customers[payment.customer].name if payment.customer else None
    call.subject = payment.id
    fields = replies.order_fields(payment.order, payment.debtor)
    return replies.details_reply(payment.id, payment.status.value, name, fields)


def payment_cancellation(call: Call) -> Response:
    external = is_external(call, "paymentIdType")
    call.subject = None if external else call.path["payment_id"]
    with without_conflict():
        call.world.act(payments.cancel, *whose(call), call.product, call.path["payment_id"], external)
    return replies.no_content()


@contextmanager
def without_conflict() -> Iterator[None]:
    """A DELETE has no 409 (service 4.4): a reference that fits several is an input that is not accepted (choice 5)."""
    try:
        yield
    except Refusal as refusal:
        if refusal.error is not Error.CONFLICT:
            raise
        why = "it fits several initiations"
        raise Refusal(Error.INPUT_INVALID, input=refusal.facts["input"], why=why) from None


def whose(call: Call) -> tuple[str, str]:
    """The client, and the PSU whom its token speaks for."""
    assert call.grant is not None
    return call.client.id, call.grant.customer


def asker(call: Call) -> tuple[str, str | None]:
    """The same where a token may be left out; one that is shown speaks for its own PSU (choice 2)."""
    return call.client.id, call.grant.customer if call.grant else None


def body_of(call: Call) -> bytes:
    longest = call.world.bank.settings.body_size_max
    if (call.request.content_length or 0) > longest:
        raise Refusal(Error.INPUT_INVALID, input="body", why=f"it is longer than {longest} bytes")
    return call.request.get_data()


def is_external(call: Call, parameter: str) -> bool:
    """INTERNAL (the default) or EXTERNAL (choice 5)."""
    kind = call.request.args.get(parameter, "INTERNAL")
    if kind not in ID_TYPES:
        raise Refusal(Error.INPUT_INVALID, input=parameter, why="it must be INTERNAL or EXTERNAL")
    return kind == "EXTERNAL"
