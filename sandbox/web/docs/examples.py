"""A working example of every operation in every version.

The OpenAPI document and the collections for HTTP clients use these examples. The order of the examples matters, because
an example uses values from the replies to the examples before it. A test sends each example to a bank.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from sandbox.banking.pkce import EXAMPLE_CHALLENGE as CHALLENGE
from sandbox.banking.pkce import EXAMPLE_VERIFIER as VERIFIER
from sandbox.bulkfiles.samples import fill_sample
from sandbox.contract.operations import BY_NAME, FORM, JSON, Authorization, Operation
from sandbox.contract.products import ISCT, SCT, XB

CALLBACK = "http://127.0.0.1:9000/callback"
CODE = "code"  # from the query of the callback
ALICE = "alice"
BRAM = "bram"
MULTI_CURRENCY = "BE56539100003188"  # of bram: EUR, USD and GBP
OWN_REFERENCE = "EXAMPLE/XML/1"  # a MsgId, as libraries write them
CSV_SAMPLE, XML_SAMPLE = "three-bulks.csv", "three-bulks.pain.001.001.09.xml"


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Example:
    """An example call of the bank. In its texts, `{{name}}` stands for a value from the reply to an earlier example,
    which names the value in `gives`."""

    title: str
    operation: str
    version: int
    product: str = ""
    path: Pairs = ()
    query: Pairs = ()
    token: str = ""  # the name of its access token
    more: Pairs = ()  # further headers
    body: Any = None  # an object is JSON or a form, a text is a file
    gives: Pairs = ()  # names for values of the reply, each with its path there

    @property
    def row(self) -> Operation:
        return BY_NAME[self.operation]

    @property
    def target(self) -> str:
        """The path and the query of the call, below the base address."""
        target = self.row.path.replace("<product>", self.product)
        for name, value in self.path:
            target = target.replace(f"<{name}>", quote(value, safe="{}"))
        return f"{target}?{urlencode(self.query)}" if self.query else target

    def make_headers(self, vendor: str) -> dict[str, str]:
        """Returns all headers except Request-ID, which must be new for each call."""
        row = self.row
        headers = {"Accept": write_accept(vendor, self.version)}
        if row.bank_headers:
            headers |= {"Accept-Language": "fr", "Client-ID": "demo-tpp"}
        if row.redirect_uri:
            headers["Redirect-URI"] = CALLBACK
        if row.pkce and not self.token:
            headers |= {"Code-Challenge-Method": "S256", "Code-Challenge": CHALLENGE}
        if row.authorization is Authorization.BASIC:
            headers["Authorization"] = "Basic ZGVtby10cHA6ZGVtby1zZWNyZXQ="  # demo-tpp:demo-secret
        elif self.token:
            headers["Authorization"] = f"Bearer {{{{{self.token}}}}}"
        if self.body is not None:
            headers["Content-Type"] = row.list_media(self.product)[0]
        return headers | dict(self.more)

    @property
    def shown(self) -> Any:
        """The body as the document shows it: sample values replace the placeholders for codes and refresh tokens."""
        if not isinstance(self.body, dict):
            return self.body
        return {
            name: SAMPLE_VALUES.get(value, value) if isinstance(value, str) else value
            for name, value in self.body.items()
        }

    @property
    def content(self) -> str | None:
        """The body as text, or None for a call without a body."""
        if self.body is None or isinstance(self.body, str):
            return self.body
        if self.row.media == FORM:
            return "&".join(f"{name}={value}" for name, value in self.body.items())
        assert self.row.media == JSON
        return json.dumps(self.body, indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class PsuStep:
    """A step in which the customer signs or consents. A control of the sandbox does it in the customer's place, so that
    no browser is needed (choice 10)."""

    title: str
    address: str  # the name of the address in an earlier reply
    customer: str
    gives: Pairs = ()

    target = "/_sandbox/psu/approve"

    @property
    def content(self) -> str:
        return json.dumps({"address": f"{{{{{self.address}}}}}", "customer": self.customer}, indent=2)


SAMPLE_VALUES = {  # the examples of RFC 6749, 4.1.3 and 6
    "{{code}}": "SplxlOBeZQQYbYS6WxSbIA",
    **{f"{{{{{name}_refresh}}}}": "tGzv3JOkF0XG5Qx2TlKWIA" for name in ("pis", "ais", "caf")},
}
Step = Example | PsuStep
ADDRESS = "_links.sca_redirect.href"
BELGIAN = "BE68539007547034"  # a valid IBAN of no bank


def write_accept(vendor: str, version: int) -> str:
    return f"application/vnd.{vendor}.api+json; version={version}"


def make_order(reference: str, amount: str = "12.50", currency: str = "EUR", **more: Any) -> dict[str, Any]:
    return {
        "creditor_account": {"iban": BELGIAN},
        "creditor_name": "Jan Peeters",
        "endtoend_identification": reference,
        "instructed_amount": {"amount": amount, "currency": currency},
        **more,
    }


def list_payment_steps() -> Iterator[Step]:
    pay = "payment_initiation"
    yield Example(
        "Credit transfer, first of a customer: no token yet, so PKCE", pay, 3, SCT.name,
        body=make_order("INVOICE-2027-001", remittance_information_structured="+++090/9337/55493+++"),
        gives=(("payment_id", "payment_id"), ("sca_address", ADDRESS)),
    )  # fmt: skip
    yield PsuStep("The customer signs it", "sca_address", ALICE, gives=((CODE, "redirect"),))
    yield _make_code_example("Tokens for payments, for the code on the callback", 3, "pis")
    yield from _list_versions("Status", "payment_status", SCT.name, _make_payment("payment_id"))
    yield from _list_versions("Details", "payment_details", SCT.name, _make_payment("payment_id"), token="pis_token")
    yield Example(
        "Instant credit transfer, with a token", pay, 3, ISCT.name, token="pis_token", body=make_order("INSTANT-7")
    )
    yield Example(
        "Dollars to an account without IBAN", pay, 3, XB.name, token="pis_token",
        body=make_order("BOSTON-12", "99.00", "USD", charge_bearer="SHAR") | {
            "creditor_account": {"bban": "000123456789", "country": "US", "bank_national_id": "021000021"},
            "creditor_address": {"city": "Boston", "country": "US"},
        },
    )  # fmt: skip
    yield Example(
        "The earlier body", pay, 1, SCT.name, token="pis_token",
        body={
            "remote_account": {"name": "Jan Peeters", "iban": BELGIAN},
            "amount": "12.50",
            "currency": "EUR",
            "communication": "Invoice 12",
            "communication_type": "FREETEXT",
            "payment_id": "INVOICE-2027-002",
        },
        gives=(("unsigned_id", "payment_id"),),
    )  # fmt: skip
    yield Example(
        "Status, by your own reference", "payment_status", 3, SCT.name, (("payment_id", "INVOICE-2027-002"),),
        (("paymentIdType", "EXTERNAL"),),
    )  # fmt: skip
    yield Example("Cancelling", "payment_cancellation", 2, SCT.name, _make_payment("unsigned_id"), token="pis_token")


def list_order_steps(today: date) -> Iterator[Step]:
    for version in BY_NAME["standing_order_cancellation"].versions:
        yield Example(
            f"Standing order: rent {version}",
            "standing_order_initiation", 2, SCT.name, token="pis_token",
            body=make_order(f"RENT-{version}", frequency="MONTHLY", start_date=(today + timedelta(30)).isoformat()),
            gives=(("order_id", "payment_id"),),
        )  # fmt: skip
        order_id = _make_payment("order_id")
        for title, verb, token in (
            ("Its status", "status", ""),
            ("Its details", "details", "pis_token"),
            ("Cancelling it", "cancellation", "pis_token"),
        ):
            operation = f"standing_order_{verb}"
            yield Example(f"{title}, version {version}", operation, version, SCT.name, order_id, token=token)


def list_file_steps(today: date) -> Iterator[Step]:
    for version, product, name, message_id in (
        (2, "pain.001", XML_SAMPLE, OWN_REFERENCE),
        (1, "csv", CSV_SAMPLE, None),
        (2, "csv", CSV_SAMPLE, None),
        (1, "pain.001", XML_SAMPLE, "EXAMPLE-XML-1"),
    ):
        yield Example(
            f"A file of three bulks, {product}, version {version}", "bulk_initiation", version, product,
            body=fill_sample(name, today, message_id).decode(), gives=(("file_id", "payment_file_id"),),
        )  # fmt: skip
        file_id = (("payment_file_id", "{{file_id}}"),)
        yield Example(f"Its status, version {version}", "bulk_status", version, product, file_id)
        if message_id == OWN_REFERENCE:
            yield Example(
                "Its status, by your own reference: / in it is %2F", "bulk_status", version, product,
                (("payment_file_id", OWN_REFERENCE),), (("paymentFileIdType", "EXTERNAL"),),
            )  # fmt: skip
        yield Example(f"Cancelling it, version {version}", "bulk_cancellation", version, product, file_id)


def list_account_steps() -> Iterator[Step]:
    yield Example(
        "Where the customer consents", "consent_addresses", 4, query=(("scope", "AIS"),),
        gives=(("consent_address", "0.consent_uri"),),
    )  # fmt: skip
    yield PsuStep("The customer consents", "consent_address", BRAM, gives=((CODE, "redirect"),))
    yield _make_code_example("Tokens for account information", 3, "ais", (("sca_token", "sca_token"),))
    yield Example(
        "The accounts", "accounts", 2, token="ais_token", gives=(("logical_id", "_embedded.accounts.0.logical_id"),)
    )
    logical_id = (("logical_id", "{{logical_id}}"),)
    yield from _list_versions("An account", "account", path=logical_id, token="ais_token")
    yield from _list_versions(
        "Its transactions", "transactions", path=logical_id, query=(("pagesize", "5"),), token="ais_token"
    )
    yield Example(
        "The full history, in dollars", "transactions", 2, path=logical_id,
        query=(("currency", "USD"), ("pagesize", "5")), token="ais_token", more=(("SCA-Token", "{{sca_token}}"),),
    )  # fmt: skip
    yield _refresh("A new pair, before the hour is over", 3, "ais")
    yield Example(
        "Where the customer gives one account", "consent_addresses", 3,
        query=(("scope", "CAF"), ("iban", MULTI_CURRENCY)), gives=(("caf_address", "0.consent_uri"),),
    )  # fmt: skip
    yield PsuStep("The customer gives it", "caf_address", BRAM, gives=((CODE, "redirect"),))
    yield _make_code_example("Tokens for the one account", 2, "caf", (("caf_logical_id", "logical_id"),))
    yield Example("The one account", "account", 2, path=(("logical_id", "{{caf_logical_id}}"),), token="caf_token")
    yield _refresh("A new pair for the one account", 2, "caf")


def _make_payment(name: str) -> Pairs:
    return (("payment_id", f"{{{{{name}}}}}"),)


def _list_versions(title: str, operation: str, *arguments: Any, **more: Any) -> Iterator[Step]:
    """Yields the same call once for each version of the operation."""
    for version in BY_NAME[operation].versions:
        yield Example(f"{title}, version {version}", operation, version, *arguments, **more)


def _make_code_example(title: str, version: int, name: str, gives: Pairs = ()) -> Example:
    form = {"grant_type": "authorization_code", "code": "{{code}}", "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    return _make_token_example(title, version, name, form, gives)


def _refresh(title: str, version: int, name: str) -> Example:
    return _make_token_example(
        title, version, name, {"grant_type": "refresh_token", "refresh_token": f"{{{{{name}_refresh}}}}"}
    )


def _make_token_example(title: str, version: int, name: str, form: dict[str, str], gives: Pairs = ()) -> Example:
    pair = ((f"{name}_token", "access_token"), (f"{name}_refresh", "refresh_token"))
    return Example(title, "token", version, body=form, gives=pair + gives)


def list_steps(today: date) -> list[Step]:
    """Returns all examples and all steps of a customer, in the order in which they must be sent."""
    return [*list_payment_steps(), *list_order_steps(today), *list_file_steps(today), *list_account_steps()]
