"""The earlier body of a single payment, version 1 (service 2.1, choice 5)."""

from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields

from sandbox.bank.records import Creditor, Debtor, Order
from sandbox.banking import creditors
from sandbox.banking.iban import is_iban
from sandbox.banking.money import AMOUNT
from sandbox.banking.remittance import read_structured
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.products import SCT
from sandbox.web.api.bodies import CURRENCY, END_TO_END, Strict, load, read_amount
from sandbox.web.api.body_fields import MISSING, Choice, Day, Text

PRIORITY = {"NORMAL": "NORM", "URGENT": "HIGH"}


class NumberOrText(fields.Field[str]):
    """A number or a decimal string."""

    default_error_messages = {"required": MISSING}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **more: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{Decimal(str(value)).normalize():f}" if abs(value) < 1e13 else ""
        if not isinstance(value, str) or AMOUNT.fullmatch(value) is None:
            raise ValidationError("it must be a number or a decimal string such as 12.50")
        return value


class OriginBody(Strict):
    iban = Text(34, required=True)


class RemoteBody(Strict):
    name = Text(70, required=True)
    iban = Text(34, required=True)
    bic = Text(11)


class EarlierBody(Strict):
    origin_account = fields.Nested(OriginBody)
    remote_account = fields.Nested(RemoteBody, required=True, error_messages={"required": MISSING})
    amount = NumberOrText(required=True)
    currency = CURRENCY
    communication = Text(140)
    communication_type = Choice("FREETEXT", "STRUCTURED")
    execution_date = Day()
    payment_id = END_TO_END
    payment_treatment_type = Choice(*PRIORITY)


EARLIER_BODY = EarlierBody()


def read_earlier(content: Any) -> Order:
    given = load(EARLIER_BODY, content)
    if "payment_id" not in given:
        raise Refusal(Error.ENDTOEND_MISSING, input="payment_id")
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


# What the bank calls an input, and what version 1 calls it.
NAMES = {"debtor_account.iban": "origin_account.iban", "requested_execution_date": "execution_date"}


def in_its_words(refusal: Refusal) -> Refusal:
    """A refusal names the input as this body does (choice 4)."""
    facts = dict(refusal.facts)
    facts["input"] = NAMES.get(str(facts.get("input")), facts.get("input"))
    return Refusal(refusal.error, lasting=refusal.lasting, **facts)
