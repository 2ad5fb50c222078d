"""The demo client, which is the TPP that the console plays for a tester. This module builds the demo client's calls to
the bank, and lists what a tester can do after each call (choice 10)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from sandbox.bank import signing
from sandbox.bank.records import UNSIGNED, BulkFile, Initiation
from sandbox.bank.state import Bank
from sandbox.banking.calendar import find_brussels_date
from sandbox.banking.pkce import is_same_secret
from sandbox.bulkfiles.samples import SAMPLES, fill_sample
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.fields import find_usual_charges
from sandbox.contract.kinds import BULK, BY_LIST, InitiationKind
from sandbox.contract.moves import Status
from sandbox.contract.operations import BY_NAME, Authorization
from sandbox.contract.products import PRODUCTS, SCT
from sandbox.web.api.addresses import CALLBACK, DEMO_CLIENT, FROM_CONSOLE
from sandbox.web.api.headers import choose_screen_language, read_languages
from sandbox.web.console.calls import ApiCall, BankReply
from sandbox.web.console.formats import moment
from sandbox.web.console.visits import ConsoleVisit
from sandbox.worlds.world import World

Form = Mapping[str, str]
DEMO_SECRET = "demo-secret"
BELGIAN = "BE68539007547034"  # valid, and of no bank
SAMPLE = "three-bulks.pain.001.001.09.xml"


# The parameter `state` that the console appends to a signing or consent address (service 5.3). The console's callback
# page can check it: it names the initiation or consent, differs at each address, and only this world can compute it.


def make_state(world: World, kind: str, name: str, token: str) -> str:
    payload = f"{kind}.{name}.{_compute_digest(world, token)[:12]}"
    return f"{payload}.{_compute_digest(world, payload)[:24]}"


def find_subject_of_state(world: World, state: str) -> tuple[str, str] | None:
    """Returns which initiation or consent the console made `state` for. `state` is the parameter that comes back in a
    callback. The first value is the name of the list that has the initiation, such as `payments`, or `consents` for a
    consent. The second value is the id of the initiation, or for a consent the beginning of the token in its address.
    Returns None if the console did not make `state`."""
    payload, _, digest = state.rpartition(".")
    parts = payload.split(".")
    if len(parts) != 3 or not is_same_secret(digest, _compute_digest(world, payload)[:24]):
        return None
    return parts[0], parts[1]


def _compute_digest(world: World, text: str) -> str:
    began = world.beginning
    key = blake2b(f"{began.seed} {began.secret}".encode(), digest_size=32).digest()
    return blake2b(text.encode(), key=key, person=b"console state").hexdigest()


def find_address(visit: ConsoleVisit, kind: str, name: str, token: str, callback: str) -> str:
    """Returns the address at which a customer signs or consents. `kind` is the name of the list that has the
    initiation, such as `payments`, or `consents` for a consent. `token` is the token in the address. `name` is the id
    of the initiation, or for a consent the beginning of the token. If `callback` is this world's own callback page, the
    address has a `state`, because that page checks it. Otherwise the address has the parameter FROM_CONSOLE, which says
    that the console opened it."""
    page = visit.to_psu(f"/{'consent' if kind == 'consents' else 'sign'}/{token}")
    if not callback.endswith(f"{visit.request.script_root}{CALLBACK}"):
        return f"{page}?{FROM_CONSOLE}=1"  # so that nobody takes it for the TPP's own redirection
    return f"{page}?{urlencode({'state': make_state(visit.world, kind, name, token)})}"


# The calls


def build_call(
    visit: ConsoleVisit, title: str, operation: str, form: Form, challenge: str = "", body: Any = None, **more: str
) -> ApiCall:
    """Returns the demo client's call of the bank's `operation`, with the headers that this operation requires, except
    Request-ID. `form` has the values for the names in the path, the product, and the access token. `more` are further
    headers."""
    row, product = BY_NAME[operation], form.get("product", "")
    headers = {"Accept": f"application/vnd.{visit.world.settings.vendor}.api+json; version={row.versions[0]}"}
    if row.bank_headers:
        headers |= {"Accept-Language": "*", "Client-ID": DEMO_CLIENT}  # the page follows the browser
    if row.redirect_uri:
        headers["Redirect-URI"] = visit.callback
    if row.pkce:
        headers |= {"Code-Challenge-Method": "S256", "Code-Challenge": challenge}
    if row.authorization is Authorization.REQUIRED:
        headers["Authorization"] = f"Bearer {form.get('access_token', '').strip()}"
    if body is not None:
        headers["Content-Type"] = row.list_media(product)[0]
    names = {"payment_id": "id", "payment_file_id": "id"}
    path = "/".join(
        quote(form.get(names.get(part[1:-1], part[1:-1]), ""), safe="") if part.startswith("<") else part
        for part in row.path.split("/")
    )
    basic = (DEMO_CLIENT, DEMO_SECRET) if row.authorization is Authorization.BASIC else None
    return ApiCall(title, row.method, path, headers | more, body, basic, address=visit.bank_address)


def read_text_field(form: Form, name: str, default: str) -> str:
    return form.get(name, "").strip() or default


def read_order(form: Form, amount: str, currency: str) -> dict[str, Any]:
    """Returns the fields that the bodies of a payment and of a standing order have in common. `amount` is used if the
    form has no amount."""
    return {
        "creditor_account": {"iban": read_text_field(form, "creditor_iban", BELGIAN)},
        "creditor_name": read_text_field(form, "creditor_name", "Jan Peeters"),
        "endtoend_identification": uuid4().hex,
        "instructed_amount": {"amount": read_text_field(form, "amount", amount), "currency": currency},
    }


def pay(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    product = form.get("product") or SCT.name
    if product not in PRODUCTS:
        raise Refusal(Error.CONTROL_INVALID, input="product", why=f"the products are {', '.join(PRODUCTS)}")
    body = read_order(form, "12.50", read_text_field(form, "currency", "EUR")) | find_usual_charges(product)
    return build_call(visit, "Initiate a payment", "payment_initiation", {"product": product}, challenge, body)


def order(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    first = find_brussels_date(visit.world.ask(lambda bank: bank.clock.now)) + timedelta(days=1)
    body = read_order(form, "25.00", "EUR") | {
        "start_date": read_text_field(form, "start_date", first.isoformat()),
        "frequency": read_text_field(form, "frequency", "MONTHLY"),
    }
    names = {"product": SCT.name}
    return build_call(visit, "Initiate a standing order", "standing_order_initiation", names, challenge, body)


def file(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    name = read_text_field(form, "sample", SAMPLE)
    if name not in SAMPLES:
        raise Refusal(Error.CONTROL_INVALID, input="sample", why=f"the samples are {', '.join(SAMPLES)}")
    today = find_brussels_date(visit.world.ask(lambda bank: bank.clock.now))
    is_csv = name.endswith(".csv")
    content = fill_sample(name, today, None if is_csv else uuid4().hex).decode("utf-8")
    names = {"product": "csv" if is_csv else "pain.001"}
    reference = read_text_field(form, "reference", f"FILE-{uuid4().hex[:20]}")
    return build_call(visit, "Send a file", "bulk_initiation", names, body=content, PaymentInformationID=reference)


def consent(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    call = build_call(visit, "Ask for a consent", "consent_addresses", form, challenge)
    return replace(call, target=f"{call.target}?scope=AIS")


def token(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    body = {
        "grant_type": "authorization_code",
        "code": form.get("code", ""),
        "redirect_uri": form.get("redirect_uri", ""),
        "code_verifier": form.get("verifier", "").strip(),
    }
    return build_call(visit, "Exchange the code for tokens", "token", form, body=body)


def transactions(visit: ConsoleVisit, form: Form, challenge: str) -> ApiCall:
    more = {"SCA-Token": form["sca_token"].strip()} if form.get("sca_token") else {}
    call = build_call(visit, "Read the transactions", "transactions", form, **more)
    return replace(call, target=f"{call.target}?pagesize=10")


def read_kind(form: Form, *excluded: InitiationKind) -> InitiationKind:
    kind = BY_LIST.get(form.get("kind", ""))
    if kind is None or kind in excluded:
        raise Refusal(Error.NOT_FOUND, input="kind")
    return kind


# The calls by their names, each made of a form and a PKCE challenge.
STEPS: Mapping[str, Callable[[ConsoleVisit, Form, str], ApiCall]] = {
    "pay": pay,
    "order": order,
    "file": file,
    "consent": consent,
    "token": token,
    "status": lambda visit, form, _: build_call(visit, "Ask for the status", f"{read_kind(form).name}_status", form),
    "details": lambda visit, form, _: build_call(
        visit, "Read the details", f"{read_kind(form, BULK).name}_details", form
    ),
    "accounts": lambda visit, form, _: build_call(visit, "List the accounts", "accounts", form),
    "transactions": transactions,
}
INITIATIONS = {"pay": "payments", "order": "standing-orders", "file": "bulk-payments"}  # the lists that steps add to


# What a tester does next


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that a tester can do next: open the page at `link`, press the console button `action`, or make the demo
    client's call `step`."""

    label: str
    about: str
    link: str = ""
    action: str = ""
    step: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    asks: str = ""  # a field that the tester fills in
    back: str = ""  # the console's page that follows a button

    def call(self, visit: ConsoleVisit) -> ApiCall:
        """Returns the call that `step` makes with the values in `fields`, to show it as code."""
        return STEPS[self.step](visit, self.fields, "")


