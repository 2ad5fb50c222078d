"""The pages of the two apps in which a customer approves: the bank's own app, and Zelvo, an identity app (service 5.7).

The page of the bank's app opens in a new browser tab. There the customer compares its code with the code on the bank's
page. Zelvo is an invented brand. Its page replaces the bank's page in the tab, as on a phone, or opens on another
device by a QR code. There the customer chooses the number that the bank's page shows. Each app has its own path. So a
TPP's app that shows the bank's pages can intercept the link to Zelvo, as it does with the link to a real identity app.
"""

from dataclasses import dataclass
from hmac import compare_digest
from typing import NamedTuple

from flask import Response

from sandbox.bank import confirmations, signing_sessions
from sandbox.bank.records import APP, IDENTITY_APP
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.web.psu.signing_pages import APP_PATHS, SigningPage, make_page_in_app
from sandbox.web.psu.steps import ENDS, render_signing_page
from sandbox.web.psu.visits import (
    CHANNEL_COOKIE,
    SessionLostError,
    SigningVisit,
    compute_proof,
    find_form_targets,
    make_headers,
    name_address_cookie,
    redirect,
    render,
)

ANSWERS = {"approve": True, "refuse": False}
WRONG_NUMBER = "wrong"
DONE = (*ANSWERS, WRONG_NUMBER)


class PageThatWaits(NamedTuple):
    """A page of the bank that waits until the customer answers in the app. `session_id` is the session of the browser
    that shows this page."""

    path: str
    cookie: str
    session_id: str


@dataclass(frozen=True, slots=True)
class AppPages:
    """The pages of one app."""

    method: str
    template: str
    opens_in_place: bool  # and leads back to the bank's page

    def see(self, visit: SigningVisit) -> Response:
        answer = visit.request.args.get("answered")
        if answer in DONE:
            return render(visit, visit.choose_language(), f"{self.template}_done", answered=answer)
        return self.show(visit)

    def answer(self, visit: SigningVisit) -> Response:
        """Handles the form by which the customer approves or refuses in the app. Then redirects to the bank's page if
        the app was opened in the place of that page, in the same browser. Otherwise redirects to the app's own page. A
        wrong number redirects in the same way. After any other refusal, shows the app's page again with the reason, or
        raises the Refusal if its error is in ENDS.

        Raises SessionLostError if the form has no valid proof. The proof is computed from the approval's id, which only
        the app knows. Raises Refusal if the approval is over.
        """
        approval, form = visit.path["approval"], visit.request.form
        if not compare_digest(form.get("proof", "").encode(), compute_proof(approval).encode()):
            raise SessionLostError
        answer = visit.path["answer"]
        if answer not in ANSWERS:
            raise Refusal(Error.NOT_FOUND, input="step")
        waiting = visit.world.ask(self.find_waiting_page, approval)  # refuses an approval that is over
        language = visit.choose_language(visit.world.ask(make_page_in_app, approval).language)
        try:
            visit.world.act(confirmations.answer_in_app, approval, ANSWERS[answer], form.get("number"))
        except Refusal as refusal:
            if refusal.error is Error.CODE_WRONG:
                answer = WRONG_NUMBER
            elif refusal.error in ENDS:
                raise
            else:
                return self.show(visit, refusal)
        if self.opens_in_place and visit.read_session_id(waiting.cookie) == waiting.session_id:
            return redirect(visit.to(waiting.path))
        return redirect(visit.to(f"{APP_PATHS[self.method]}/{approval}", answered=answer, lang=language))

    def says_whether_it_waits(self, visit: SigningVisit) -> Response:
        """Returns `yes` while the approval waits for an answer in the app, and `no` afterwards. The script of the
        bank's page asks for it."""
        try:
            visit.world.ask(self.find_waiting_page, visit.path["approval"])
        except Refusal:
            return Response("no", headers=make_headers(), content_type="text/plain")
        return Response("yes", headers=make_headers(), content_type="text/plain")

    def show(self, visit: SigningVisit, wrong: str | Refusal = "") -> Response:
        approval = visit.path["approval"]
        page = visit.world.ask(self.make_page, approval)
        at = f"{APP_PATHS[self.method]}/{approval}"
        # An answer in place redirects to the bank's page, and that one to the TPP.
        forms = find_form_targets(page.origin.redirect_uri) if self.opens_in_place else ""
        language = visit.choose_language(page.language)
        return render_signing_page(visit, language, page, self.template, approval, at, wrong, path=at, forms=forms)

    def make_page(self, bank: Bank, approval: str) -> SigningPage:
        self.find_waiting_page(bank, approval)
        return make_page_in_app(bank, approval)

    def find_waiting_page(self, bank: Bank, approval: str) -> PageThatWaits:
        """Returns the bank's page that waits for this approval. Raises Refusal if the approval is over, or if it
        belongs to the other app."""
        session = confirmations.find_waiting_session(bank, approval)
        if session.method != self.method:
            raise Refusal(Error.NOT_FOUND, input="approval")
        if session.address == signing_sessions.CHANNEL:
            return PageThatWaits(f"/channel/payments/{session.subject}", CHANNEL_COOKIE, session.id)
        kind = "consent" if session.address in bank.consent_addresses else "sign"
        return PageThatWaits(f"/{kind}/{session.address}/code", name_address_cookie(session.address), session.id)


BANK_APP = AppPages(APP, "app", opens_in_place=False)
ZELVO = AppPages(IDENTITY_APP, "zelvo", opens_in_place=True)
