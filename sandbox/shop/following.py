"""Follows open payments also when nobody has the page open: a customer may sign and close the browser."""

from threading import Event

from sandbox.client import Refused
from sandbox.shop import paying
from sandbox.shop.line import BankBusy, BankSilent, Line
from sandbox.shop.visitors import Visitors

EVERY = 5.0  # seconds between two rounds; each payment has its own, longer pause


def follow(line: Line, visitors: Visitors) -> None:
    """One round: whatever was not looked at for a while."""
    for visitor in visitors:
        with visitor.lock:
            for order in visitor.orders.values():
                for attempt in order.attempts:
                    if paying.is_due(line, attempt):
                        try:
                            paying.look(line, attempt)
                        except Refused:
                            continue
                        except (BankBusy, BankSilent):
                            return  # the next round tries again


def follow_until(ended: Event, line: Line, visitors: Visitors) -> None:
    while not ended.wait(EVERY):
        follow(line, visitors)
