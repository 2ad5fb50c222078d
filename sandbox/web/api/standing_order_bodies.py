"""Reads and writes the body of a standing order (service 2.2, choice 6)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sandbox.bank.subjects import StandingOrderRequest
from sandbox.banking import creditors
from sandbox.banking.money import Money
from sandbox.banking.recurrence import end_month_fits, last_number
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.field_rows import EUR
from sandbox.contract.fields import STANDING_ORDER, Frequency
from sandbox.contract.products import SCT
from sandbox.web.api import bodies
from sandbox.web.api.body_reader import BodyReader, invalid
from sandbox.web.api.body_schemas import ContractBody
from sandbox.web.api.call import Call

(COLUMN,) = STANDING_ORDER.columns
AMOUNT = "instructed_amount"
CLAUSE, OURS = "service 2.2", "choice 6"
DAYS_OF_A_WEEK = timedelta(days=6)
YEAR_MAX = 2199  # as far as a clock is set (choice 10); an end may lie beyond


CONTRACT_BODY = BodyReader(ContractBody(), STANDING_ORDER)


def read_contract(content: Any, call: Call) -> StandingOrderRequest:
    # The currency is required and defaulted at once (service 2.2).
    sent = content.get(AMOUNT) if isinstance(content, dict) else None
    if isinstance(sent, dict) and "currency" not in sent and call.decisions.order_currency == "required":
        raise Refusal(Error.INPUT_MISSING, input=f"{AMOUNT}.currency", clause="service 2.2")
    given = CONTRACT_BODY.load(content, call)
    bodies.demand_fields(given, COLUMN)
    amounts = given.get(AMOUNT, {})
    bodies.demand_currency(f"{AMOUNT}.currency", amounts.get("currency", EUR), SCT, CLAUSE)
    variable = given.get("periodic_payment_type") == "VARIABLE"
    fixed = None if variable else read_fixed(amounts)
    minimal, maximal = read_bounds(amounts) if variable else (None, None)
    debtor = bodies.read_debtor(given, SCT, CLAUSE)
    iban = given["creditor_account"]["iban"]
    creditors.demand_bank(iban, None, None, rule=CLAUSE)
    creditors.demand_sepa(iban)
    values = bodies.plain_values(StandingOrderRequest, given)
    bodies.demand_remittance(values.get("structured"), values.get("unstructured"))
    values |= {"frequency": Frequency(given["frequency"]), "amount": fixed, "minimal": minimal, "maximal": maximal}
    contract = StandingOrderRequest(creditor_iban=iban, debtor=debtor, variable=variable, **values)
    demand_dates(contract)
    return contract


def read_fixed(amounts: Mapping[str, str]) -> Money:
    for name in ("minimal_amount", "maximal_amount"):
        if name in amounts:
            raise invalid(f"{AMOUNT}.{name}", "it is for VARIABLE only", CLAUSE, periodic_payment_type="FIXED")
    if "amount" not in amounts:
        decided = {"periodic_payment_type": "FIXED"}
        raise Refusal(Error.INPUT_MISSING, input=f"{AMOUNT}.amount", clause=CLAUSE, decided=decided)
    return bodies.read_amount(amounts, SCT, f"{AMOUNT}.", CLAUSE)


def read_bounds(amounts: Mapping[str, str]) -> tuple[Money | None, Money | None]:
    """Read the amount that stays on the account, and the most that leaves it."""
    if "amount" in amounts:
        raise invalid(f"{AMOUNT}.amount", "it is for FIXED only", OURS, periodic_payment_type="VARIABLE")
    minimal = Money.read(amounts["minimal_amount"], EUR) if "minimal_amount" in amounts else None
    maximal = Money.read(amounts["maximal_amount"], EUR) if "maximal_amount" in amounts else None
    if minimal is not None and minimal.number < 0:
        why = "it must not be below 0"
        raise invalid(f"{AMOUNT}.minimal_amount", why, OURS, minimal_amount=minimal, at_least=Money.zero(EUR))
    if maximal is not None and not maximal.is_positive:
        raise Refusal(Error.AMOUNT_NOT_POSITIVE, input=f"{AMOUNT}.maximal_amount", decided=bodies.above_zero(maximal))
    return minimal, maximal


def demand_dates(contract: StandingOrderRequest) -> None:
    """Refuse dates that contradict each other; the bank checks whether they lie ahead."""
    start, end, first = contract.start_date, contract.end_date, contract.execution_date
    if start.year > YEAR_MAX:
        why = f"it lies beyond the year {YEAR_MAX}"
        raise invalid("start_date", why, OURS, start_date=start, last_year=YEAR_MAX)
    if first is not None:
        latest = start + DAYS_OF_A_WEEK if contract.frequency is Frequency.WEEKLY else start
        if not start <= first <= latest:
            why = f"it must lie from {start} to {latest}"
            clause = OURS if contract.frequency is Frequency.WEEKLY else CLAUSE
            raise invalid("execution_date", why, clause, execution_date=first, earliest=start, latest=latest)
    if end is None:
        return
    if end < start:
        raise Refusal(Error.END_BEFORE_START, input="end_date", decided={"start_date": start, "end_date": end})
    if not end_month_fits(start, contract.frequency, end):
        decided = {"start_date": start, "end_date": end, "frequency": contract.frequency}
        raise Refusal(Error.END_MONTH_OFF_PERIOD, input="end_date", decided=decided)
    if not last_number(contract.first, contract.frequency, end):
        why = "it lies before the first execution"
        raise invalid("end_date", why, OURS, end_date=end, first_execution=contract.first)
