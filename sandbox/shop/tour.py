"""The guided tour of the demo: seven steps, each marked once it is done."""

from collections.abc import Callable
from typing import NamedTuple

from sandbox.shop.visitors import Visitor


class Step(NamedTuple):
    """What to do, where, and how the demo sees that it was done."""

    title: str
    about: str
    link: str
    is_done: Callable[[Visitor], bool]


def _attempts(visitor: Visitor) -> list[str]:
    return [attempt.status for order in visitor.orders.values() for attempt in order.attempts]


STEPS: tuple[Step, ...] = (
    Step(
        "Choose some goods", "Put something in. The shop is a third party (TPP).", "/",
        lambda visitor: bool(visitor.basket or visitor.orders),
    ),
    Step(
        "Pay by bank", "The shop initiates a payment, and the bank replies where you sign.", "/basket",
        lambda visitor: bool(_attempts(visitor)),
    ),
    Step(
        "Sign as Alice", "Log in at the bank, pick an account, type the code.", "/orders",
        lambda visitor: any(status not in ("RCVD", "PATC") for status in _attempts(visitor)),
    ),
    Step(
        "Let a minute pass", "Signed is not settled: money moves a minute later. Use the bar above.", "/orders",
        lambda visitor: "ACSC" in _attempts(visitor),
    ),
    Step(
        "Connect your bank", "Consent at the bank; the shop reads balances and transactions.", "/accounts",
        lambda visitor: visitor.link is not None,
    ),
    Step(
        "Let 91 days pass", "The bank wants to know who is there before it shows more.", "/accounts",
        lambda visitor: visitor.link is not None and visitor.link.renewal is not None,
    ),
    Step(
        "Look behind", "The console shows every call of the shop, and why it was answered so.", "",
        lambda visitor: False,
    ),
)  # fmt: skip


def tour_of(visitor: Visitor) -> list[tuple[Step, bool]]:
    return [(step, step.is_done(visitor)) for step in STEPS]
