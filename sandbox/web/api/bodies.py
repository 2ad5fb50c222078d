"""Reads the JSON bodies of payments (version 3 and version 1) and of standing orders. Returns them as requests to the
bank (service 2.1, service 2.2, choice 5, choice 6)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sandbox.bank.records import Address, Creditor, Debtor, PaymentRequest, StandingOrderRequest
from sandbox.banking import countries, creditors
from sandbox.banking.money import Money, count_decimals, is_currency
from sandbox.banking.recurrence import find_last_number, is_in_end_month
from sandbox.banking.remittance import read_structured
from sandbox.contract.errors import Error, Refusal, make_invalid
from sandbox.contract.field_rows import EUR, ObjectKind, Use
from sandbox.contract.fields import BODIES, PAYMENT, STANDING_ORDER, VERSION_1, Frequency
from sandbox.contract.products import PRODUCTS, SCT, Product
from sandbox.web.api.body_schemas import BodyReader, ContractBody, EarlierBody, PaymentBody, read_strict
from sandbox.web.api.call import Call

PAYMENT_BODY = BodyReader(PaymentBody(), PAYMENT)
EARLIER_BODY = BodyReader(EarlierBody(), VERSION_1)
PRIORITY = {"NORMAL": "NORM", "URGENT": "HIGH"}  # of version 1


def read_json(body: bytes) -> Any:
    """Parses strict JSON. Refuses any other body."""
    try:
        return read_strict(body)
    except ValueError as fault:
        raise make_invalid("body", str(fault)) from None


# What each column requires or excludes: the use, the path and its two parts, the error if the field is missing, and
# the clause that says so.
DEMANDS = {
    column: [
        (
            body.find_use(field, column),
            path,
            field.outer,
            field.inner,
            Error.ENDTOEND_MISSING if field.attribute_path == "endtoend_identification" else Error.INPUT_MISSING,
            body.clause or field.clause,
        )
        for path, field in body.stated.items()
        if body.find_use(field, column) is not Use.OPTIONAL
    ]
    for body in BODIES
    for column in body.columns
}


def demand_fields(content: Mapping[str, Any], column: str) -> None:
    """Refuses a body that lacks a field which its product requires, or has a field which its product excludes. `column`
    is the product's column in the table of contract/fields.py."""
    for use, path, outer, inner, missing, clause in DEMANDS[column]:
        part = content.get(outer)
        present = part is not None and (not inner or inner in part)
        if present and use is Use.ABSENT:
            raise make_invalid(path, f"{column} has no such field", clause, product=column)
        if not present and use is Use.REQUIRED:
            raise Refusal(missing, input=path, clause=clause, decided_by={"product": column})


# The name in the body and the attribute of each field that goes into the record as it is.
PLAIN = {
    record: [
        (row.path, row.attribute_path)
        for row in body.list_outers()
        if not isinstance(row.kind, ObjectKind) and row.attribute_path in record.__annotations__
    ]
    for record, body in ((PaymentRequest, PAYMENT), (StandingOrderRequest, STANDING_ORDER))
}


def convert_values(record: type[PaymentRequest | StandingOrderRequest], values: Mapping[str, Any]) -> dict[str, Any]:
    return {attribute: values[name] for name, attribute in PLAIN[record] if name in values}


def read_amount(amount: Mapping[str, str], product: Product, within: str = "", clause: str = "service 2.1.4") -> Money:
    """Returns the money that `amount` describes by its fields `amount` and `currency`. A missing currency is EUR.
    Refuses a currency that the product does not accept, too many decimals, and an amount that is not above 0. In an
    error, `within` is put before the name of the field."""
    currency = amount.get("currency", EUR)
    demand_currency(f"{within}currency", currency, product, clause)
    try:
        money = Money.read(amount["amount"], currency)
    except ValueError:
        numbers = {"amount": amount["amount"], "decimals_allowed": count_decimals(currency)}
        raise make_invalid(f"{within}amount", f"{currency} has fewer decimals", clause, **numbers) from None
    if not money.is_positive:
        raise Refusal(Error.AMOUNT_NOT_POSITIVE, input=f"{within}amount", decided_by=describe_not_positive(money))
    return money


def describe_not_positive(amount: Money) -> dict[str, object]:
    """Returns the facts for the refusal of an amount that is zero or negative."""
    return {"amount": amount, "above": Money.zero(amount.currency)}


def demand_currency(field: str, currency: str, product: Product, clause: str) -> None:
    """Refuses any currency but EUR for a SEPA product. For other products, refuses a currency that the bank does not
    accept (service 2.1 rule 8)."""
    accepted = currency == EUR if product.sepa else is_currency(currency) and countries.accepts_currency(currency)
    if not accepted:
        decided_by = {"currency": currency, "product": product.name} | ({"accepted": EUR} if product.sepa else {})
        rule = clause if product.sepa else "service 2.1.8"
        raise Refusal(Error.CURRENCY_NOT_ACCEPTED, input=field, currency=currency, clause=rule, decided_by=decided_by)


