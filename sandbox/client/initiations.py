"""Payments, standing orders and bulk files: initiate, look at, cancel (service 4.1 to 4.6)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import sleep
from typing import Any, Unpack

from sandbox.client.bodies import (
    SCT,
    EarlierOrder,
    PaymentOrder,
    RegularOrder,
    earlier_payment_body,
    payment_body,
    standing_order_body,
)
from sandbox.client.replies import BatchInfo, Initiation, PathKind, Reference, StatusInfo, Tokens
from sandbox.client.reply import ClientReply, Unreadable, field, maybe, number, sca_link
from sandbox.client.transport import VERSIONS, HttpCaller, segment

Token = Tokens | str | None
Target = Initiation | Reference

MEDIA = {"pain.001": "application/xml", "csv": "text/csv"}
WAITING = ("RCVD", "PATC")  # unsigned
SCA_ADDRESS_LIFE = 300.0  # seconds (choice 5)


# The service does not show the names of an initiation's reply (2.4), and names of such fields are written in two ways.
SPELLINGS = {
    "paymentId": "payment_id",
    "endToEndIdentification": "endtoend_identification",
    "scaRedirect": "sca_redirect",
}


def in_one_spelling(body: Any) -> Any:
    """The fields of an initiation's reply and of its links by the names that this client uses."""
    if not isinstance(body, dict):
        return body
    return {SPELLINGS.get(name, name): in_one_spelling(value) for name, value in body.items()}


def access_of(token: Token) -> str | None:
    return token.access if isinstance(token, Tokens) else token


class Initiations:
    """The part of the client that pays."""

    caller: HttpCaller

    def pay(self, product: str = SCT, token: Token = None, **order: Unpack[PaymentOrder]) -> Initiation:
        """A single payment."""
        return self.initiate(product, payment_body(product, **order), token)

    def pay_earlier(self, token: Token = None, **order: Unpack[EarlierOrder]) -> Initiation:
        """The same in version 1."""
        return self.initiate(SCT, earlier_payment_body(**order), token, version=1)

    def pay_regularly(self, token: Token = None, **order: Unpack[RegularOrder]) -> Initiation:
        """A standing order."""
        return self.initiate(SCT, standing_order_body(**order), token, kind=PathKind.STANDING_ORDER)

    def initiate(
        self,
        product: str,
        body: Mapping[str, Any],
        token: Token = None,
        *,
        kind: PathKind = PathKind.PAYMENT,
        version: int | None = None,
        resend: bool = True,
    ) -> Initiation:
        """Sends any body. After a lost reply it repeats the call with the same Request-ID (choice 2)."""
        flow = self.caller.flow("PIS")
        reply = self.caller.call(
            "POST",
            f"/{kind}/{segment(product)}",
            version or VERSIONS[f"{kind.row.name}_initiation"],
            token=access_of(token),
            flow=flow,
            content=json.dumps(body).encode(),
            extra={"Content-Type": "application/json"},
            replay=resend,
        )
        reply = replace(reply, body=in_one_spelling(reply.body))
        address = sca_link(reply.body) or reply.location
        own = body.get("endtoend_identification", body.get("payment_id"))
        return Initiation(
            Reference(product, field(reply, "payment_id"), kind),
            maybe(reply, "status"),
            None if address is None else flow.on(address),
            flow,
            reply,
            own if isinstance(own, str) else None,
            maybe(reply, "transaction_ref"),
        )

    def send_file(
        self,
        content: bytes,
        product: str = "pain.001",
        reference: str | None = None,
        media: str | None = None,
        *,
        resend: bool = True,
    ) -> Initiation:
        """A bulk file; `reference` is its PaymentInformationID (choice 7)."""
        flow = self.caller.flow("PIS")
        extra = {"Content-Type": media or MEDIA.get(product, "application/octet-stream")}
        if reference is not None:
            extra["PaymentInformationID"] = reference
        path, version = f"/{PathKind.BULK}/{segment(product)}", VERSIONS["bulk_initiation"]
        reply = self.caller.call("POST", path, version, content=content, extra=extra, replay=resend)
        bulk_reference = Reference(product, field(reply, "payment_file_id"), PathKind.BULK)
        return Initiation(bulk_reference, maybe(reply, "status"), None, flow, reply, reference)

    def status(self, target: Target, token: Token = None) -> StatusInfo:
        """The status; for a bulk file also its SCA address and the status of each bulk."""
        reply = self._on("status", "GET", target, token, "/status")
        address = sca_link(reply.body)
        flow = None
        if address is not None:
            flow = target.flow if isinstance(target, Initiation) else self.caller.flow("PIS")
            address = flow.on(address)
        bulks = tuple(_bulk(reply, found) for found in maybe(reply, "bulks", list) or ())
        return StatusInfo(field(reply, "status"), maybe(reply, "reason"), reply, address, flow, bulks)

    def details(self, target: Target, token: Token) -> dict[str, Any]:
        """The details of a payment or a standing order."""
        reply = self._on("details", "GET", target, token, "/details")
        field(reply, "payment_id")
        return dict(reply.body)

    def cancel(self, target: Target, token: Token = None) -> ClientReply:
        """DELETE; only bulk files need no token (service 5.6)."""
        return self._on("cancellation", "DELETE", target, token)

    def poll(
        self,
        target: Target,
        done: Callable[[StatusInfo], bool] = lambda found: found.status not in WAITING,
        *,
        every: float = 5.0,
        within: float = SCA_ADDRESS_LIFE,
        pause: Callable[[float], object] = sleep,
    ) -> StatusInfo:
        """Asks for the status until the initiation is signed or its SCA address has expired.

        Returns the last status. `pause` may move the bank's clock instead of waiting."""
        found = self.status(target)
        for _ in range(int(within // every)):
            if done(found):
                break
            pause(every)
            found = self.status(target)
        return found

    def _on(self, verb: str, method: str, target: Target, token: Token, end: str = "") -> ClientReply:
        """A call on something that was initiated."""
        reference = target.reference if isinstance(target, Initiation) else target
        version = VERSIONS[reference.operation(verb)]
        path = f"{reference.path}{end}"
        return self.caller.call(method, path, version, token=access_of(token), query=reference.query)


def _bulk(reply: ClientReply, found: Any) -> BatchInfo:
    return BatchInfo(
        maybe(reply, "payment_information_id", within=found),
        field(reply, "status", within=found),
        _count(reply, found),
        None if maybe(reply, "control_sum", object, found) is None else number(reply, "control_sum", found),
        maybe(reply, "reason", within=found),
        tuple(maybe(reply, "errors", list, found) or ()),
    )


def _count(reply: ClientReply, found: Any) -> int | None:
    """The number of transactions, a JSON number or its digits: the service does not say which (2.4)."""
    if maybe(reply, "number_of_transactions", (int, str), found) is None:
        return None
    count = number(reply, "number_of_transactions", found)
    if count != int(count):
        raise Unreadable(reply, "number_of_transactions is no whole number")
    return int(count)
