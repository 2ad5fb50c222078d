"""What a tester does next with an initiation, a consent or a callback: a page to open, or a call to make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from urllib.parse import urlencode

from sandbox.bank.records import UNSIGNED, BulkFile
from sandbox.bank.state import Bank
from sandbox.contract.moves import Status
from sandbox.web.api.addresses import CALLBACK, FROM_CONSOLE, callback_of
from sandbox.web.console.calls import ApiCall, BankReply
from sandbox.web.console.demo_tpp import STEPS, Form, state_for
from sandbox.web.console.formats import moment
from sandbox.web.console.visits import ConsoleVisit


@dataclass(frozen=True, slots=True)
class Next:
    """One thing to do: a page at `link`, a console button `action`, or the demo client's call `step`."""

    label: str
    about: str
    link: str = ""
    action: str = ""
    step: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    asks: str = ""  # a field that the tester fills in
    back: str = ""  # the console's page that follows a button

    def call(self, visit: ConsoleVisit) -> ApiCall | None:
        """The call with its real values, to show as code."""
        return STEPS[self.step](visit, self.fields, "") if self.step else None


def of_initiation(visit: ConsoleVisit, kind: str, name: str) -> list[Next]:
    """The customer's page while one waits; then the status, and time."""
    found = visit.world.ask(_standing, kind, name)
    if found is None:
        return []
    status, waits, product, callback = found
    fields, page = {"kind": kind, "id": name, "product": product}, f"/console/{kind}/{name}"
    ask = Next("Ask for the status", "The TPP polls; no token is needed.", step="status", fields=fields)
    if waits is not None:
        token, until = waits
        about = f"Log in, pick an account, read, sign. The address ends at {moment(until)}."
        return [Next("Sign as the customer", about, link=address_of(visit, kind, name, token, callback)), ask]
    target, within = "", "400d"
    if kind == "bulk-payments" and status is Status.RCVD:
        label, target, within = "Wait for the validation", "PATC", "2h"
    elif status in (Status.PDNG, Status.ACSP):
        target = "ACWP" if kind == "standing-orders" else "ACSC"
        label = f"Wait until it is {target}"
    if not target:
        return [ask]
    wait = {"payment_id": name, "status": target, "within": within}
    return [Next(label, "Moves the bank's clock.", action="await", fields=wait, back=page), ask]


def _standing(bank: Bank, kind: str, name: str) -> tuple[Status, tuple[str, datetime] | None, str, str] | None:
    """Its status, the address at which it can still be signed and until when, its product, and its callback."""
    found = bank.initiation(name)
    if found is None or found.kind.list != kind:
        return None
    newest = islice(reversed(bank.sca_addresses.values()), 500)  # they live for minutes, so these are enough
    alive = ((one.token, one.until) for one in newest if one.subject_id == name and one.until > bank.clock.now)
    waits = next(alive, None) if found.status in UNSIGNED and not found.signatures else None
    product = str(found.format) if isinstance(found, BulkFile) else found.order.product
    return found.status, waits, product, found.origin.redirect_uri


def of_callback(scope: str, subject: tuple[str, str] | None, fields: Form) -> Next:
    what = "the payment's details" if scope == "PIS" else "the accounts"
    kind, name = subject or ("", "")
    has_verifier = bool(fields.get("verifier"))
    return Next(
        "Exchange the code for tokens",
        f"The code buys tokens once, within minutes. They open {what}.",
        step="token",
        fields={**fields, "kind": kind, "id": name},
        asks="" if has_verifier else "verifier",
    )


def after(visit: ConsoleVisit, step: str, form: Form, answer: BankReply) -> list[Next]:
    """What follows a call that succeeded."""
    if not answer.is_success:
        return []
    match step:
        case "pay" | "order" | "file":
            kind = {"pay": "payments", "order": "standing-orders", "file": "bulk-payments"}[step]
            return of_initiation(visit, kind, str(answer.at("payment_id") or answer.at("payment_file_id")))
        case "consent":
            token = next((str(row["consent_uri"]) for row in answer.body), "").rpartition("/")[2]
            link = address_of(visit, "consents", token[:12], token, callback_of(visit.request))
            return [Next("Consent as the customer", "Log in, choose accounts, confirm.", link=link)]
        case "token":
            return _with_tokens(visit, form, answer)
        case "accounts":
            listed = answer.at("_embedded", "accounts") or []
            kept = {name: form.get(name, "") for name in ("access_token", "sca_token")}
            return [
                Next(f"Read {one['iban']}", "Its newest ten transactions.", step="transactions",
                     fields=kept | {"logical_id": one["logical_id"]})
                for one in listed[:5]
            ]  # fmt: skip
        case "status" | "details":
            found = of_initiation(visit, form.get("kind", ""), form.get("id", ""))
            return [one for one in found if one.step != "status"]
    return []


def _with_tokens(visit: ConsoleVisit, form: Form, answer: BankReply) -> list[Next]:
    kept = {"access_token": str(answer.at("access_token")), "sca_token": str(answer.at("sca_token") or "")}
    if answer.at("scope") != "PIS":
        return [Next("List the accounts", "Those that the customer chose.", step="accounts", fields=kept)]
    kind, name = form.get("kind", ""), form.get("id", "")
    found = visit.world.ask(_standing, kind, name) if kind else None
    if found is None:
        return []
    fields = {"kind": kind, "id": name, "product": found[2]}
    return [
        Next("Read the details", "With the access token.", step="details", fields=fields | kept),
        *of_initiation(visit, kind, name),
    ]


def address_of(visit: ConsoleVisit, kind: str, name: str, token: str, callback: str) -> str:
    """Where a customer signs or consents; with a state where the world's own callback page will check it."""
    page = visit.to_psu(f"/{'consent' if kind == 'consents' else 'sign'}/{token}")
    if not callback.endswith(f"{visit.request.script_root}{CALLBACK}"):
        return f"{page}?{FROM_CONSOLE}=1"  # so that nobody takes it for the TPP's own redirection
    return f"{page}?{urlencode({'state': state_for(visit.world, kind, name, token)})}"
