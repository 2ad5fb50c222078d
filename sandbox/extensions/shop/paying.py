"""A payment from its initiation to settled money: what may be done when, and how each status is told."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

from sandbox.client import Initiation, Refused
from sandbox.extensions.shop.goods import SHOP, SHOP_IBAN
from sandbox.extensions.shop.line import BankBusy, BankClient, BankSilent
from sandbox.extensions.shop.visitors import Attempt, PendingRedirect, ShopOrder, Visitor, Visitors

LOOK_SECONDS = 1.0  # the bank is not asked more often than that
NEXT_LOOKS = ((10, 2), (30, 5), (120, 15))  # up to so many looks, so many seconds until the next; then the shop stops
LONG = 30
EVERY = 5.0  # seconds between two rounds of the shop; each payment has its own, longer pause
SETTLED_AFTER = timedelta(days=1)  # at some banks ACSP is the last status: money that left a day ago is here


@dataclass(frozen=True, slots=True)
class OrderProgress:
    """How an order stands, in words: `mood` colours it, `step` is what it waits for, `button` what may be done."""

    mood: str
    title: str
    text: str
    step: int
    button: str = ""


NEW = OrderProgress("wait", "Not paid yet", "The bank has not heard of this order so far.", 2, "Pay by bank")
OLD = OrderProgress(
    "wait",
    "The bank’s page has grown old",
    "It could be signed for five minutes, and it was not. Nothing was paid. Pay again, and the bank gives a fresh one.",
    2,
    "Pay again",
)
WAITING = OrderProgress(
    "wait", "Waiting for your signature", "Nothing is paid until you sign at your bank.", 2, "Go on at your bank"
)
COSIGN = OrderProgress(
    "move",
    "One more signature is needed",
    "You signed. This account wants somebody else to sign too, at the bank; we keep looking.",
    2,
)
SIGNED = OrderProgress(
    "move",
    "Signed, and not settled yet",
    "Your bank took the order. A signature is not money, so we wait before we pack.",
    3,
)
LEFT = OrderProgress("move", "The money is on its way", "It has left your account. We pack as soon as it is here.", 3)
PAID = OrderProgress("good", "Paid", "The money is here. Your parcel is being packed.", 3)
REJECTED = "Your bank did not carry out the payment{why}. If money had left your account, it is back."
SIGHTS = {"PDNG": SIGNED, "PNDG": SIGNED, "ACSP": LEFT, "ACSC": PAID}
REASONS = {
    "AC01": ": the account number is wrong",
    "AC04": ": our account is closed",
    "AC06": ": the account is blocked",
    "AM04": ": the account lacked the money",
}
CANCELLED = {
    "PSU_REFUSED": "You chose not to sign at your bank. Nothing was paid, and your order is still here.",
    "TIME_OUT": "Nobody signed within the hour, so the bank let it go. Nothing was paid.",
}
CANCELLED |= {"DS02": CANCELLED["PSU_REFUSED"], "TM01": CANCELLED["TIME_OUT"]}  # ISO 20022 has codes for both


def sight_of(order: ShopOrder, now: datetime) -> OrderProgress:
    attempt = order.last
    if attempt is None:
        return NEW
    if attempt.status == "RJCT":
        return OrderProgress(
            "bad", "Not paid", REJECTED.format(why=REASONS.get(attempt.reason or "", "")), 3, "Pay again"
        )
    if attempt.status == "CANC":
        text = CANCELLED.get(attempt.reason or "", "The payment was cancelled. Nothing was paid.")
        return OrderProgress("bad", "Not paid", text, 2, "Pay again")
    if attempt.is_unsigned:
        return OLD if attempt.is_old(now) else WAITING
    if attempt.left is not None and now >= attempt.left + SETTLED_AFTER:
        return PAID
    if not attempt.has_news:  # what the bank said before the customer signed tells nothing of other signatures
        return SIGHTS.get(attempt.status, SIGNED)
    return SIGHTS.get(attempt.status, COSIGN)


def next_look(order: ShopOrder, now: datetime) -> int | None:
    """In how many seconds the page asks again; None when nothing can change, or when patience is at its end."""
    attempt = order.last
    if attempt is None or attempt.is_final or (attempt.is_unsigned and attempt.is_old(now)):
        return None
    return next((seconds for looks, seconds in NEXT_LOOKS if attempt.looks < looks), None)


def look(line: BankClient, attempt: Attempt) -> None:
    """Asks the bank where the payment stands: never once it is final, and never twice within a second."""
    ticks = line.ticks()
    if attempt.is_final or (attempt.looked is not None and ticks - attempt.looked < LOOK_SECONDS):
        return
    attempt.looked = ticks
    found = line.ask("payment_status", lambda: line.tpp().status(attempt.initiation))
    attempt.looked, attempt.looks = line.ticks(), attempt.looks + 1
    attempt.status, attempt.reason, attempt.has_news = found.status, found.reason, attempt.returned
    if attempt.status == "ACSP" and attempt.left is None:
        attempt.left = line.now()


def begin(line: BankClient, visitor: Visitor, order: ShopOrder, language: str) -> str:
    """A new payment of the order at the bank; the answer is where the customer signs.

    Each attempt has a reference of its own, so that none can be taken for another. When no answer came, a payment may
    lie at the bank that nobody has the address of: it cannot be signed, and is let go after an hour.
    """
    order.tries += 1
    begun = line.now()
    paid: Initiation = line.ask(
        "payment_initiation",
        lambda: line.tpp(language).pay(
            creditor_iban=SHOP_IBAN,
            creditor_name=SHOP,
            amount=order.total,
            endtoend_identification=f"{order.number}-{order.tries}",
            debtor_iban=order.debtor_iban,
            remittance_information_unstructured=f"{SHOP} order {order.number}",
        ),
    )
    if paid.sca_address is None:
        raise BankSilent
    order.attempts.append(Attempt(paid, paid.sca_address, begun, paid.status or "RCVD"))
    visitor.remember(PendingRedirect(paid.flow, order))
    return paid.sca_address


def go_on(line: BankClient, visitor: Visitor, order: ShopOrder, language: str) -> str | None:
    """Where the customer can pay the order now; None when it needs no further signature of theirs.

    The bank is asked first: a second payment while the first one lives would pay twice.
    """
    attempt = order.last
    if attempt is not None:
        look(line, attempt)
        if attempt.is_unsigned and not attempt.is_final and not attempt.is_old(line.now()):
            return attempt.address
    return begin(line, visitor, order, language) if sight_of(order, line.now()).button else None


def came_back(line: BankClient, order: ShopOrder, errand: PendingRedirect, code: str | None) -> None:
    """The customer signed. The code buys tokens; this shop wants them once, to thank the payer by name.

    Tokens are not the payment: whatever goes wrong here, the order goes on.
    """
    attempt = attempt_of(order, errand)
    attempt.returned, attempt.looked = True, None  # news: the bank is asked again, however short ago that was
    if not code:
        return
    try:
        tokens = line.ask("token", lambda: line.tpp().exchange(code, errand.flow))
        details = line.ask("payment_details", lambda: line.tpp().details(attempt.initiation, tokens))
    except (Refused, BankBusy, BankSilent):
        return
    order.paid_by = str(details.get("psu_name") or "") or None
    account = details.get("debtor_account")
    order.paid_from = str(account.get("iban") or "") or None if isinstance(account, dict) else None


def attempt_of(order: ShopOrder, errand: PendingRedirect) -> Attempt:
    return next(one for one in order.attempts if one.initiation.flow.state == errand.flow.state)


def is_due(line: BankClient, attempt: Attempt) -> bool:
    """Whether the shop should look by itself: a customer may sign and never come back."""
    return not attempt.is_final and (attempt.looked is None or line.ticks() - attempt.looked >= LONG)


def follow(line: BankClient, visitors: Visitors) -> None:
    """One round: whatever was not looked at for a while."""
    for visitor in visitors:
        with visitor.lock:
            for order in visitor.orders.values():
                for attempt in order.attempts:
                    if is_due(line, attempt):
                        try:
                            look(line, attempt)
                        except Refused:
                            continue
                        except (BankBusy, BankSilent):
                            return  # the next round tries again


def follow_until(ended: Event, line: BankClient, visitors: Visitors) -> None:
    while not ended.wait(EVERY):
        follow(line, visitors)
