"""The demo client at the console: what it can ask of the bank, as calls with real values (choice 10)."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import timedelta
from hashlib import blake2b
from secrets import token_urlsafe
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from sandbox.banking.calendar import brussels_date
from sandbox.banking.pkce import EXAMPLE_CHALLENGE, EXAMPLE_VERIFIER, challenge_of, same_text
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.operations import BY_NAME
from sandbox.contract.products import PRODUCTS, XB
from sandbox.files.samples import SAMPLES, sample
from sandbox.web.api.addresses import DEMO_CLIENT, callback_of
from sandbox.web.console.api_call import FORM_TYPE, JSON_TYPE, ApiCall
from sandbox.web.console.visits import Visit
from sandbox.world.world import World

Form = Mapping[str, str]
DEMO_SECRET = "demo-secret"
VERIFIERS_KEPT = 500
BELGIAN = "BE68539007547034"  # valid, and of no bank
SAMPLE = "three-bulks.pain.001.001.09.xml"
PREFIX = {"payments": "payment", "standing-orders": "standing_order", "bulk-payments": "bulk"}


class Verifiers:
    """The PKCE verifiers of the console's own flows, by challenge; the oldest go first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, str] = OrderedDict({EXAMPLE_CHALLENGE: EXAMPLE_VERIFIER})

    def new_challenge(self) -> str:
        verifier = token_urlsafe(48)
        challenge = challenge_of("S256", verifier)
        with self._lock:
            self._kept[challenge] = verifier
            if len(self._kept) > VERIFIERS_KEPT:
                self._kept.popitem(last=False)
        return challenge

    def of(self, challenge: str) -> str | None:
        if challenge == EXAMPLE_CHALLENGE:
            return EXAMPLE_VERIFIER
        return self._kept.get(challenge)


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


def headers_of(visit: Visit, operation: str, version: int | None = None) -> dict[str, str]:
    row = BY_NAME[operation]
    vendor = visit.world.settings.vendor
    found = {"Accept": f"application/vnd.{vendor}.api+json; version={version or row.versions[0]}"}
    if row.bank_headers:
        found |= {"Accept-Language": "fr", "Client-ID": DEMO_CLIENT}
    return found


def to_sign(visit: Visit, operation: str, challenge: str = "") -> dict[str, str]:
    """The headers of a call that leads a customer to the bank."""
    found = headers_of(visit, operation) | {"Redirect-URI": callback_of(visit.request)}
    if challenge:
        found |= {"Code-Challenge-Method": "S256", "Code-Challenge": challenge}
    return found


def pay(visit: Visit, form: Form, challenge: str) -> ApiCall:
    product = form.get("product") or "sepa-credit-transfers"
    if product not in PRODUCTS:
        raise Refusal(Error.CONTROL_INVALID, input="product", why=f"the products are {', '.join(PRODUCTS)}")
    body: dict[str, Any] = {
        "creditor_account": {"iban": text(form, "creditor_iban", BELGIAN)},
        "creditor_name": text(form, "creditor_name", "Jan Peeters"),
        "endtoend_identification": uuid4().hex,
        "instructed_amount": {"amount": text(form, "amount", "12.50"), "currency": text(form, "currency", "EUR")},
    }
    if product == XB.name:
        body["charge_bearer"] = "SHAR"
    headers = to_sign(visit, "payment_initiation", challenge) | {"Content-Type": JSON_TYPE}
    return ApiCall("Initiate a payment", "POST", f"/payments/{product}", headers, body)


def order(visit: Visit, form: Form, challenge: str) -> ApiCall:
    first = brussels_date(visit.world.ask(lambda bank: bank.clock.now)) + timedelta(days=1)
    body = {
        "creditor_account": {"iban": text(form, "creditor_iban", BELGIAN)},
        "creditor_name": text(form, "creditor_name", "Jan Peeters"),
        "endtoend_identification": uuid4().hex,
        "instructed_amount": {"amount": text(form, "amount", "25.00"), "currency": "EUR"},
        "start_date": text(form, "start_date", first.isoformat()),
        "frequency": text(form, "frequency", "MONTHLY"),
    }
    headers = to_sign(visit, "standing_order_initiation", challenge) | {"Content-Type": JSON_TYPE}
    return ApiCall("Initiate a standing order", "POST", "/periodic-payments/sepa-credit-transfers", headers, body)