def read_debtor(
    values: Mapping[str, Any], product: Product, clause: str = "service 2.1.1", field: str = "debtor_account"
) -> Debtor | None:
    """Reads the account that pays from the field `field`. Returns None if the body leaves it out. Refuses an invalid
    IBAN and a currency that the product does not accept."""
    if field not in values:
        return None
    debtor = values[field]
    creditors.demand_iban(debtor["iban"], f"{field}.iban", clause)
    currency = debtor.get("currency", EUR)
    demand_currency(f"{field}.currency", currency, product, clause)
    return Debtor(debtor["iban"], currency)


def demand_remittance(structured: str | None, unstructured: str | None) -> None:
    """Refuses a structured communication that is not Belgian (service 2.1 rule 5), and a body that has both a
    structured and an unstructured communication (choice 5)."""
    if structured is None:
        return
    field = "remittance_information_structured"
    if unstructured is not None:
        raise make_invalid(field, "it cannot go with an unstructured one", "choice 5", structured=structured)
    if read_structured(structured) is None:
        raise make_not_belgian(field, structured)


def make_not_belgian(field: str, text: str) -> Refusal:
    return make_invalid(field, "it is no Belgian structured communication", "service 2.1.5", sent=text)


def demand_creditor(creditor: Creditor, address: Address | None, purpose: str | None, money: Money, sepa: bool) -> None:
    """Refuses a beneficiary whose account, bank or country the product cannot pay. If the product is not SEPA, also
    refuses a currency, a purpose or an address that the rules for the beneficiary's country do not permit."""
    creditors.demand_bank(creditor.iban, creditor.bic, creditor.country)
    if sepa:
        assert creditor.iban is not None
        creditors.demand_sepa(creditor.iban)
        return
    country = creditors.demand_country(
        creditor.iban, creditor.bban, creditor.bic, creditor.country, creditor.bank_national_id
    )
    creditor_address = address or Address()
    creditors.demand_cross_border(country, money.currency, purpose, creditor_address.city, creditor_address.country)


def read_payment(content: Any, call: Call) -> PaymentRequest:
    """Reads the body of a payment, version 3. The order of the checks decides which error the caller gets."""
    values, product = PAYMENT_BODY.load(content, call), PRODUCTS[call.product]
    demand_fields(values, product.name)
    money = read_amount(values["instructed_amount"], product, "instructed_amount.")
    debtor = read_debtor(values, product)
    creditor = Creditor(**values["creditor_account"]) if "creditor_account" in values else Creditor()
    if creditor.currency is not None:
        demand_currency("creditor_account.currency", creditor.currency, product, "service 2.1.8")
    address = Address(**values["creditor_address"]) if "creditor_address" in values else None
    if address is not None and address.country is not None and not countries.is_country(address.country):
        raise make_invalid("creditor_address.country", "it is no country code", "choice 5", sent=address.country)
    order = PaymentRequest(
        product=product.name,
        amount=money,
        creditor=creditor,
        debtor=debtor,
        creditor_address=address,
        **convert_values(PaymentRequest, values),
    )
    demand_remittance(order.structured, order.unstructured)
    demand_creditor(creditor, address, order.purpose_code, money, product.sepa)
    return order


def read_earlier(content: Any, call: Call) -> PaymentRequest:
    """Reads the body of a payment, version 1."""
    values = EARLIER_BODY.load(content, call)
    demand_fields(values, VERSION_1.columns[0])
    money = read_amount(values, SCT)
    debtor = read_debtor(values, SCT, field="origin_account")
    remote = values["remote_account"]
    creditors.demand_bank(remote["iban"], remote.get("bic"), None, account="remote_account")
    creditors.demand_sepa(remote["iban"], account="remote_account")
    structured, unstructured = None, values.get("communication")
    if values.get("communication_type") == "STRUCTURED":
        structured, unstructured = unstructured, None
        if structured is None or read_structured(structured) is None:
            raise make_not_belgian("communication", structured or "")
    return PaymentRequest(
        SCT.name,
        money,
        Creditor(remote["iban"], bic=remote.get("bic")),
        remote["name"],
        values["payment_id"],
        debtor,
        priority=PRIORITY.get(values.get("payment_treatment_type", "")),
        structured=structured,
        unstructured=unstructured,
        execution_date=values.get("execution_date"),
    )


# The name of an input in version 3, and its name in version 1: both rows of the table have one attribute.
NAMES = {
    newer.path: earlier.path
    for earlier in VERSION_1.fields
    for newer in PAYMENT.fields
    if newer.attribute_path == earlier.attribute_path
}


def rename_to_version_1(refusal: Refusal) -> Refusal:
    """Returns a copy of the refusal in which the wrong input has the name that version 1 uses (choice 4)."""
    facts: dict[str, Any] = dict(refusal.facts)
    facts["input"] = NAMES.get(str(facts.get("input")), facts.get("input"))
    return Refusal(
        refusal.error, lasting=refusal.lasting, decided_by=refusal.decided_by, clause=refusal.clause, **facts
    )


