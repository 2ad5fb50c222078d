"""The body of a standing order, in and out (service 2.2, choice 6)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from marshmallow import fields

from sandbox.bank.records import Debtor
from sandbox.bank.standing_order_records import Contract
from sandbox.banking import creditors
from sandbox.banking.money import Money
from sandbox.banking.recurrence import Frequency, end_month_fits, last_number
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.products import SCT
from sandbox.web.api.bodies import (
    CURRENCY,
    END_TO_END,
    DebtorBody,
    Strict,
    demand_currency,
    demand_remittance,
    load,
    read_amount,
    read_debtor,
)
from sandbox.web.api.body_fields import Amount, Choice, Day, Text

AMOUNT = "instructed_amount"
DAYS_OF_A_WEEK = timedelta(days=6)
YEAR_MAX = 2199  # as far as a clock is set (choice 10); an end may lie beyond


class BeneficiaryBody(Strict):
    iban = Text(34, required=True)


class ContractAmountBody(Strict):
    currency = CURRENCY
    amount = Amount()
    minimal_amount = Amount()
    maximal_amount = Amount()


class ContractBody(Strict):
    debtor_account = fields.Nested(DebtorBody)
    creditor_account = fields.Nested(BeneficiaryBody)
    creditor_name = Text(70)
    endtoend_identification = END_TO_END
    periodic_payment_type = Choice("FIXED", "VARIABLE")
    instructed_amount = fields.Nested(ContractAmountBody)
    start_date = Day()
    end_date = Day()
    execution_date = Day()
    frequency = Choice(*(frequency.value for frequency in Frequency))
    remittance_information_structured = Text(140)
    remittance_information_unstructured = Text(140)


CONTRACT_BODY = ContractBody()
REQUIRED = ("creditor_account", "creditor_name", "endtoend_identification", "start_date", "frequency")


def read_contract(content: Any) -> Contract:
    given = load(CONTRACT_BODY, content)
    for name in REQUIRED:
        if name not in given:
            missing = Error.ENDTOEND_MISSING if name == "endtoend_identification" else Error.INPUT_MISSING
            raise Refusal(missing, input="creditor_account.iban" if name == "creditor_account" else name)
    amounts = given.get(AMOUNT, {})
    demand_currency(f"{AMOUNT}.currency", amounts.get("currency", "EUR"), SCT)
    variable = given.get("periodic_payment_type") == "VARIABLE"
    fixed = None if variable else read_fixed(amounts)
    minimal, maximal = read_bounds(amounts) if variable else (None, None)
    debtor = read_debtor(given["debtor_account"], SCT) if "debtor_account" in given else None
    iban = given["creditor_account"]["iban"]
    creditors.demand_bank(iban, None, None)
    creditors.demand_sepa(iban)
    structured = given.get("remittance_information_structured")
    unstructured = given.get("remittance_information_unstructured")
    demand_remittance(structured, unstructured)
    contract = Contract(
        iban,
        given["creditor_name"],
        given["endtoend_identification"],
        Frequency(given["frequency"]),
        given["start_date"],
        debtor,
        fixed,
        variable,
        minimal,
        maximal,
        given.get("end_date"),
        given.get("execution_date"),
        structured,
        unstructured,
    )
    demand_dates(contract)
    return contract


def read_fixed(amounts: Mapping[str, str]) -> Money:
    for name in ("minimal_amount", "maximal_amount"):
        if name in amounts:
            raise Refusal(Error.INPUT_INVALID, input=f"{AMOUNT}.{name}", why="it is for VARIABLE only")
    if "amount" not in amounts:
        raise Refusal(Error.INPUT_MISSING, input=f"{AMOUNT}.amount")
    return read_amount(amounts, SCT, f"{AMOUNT}.")


def read_bounds(amounts: Mapping[str, str]) -> tuple[Money | None, Money | None]:
    """What is to stay on the account, and what may leave it at the most."""
    if "amount" in amounts:
        raise Refusal(Error.INPUT_INVALID, input=f"{AMOUNT}.amount", why="it is for FIXED only")
    minimal = Money.read(amounts["minimal_amount"], "EUR") if "minimal_amount" in amounts else None
    maximal = Money.read(amounts["maximal_amount"], "EUR") if "maximal_amount" in amounts else None
    if minimal is not None and minimal.number < 0:
        raise Refusal(Error.INPUT_INVALID, input=f"{AMOUNT}.minimal_amount", why="it must not be below 0")
    if maximal is not None and not maximal.is_positive:
        raise Refusal(Error.AMOUNT_NOT_POSITIVE, input=f"{AMOUNT}.maximal_amount")
    return minimal, maximal


def demand_dates(contract: Contract) -> None:
    """What dates must be to each other; whether they lie ahead is asked of the bank."""
    start, end, first = contract.start_date, contract.end_date, contract.execution_date
    if start.year > YEAR_MAX:
        raise Refusal(Error.INPUT_INVALID, input="start_date", why=f"it lies beyond the year {YEAR_MAX}")
    if first is not None:
        latest = start + DAYS_OF_A_WEEK if contract.frequency is Frequency.WEEKLY else start
        if not start <= first <= latest:
            why = f"it must lie from {start} to {latest}"
            raise Refusal(Error.INPUT_INVALID, input="execution_date", why=why)
    if end is None:
        return
    if end < start:
        raise Refusal(Error.END_BEFORE_START, input="end_date")
    if not end_month_fits(start, contract.frequency, end):
        raise Refusal(Error.END_MONTH_OFF_PERIOD, input="end_date")
    if not last_number(contract.first, contract.frequency, end):
        raise Refusal(Error.INPUT_INVALID, input="end_date", why="it lies before the first execution")


def contract_fields(contract: Contract, debtor: Debtor | None) -> dict[str, Any]:
    """Every field of the initiation, as it came (choice 5)."""
    amounts = {"currency": "EUR"}
    for name, money in (
        ("amount", contract.amount),
        ("minimal_amount", contract.minimal),
        ("maximal_amount", contract.maximal),
    ):
        if money is not None:
            amounts[name] = money.text()
    found = {
        "debtor_account": debtor and debtor._asdict(),
        "creditor_account": {"iban": contract.creditor_iban},
        "instructed_amount": amounts,
        "creditor_name": contract.creditor_name,
        "endtoend_identification": contract.endtoend_identification,
        "periodic_payment_type": "VARIABLE" if contract.variable else "FIXED",
        "start_date": contract.start_date.isoformat(),
        "end_date": contract.end_date and contract.end_date.isoformat(),
        "execution_date": contract.execution_date and contract.execution_date.isoformat(),
        "frequency": contract.frequency.value,
        "remittance_information_structured": contract.structured,
        "remittance_information_unstructured": contract.unstructured,
    }
    return {name: value for name, value in found.items() if value is not None}