def list_steps(visit: ConsoleVisit, kind: str, name: str) -> list[NextStep]:
    """Returns what a tester can do next with an initiation. `kind` is the list that has it, such as `payments`, and
    `name` is its id. The tester can always ask for the status. If nobody has signed, and a signing address of the
    initiation is valid, the tester can sign on the bank's pages, or approve without these pages. If the next change of
    the status is up to the bank, the tester can move the clock until then. Returns an empty list if the initiation does
    not exist."""
    standing = visit.world.ask(_read_standing, kind, name)
    if standing is None:
        return []
    status, address, product, callback = standing
    ask = NextStep(
        "Ask for the status",
        "The TPP polls; no token is needed.",
        step="status",
        fields={"kind": kind, "id": name, "product": product},
    )
    if address is not None:
        token, until, customer = address
        about = f"Log in, pick an account, read, sign. The address ends at {moment(until)}."
        sign = NextStep("Sign as the customer", about, link=find_address(visit, kind, name, token, callback))
        fields = {"address": f"{visit.bank_address}/psu/sign/{token}", "customer": customer}
        about, page = "Signs at once, without the bank's pages.", f"/console/{kind}/{name}"
        return [sign, NextStep(f"Approve as {customer}", about, action="approve", fields=fields, back=page), ask]
    if kind == "bulk-payments" and status is Status.RCVD:
        label, target, within = "Wait for the validation", "PATC", "2h"
    elif status in (Status.PDNG, Status.ACSP):
        target, within = "ACWP" if kind == "standing-orders" else "ACSC", "400d"
        label = f"Wait until it is {target}"
    else:
        return [ask]
    fields = {"payment_id": name, "status": target, "within": within}
    page = f"/console/{kind}/{name}"
    return [NextStep(label, "Moves the bank's clock.", action="await", fields=fields, back=page), ask]


