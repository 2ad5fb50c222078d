"""Payments of orders: initiates a payment, asks for its status until it is settled, and says what the customer sees and
can do at each status."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Event
from typing import Any

from sandbox.client import Initiation, Refused
from sandbox.extensions.shop.bank_client import BankBusy, BankClient, BankSilent
from sandbox.extensions.shop.goods import SHOP, SHOP_IBAN
from sandbox.extensions.shop.visitors import PaymentAttempt, PendingRedirect, ShopOrder, Visitor, Visitors

PAUSE = 1.0  # seconds: the least between two questions to the bank
PAUSES = ((10, 2), (30, 5), (120, 15))  # up to that many questions, seconds until the next; then the page stops asking
LONG = 30
CURRENCY = "EUR"
ROUND = 5.0  # seconds between two rounds of the shop over all payments
SETTLED_AFTER = timedelta(days=1)  # at some banks ACSP is the last status: money that left a day ago has arrived


@dataclass(frozen=True, slots=True)
class OrderProgress:
    """How the page shows the progress of an order. `mood` decides the colour, `step` is the number of the step that
    comes next, and `button` is the label of the button to pay, or empty if there is nothing to pay."""

    mood: str
    title: str
    text: str
    step: int
    button: str = ""


NEW = OrderProgress("wait", "Not paid yet", "The bank has not heard of this order so far.", 2, "Pay by bank")
EXPIRED = OrderProgress(
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
BY_STATUS = {"PDNG": SIGNED, "PNDG": SIGNED, "ACSP": LEFT, "ACSC": PAID}
REFUNDED = OrderProgress("good", "Refunded", "You sent the parcel back, and the money is in your account again.", 3)
REJECTED = "Your bank did not carry out the payment. If money had left your account, it is back."
REASONS = {
    "AC01": "Your bank did not carry out the payment: the account number is wrong. If money had left your account, it "
    "is back.",
    "AC04": "Your bank did not carry out the payment: our account is closed. If money had left your account, it "
    "is back.",
    "AC06": "Your bank did not carry out the payment: the account is blocked. If money had left your account, it "
    "is back.",
    "AM04": "Your bank did not carry out the payment: the account lacked the money. If money had left your account, it "
    "is back.",
}
CANCELLED = {
    "PSU_REFUSED": "You chose not to sign at your bank. Nothing was paid, and your order is still here.",
    "TIME_OUT": "Nobody signed within the hour, so the bank let it go. Nothing was paid.",
}
OTHERWISE_CANCELLED = "The payment was cancelled. Nothing was paid."
CANCELLED |= {"DS02": CANCELLED["PSU_REFUSED"], "TM01": CANCELLED["TIME_OUT"]}  # the codes of ISO 20022


def find_progress(order: ShopOrder, now: datetime) -> OrderProgress:
    attempt = order.last
    if attempt is None:
        return NEW
    if attempt.refunded:
        return REFUNDED
    if attempt.status == "RJCT":
        return OrderProgress("bad", "Not paid", REASONS.get(attempt.reason or "", REJECTED), 3, "Pay again")
    if attempt.status == "CANC":
        text = CANCELLED.get(attempt.reason or "", OTHERWISE_CANCELLED)
        return OrderProgress("bad", "Not paid", text, 2, "Pay again")
    if attempt.is_unsigned:
        return EXPIRED if attempt.is_expired(now) else WAITING
    if attempt.left is not None and now >= attempt.left + SETTLED_AFTER:
        return PAID
    # A status from before the signature says nothing of further signatures.
    return BY_STATUS.get(attempt.status, COSIGN if attempt.has_news else SIGNED)


def compute_next_question(order: ShopOrder, now: datetime) -> int | None:
    """Returns the seconds after which the page should ask for the status again. Returns None if the order has no
    payment, if the status cannot change any more, if the address for signing expired unused, or if the page has asked
    often enough."""
    attempt = order.last
    if attempt is None or attempt.is_final or (attempt.is_unsigned and attempt.is_expired(now)):
        return None
    return next((seconds for times, seconds in PAUSES if attempt.times_asked < times), None)


def update(bank: BankClient, attempt: PaymentAttempt) -> None:
    """Asks the bank for the status of a payment and stores it in the attempt. Does nothing if the status is final, or
    if the bank was asked less than a second ago."""
    ticks = bank.ticks()
    if attempt.is_final or (attempt.asked is not None and ticks - attempt.asked < PAUSE):
        return
    attempt.asked = ticks
    reply = bank.ask("payment_status", lambda: bank.make_tpp().status(attempt.initiation))
    attempt.asked, attempt.times_asked = bank.ticks(), attempt.times_asked + 1
    attempt.status, attempt.reason, attempt.has_news = reply.status, reply.reason, attempt.returned
    if attempt.status == "ACSP" and attempt.left is None:
        attempt.left = bank.now()


def begin(bank: BankClient, visitor: Visitor, order: ShopOrder, language: str) -> str:
    """Initiates a payment of the order, and returns the address at which the customer signs.

    Each attempt has a reference of its own, so that attempts are not confused. Raises BankSilent if no usable reply
    comes. The bank may then have a payment whose address nobody knows. Nobody can sign that payment, and the bank
    cancels it after an hour.
    """
    order.tries += 1
    begun = bank.now()
    payment: Initiation = bank.ask(
        "payment_initiation",
        lambda: bank.make_tpp(language).pay(
            creditor_iban=SHOP_IBAN,
            creditor_name=SHOP,
            amount=order.total,
            endtoend_identification=f"{order.number}-{order.tries}",
            debtor_iban=order.debtor_iban,
            remittance_information_unstructured=write_message(order),
        ),
    )
    if payment.sca_address is None:
        raise BankSilent
    order.attempts.append(PaymentAttempt(payment, payment.sca_address, begun, payment.status or "RCVD"))
    visitor.add_redirect(PendingRedirect(payment.flow, order))
    return payment.sca_address


def write_message(order: ShopOrder) -> str:
    return f"{SHOP} order {order.number}"


def go_on(bank: BankClient, visitor: Visitor, order: ShopOrder, language: str) -> str | None:
    """Returns the address at which the customer can pay the order now, or None if there is nothing to pay.

    Asks the bank for the status first. If an earlier payment is still open, returns its address, because with a new
    payment the customer could pay twice.
    """
    attempt = order.last
    if attempt is not None:
        update(bank, attempt)
        if attempt.is_unsigned and not attempt.is_final and not attempt.is_expired(bank.now()):
            return attempt.address
    return begin(bank, visitor, order, language) if find_progress(order, bank.now()).button else None


def receive_signature(bank: BankClient, order: ShopOrder, pending: PendingRedirect, code: str | None) -> None:
    """Handles the return of a customer who signed. Exchanges the code of the callback for tokens, and reads the payer's
    name and account with them, because the page shows both.

    Name and account stay unknown if the callback has no code, if a call fails, or if the details of the payment differ
    from the order. The order goes on then too, because the payment itself needs no tokens.
    """
    attempt = find_attempt(order, pending)
    attempt.returned, attempt.asked = True, None  # the next question need not wait
    if not code:
        return
    try:
        tokens = bank.ask("token", lambda: bank.make_tpp().exchange(code, pending.flow))
        details = bank.ask("payment_details", lambda: bank.make_tpp().details(attempt.initiation, tokens))
    except (Refused, BankBusy, BankSilent):
        return
    if is_different(details, order, attempt):
        return
    order.paid_by = str(details.get("psu_name") or "") or None
    account = details.get("debtor_account")
    order.paid_from = str(account.get("iban") or "") or None if isinstance(account, dict) else None


def is_different(details: Mapping[str, Any], order: ShopOrder, attempt: PaymentAttempt) -> bool:
    """Whether the bank's details of the payment differ from the order. A detail that the bank leaves out is not a
    difference."""
    amount, creditor = details.get("instructed_amount") or {}, details.get("creditor_account") or {}
    ordered_and_paid = {
        SHOP_IBAN: creditor.get("iban"),
        SHOP: details.get("creditor_name"),
        CURRENCY: amount.get("currency"),
        attempt.initiation.external_id: details.get("endtoend_identification"),
        write_message(order): details.get("remittance_information_unstructured"),
    }
    number = amount.get("amount")
    return any(value not in (None, ordered) for ordered, value in ordered_and_paid.items()) or (
        number is not None and Decimal(str(number)) != order.total
    )


def find_attempt(order: ShopOrder, pending: PendingRedirect) -> PaymentAttempt:
    return next(attempt for attempt in order.attempts if attempt.initiation.flow.state == pending.flow.state)


def may_be_refunded(order: ShopOrder) -> bool:
    """Whether the shop has the money of the order and can send it back."""
    return order.last is not None and order.last.status == "ACSC" and not order.last.refunded


def send_refund(bank: BankClient, order: ShopOrder) -> bool:
    """Sends the money of an order back by `bank.send_back`. Returns whether this succeeded. Returns False without
    sending if the shop cannot send money back, or if the order may not be refunded."""
    if bank.send_back is None or not may_be_refunded(order):
        return False
    attempt = order.attempts[-1]
    attempt.refunded = bank.send_back(attempt.initiation)
    return attempt.refunded


def follow(bank: BankClient, visitors: Visitors) -> None:
    """Asks for the status of each open payment about which the bank was not asked in the last LONG seconds. Stops at
    the first call for which the bank asks to wait or gives no usable reply; the next round tries again. The pages do
    not suffice for this, because a customer may sign and never come back to the shop."""
    for visitor in visitors:
        with visitor.lock:
            for attempt in [attempt for order in visitor.orders.values() for attempt in order.attempts]:
                if attempt.is_final or (attempt.asked is not None and bank.ticks() - attempt.asked < LONG):
                    continue
                try:
                    update(bank, attempt)
                except Refused:
                    continue
                except (BankBusy, BankSilent):
                    return  # the next round tries again


def follow_until(ended: Event, bank: BankClient, visitors: Visitors) -> None:
    while not ended.wait(ROUND):
        follow(bank, visitors)
