"""The steps at an address: log in, choose accounts, read, sign or refuse (service 1, 4.7; choice 5, choice 8).

A signing address and a consent address have the same steps, but each step calls a different verb of the bank: see
SIGNING and CONSENTING. The bank decides which steps the PSU has done. A page shows the requested step, or an earlier
step if the PSU has not done that one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from markupsafe import Markup

from sandbox.bank import confirmations, consent_sessions, signing, signing_sessions
from sandbox.bank.records import APP, BIOMETRICS, CARD_READER, IDENTITY_APP, ConsentAddress, Initiation
from sandbox.bank.state import Bank
from sandbox.banking.payees import MATCH
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.addresses import find_server
from sandbox.web.api.faults import send_browser
from sandbox.web.psu.signing_pages import (
    APP_PATHS,
    ConsentView,
    PayeeView,
    SigningPage,
    find_session,
    make_signing_page,
)
from sandbox.web.psu.signing_summary import list_lines, write_headline
from sandbox.web.psu.visits import (
    Ending,
    SigningVisit,
    find_form_targets,
    name_address_cookie,
    redirect,
    render,
    render_ending,
    with_session,
)

# After these refusals the visit ends. Other refusals are shown on the page.
ENDS = (Error.NOT_FOUND, Error.ALREADY_OVER, Error.ADDRESS_OUTDATED, Error.CONSENT_ENDED)
METHOD_PAGES = {CARD_READER: "code", APP: "wait", BIOMETRICS: "biometrics", IDENTITY_APP: "wait"}  # service 5.7
STATE_MAX = 4_000  # characters of a state, which is stored until the PSU has finished

Verb = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class AddressSteps:
    """The steps at one kind of address: to sign an initiation, or to give a consent."""

    path: str
    choice: str  # the step at which accounts are chosen
    problem: str  # the sentence for a form without a choice
    templates: Mapping[str, str]  # of steps whose template has another name
    waiting: Callable[[Bank, str], Initiation | ConsentAddress]
    enter: Verb
    log_in: Verb
    choose: Verb
    confirm: Verb
    refuse: Verb
    read_choice: Callable[[SigningVisit, Any], tuple[object, ...] | None]  # None if the page does not offer it

    def open_address(self, visit: SigningVisit) -> Response:
        """Shows the first step that the PSU has not done, but no step after the summary. If the browser has opened this
        address before, its session continues. But if the query now has another `state`, a new session begins. Raises
        Refusal if the `state` is too long. Also raises Refusal if there is neither a session nor a `state`, and the
        bank requires a `state`."""
        token, states = visit.path["token"], visit.request.args.getlist("state")
        if states and len(states[-1]) > STATE_MAX:
            raise Refusal(Error.INPUT_INVALID, input="state", why=f"it is longer than {STATE_MAX} characters")
        session_id = visit.read_session_id(name_address_cookie(token))
        session = visit.world.ask(find_session, session_id, token)
        if session is None and not states and visit.world.decisions.no_state == "refused":
            raise Refusal(Error.INPUT_INVALID, input="state", why="it is missing")
        if session is None or (states and states[-1] != session.state):
            session_id = visit.world.act(self.enter, token, states[-1] if states else None)
        return with_session(visit, self.show(visit, session_id, "review"), name_address_cookie(token), session_id)

    def see_step(self, visit: SigningVisit) -> Response:
        """Shows a step. Redirects to the TPP if the customer has already answered in an app."""
        session_id = visit.read_session_id(name_address_cookie(visit.path["token"]))
        session = visit.world.ask(find_session, session_id, visit.path["token"])
        if session is not None and session.callback:
            return leave(visit, session.callback)
        return self.show(visit, session_id, visit.path["step"])

    def take_step(self, visit: SigningVisit) -> Response:
        """Handles the form that the PSU sent in a step. If the bank refuses, shows the reason on a page where the PSU
        can choose something else. Raises the Refusal if it is one of ENDS."""
        token = visit.path["token"]
        visit.world.ask(self.waiting, token)  # refuses an address that is over, before the form is checked
        session_id, _ = visit.read_form(name_address_cookie(token))
        step = visit.path["step"]
        takes = {
            "login": (self.take_login, "login"),
            self.choice: (self.take_choice, self.choice),
            "payee": (self.take_payee, "payee"),
            "code": (self.take_code, self.choice),
            "method": (self.take_method, "code"),
            "biometrics": (self.take_biometrics, "code"),
        }
        if step == "refuse":
            return leave(visit, visit.world.act(self.refuse, session_id, token))
        if step not in takes:
            raise Refusal(Error.NOT_FOUND, input="step")
        take, again = takes[step]
        try:
            return take(visit, session_id, token)
        except Refusal as refusal:
            if refusal.error in ENDS:
                raise
            next_step = "code" if refusal.error is Error.CODE_WRONG else again
            return self.show(visit, session_id, next_step, refusal)

    def take_login(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        customer = visit.request.form.get("login")
        if not customer:
            return self.show(visit, session_id, "login", "choose.customer")
        renewed = visit.world.act(self.log_in, session_id, token, customer)
        return with_session(
            visit, redirect(visit.to(f"/{self.path}/{token}/{self.choice}")), name_address_cookie(token), renewed
        )

    def take_choice(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """Stores the PSU's choice if the page offers it. Otherwise shows the page again. The bank itself also checks
        whether the PSU owns the accounts."""
        choice = self.read_choice(visit, visit.world.ask(self.make_page, session_id, token))
        if choice is None:
            return self.show(visit, session_id, self.choice, self.problem)
        visit.world.act(self.choose, session_id, token, *choice)
        return redirect(visit.to(f"/{self.path}/{token}/review"))

    def take_payee(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """Stores that the customer accepts the outcome of the verification of payee, and redirects to the signing
        page."""
        visit.world.act(signing_sessions.accept_payee, session_id, token)
        return redirect(visit.to(f"/{self.path}/{token}/code"))

    def take_code(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        code = read_code(visit.request.form.get("code", ""))
        if code is None:
            return self.show(visit, session_id, "code", "type.code")
        return leave(visit, visit.world.act(self.confirm, session_id, token, code))

    def take_method(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """Changes the signing method, and redirects to the signing page. If the form has no method, shows this page
        with the reason. Raises Refusal if the method is unknown, or if the bank refuses it because of a risk."""
        method = visit.request.form.get("method", "")
        if not method:
            return self.show(visit, session_id, "code", "choose.method")
        if method not in METHOD_PAGES:
            raise Refusal(Error.NOT_FOUND, input="method")
        visit.world.act(confirmations.choose_method, session_id, token, method)
        return redirect(visit.to(f"/{self.path}/{token}/code"))

    def take_biometrics(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        return leave(visit, visit.world.act(confirmations.confirm_by_biometrics, session_id, token))

    def make_page(self, bank: Bank, session_id: str, token: str) -> SigningPage:
        """Returns the page of an address. Raises Refusal if the address has expired, or if its initiation or consent
        does not wait for the PSU any more."""
        subject = self.waiting(bank, token)
        return make_signing_page(bank, signing_sessions.demand_session(bank, session_id, token), subject)

    def show(self, visit: SigningVisit, session_id: str, step: str, wrong: str | Refusal = "") -> Response:
        """Shows the requested step, or an earlier step if the PSU has not done it. `wrong` is the reason why the sent
        form was refused, if it was."""
        token = visit.path["token"]
        page = visit.world.ask(self.make_page, session_id, token)
        choice, payee = () if page.view.is_named else (self.choice,), ("payee",) if page.payee else ()
        steps = ("login", *choice, "review", *payee, "code")
        shown_step = self.find_open_step(page, step)
        at = f"/{self.path}/{token}"
        return render_signing_page(
            visit,
            visit.choose_language(page.language),
            page,
            METHOD_PAGES[page.methods.method] if shown_step == "code" else self.templates.get(shown_step, shown_step),
            session_id,
            at,
            wrong,
            path=f"{at}/{shown_step}" if visit.request.method == "POST" else "",
            forms=find_form_targets(page.origin.redirect_uri),
            number=steps.index(shown_step) + 1 if shown_step in steps else 0,
            of=len(steps),
            **describe_payee_check(page),
        )

    def find_open_step(self, page: SigningPage, step: str) -> str:
        """Returns the step to show: the requested step, or an earlier step that the PSU has not done. The step `refuse`
        is always open. An unknown step counts as `review`."""
        if step == "refuse":
            return step
        if page.customer is None or step == "login":
            return "login"
        if not page.view.is_named and (not page.is_chosen or step == self.choice):
            return self.choice
        if page.payee is None:
            return "code" if step == "code" else "review"
        if step == "code" and not page.session.payee_accepted:
            return "payee"
        return step if step in ("payee", "code") else "review"


def describe_payee_check(page: SigningPage) -> dict[str, Any]:
    """Returns whether the verification of payee had another outcome than `match`, and whether that stops the payment.
    For a file, also returns how many payees with such an outcome are not listed. Returns an empty dictionary if there
    was no verification."""
    if page.payee is None:
        return {}
    if isinstance(page.payee, PayeeView):
        return {"is_doubtful": page.payee.check.outcome != MATCH, "is_stopped": page.payee.is_stopped}
    count = sum(number for outcome, number in page.payee.counts if outcome != MATCH)
    return {"is_doubtful": count > 0, "is_stopped": False, "unlisted": count - len(page.payee.differing)}


def render_signing_page(
    visit: SigningVisit,
    language: str,
    page: SigningPage,
    template: str,
    session_id: str,
    at: str,
    wrong: str | Refusal,
    **facts: Any,
) -> Response:
    """Returns a page about an initiation or a consent, with its summary."""
    app = f"{APP_PATHS.get(page.methods.method, '')}/{page.methods.approval}"
    return render(
        visit,
        language,
        template,
        session_id=session_id,
        kind=page.kind,
        page=page,
        headline=write_headline(language, page.view),
        lines=list_lines(language, page),
        at=at,
        app_path=visit.to(app),
        waits_path=visit.to(f"{app}/waits"),
        qr_code=lambda path: draw_qr_code(find_server(visit.request) + path),
        rate=visit.world.clock.pace.rate,
        wrong=wrong,
        **facts,
    )


def draw_qr_code(address: str) -> Markup:
    """Returns the image of a QR code as SVG. The code is black on white, even on a dark page."""
    import segno

    image = segno.make(address, micro=False)
    return Markup(image.svg_inline(light="#fff", border=3, svgclass=None, lineclass=None, omitsize=True))


def read_code(text: str) -> str | None:
    """Returns the digits of a code. Returns None if the text does not have the form of a code. Such a text does not
    count as a wrong try."""
    code = "".join(text.split())
    return code if len(code) == signing_sessions.CODE_DIGITS and code.isascii() and code.isdigit() else None


def leave(visit: SigningVisit, callback: str) -> Response:
    """Redirects the customer to the TPP at `callback`. An empty `callback` means that the customer refused and the bank
    sends no callback. In that case shows a page of the bank that says how the visit ended."""
    if not callback:
        return render_ending(visit, Ending("cancelled", 200))
    response = redirect(callback)
    response.delete_cookie(name_address_cookie(visit.path["token"]), **visit.guards)
    return send_browser(visit.world, response)


def _read_compartment(visit: SigningVisit, page: SigningPage) -> tuple[object, ...] | None:
    value = visit.request.form.get("account")
    return next(((row.account.iban, row.currency) for row in page.options if row.value == value), None)


def _read_accounts(visit: SigningVisit, page: SigningPage) -> tuple[object, ...] | None:
    assert isinstance(page.view, ConsentView)
    chosen_ibans = tuple(dict.fromkeys(visit.request.form.getlist("account")))
    return (
        (chosen_ibans,)
        if chosen_ibans and set(chosen_ibans) <= {choice.account.iban for choice in page.view.choices}
        else None
    )


SIGNING = AddressSteps(
    path="sign",
    choice="account",
    problem="choose.account",
    templates={},
    waiting=signing.find_waiting_initiation,
    enter=signing_sessions.enter,
    log_in=signing_sessions.log_in,
    choose=signing_sessions.pick,
    confirm=confirmations.confirm,
    refuse=signing_sessions.refuse,
    read_choice=_read_compartment,
)
CONSENTING = AddressSteps(
    path="consent",
    choice="accounts",
    problem="choose.accounts",
    templates={"accounts": "consent_accounts", "review": "consent_review"},
    waiting=consent_sessions.find_waiting_address,
    enter=consent_sessions.enter,
    log_in=consent_sessions.log_in,
    choose=consent_sessions.choose,
    confirm=confirmations.confirm,
    refuse=consent_sessions.refuse,
    read_choice=_read_accounts,
)