def file(visit: Visit, form: Form, challenge: str) -> ApiCall:
    name = text(form, "sample", SAMPLE)
    if name not in SAMPLES:
        raise Refusal(Error.CONTROL_INVALID, input="sample", why=f"the samples are {', '.join(SAMPLES)}")
    today = brussels_date(visit.world.ask(lambda bank: bank.clock.now))
    csv = name.endswith(".csv")
    content = sample(name, today, None if csv else uuid4().hex).decode("utf-8")
    reference = text(form, "reference", f"FILE-{uuid4().hex[:20]}")
    headers = to_sign(visit, "bulk_initiation") | {
        "Content-Type": "text/csv" if csv else "application/xml",
        "PaymentInformationID": reference,
    }
    return ApiCall("Send a file", "POST", f"/bulk-payments/{'csv' if csv else 'pain.001'}", headers, content)


def consent(visit: Visit, form: Form, challenge: str) -> ApiCall:
    return ApiCall(
        "Ask for a consent", "GET", "/consent-uris?scope=AIS", to_sign(visit, "consent_addresses", challenge)
    )


def token(visit: Visit, form: Form, challenge: str) -> ApiCall:
    body = {
        "grant_type": "authorization_code",
        "code": form.get("code", ""),
        "redirect_uri": form.get("redirect_uri", ""),
        "code_verifier": form.get("verifier", "").strip(),
    }
    headers = headers_of(visit, "token") | {"Content-Type": FORM_TYPE}
    return ApiCall("Exchange the code for tokens", "POST", "/token", headers, body, (DEMO_CLIENT, DEMO_SECRET))


def status(visit: Visit, form: Form, challenge: str) -> ApiCall:
    kind = kind_in(form)
    return ApiCall("Ask for the status", "GET", f"{path_of(form)}/status", headers_of(visit, f"{PREFIX[kind]}_status"))


def details(visit: Visit, form: Form, challenge: str) -> ApiCall:
    kind = kind_in(form, "bulk-payments")
    headers = bearing(form, headers_of(visit, f"{PREFIX[kind]}_details"))
    return ApiCall("Read the details", "GET", f"{path_of(form)}/details", headers)


def accounts(visit: Visit, form: Form, challenge: str) -> ApiCall:
    return ApiCall("List the accounts", "GET", "/accounts", bearing(form, headers_of(visit, "accounts")))


def transactions(visit: Visit, form: Form, challenge: str) -> ApiCall:
    headers = bearing(form, headers_of(visit, "transactions"))
    if form.get("sca_token"):
        headers["SCA-Token"] = text(form, "sca_token", "")
    target = f"/accounts/{quote(form.get('logical_id', ''), safe='')}/transactions?{urlencode({'pagesize': 10})}"
    return ApiCall("Read the transactions", "GET", target, headers)


STEPS: Mapping[str, Callable[[Visit, Form, str], ApiCall]] = {
    step.__name__: step for step in (pay, order, file, consent, token, status, details, accounts, transactions)
}


def text(form: Form, name: str, default: str) -> str:
    return form.get(name, "").strip() or default


def bearing(form: Form, headers: dict[str, str]) -> dict[str, str]:
    return headers | {"Authorization": f"Bearer {form.get('access_token', '').strip()}"}


def kind_in(form: Form, *excluded: str) -> str:
    kind = form.get("kind", "")
    if kind not in PREFIX or kind in excluded:
        raise Refusal(Error.NOT_FOUND, input="kind")
    return kind


def path_of(form: Form) -> str:
    """The path of an initiation in the bank's interface."""
    place = {"payments": "payments", "standing-orders": "periodic-payments", "bulk-payments": "bulk-payments"}
    product, name = quote(form.get("product", ""), safe=""), quote(form.get("id", ""), safe="")
    return f"/{place[kind_in(form)]}/{product}/{name}"
