"""The channel: the bank's own pages for a customer, which need no TPP (service 1, 5.7).

The channel shows the customer's accounts with their balances, the initiations that wait for a further signature, the
initiations that are paid from the accounts, and the consents by which TPPs read the accounts. The page of the bank's
app opens in a new browser tab. There the customer compares a code and approves or refuses.
"""

from collections.abc import Callable
from typing import Any

from flask import Response

from sandbox.bank import accounts, confirmations, consent_sessions, consents, signing, signing_sessions
from sandbox.bank.records import METHODS, Consent, Customer, Session
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason
from sandbox.web.psu.signing_pages import (
    SigningPage,
    find_session,
    find_tpp_name,
    list_account_choices,
    make_listed_view,
    make_signing_page,
)
from sandbox.web.psu.signing_summary import describe_paying_accounts, write_headline
from sandbox.web.psu.steps import ENDS, Verb, read_code, render_signing_page
from sandbox.web.psu.visits import (
    CHANNEL_COOKIE,
    SigningVisit,
    redirect,
    render,
    with_session,
)

LISTS = ("orders", "payments")
Show = Callable[[SigningVisit, str, Refusal], Response]
OVER = (*ENDS, Error.CHANNEL_CLOSED)
NEWS = ("signed", "waiting", "refused", "withdrawn", "undone")


def open_channel(visit: SigningVisit) -> Response:
    """Shows the customer's channel, or the log-in page if no customer has logged in. Begins a session if the browser
    has none."""
    session_id = visit.read_session_id(CHANNEL_COOKIE)
    if visit.world.ask(find_session, session_id, signing_sessions.CHANNEL) is None:
        session_id = visit.world.act(signing_sessions.enter_channel)
    response = show(visit, session_id)
    return with_session(visit, response, CHANNEL_COOKIE, session_id)


def log_in(visit: SigningVisit) -> Response:
    session_id, form = visit.read_form(CHANNEL_COOKIE)
    if not form.get("login"):
        return show(visit, session_id, "choose.customer")
    try:
        renewed = visit.world.act(signing_sessions.log_in_to_channel, session_id, form["login"])
    except Refusal as refusal:
        return show(visit, session_id, refusal)
    return with_session(visit, redirect(visit.to("/channel")), CHANNEL_COOKIE, renewed)


def see_payment(visit: SigningVisit) -> Response:
    """Shows an initiation that the customer may sign. Redirects to the channel if the customer has already answered in
    an app, or if the session has ended."""
    session_id = visit.read_session_id(CHANNEL_COOKIE)
    if session_id and visit.world.ask(find_session, session_id, signing_sessions.CHANNEL) is None:
        return redirect(visit.to("/channel"))
    news = visit.world.ask(find_news_about, session_id, visit.path["payment_id"])
    return redirect(visit.to("/channel", news=news)) if news else show_payment(visit, session_id)


def choose_method(visit: SigningVisit) -> Response:
    """Changes the signing method, and redirects to the page of the initiation. If the form has no method, or if the
    bank refuses the method because of a risk (service 5.7), shows this page with the reason. Raises Refusal if the
    method is unknown."""
    session_id, form = visit.read_form(CHANNEL_COOKIE)
    subject, method = visit.path["payment_id"], form.get("method", "")
    if not method:
        return show_payment(visit, session_id, "choose.method")
    if method not in METHODS:
        raise Refusal(Error.NOT_FOUND, input="method")
    try:
        visit.world.act(confirmations.choose_method_in_channel, session_id, subject, method)
    except Refusal as refusal:
        return show_refusal(visit, session_id, refusal)
    return redirect(visit.to(f"/channel/payments/{subject}"))


def sign_payment(visit: SigningVisit) -> Response:
    session_id, form = visit.read_form(CHANNEL_COOKIE)
    code = read_code(form.get("code", ""))
    if code is None:
        return show_payment(visit, session_id, "type.code")
    return act_on_payment(visit, signing_sessions.confirm_in_channel, code)


def sign_by_biometrics(visit: SigningVisit) -> Response:
    return act_on_payment(visit, confirmations.confirm_in_channel_by_biometrics)


def refuse_payment(visit: SigningVisit) -> Response:
    return act_on_payment(visit, signing_sessions.refuse_in_channel, news="refused")


