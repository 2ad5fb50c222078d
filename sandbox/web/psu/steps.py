"""The steps at an address: log in, choose accounts, read, sign or refuse (service 1, 4.7; choice 5, choice 8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response

from sandbox.bank import confirmations, consent_sessions, signing, signing_sessions
from sandbox.bank.grants import ConsentAddress
from sandbox.bank.records import APP, BIOMETRICS, CARD_READER
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Initiation
from sandbox.contract.errors import Error, Refusal
from sandbox.web.api.faults import browser_sent
from sandbox.web.psu import papers
from sandbox.web.psu.answering import Ending, end
from sandbox.web.psu.sights import ConsentView, SigningPage, session_at, sight_of
from sandbox.web.psu.visits import SigningVisit, address_cookie, draw, form_targets, go, keep

# After these there is nothing left to do at the address; other refusals are shown on the page itself.
ENDS = (Error.NOT_FOUND, Error.ALREADY_OVER, Error.ADDRESS_OUTDATED, Error.CONSENT_ENDED)
METHOD_PAGES = {CARD_READER: "code", APP: "wait", BIOMETRICS: "biometrics"}  # service 5.7
STATE_MAX = 4_000  # ours: characters of a state, which is kept until the PSU is done

Verb = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Steps:
    """The pages of one kind of address."""

    path: str
    choice: str  # the step at which accounts are chosen
    problem: str  # the sentence where none was chosen
    templates: Mapping[str, str]
    waiting: Callable[[Bank, str], Initiation | ConsentAddress]
    enter: Verb
    log_in: Verb
    choose: Verb
    confirm: Verb
    refuse: Verb
    chosen: Callable[[SigningVisit, Any], tuple[object, ...] | None]  # by the form, of what the page offers; else None

    def open_address(self, visit: SigningVisit) -> Response:
        """Where the TPP sends the PSU. A second visit goes on where the first was; another state begins anew."""
        token, states = visit.path["token"], visit.request.args.getlist("state")
        if states and len(states[-1]) > STATE_MAX:
            raise Refusal(Error.INPUT_INVALID, input="state", why=f"it is longer than {STATE_MAX} characters")
        session_id = visit.session_id(address_cookie(token))
        session = visit.world.ask(session_at, session_id, token)
        if session is None and not states and visit.world.decisions.no_state == "refused":
            raise Refusal(Error.INPUT_INVALID, input="state", why="it is missing")
        if session is None or (states and states[-1] != session.state):
            session_id = visit.world.act(self.enter, token, states[-1] if states else None)
        return keep(visit, self.show(visit, session_id, "review"), address_cookie(token), session_id)

    def see_step(self, visit: SigningVisit) -> Response:
        """A page that waits for the app leads back to the TPP once the app has answered."""
        session_id = visit.session_id(address_cookie(visit.path["token"]))
        session = visit.world.ask(session_at, session_id, visit.path["token"])
        if session is not None and session.callback:
            return leave(visit, session.callback)
        return self.show(visit, session_id, visit.path["step"])

    def take_step(self, visit: SigningVisit) -> Response:
        """A form of one of the steps."""
        token = visit.path["token"]
        visit.world.ask(self.waiting, token)  # an address that is over is refused first
        session_id, _ = visit.form(address_cookie(token))
        step = visit.path["step"]
        takes = {
            "login": (self.take_login, "login"),
            self.choice: (self.take_choice, self.choice),
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
        except Refusal as refusal:  # the bank's no on the page where something else may be chosen
            if refusal.error in ENDS:
                raise
            shown = "code" if refusal.error is Error.CODE_WRONG else again
            return self.show(visit, session_id, shown, refusal)

    def take_login(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        customer = visit.request.form.get("login")
        if not customer:
            return self.show(visit, session_id, "login", "choose.customer")
        renewed = visit.world.act(self.log_in, session_id, token, customer)
        return keep(visit, go(visit.to(f"/{self.path}/{token}/{self.choice}")), address_cookie(token), renewed)

    def take_choice(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """Only what the list offers; the bank itself checks again whose accounts they are."""
        chosen = self.chosen(visit, visit.world.ask(self.sight, session_id, token))
        if chosen is None:
            return self.show(visit, session_id, self.choice, self.problem)
        visit.world.act(self.choose, session_id, token, *chosen)
        return go(visit.to(f"/{self.path}/{token}/review"))

    def take_code(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """An account that is no longer fit may be changed."""
        code = read_code(visit.request.form.get("code", ""))
        if code is None:
            return self.show(visit, session_id, "code", "type.code")
        return leave(visit, visit.world.act(self.confirm, session_id, token, code))

    def take_method(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        """Another way to sign; a risk may refuse it, and the page says why."""
        method = visit.request.form.get("method", "")
        if not method:
            return self.show(visit, session_id, "code", "choose.method")
        if method not in METHOD_PAGES:
            raise Refusal(Error.NOT_FOUND, input="method")
        visit.world.act(confirmations.choose_method, session_id, token, method)
        return go(visit.to(f"/{self.path}/{token}/code"))

    def take_biometrics(self, visit: SigningVisit, session_id: str, token: str) -> Response:
        return leave(visit, visit.world.act(confirmations.confirm_by_biometrics, session_id, token))

    def sight(self, bank: Bank, session_id: str, token: str) -> SigningPage:
        """What waits at an address; over or outdated ones are refused first."""
        about = self.waiting(bank, token)
        return sight_of(bank, signing_sessions.session_of(bank, session_id, token), about)

    def show(self, visit: SigningVisit, session_id: str, step: str, wrong: str | Refusal = "") -> Response:
        """The step that was asked for, or the first before it that is not done yet."""
        sight = visit.world.ask(self.sight, session_id, visit.path["token"])
        language = visit.language(sight.language)
        choice = () if sight.view.named else (self.choice,)
        steps = ("login", *choice, "review", "code")
        shown = self.first_open(sight, step)
        at = f"/{self.path}/{visit.path['token']}"
        return draw_sight(
            visit,
            language,
            METHOD_PAGES[sight.ways.method] if shown == "code" else self.templates.get(shown, shown),
            sight,
            session_id,
            at,
            wrong,
            path=f"{at}/{shown}" if visit.request.method == "POST" else "",
            forms=form_targets(sight.asked.redirect_uri),
            number=steps.index(shown) + 1 if shown in steps else 0,
            of=len(steps),
            ways=sight.ways,
        )

    def first_open(self, sight: SigningPage, asked: str) -> str:
        """A refusal is open to all, after a question."""
        if asked == "refuse":
            return asked
        if sight.customer is None or asked == "login":
            return "login"
        if not sight.view.named and (not sight.is_chosen or asked == self.choice):
            return self.choice
        return "code" if asked == "code" else "review"


def draw_sight(
    visit: SigningVisit,
    language: str,
    template: str,
    sight: SigningPage,
    session_id: str,
    at: str,
    wrong: str | Refusal,
    **facts: Any,
) -> Response:
    """A page about what is signed or consented to, with its paper."""
    return draw(
        visit,
        language,
        template,
        session_id=session_id,
        kind=sight.kind,
        sight=sight,
        headline=papers.headline(language, sight.view),
        lines=papers.lines(language, sight),
        at=at,
        rate=visit.world.pace.rate,
        wrong=wrong,
        **facts,
    )


def read_code(text: str) -> str | None:
    """The six digits; a text of another shape is no code, and costs no try."""
    code = "".join(text.split())
    return code if len(code) == signing_sessions.CODE_DIGITS and code.isascii() and code.isdigit() else None


def leave(visit: SigningVisit, callback: str) -> Response:
    """Back to the TPP, and nowhere else; where no callback follows a no, the bank's page says how it ended."""
    if not callback:
        return end(visit, Ending("cancelled", 200))
    response = go(callback)
    response.delete_cookie(address_cookie(visit.path["token"]), **visit.guards)
    return browser_sent(visit.world, response)


