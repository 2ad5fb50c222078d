"""429 with Retry-After in bank time, where settings bound what a client may call (service 4.1)."""

from datetime import datetime, time, timedelta

from sandbox.bank.state import Bank
from sandbox.banking.calendar import BRUSSELS
from sandbox.contract.errors import Error, Refusal
from sandbox.world.limits import Read
from sandbox.world.world import World


def count_call(world: World, bank: Bank, client_id: str) -> None:
    """Calls of a client and minute."""
    if bank.settings.requests_per_minute:
        seconds = world.limits.count_call(client_id, bank.clock.now, bank.settings.requests_per_minute)
        if seconds is not None:
            decided = {"requests_per_minute": bank.settings.requests_per_minute, "retry_after_seconds": seconds}
            raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided=decided)


def count_read(world: World, bank: Bank, read: Read) -> None:
    """Reads of an account and day; the next day begins at midnight in Brussels."""
    if not world.limits.count_read(read, bank.clock.today, bank.settings.reads_per_day):
        midnight = datetime.combine(bank.clock.today + timedelta(days=1), time(), BRUSSELS)
        seconds = int((midnight - bank.clock.now).total_seconds()) + 1
        decided = {"reads_per_day": bank.settings.reads_per_day, "again_from": midnight}
        raise Refusal(Error.TOO_MANY_REQUESTS, seconds=seconds, decided=decided)