def _read_standing(
    bank: Bank, kind: str, name: str
) -> tuple[Status, tuple[str, datetime, str] | None, str, str] | None:
    """Returns status, signing address, product and callback of an initiation, or None if the initiation does not exist.
    The signing address is a tuple: its token, the time at which it expires, and the customer who will probably sign. It
    is None if somebody has signed, if no signature is needed, or if all addresses have expired. The product of a file
    is its format."""
    initiation = bank.find_initiation(name)
    if initiation is None or initiation.kind.list != kind:
        return None
    address = None
    if initiation.status in UNSIGNED and not initiation.signatures:
        newest = islice(reversed(bank.sca_addresses.values()), 500)  # an address ends within minutes
        own = (row for row in newest if row.subject_id == name and row.until > bank.clock.now)
        customer = guess_signer(bank, initiation) or next(iter(bank.customers))
        address = next(((row.token, row.until, customer) for row in own), None)
    product = str(initiation.format) if isinstance(initiation, BulkFile) else initiation.order.product
    return initiation.status, address, product, initiation.origin.redirect_uri


def guess_signer(bank: Bank, initiation: Initiation) -> str | None:
    """Returns the customer who will probably sign: the customer of the access token, or else the first signer of the
    account who has not signed. Returns None if the account is not known yet, or if no signature is missing."""
    if initiation.origin.customer is not None:
        return initiation.origin.customer
    if signing.needs_account(initiation):
        return None
    return next(iter(signing.list_missing_signers(bank, initiation)), None)


def list_next_steps(visit: ConsoleVisit, step: str, form: Form, reply: BankReply) -> list[NextStep]:
    """Returns what a tester can do after the demo client's call `step`. `form` has the values with which it was made,
    and `reply` is the bank's reply. Returns an empty list if the bank refused the call, or if nothing can follow it."""
    if not reply.is_success:
        return []
    match step:
        case "pay" | "order" | "file":
            name = str(reply.get_value_at("payment_id") or reply.get_value_at("payment_file_id"))
            return list_steps(visit, INITIATIONS[step], name)
        case "consent":
            addresses = {row["language"]: str(row["consent_uri"]) for row in reply.body}
            language = choose_screen_language(read_languages(visit.request.headers.get("Accept-Language", "")))
            token = (addresses.get(language) or next(iter(addresses.values()), "")).rpartition("/")[2]
            link = find_address(visit, "consents", token[:12], token, visit.callback)
            return [NextStep("Consent as the customer", "Log in, choose accounts, confirm.", link=link)]
        case "token":
            return _list_token_steps(visit, form, reply)
        case "accounts":
            listed = reply.get_value_at("_embedded", "accounts") or []
            tokens = {name: form.get(name, "") for name in ("access_token", "sca_token")}
            steps = [(row["iban"], tokens | {"logical_id": row["logical_id"]}) for row in listed[:5]]
            about = "Its newest ten transactions."
            return [NextStep(f"Read {iban}", about, step="transactions", fields=fields) for iban, fields in steps]
        case "status" | "details":
            steps_now = list_steps(visit, form.get("kind", ""), form.get("id", ""))
            return [following for following in steps_now if following.step != "status"]
    return []


def _list_token_steps(visit: ConsoleVisit, form: Form, reply: BankReply) -> list[NextStep]:
    tokens = {
        "access_token": str(reply.get_value_at("access_token")),
        "sca_token": str(reply.get_value_at("sca_token") or ""),
    }
    if reply.get_value_at("scope") != "PIS":
        return [NextStep("List the accounts", "Those that the customer chose.", step="accounts", fields=tokens)]
    kind, name = form.get("kind", ""), form.get("id", "")
    standing = visit.world.ask(_read_standing, kind, name) if kind else None
    if standing is None:
        return []
    fields = {"kind": kind, "id": name, "product": standing[2], **tokens}
    details = NextStep("Read the details", "With the access token.", step="details", fields=fields)
    return [details, *list_steps(visit, kind, name)]