def cancel_payment(visit: SigningVisit) -> Response:
    """Cancels a signed initiation if its status permits it (service 3.4)."""
    return act_on_payment(visit, signing_sessions.cancel_in_channel, news="undone", again=show)


def see_consent(visit: SigningVisit) -> Response:
    """Shows a consent and asks whether to withdraw it."""
    session_id = visit.read_session_id(CHANNEL_COOKIE)
    customer, consent = visit.world.ask(find_own_consent, session_id, visit.path["consent_id"])
    language = visit.choose_language(customer=customer.language)
    return render(visit, language, "withdraw", session_id=session_id, customer=customer, consent=consent)


def withdraw_consent(visit: SigningVisit) -> Response:
    session_id, _ = visit.read_form(CHANNEL_COOKIE)
    visit.world.act(consent_sessions.withdraw, session_id, visit.path["consent_id"])
    return redirect(visit.to("/channel", news="withdrawn"))


def log_out(visit: SigningVisit) -> Response:
    session_id, _ = visit.read_form(CHANNEL_COOKIE)
    visit.world.act(signing_sessions.leave_channel, session_id)
    response = redirect(visit.to("/channel"))
    response.delete_cookie(CHANNEL_COOKIE, **visit.guards)
    return response


def show_refusal(visit: SigningVisit, session_id: str, refusal: Refusal) -> Response:
    """Shows a refusal on the page of the payment, or in the channel if there is nothing left to sign. After too many
    wrong codes the bank has ended the session, so a new session begins."""
    if refusal.error is Error.CODE_WRONG and not refusal.facts["left"]:
        session_id = visit.world.act(signing_sessions.enter_channel)
        return with_session(visit, show(visit, session_id, refusal), CHANNEL_COOKIE, session_id)
    if refusal.error in OVER:
        return show(visit, session_id, refusal)
    return show_payment(visit, session_id, refusal)


def act_on_payment(
    visit: SigningVisit, verb: Verb, *arguments: str, news: str = "", again: Show = show_refusal
) -> Response:
    """Calls `verb` on the payment for the customer. Then redirects to the channel, which shows the message `news`. If
    `news` is empty, the message says that the payment is signed, or that it waits for a further signature. If the bank
    refuses, the function `again` makes the reply."""
    session_id, _ = visit.read_form(CHANNEL_COOKIE)
    try:
        status = visit.world.act(verb, session_id, visit.path["payment_id"], *arguments)
    except Refusal as refusal:
        return again(visit, session_id, refusal)
    return redirect(visit.to("/channel", news=news or ("waiting" if status is Status.PATC else "signed")))


def read_page_number(visit: SigningVisit, name: str) -> int:
    """Returns the page number of a list from the query, or 1 if it is missing or is not a number from 1 to 999999."""
    text = visit.request.args.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 7 and int(text) else 1


def make_address(visit: SigningVisit, name: str, number: int) -> str:
    """Returns the address of the channel with another page of the list `name`. The other lists stay on their pages."""
    page_numbers = {name: str(read_page_number(visit, name)) for name in LISTS if name in visit.request.args}
    return visit.to("/channel", **page_numbers | {name: str(number)})


def show(visit: SigningVisit, session_id: str, wrong: str | Refusal = "") -> Response:
    view = visit.world.ask(read_channel_overview, session_id, {name: read_page_number(visit, name) for name in LISTS})
    language = visit.choose_language(customer=view["customer"].language if view["customer"] else None)
    news = visit.request.args.get("news")
    return render(
        visit,
        language,
        "channel" if view["customer"] else "channel_login",
        session_id=session_id,
        channel=view,
        headline=lambda view: write_headline(language, view),
        paying_accounts=describe_paying_accounts,
        page_at=lambda name, number: make_address(visit, name, number),
        news=news if news in NEWS else None,
        wrong=wrong,
        path="/channel",
    )


def show_payment(visit: SigningVisit, session_id: str, wrong: str | Refusal = "") -> Response:
    page = visit.world.ask(make_page_in_channel, session_id, visit.path["payment_id"])
    language = visit.choose_language(customer=page.customer.language if page.customer else None)
    at = f"/channel/payments/{page.id}"
    return render_signing_page(visit, language, page, "cosign", session_id, at, wrong, path=at)


# What the channel shows, read under the world's lock


