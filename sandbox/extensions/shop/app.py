"""The shop as one Flask application: its pages, the callback, and the cookie and security headers of every reply."""

from datetime import date
from decimal import Decimal
from urllib.parse import urlsplit

from flask import Flask, Response, abort, g, render_template, request
from werkzeug.exceptions import HTTPException

from sandbox.banking.iban import group_iban
from sandbox.banking.pkce import is_same_secret
from sandbox.client import AccountInfo, CallbackRefused, ForeignCallback, Refused, returned
from sandbox.contract.languages import PAGES
from sandbox.extensions.shop import accounts, orders, payments
from sandbox.extensions.shop.bank_client import AccessEnded, BankBusy, BankClient, BankSilent
from sandbox.extensions.shop.goods import SHOP
from sandbox.extensions.shop.shop_words import LANGUAGES, write_day, write_money
from sandbox.extensions.shop.visitors import (
    PendingRedirect,
    Visitors,
    choose_page_language,
    find_path_back,
    get_bank_client,
    get_visitor,
    go,
    say,
)
from sandbox.web.html.pages import write_policy

COOKIE = "marloquin-{port}"  # browsers keep one jar for all ports of a machine
CALLBACK = "/callback"
FORM_BYTES_MAX = 10_000
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # the callback's address holds a code
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
BACK = {"/orders": "/basket", "/basket": "/", CALLBACK: "/accounts"}
BY_HTTP_STATUS = {
    400: ("That did not work", "Something about this request was not right. Nothing was paid."),
    403: (
        "Please try that again",
        "The form was not one of this visit. Go back, load the page again, and send it anew.",
    ),
    404: ("There is nothing here", "The page does not exist, or it belongs to another visit."),
}


OTHER_HTTP_STATUS = "That did not work", "That cannot be done here."


def create_app(client: BankClient) -> Flask:
    """Makes the app of a shop whose customers pay through a bank. The shop is at the host and port of
    `client.redirect_uri`."""
    app = Flask(__name__)
    app.config.update(MAX_CONTENT_LENGTH=FORM_BYTES_MAX, MAX_FORM_MEMORY_SIZE=FORM_BYTES_MAX, MAX_FORM_PARTS=20)
    app.extensions |= {"bank": client, "visitors": Visitors()}
    app.jinja_env.globals.update(
        shop=SHOP, visitor=get_visitor, visits=lambda: "visitor" in g, ribbons=[], _=say,
        page_language=choose_page_language,
        languages={code: PAGES[code].name for code in LANGUAGES},
    )  # fmt: skip
    app.jinja_env.filters.update(money=show_money, iban=group_iban, day=show_day, kind=name_account_type)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.register_blueprint(orders.pages)
    app.register_blueprint(accounts.pages)
    app.add_url_rule(CALLBACK, view_func=callback)
    app.add_url_rule("/language", view_func=choose_language, methods=["POST"])
    guard(app, client)
    for error in (BankBusy, BankSilent, AccessEnded, Refused, ForeignCallback, HTTPException):
        app.register_error_handler(error, explain_trouble)
    return app


def choose_language() -> Response:
    code = request.form.get("language", "")
    if code not in LANGUAGES:
        abort(404)
    get_visitor().language = code
    return go(find_path_back(request.form.get("back", "/")))


# Coming back from the bank


def callback() -> Response | tuple[str, int]:
    """Receives a customer who comes back from the bank. The parameter `state` identifies the redirect that sent the
    customer there. Replies 400 if this visitor has no redirect with this state."""
    owner, state = get_visitor(), request.args.get("state", "")
    pending = owner.redirects.pop(state, None)
    if pending is None:
        text = say("Nobody was sent to the bank with it, or it was used before.")
        return draw_trouble(say("This return is not yours"), text, 400)
    if not pending.destination:
        pending.destination = receive(pending, f"{request.base_url}?{request.query_string.decode()}")
    # A browser may come twice, as after a reload. It gets the same page, and the code is not exchanged again.
    owner.add_redirect(pending)
    return go(pending.destination)


def receive(pending: PendingRedirect, address: str) -> str:
    """Handles a callback: the customer refused, signed a payment, gave a consent, or authenticated a second time.
    Returns the path of the page that the customer sees next."""
    owner, order = get_visitor(), pending.order
    try:
        code = returned(address, pending.flow)
    except CallbackRefused:  # the customer said no: the page says what that means, and offers to try again
        if order is not None:
            payments.find_attempt(order, pending).asked = None  # the next question need not wait
            return f"/orders/{order.number}"
        if pending.renews and owner.link is not None:
            owner.link.renewal = None  # its address was used up
        owner.notice = say("You gave us no access at your bank. That is fine.")
        return pending.back
    if order is not None:
        payments.receive_signature(get_bank_client(), order, pending, code)
        return f"/orders/{order.number}"
    accounts.receive_consent(owner, pending, code)
    return pending.back


