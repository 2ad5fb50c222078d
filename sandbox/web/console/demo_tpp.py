"""The demo client at the console: what it can ask of the bank, as calls with real values (choice 10)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import blake2b
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from sandbox.banking.calendar import brussels_date
from sandbox.banking.pkce import same_text
from sandbox.bulkfiles.samples import SAMPLES, sample
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.fields import usual_charges
from sandbox.contract.kinds import BULK, BY_LIST, InitiationKind
from sandbox.contract.operations import BY_NAME, Authorization
from sandbox.contract.products import PRODUCTS, SCT
from sandbox.web.api.addresses import DEMO_CLIENT, callback_of
from sandbox.web.console.calls import ApiCall
from sandbox.web.console.visits import ConsoleVisit
from sandbox.worlds.world import World

Form = Mapping[str, str]
DEMO_SECRET = "demo-secret"
BELGIAN = "BE68539007547034"  # valid, and of no bank
SAMPLE = "three-bulks.pain.001.001.09.xml"


# The state that the console appends to an address, which its callback page can check (service 5.3).


def state_for(world: World, kind: str, name: str, token: str) -> str:
    """Says what it belongs to, differs at each address, and cannot be made up."""
    payload = f"{kind}.{name}.{_digest(world, token)[:12]}"
    return f"{payload}.{_digest(world, payload)[:24]}"


def subject_of_state(world: World, state: str) -> tuple[str, str] | None:
    """The kind and the id that a state of the console belongs to; None for any other state."""
    payload, _, shown = state.rpartition(".")
    parts = payload.split(".")
    if len(parts) != 3 or not same_text(shown, _digest(world, payload)[:24]):
        return None
    return parts[0], parts[1]


def _digest(world: World, text: str) -> str:
    began = world.beginning
    key = blake2b(f"{began.seed} {began.secret}".encode(), digest_size=32).digest()
    return blake2b(text.encode(), key=key, person=b"console state").hexdigest()


# The calls


def made(
    visit: ConsoleVisit, title: str, operation: str, form: Form, challenge: str = "", body: Any = None, **more: str
) -> ApiCall:
    """A call with the headers that its row demands; what the path names stands in the form, and `more` are headers."""
    row, product = BY_NAME[operation], form.get("product", "")
    vendor = visit.world.settings.vendor
    headers = {"Accept": f"application/vnd.{vendor}.api+json; version={row.versions[0]}"}
    if row.bank_headers:
        headers |= {"Accept-Language": "fr", "Client-ID": DEMO_CLIENT}
    if row.redirect_uri:
        headers["Redirect-URI"] = callback_of(visit.request)
    if row.pkce:
        headers |= {"Code-Challenge-Method": "S256", "Code-Challenge": challenge}
    if row.authorization is Authorization.REQUIRED:
        headers["Authorization"] = f"Bearer {form.get('access_token', '').strip()}"
    if body is not None:
        headers["Content-Type"] = row.media_for(product)[0]
    named = {"payment_id": "id", "payment_file_id": "id"}
    path = "/".join(
        quote(form.get(named.get(part[1:-1], part[1:-1]), ""), safe="") if part.startswith("<") else part
        for part in row.path.split("/")
    )
    basic = (DEMO_CLIENT, DEMO_SECRET) if row.authorization is Authorization.BASIC else None
    return ApiCall(title, row.method, path, headers | more, body, basic)


def order_of(form: Form, amount: str) -> dict[str, Any]:
    """What a payment and a standing order have in common."""
    return {
        "creditor_account": {"iban": text(form, "creditor_iban", BELGIAN)},
        "creditor_name": text(form, "creditor_name", "Jan Peeters"),
        "endtoend_identification": uuid4().hex,
        "instructed_amount": {"amount": text(form, "amount", amount), "currency": text(form, "currency", "EUR")},
    }


def pay(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    product = form.get("product") or SCT.name
    if product not in PRODUCTS:
        raise Refusal(Error.CONTROL_INVALID, input="product", why=f"the products are {', '.join(PRODUCTS)}")
    body = order_of(form, "12.50") | usual_charges(product)
    return made(visit, "Initiate a payment", "payment_initiation", {"product": product}, challenge, body)


def order(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    first = brussels_date(visit.world.ask(lambda bank: bank.clock.now)) + timedelta(days=1)
    body = order_of({name: value for name, value in form.items() if name != "currency"}, "25.00") | {
        "start_date": text(form, "start_date", first.isoformat()),
        "frequency": text(form, "frequency", "MONTHLY"),
    }
    path = {"product": SCT.name}
    return made(visit, "Initiate a standing order", "standing_order_initiation", path, challenge, body)


def file(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    name = text(form, "sample", SAMPLE)
    if name not in SAMPLES:
        raise Refusal(Error.CONTROL_INVALID, input="sample", why=f"the samples are {', '.join(SAMPLES)}")
    today = brussels_date(visit.world.ask(lambda bank: bank.clock.now))
    csv = name.endswith(".csv")
    content = sample(name, today, None if csv else uuid4().hex).decode("utf-8")
    path = {"product": "csv" if csv else "pain.001"}
    reference = text(form, "reference", f"FILE-{uuid4().hex[:20]}")
    return made(visit, "Send a file", "bulk_initiation", path, body=content, PaymentInformationID=reference)


def consent(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    call = made(visit, "Ask for a consent", "consent_addresses", form, challenge)
    return replace(call, target=f"{call.target}?scope=AIS")


def token(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    body = {
        "grant_type": "authorization_code",
        "code": form.get("code", ""),
        "redirect_uri": form.get("redirect_uri", ""),
        "code_verifier": form.get("verifier", "").strip(),
    }
    return made(visit, "Exchange the code for tokens", "token", form, body=body)


def status(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    return made(visit, "Ask for the status", f"{kind_in(form).name}_status", form)


def details(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    return made(visit, "Read the details", f"{kind_in(form, BULK).name}_details", form)


def accounts(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    return made(visit, "List the accounts", "accounts", form)


def transactions(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    more = {"SCA-Token": form["sca_token"].strip()} if form.get("sca_token") else {}
    call = made(visit, "Read the transactions", "transactions", form, **more)
    return replace(call, target=f"{call.target}?pagesize=10")


STEPS: Mapping[str, Callable[[ConsoleVisit, Form, str], ApiCall]] = {
    step.__name__: step for step in (pay, order, file, consent, token, status, details, accounts, transactions)
}


def text(form: Form, name: str, default: str) -> str:
    return form.get(name, "").strip() or default


def kind_in(form: Form, *excluded: InitiationKind) -> InitiationKind:
    kind = BY_LIST.get(form.get("kind", ""))
    if kind is None or kind in excluded:
        raise Refusal(Error.NOT_FOUND, input="kind")
    return kind