def read_channel_overview(bank: Bank, session_id: str, pages: dict[str, int]) -> dict[str, Any]:
    """Returns the values that the channel shows. Before the log-in, and for a customer who has blocked the channel,
    these are only the list of all customers and `likely`, the first unblocked customer who has something to sign.
    `pages` has the page number of each list."""
    session = signing_sessions.demand_session(bank, session_id, signing_sessions.CHANNEL)
    customer = session.customer
    if customer is None or is_blocked(bank, customer):
        turn = (name for name in bank.customers if signing.list_to_sign(bank, name) and not is_blocked(bank, name))
        return {"customers": list(bank.customers.values()), "customer": None, "likely": next(turn, None)}
    return {
        "customer": bank.customers[customer],
        "waiting": [
            make_signing_page(bank, session, initiation) for initiation in signing.list_to_sign(bank, customer)
        ],
        "consents": [make_consent_row(bank, consent) for consent in consents.list_valid_consents(bank, customer)],
        "accounts": list_account_choices(bank, customer),
        "lists": [list_page(bank, customer, name, pages.get(name, 1)) for name in LISTS],
    }


def is_blocked(bank: Bank, customer: str) -> bool:
    try:
        accounts.demand_unblocked(bank, customer)
    except Refusal:
        return True
    return False


def find_logged_in_session(bank: Bank, session_id: str) -> Session:
    """Returns the session of the channel. Its customer is None before the log-in. Raises Refusal if the customer has
    blocked the channel."""
    session = signing_sessions.demand_session(bank, session_id, signing_sessions.CHANNEL)
    if session.customer is not None:
        accounts.demand_unblocked(bank, session.customer)
    return session


def make_page_in_channel(bank: Bank, session_id: str, subject_id: str) -> SigningPage:
    """Returns the page of an initiation that waits for the signature of the customer who logged in. Raises Refusal for
    any other initiation."""
    session = find_logged_in_session(bank, session_id)
    for initiation in signing.list_to_sign(bank, session.customer) if session.customer else ():
        if initiation.id == subject_id:
            return make_signing_page(bank, session, initiation)
    raise Refusal(Error.NOT_FOUND, input="payment")


def find_own_consent(bank: Bank, session_id: str, consent_id: str) -> tuple[Customer, dict[str, Any]]:
    """Returns the customer in the channel, and the values that the channel shows of a consent. Raises Refusal if it is
    not a valid consent of this customer."""
    consent = consents.find_valid(bank, find_logged_in_session(bank, session_id).customer, consent_id)
    return bank.customers[consent.customer], make_consent_row(bank, consent)


def make_consent_row(bank: Bank, consent: Consent) -> dict[str, Any]:
    """Returns the values that the channel shows of a valid consent: who may read which accounts, since when and until
    when."""
    return {
        "id": consent.id,
        "tpp": find_tpp_name(bank, consent.client_id),
        "scope": consent.scope,
        "accounts": [bank.accounts[iban] for iban in consent.logical_ids.values()],
        "given": find_brussels_date(consent.given),
        "until": find_brussels_date(consent.until),
    }


def find_news_about(bank: Bank, session_id: str, subject_id: str) -> str:
    """Returns the key of the message about the answer that the customer gave in the app: `signed`, `waiting` (a further
    signature is missing) or `refused`. Returns an empty text if the customer has not answered."""
    session, initiation = bank.sessions.get(session_id), bank.find_initiation(subject_id)
    if session is None or initiation is None or session.subject != subject_id:
        return ""
    if session.customer in initiation.signatures:
        return "waiting" if initiation.status is Status.PATC else "signed"
    return "refused" if initiation.reason == Reason.PSU_REFUSED.code else ""


def list_page(bank: Bank, customer: str, name: str, number: int) -> dict[str, Any]:
    """Returns a page of the list `name` (one of LISTS) of the initiations from the customer's accounts, with the
    numbers of the newer and the older page. The number is 0 if there is no such page."""
    initiations, has_more = signing_sessions.list_own_initiations(bank, customer, name, number)
    rows = [
        {
            "id": initiation.id,
            "view": make_listed_view(bank, initiation),
            "tpp": find_tpp_name(bank, initiation.origin.client_id),
            "status": initiation.status,
            "may_cancel": signing_sessions.may_cancel(bank, initiation, customer),
            "kind": initiation.kind.words,
        }
        for initiation in initiations
    ]
    return {"name": name, "rows": rows, "newer": number - 1, "older": number + 1 if has_more else 0}
