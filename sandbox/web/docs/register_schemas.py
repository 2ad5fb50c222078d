"""What the controls tell of customers, accounts, clients, initiations and single calls, as schemas (choice 10)."""

from marshmallow import Schema, fields
from marshmallow.validate import OneOf

from sandbox.bank.records import ACCOUNT_TYPES, BALANCES_SHOWN, CUSTOMER_KINDS, ROLES
from sandbox.contract.languages import SCREENS
from sandbox.web.controls.body_fields import reply
from sandbox.web.docs.control_schemas import CallSummary, flag, instant, number, rows, text, text_or_null, texts, words
from sandbox.web.docs.reply_schemas import BulkStatusReply, ContractOrder, PaymentOrder, one_of


class CustomerSchema(Schema):
    customer = text()
    name = text()
    language = one_of(*SCREENS)
    kind = one_of(*CUSTOMER_KINDS)
    accounts = texts()


class CustomerSettings(CustomerSchema):
    """A customer with all that a tester may change."""

    channel_blocked = flag()
    limit_day = text_or_null()
    limit_week = text_or_null()
    countries = fields.List(fields.String(), required=True, allow_none=True)
    methods = texts()


class ClientSchema(Schema):
    client_id = text()
    name = text()
    roles = fields.List(fields.String(validate=OneOf(ROLES)), required=True)
    active = flag()
    redirect_uris = texts()


Balance = reply("Balance", currency=text(), balance=fields.Float())


class AccountSchema(Schema):
    iban = text()
    bic = text(metadata={"description": "The bank's own BIC."})
    type = one_of(*ACCOUNT_TYPES)
    customer = text()
    balances = rows(Balance)
    signatures_required = number()


class AccountSettings(AccountSchema):
    """An account with all that a tester may change."""

    closed = flag()
    overdraft = text_or_null()
    balance_shown = one_of(*BALANCES_SHOWN)
    owners = texts()
    signers = texts()


StatusChange = reply("StatusChange", at=instant(), status=text(), reason=text_or_null())


class Initiated(Schema):
    payment_id = text()
    product = text()
    status = text()
    reason = text_or_null()
    client_id = text()
    customer = text_or_null()
    history = rows(StatusChange)


class PaymentSchema(Initiated):
    order = fields.Nested(PaymentOrder, required=True)


class StandingOrderSchema(Initiated):
    order = fields.Nested(ContractOrder, required=True)


class OccurrenceSchema(Schema):
    number = number()
    planned = fields.Date(required=True)
    on = fields.Date(required=True)
    shifted = text_or_null()
    state = one_of("executed", "failed", "passed over", "coming")
    at = fields.DateTime()
    amount = fields.String(allow_none=True)


class StandingOrderWithDays(StandingOrderSchema):
    """With the days on which it was executed, and those that come."""

    occurrences = rows(OccurrenceSchema)


class BulkFileSchema(BulkStatusReply):
    """The file as its status call tells it, whose it is, and its way through the statuses."""

    product = one_of("pain.001", "csv")
    client_id = text()
    customer = text_or_null()
    message_id = text_or_null()
    history = rows(StatusChange)


class Redirection(Schema):
    """Where the customer's browser is sent back to. Only by a fault rule it is null (lost), or `times` is 2 (twice)."""

    redirect = text_or_null()
    times = fields.Integer()


class SignedPayment(Schema):
    payment_id = text()
    status = text()


class RefusedPayment(SignedPayment):
    """Cancelled by a further signer."""

    reason = text()


Currency = reply("Currency", code=text(), rate=text())
Country = reply("Country", code=text(), name=text(), iban=flag(), purpose_codes=texts(), purpose_required=flag())


class Countries(Schema):
    sepa = texts()
    eea = texts()
    currencies = rows(Currency)
    countries = rows(Country)
    purpose_codes = texts()


class MoveOnTheWay(Schema):
    """A move of the call's subject before the answer; where funds were missing, with the balance of the day before."""

    at = instant()
    from_ = text_or_null(data_key="from")
    to = text_or_null()
    trigger = text()
    reason = text_or_null()
    balance = fields.Dict(keys=fields.String(), values=fields.String())


class CallPart(Schema):
    """Headers and body without secrets; `cut` says what is missing of them."""

    headers = words()
    body = text()
    cut = text()


class CallContent(Schema):
    """Both sides of a call; null where they are kept no longer (the setting contents_kept)."""

    address = text()
    request = fields.Nested(CallPart, required=True)
    reply = fields.Nested(CallPart, required=True)


class Explanation(CallSummary):
    """The rule that decided, its clause, what it was judged on, and the axes it met that are not at their default.

    `decided_by` is what was sent, or the numbers, dates and states that decided; `would_succeed` is what would have,
    `history` what led there.
    """

    error = text_or_null()
    rule = text()
    clause = text()
    subject = text_or_null()
    state = text_or_null()
    scenario_rule = text_or_null()
    variants = words()
    decided_by = fields.Dict(keys=fields.String(), required=True)
    would_succeed = text_or_null()
    history = rows(MoveOnTheWay)
    content = fields.Nested(CallContent, required=True, allow_none=True)
