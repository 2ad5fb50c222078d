"""What observes the calls once they are answered: the list of calls, their contents, the counts, and a listener."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from time import perf_counter
from typing import Any, NamedTuple

from flask import Response

from sandbox.bank.state import Bank
from sandbox.contract.errors import Error
from sandbox.web.api.call import Call
from sandbox.web.api.call_contents import Content, content_of
from sandbox.web.api.call_record import CallRecord
from sandbox.web.api.credentials import client_named
from sandbox.web.api.explanations import decided, variants_met, why
from sandbox.world.calls import Exchange, NumberedCall, Recent, shortened
from sandbox.world.registry import Worlds
from sandbox.world.world import World

Announce = Callable[[Exchange, str, float], None]
Calls = Sequence[tuple[CallRecord, Exchange]]


class Listener(NamedTuple):
    """Takes every call, in order, once its answer is complete."""

    on_calls: Callable[[World, Bank, Calls], None]  # of the bank's interface
    acted: Callable[[dict[str, Any], Response, Worlds], None]  # of what lies beside it
    print_of: Callable[[bytes], bytes]  # of a large body, before the world's lock is taken: it takes long


class Observers(NamedTuple):
    """Of one application; a world delivers the calls that wait there."""

    worlds: Worlds
    announce: Announce | None
    listener: Listener | None

    def take(self, world: World, bank: Bank, calls: Sequence[NumberedCall[CallRecord]]) -> None:
        settings, held = bank.settings, world.loaded()
        exchanges = [exchange_of(bank, call) for call in calls]
        weight = held.exchanges.take(exchanges, settings.requests_kept, settings.calls_bytes_max)
        if settings.contents_kept:
            contents: Recent[Content] = held.kept.setdefault("contents", Recent())
            real, stopped = world.real_time(), perf_counter()
            shown = [
                content_of(call.seq, call.record, real - timedelta(seconds=stopped - call.record.ended))
                for call in calls
            ]
            weight += contents.take(shown, settings.contents_kept, settings.calls_bytes_max)
        self.worlds.history.grew(weight)
        pairs = [(call.record, exchange) for call, exchange in zip(calls, exchanges, strict=True)]
        for record, exchange in pairs:
            if self.worlds.tally is not None:
                self.worlds.tally.count(exchange.operation, exchange.status, record.ended - record.started)
            if self.announce is not None:
                self.announce(exchange, record.world, record.ended - record.started)
        if self.listener is not None:
            self.listener.on_calls(world, bank, pairs)


def exchange_of(bank: Bank, call: NumberedCall[CallRecord]) -> Exchange:
    """The line of a call in the list of calls."""
    record = call.record
    operation = record.operation
    exchange = Exchange(
        call.seq,
        call.request_id,
        call.at,
        operation.name if operation else None,
        record.method,
        record.path,
        record.status,
        client_in(bank, record),
        *why(bank, record),
        variants_met(record),
        decided(record),
    )
    return shortened(exchange)


def client_in(bank: Bank, record: CallRecord) -> str | None:
    """The client as it calls itself: in its header, at /token by its credentials."""
    if record.operation is None or record.operation.bank_headers:
        return record.headers.get("HTTP_CLIENT_ID")
    return client_named(bank, record.headers.get("HTTP_AUTHORIZATION"))


def client_of(call: Call) -> str | None:
    """As it calls itself: in its header, at /token by its credentials."""
    if call.operation.bank_headers:
        return call.header("Client-ID")
    return call.world.look(client_named, call.header("Authorization"))


def error_of(exchange: Exchange) -> dict[str, str | None]:
    """What the reply of a refused call says in `error` and `error_code`."""
    row = Error[exchange.error].value if exchange.error else None
    return {"error": row and row.error, "error_code": row and row.code}
