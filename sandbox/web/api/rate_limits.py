"""429 with Retry-After in bank time, where settings bound what a client may call (service 4.1)."""

from datetime import datetime, time, timedelta

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.call import Call
from sandbox.worlds.counts import Read
from sandbox.worlds.world import World


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
