"""The controls that an export's acts stand for: those of the tester, and of a customer at the bank's own pages."""

from typing import Any

from sandbox.bank.signing_sessions import CHANNEL
from sandbox.contract import kinds
from sandbox.contract.moves import Status
from sandbox.extensions.lift import act_calls
from sandbox.extensions.lift.act_calls import Calls, Done, Make, control, fields_of, filled, plain_fields

OPENED = ("client_id", "customer", "scope")


def as_psu(verb: str) -> Make:
    """The customer answers at an address through the control."""

    def answer(done: Done) -> Calls:
        given = done.given
        body = filled(**{name: given.get(name) for name in ("customer", "account", "method")})
        body |= {"address": given["token"]} | filled(accounts=list(given.get("ibans") or ()))
        return control("POST", f"psu/{verb}", body, {"redirect": done.result})

    return answer


def on_page(done: Done) -> Calls:
    """The customer answers on the bank's pages; what comes of it is in the callback."""
    body: dict[str, Any]
    if done.session.address == CHANNEL:
        body = {"payment_id": done.session.subject, "customer": done.session.customer}
        return control("POST", "psu/sign" if done.given["approves"] else "psu/refuse", body)
    callback = done.result if isinstance(done.result, str) else done.session.callback or ""
    refuses = "error=" in callback or not callback
    body = {"address": done.session.address, "customer": done.session.customer}
    if refuses:
        return control("POST", "psu/refuse", body, {"redirect": callback})
    if done.session.debtor is not None:
        body["account"] = done.session.debtor.iban
    if done.address is not None and done.address.renews is None and done.address.iban is None:
        body["accounts"] = list(done.session.chosen)
    return control("POST", "psu/approve", body, {"redirect": callback})


def in_channel(verb: str) -> Make:
    """A further signer answers in the bank's own channel."""

    def answer(done: Done) -> Calls:
        who = done.given.get("customer") or done.session.customer
        return control("POST", f"psu/{verb}", {"payment_id": done.given["payment_id"], "customer": who})

    return answer


def withdraw(done: Done) -> Calls:
    return control("POST", "psu/withdraw", {name: done.given[name] for name in OPENED})


def withdraw_in_channel(done: Done) -> Calls:
    consent = done.own_bank.consents[done.given["consent_id"]]
    return control("POST", "psu/withdraw", {name: getattr(consent, name) for name in OPENED})


def move(done: Done) -> Calls:
    """A move by hand; one that a customer asked for in the channel cancels."""
    body = filled(status=done.given.get("target", Status.CANC).value, reason=done.given.get("reason"))
    return control("POST", f"payments/{done.given['subject_id']}/move", body)


def send_back(done: Done) -> Calls:
    given = done.given
    return control("POST", f"payments/{given['payment_id']}/{given['back']}", filled(reason=given["reason"]))


def book(done: Done) -> Calls:
    given = done.given
    body = {"amount": given["amount"].text(), "currency": given["amount"].currency, "date": given["on"].isoformat()}
    body |= filled(counterparty=filled(iban=given["other_account"], name=given["other_name"]))
    return control("POST", f"accounts/{given['iban']}/transactions", body | {"communication": given["text"]})


def change(method: str, place: str) -> Make:
    return lambda done: control(method, place.format(**done.given), plain_fields(done.given["changes"]))


def add(place: str, record: str, name: str) -> Make:
    def answer(done: Done) -> Calls:
        fields = fields_of(done.given[record])
        return control("POST", place, {name: fields.pop("id")} | fields)

    return answer


def add_account(done: Done) -> Calls:
    fields = fields_of(done.given["account"])
    owners = fields.pop("owners")
    body = {"customer": owners[0]} | filled(**fields)
    body |= {"balance": done.given["balance"].text()} if done.given["balance"] else {}
    return control("POST", "accounts", body, {"iban": done.result.iban})


def nothing(done: Done) -> Calls:
    """A page on the way; what the customer answers at its end says it all."""
    return []


PAGES = (
    "screens.choose_method",
    "screens.choose_method_in_channel",
    "screens.enter",
    "screens.enter_channel",
    "screens.leave_channel",
    "screens.log_in",
    "screens.pick",
    "screens.log_in_anew",
    "screens.log_in_to_channel",
    "screens.log_in_to_channel_anew",
    "consent_screens.choose",
    "consent_screens.enter",
    "consent_screens.log_in",
    "consent_screens.log_in_anew",
)

CALLS: dict[str, Make] = {
    **dict.fromkeys(PAGES, nothing),
    "accounts.amend": change("PATCH", "accounts/{iban}"),
    "accounts.register": add_account,
    "acting.approve": as_psu("approve"),
    "acting.decline": as_psu("refuse"),
    "bulks.delete": act_calls.cancel("bulk-payments"),
    "bulks.initiate": act_calls.initiate_bulk,
    "bulks.renew_address": act_calls.renew_address,
    "choices.change_settings": change("PATCH", "settings"),
    "clients.amend": change("PUT", "clients/{client_id}"),
    "clients.register": add("clients", "client", "client_id"),
    "consent_screens.confirm": on_page,
    "consent_screens.turn_down": on_page,
    "consent_screens.withdraw": withdraw_in_channel,
    "consents.ask": act_calls.ask_consent,
    "consents.demand_sca": act_calls.demand_sca,
    "consents.withdraw": withdraw,
    "customers.amend": change("PATCH", "customers/{customer}"),
    "customers.register": add("customers", "customer", "customer"),
    "forcing.force": move,
    "payments.cancel": act_calls.cancel("payments"),
    "payments.initiate": act_calls.initiate(kinds.PAYMENT, "order"),
    "payments.send_back": send_back,
    "screens.answer_in_app": on_page,
    "screens.cancel_in_channel": move,
    "screens.confirm": on_page,
    "screens.confirm_by_biometrics": on_page,
    "screens.confirm_in_channel_by_biometrics": in_channel("sign"),
    "screens.confirm_in_channel": in_channel("sign"),
    "screens.refuse_in_channel": in_channel("refuse"),
    "screens.turn_down": on_page,
    "signing.refuse_in_channel": in_channel("refuse"),
    "signing.sign_in_channel": in_channel("sign"),
    "standing_orders.delete": act_calls.cancel("periodic-payments"),
    "standing_orders.initiate": act_calls.initiate(kinds.STANDING_ORDER, "contract"),
    "statements.book_by_hand": book,
    "tokens.exchange": act_calls.ask_token,
    "tokens.refresh": act_calls.ask_token,
    "time.pass": nothing,
    "tokens.use_sca_token": act_calls.use_sca_token,
}
KEPT_REFUSED = ("consents.demand_sca", "tokens.exchange")  # a call of a client that was refused, and changed something