def _compartment(visit: SigningVisit, sight: SigningPage) -> tuple[object, ...] | None:
    value = visit.request.form.get("account")
    return next(((one.account.iban, one.currency) for one in sight.options if one.value == value), None)


def _accounts(visit: SigningVisit, sight: SigningPage) -> tuple[object, ...] | None:
    assert isinstance(sight.view, ConsentView)
    chosen = tuple(dict.fromkeys(visit.request.form.getlist("account")))
    return (chosen,) if chosen and set(chosen) <= {choice.account.iban for choice in sight.view.choices} else None


SIGNING = Steps(
    path="sign",
    choice="account",
    problem="choose.account",
    templates={},
    waiting=signing.waiting,
    enter=signing_sessions.enter,
    log_in=signing_sessions.log_in,
    choose=signing_sessions.pick,
    confirm=confirmations.confirm,
    refuse=signing_sessions.refuse,
    chosen=_compartment,
)
CONSENTING = Steps(
    path="consent",
    choice="accounts",
    problem="choose.accounts",
    templates={"accounts": "consent_accounts", "review": "consent_review"},
    waiting=consent_sessions.waiting,
    enter=consent_sessions.enter,
    log_in=consent_sessions.log_in,
    choose=consent_sessions.choose,
    confirm=confirmations.confirm,
    refuse=consent_sessions.refuse,
    chosen=_accounts,
)
