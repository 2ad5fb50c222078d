"""The shop's pages with the goods, the basket, and the orders, which customers pay from their bank account."""

from secrets import token_hex

from flask import Blueprint, Response, abort, render_template, request

from sandbox.client import Refused
from sandbox.extensions.shop import payments
from sandbox.extensions.shop.bank_client import BankBusy, BankSilent
from sandbox.extensions.shop.goods import GOODS, SHELF
from sandbox.extensions.shop.visitors import (
    ShopOrder,
    choose_bank_language,
    compute_total,
    get_bank_client,
    get_visitor,
    go,
    say,
)

pages = Blueprint("orders", __name__)

COUNT_MAX = 9
IBAN_MAX = 42  # characters typed, with blanks
# Refusals about which a customer can do something; for others the page has the bank's own words.
WORDS = {
    "INVALID_ACCOUNT": "That account is not at this bank. Check the number, or leave it empty and pick one there.",
    "INVALID_INPUT": "The bank does not know such an account number. Check it, or leave it empty.",
    "CHANNEL_NOT_PERMITTED": "The bank lets nobody pay online from that account.",
    "FORBIDDEN": "The bank refused: that account may not pay so much, or not to us.",
    "INSUFFICIENT_FUNDS": "There is not enough money on that account.",
}


@pages.get("/")
def shelf() -> str:
    return render_template("shelf.html", shelf=SHELF)


@pages.post("/basket")
def put() -> Response:
    """Adds one piece of a good to the basket. If the form has a count, sets the number of pieces to this count instead;
    a count of 0 takes the good out. A basket has at most COUNT_MAX pieces of a good. Replies 404 if the shop does not
    sell the good."""
    code, entry = request.form.get("code", ""), request.form.get("count", "")
    if code not in GOODS:
        abort(404)
    basket = get_visitor().basket
    count = int(entry) if entry.isascii() and entry.isdigit() and len(entry) < 4 else basket.get(code, 0) + 1
    basket[code] = min(count, COUNT_MAX)
    if not basket[code]:
        del basket[code]
    if not entry:
        get_visitor().notice = say("{good} lies in your basket.", good=say(GOODS[code].name))
        return go("/")
    return go("/basket")


@pages.get("/basket")
def basket(problem: str = "", iban: str = "") -> str:
    owner = get_visitor()
    rows = [(GOODS[code], count) for code, count in owner.basket.items()]
    entries = owner.link.entries if owner.link is not None and owner.link.entries is not None else []
    return render_template(
        "basket.html", rows=rows, total=compute_total(owner.basket), problem=problem, iban=iban, entries=entries
    )


@pages.post("/orders")
def order() -> Response | tuple[str, int]:
    """Makes an order from the basket, initiates its payment, and sends the customer to the bank. If the bank refuses,
    shows the basket with the reason. If the basket is empty, only redirects to the orders, or to the basket if there
    are none."""
    owner = get_visitor()
    if not owner.basket:  # as when the button was pressed twice
        return go("/orders" if owner.orders else "/basket")
    typed = request.form.get("iban", "")[:IBAN_MAX]
    new_order = ShopOrder(f"MQ-{token_hex(4).upper()}", dict(owner.basket), "".join(typed.split()).upper() or None)
    try:
        address = payments.begin(get_bank_client(), owner, new_order, choose_bank_language())
    except Refused as refused:
        return basket(explain_refusal(refused, new_order), typed), 422
    owner.basket.clear()
    owner.add_order(new_order)
    return go(address)


def explain_refusal(refused: Refused, order: ShopOrder) -> str:
    """Returns a sentence for the customer. If the customer named an account and WORDS knows the error, it says what the
    customer can do. Otherwise it quotes the bank."""
    words = WORDS.get(refused.error.upper()) if order.debtor_iban is not None else None
    if words:
        return say(words)
    return say("The bank refused: {why}", why=refused.error_description or refused.error or refused.status)


@pages.get("/orders")
def orders() -> str:
    newest_first = list(reversed(get_visitor().orders.values()))
    try:
        for row in newest_first:
            if row.last is not None:
                payments.update(get_bank_client(), row.last)
    except (BankBusy, BankSilent, Refused):
        pass  # the last known statuses are shown; each order's own page says that they are old
    now = get_bank_client().now()
    return render_template("orders.html", orders=[(row, payments.find_progress(row, now)) for row in newest_first])


def find_own_order(number: str) -> ShopOrder:
    """Returns an order of this visitor. Replies 404 if the visitor has no order with this number."""
    return get_visitor().orders.get(number) or abort(404)


@pages.get("/orders/<number>")
def see(number: str) -> str:
    return render_template("order.html", goods=GOODS, **read_state(find_own_order(number)))


@pages.get("/orders/<number>/state")
def state(number: str) -> str:
    """Returns the HTML of the part of an order's page that changes. The page's script fetches it from time to time."""
    return render_template("state.html", **read_state(find_own_order(number)))


def read_state(order: ShopOrder) -> dict[str, object]:
    """Asks the bank for the status of an order, and returns the values that the templates show. If the bank gives no
    status, the values have the last known status and a sentence that says so."""
    late, seconds = "", 0
    if order.last is not None:
        try:
            payments.update(get_bank_client(), order.last)
        except BankBusy as busy:
            late, seconds = say("The bank is busy just now, so this may be out of date."), busy.seconds
        except BankSilent:
            late, seconds = say("The bank does not answer just now, so this may be out of date."), payments.LONG
        except Refused:
            late, seconds = say("The bank does not tell us about this payment any more."), payments.LONG
    now = get_bank_client().now()
    after = payments.compute_next_question(order, now)
    return {
        "order": order,
        "progress": payments.find_progress(order, now),
        "refunds": get_bank_client().send_back is not None and payments.may_be_refunded(order),
        "late": late,
        "after": None if after is None else max(after, seconds),
    }


@pages.post("/orders/<number>/pay")
def pay(number: str) -> Response:
    """Sends the customer to the bank to pay an order: to the address of its open payment, or else to that of a new
    payment. If there is nothing to pay or the bank refuses, shows the order's page."""
    order = find_own_order(number)
    try:
        address = payments.go_on(get_bank_client(), get_visitor(), order, choose_bank_language())
    except Refused as refused:
        get_visitor().notice = explain_refusal(refused, order)
        address = None
    return go(address or f"/orders/{order.number}")


@pages.post("/orders/<number>/refund")
def refund(number: str) -> Response:
    """Sends the money of a paid order back. Each order is refunded at most once."""
    order = find_own_order(number)
    if not payments.send_refund(get_bank_client(), order):
        get_visitor().notice = say("The money could not be sent back.")
    return go(f"/orders/{order.number}")