# What every reply carries


def guard(app: Flask, client: BankClient) -> None:
    """Registers functions that run before and after each request. They find the visitor and hold the visitor's lock,
    refuse a form without its proof (a secret that other sites do not know), and set the cookie and the security
    headers. A request under another host name is redirected to the shop's own address. Static files need no visitor."""
    home, bank_address = urlsplit(client.redirect_uri), urlsplit(client.base_url)
    forms = f"'self' {bank_address.scheme}://{bank_address.netloc}"
    policy = write_policy(forms, style="'self'", script="'self'", img="'self'", connect="'self'")
    visitors: Visitors = app.extensions["visitors"]
    cookie = COOKIE.format(port=home.port)

    @app.before_request
    def admit() -> Response | None:
        if request.host != home.netloc:  # the cookie and the callback are of one address
            return go(f"{home.scheme}://{home.netloc}/")
        if request.endpoint == "static":
            return None
        g.visitor = visitors.find_visitor(request.cookies.get(cookie, ""))
        g.visitor.lock.acquire()
        g.locked = True
        if request.method == "POST" and not is_same_secret(request.form.get("proof", ""), g.visitor.proof):
            abort(403)  # the form is not of this visitor, so another site made it
        return None

    @app.teardown_request
    def leave(error: BaseException | None) -> None:
        if g.pop("locked", False):
            g.visitor.lock.release()

    @app.after_request
    def stamp(response: Response) -> Response:
        response.headers.update(HEADERS)
        if request.endpoint == "static":
            response.headers["Cache-Control"] = "no-cache"
            return response
        response.headers["Content-Security-Policy"] = policy
        response.headers["Cache-Control"] = "no-store"
        if "visitor" in g:
            response.set_cookie(cookie, g.visitor.name, httponly=True, samesite="Lax", secure=home.scheme == "https")
        return response


# What goes wrong


def explain_trouble(error: Exception) -> Response | tuple[str, int]:
    """Returns the page that explains an error to the visitor and says whether to try again. If the access to accounts
    has ended (AccessEnded), also forgets the tokens. Raises the error again if its type is none of the cases below."""
    match error:
        case BankBusy():
            text = say("Your bank asks for a little patience. Try again in {seconds} seconds.", seconds=error.seconds)
            page, status = draw_trouble(say("The bank is busy"), text, 503, again=True)
            return Response(page, status, {"Retry-After": str(error.seconds)})
        case BankSilent():
            text = say("Nothing is lost. Try again in a moment.")
            return draw_trouble(say("The bank does not answer"), text, 502, again=True)
        case AccessEnded():  # the tokens are useless now, and are forgotten at once
            get_visitor().link = None
            return render_template("connect.html", ended=True), 403
        case Refused():
            text = say("The bank said: {why}", why=error.error_description or error.error or error.status)
            return draw_trouble(say("The bank refused"), text, 502)
        case ForeignCallback():
            return draw_trouble(say("This return is not yours"), say("It does not fit what the bank was asked."), 400)
        case HTTPException():
            title, text = BY_HTTP_STATUS.get(error.code or 0, OTHER_HTTP_STATUS)
            return draw_trouble(say(title), say(text), error.code or 500)
    raise error


def draw_trouble(title: str, text: str, status: int, again: bool = False) -> tuple[str, int]:
    back = ""
    if again:  # the page itself, or the page whose button was pressed
        here = request.full_path.rstrip("?") if request.method == "GET" else request.path.rpartition("/")[0]
        back = BACK.get(request.path, here)
    return render_template("trouble.html", title=title, text=text, back=back), status


# Filters of the templates


def show_money(amount: Decimal, currency: str = "EUR", sign: bool = False) -> str:
    return write_money(choose_page_language(), amount, currency, sign)


def show_day(text: str) -> str:
    return write_day(choose_page_language(), date.fromisoformat(text))


def name_account_type(account: AccountInfo) -> str:
    """Returns `Savings account`, or `Current account` for any other type, in the visitor's language. Some banks name a
    savings account by the service's word, others by the code of ISO 20022."""
    return say("Savings account") if account.type in ("savings-account", "SVGS") else say("Current account")