(COLUMN,) = STANDING_ORDER.columns
AMOUNT = "instructed_amount"
CLAUSE, OURS = "service 2.2", "choice 6"
DAYS_OF_A_WEEK = timedelta(days=6)
YEAR_MAX = 2199  # as far as a clock is set (choice 10); an end may lie beyond


CONTRACT_BODY = BodyReader(ContractBody(), STANDING_ORDER)


def read_contract(content: Any, call: Call) -> StandingOrderRequest:
    # The currency is required and defaulted at once (service 2.2).
    amount = content.get(AMOUNT) if isinstance(content, dict) else None
    if isinstance(amount, dict) and "currency" not in amount and call.decisions.order_currency == "required":
        raise Refusal(Error.INPUT_MISSING, input=f"{AMOUNT}.currency", clause="service 2.2")
    fields = CONTRACT_BODY.load(content, call)
    demand_fields(fields, COLUMN)
    amounts = fields.get(AMOUNT, {})
    demand_currency(f"{AMOUNT}.currency", amounts.get("currency", EUR), SCT, CLAUSE)
    variable = fields.get("periodic_payment_type") == "VARIABLE"
    fixed = None if variable else read_fixed(amounts)
    minimal, maximal = read_bounds(amounts) if variable else (None, None)
    debtor = read_debtor(fields, SCT, CLAUSE)
    iban = fields["creditor_account"]["iban"]
    creditors.demand_bank(iban, None, None, rule=CLAUSE)
    creditors.demand_sepa(iban)
    values = convert_values(StandingOrderRequest, fields)
    demand_remittance(values.get("structured"), values.get("unstructured"))
    values |= {
        "frequency": Frequency(fields["frequency"]),
        "amount": fixed,
        "minimal": minimal,
        "maximal": maximal,
    }
    contract = StandingOrderRequest(creditor_iban=iban, debtor=debtor, variable=variable, **values)
    demand_dates(contract)
    return contract


def read_fixed(amounts: Mapping[str, str]) -> Money:
    for name in ("minimal_amount", "maximal_amount"):
        if name in amounts:
            raise make_invalid(f"{AMOUNT}.{name}", "it is for VARIABLE only", CLAUSE, periodic_payment_type="FIXED")
    if "amount" not in amounts:
        decided_by = {"periodic_payment_type": "FIXED"}
        raise Refusal(Error.INPUT_MISSING, input=f"{AMOUNT}.amount", clause=CLAUSE, decided_by=decided_by)
    return read_amount(amounts, SCT, f"{AMOUNT}.", CLAUSE)


def read_bounds(amounts: Mapping[str, str]) -> tuple[Money | None, Money | None]:
    """Returns the bounds of a standing order with a variable amount: the amount that must stay on the account, and the
    highest amount of one execution. A bound that was not sent is None. Refuses a fixed amount, a first bound below 0,
    and a second bound that is not above 0."""
    if "amount" in amounts:
        raise make_invalid(f"{AMOUNT}.amount", "it is for FIXED only", OURS, periodic_payment_type="VARIABLE")
    minimal = Money.read(amounts["minimal_amount"], EUR) if "minimal_amount" in amounts else None
    maximal = Money.read(amounts["maximal_amount"], EUR) if "maximal_amount" in amounts else None
    if minimal is not None and minimal.number < 0:
        reason = "it must not be below 0"
        raise make_invalid(f"{AMOUNT}.minimal_amount", reason, OURS, minimal_amount=minimal, at_least=Money.zero(EUR))
    if maximal is not None and not maximal.is_positive:
        raise Refusal(
            Error.AMOUNT_NOT_POSITIVE, input=f"{AMOUNT}.maximal_amount", decided_by=describe_not_positive(maximal)
        )
    return minimal, maximal


def demand_dates(contract: StandingOrderRequest) -> None:
    """Refuses dates of a standing order that contradict each other, and a start after the year YEAR_MAX. Does not check
    whether the dates are in the future, because the bank does this later."""
    start, end, first = contract.start_date, contract.end_date, contract.execution_date
    if start.year > YEAR_MAX:
        reason = f"it lies beyond the year {YEAR_MAX}"
        raise make_invalid("start_date", reason, OURS, start_date=start, last_year=YEAR_MAX)
    if first is not None:
        latest = start + DAYS_OF_A_WEEK if contract.frequency is Frequency.WEEKLY else start
        if not start <= first <= latest:
            reason = f"it must lie from {start} to {latest}"
            clause = OURS if contract.frequency is Frequency.WEEKLY else CLAUSE
            raise make_invalid("execution_date", reason, clause, execution_date=first, earliest=start, latest=latest)
    if end is None:
        return
    if end < start:
        raise Refusal(Error.END_BEFORE_START, input="end_date", decided_by={"start_date": start, "end_date": end})
    if not is_in_end_month(start, contract.frequency, end):
        decided_by = {"start_date": start, "end_date": end, "frequency": contract.frequency}
        raise Refusal(Error.END_MONTH_OFF_PERIOD, input="end_date", decided_by=decided_by)
    if not find_last_number(contract.first, contract.frequency, end):
        reason = "it lies before the first execution"
        raise make_invalid("end_date", reason, OURS, end_date=end, first_execution=contract.first)
