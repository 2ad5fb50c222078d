"""Reads the body of a single payment of version 1 (service 2.1, choice 5)."""

from typing import Any

from sandbox.bank.records import Creditor, Debtor, Order
from sandbox.banking import creditors
from sandbox.banking.iban import is_iban
from sandbox.banking.remittance import read_structured
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.fields import PAYMENT, VERSION_1
from sandbox.contract.products import SCT
from sandbox.web.api.bodies import demand_fields, read_amount
from sandbox.web.api.body_reader import BodyReader
from sandbox.web.api.body_schemas import EarlierBody

(COLUMN,) = VERSION_1.columns
PRIORITY = {"NORMAL": "NORM", "URGENT": "HIGH"}
EARLIER_BODY = BodyReader(EarlierBody())


def read_earlier(content: Any) -> Order:
    given = EARLIER_BODY.load(content)
    demand_fields(given, COLUMN)
    money = read_amount(given, SCT)
    debtor = None
    if "origin_account" in given:
        if not is_iban(given["origin_account"]["iban"]):
            raise Refusal(Error.INPUT_INVALID, input="origin_account.iban", why="it is no valid IBAN")
        debtor = Debtor(given["origin_account"]["iban"])
    remote = given["remote_account"]
    creditors.demand_bank(remote["iban"], remote.get("bic"), None, account="remote_account")
    creditors.demand_sepa(remote["iban"], account="remote_account")
    structured, unstructured = None, given.get("communication")
    if given.get("communication_type") == "STRUCTURED":
        structured, unstructured = unstructured, None
        if structured is None or read_structured(structured) is None:
            raise Refusal(Error.INPUT_INVALID, input="communication", why="it is no Belgian structured communication")
    return Order(
        SCT.name,
        money,
        Creditor(remote["iban"], bic=remote.get("bic")),
        remote["name"],
        given["payment_id"],
        debtor,
        priority=PRIORITY.get(given.get("payment_treatment_type", "")),
        structured=structured,
        unstructured=unstructured,
        execution_date=given.get("execution_date"),
    )


# The name of an input in version 3, and its name in version 1: both rows of the table have one attribute.
NAMES = {
    newer.path: earlier.path
    for earlier in VERSION_1.fields
    for newer in PAYMENT.fields
    if newer.record == earlier.record
}


def in_its_words(refusal: Refusal) -> Refusal:
    """A refusal names the input as this body does (choice 4)."""
    facts: dict[str, Any] = dict(refusal.facts)
    facts["input"] = NAMES.get(str(facts.get("input")), facts.get("input"))
    return Refusal(refusal.error, lasting=refusal.lasting, decided=refusal.decided, **facts)
