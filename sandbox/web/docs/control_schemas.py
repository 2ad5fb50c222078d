"""The schemas of the replies of the controls (choice 10)."""

from functools import cache, partial
from typing import Any

from marshmallow import Schema, fields
from marshmallow.validate import OneOf

from sandbox.bank.records import ACCOUNT_TYPES, BALANCES_SHOWN, CUSTOMER_KINDS, ROLES
from sandbox.banking.payees import OUTCOMES
from sandbox.contract.languages import SCREENS
from sandbox.web.controls.body_fields import reply
from sandbox.web.docs.reply_schemas import BulkStatusReply, ContractOrder, ErrorReply, PaymentOrder, make_one_of
from sandbox.worlds.holds import PLACES

text = partial(fields.String, required=True)
text_or_null = partial(text, allow_none=True)
number = partial(fields.Integer, required=True)
INT64 = {"format": "int64"}  # a generated client in Go or Java takes other integers to be below 2**31
amount = partial(fields.Float, required=True)
flag = partial(fields.Boolean, required=True)
instant = partial(fields.DateTime, required=True)
texts = partial(fields.List[Any], fields.String, required=True)
words = partial(fields.Dict, fields.String, fields.String, required=True)


def make_rows_field(row: type[Schema]) -> fields.List[Any]:
    return fields.List(fields.Nested(row), required=True)


@cache
def list_reply(name: str, row: type[Schema]) -> type[Schema]:
    """Returns the schema of a reply that has one list under this name. If the name has hyphens, the reply also has the
    list under the name with underscores."""
    return Schema.from_dict(
        dict.fromkeys((name, name.replace("-", "_")), make_rows_field(row)),
        name=f"{row.__name__.removesuffix('Schema')}List",
    )


class StateFile(Schema):
    """The size of the stored data in bytes, the idle time after which a world is deleted (null: never), the number of
    acts of a world that are kept (null: all), and notes on harmless damage that was found."""

    bytes = fields.Integer(metadata=INT64)
    worlds_expire_after_seconds = fields.Float(allow_none=True)
    acts_kept = fields.Integer(allow_none=True)
    notes = fields.List(fields.String())


class Health(Schema):
    status = make_one_of("ready", "live")
    state_file = fields.Nested(StateFile)


class ClockSchema(Schema):
    """The clock of a world. Times are ISO 8601 with the offset of Brussels. `rate` is the number of bank seconds per
    real second. It is 0 for a frozen clock. `due_next` is the time of the next event. It is null if no event is coming,
    or if the world is unloaded."""

    now = instant()
    mode = make_one_of("frozen", "running")
    rate = amount()
    due_next = instant(allow_none=True)


class WorldSchema(Schema):
    name = text()
    scenario = text()
    seed = number(metadata=INT64)
    clock = fields.Nested(ClockSchema, required=True)
    away = flag()


class WorldPage(Schema):
    """A page of worlds. `next` is the value of the query parameter `after` that gets the following page. The last page
    has no `next`."""

    worlds = make_rows_field(WorldSchema)
    after = fields.String(data_key="next")


class ImportedWorld(WorldSchema):
    """An imported world. `acts` is the number of acts that the import played again."""

    acts = number()


# `waited` is in seconds of bank time.
Awaited = reply("Awaited", payment_id=text(), status=text(), at=instant(), waited=amount())
HeldCall = reply("HeldCall", request_id=text(), operation=text(), method=text(), path=text(), client_id=text_or_null())


class HoldSchema(Schema):
    """A barrier, and the call that arrived at it. `call` is null until a call arrives."""

    name = text()
    at = make_one_of(*PLACES)
    when = fields.Dict(required=True)
    state = make_one_of("waiting", "held", "expired", "passed")
    call = fields.Nested(HeldCall, required=True, allow_none=True)


class CallSummary(Schema):
    request_id = text()
    at = instant()
    operation = text_or_null()
    method = text()
    path = text()
    status = number()
    client_id = text_or_null()


class LoggedCall(CallSummary):
    seq = number()


class ListedCall(LoggedCall):
    error = text_or_null()
    error_code = text_or_null()
    rule = text()


# A value that leaves a value of another axis without effect.
ExclusionRow = reply("ExclusionRow", value=text(), axis=text(), other=text())


class AxisRowSchema(Schema):
    """An axis: a point on which banks may differ, with the values that it can have. `does` has the effect of each
    value. `brings` is the mistake of a client that the axis reveals. `outside` are the values that a correct client
    refuses, and `within` says whether there are none. `lenient` are the values with which a client works if it works
    with the first value. `value` is the value in this world. `met` says whether this world's bank has read the axis."""

    name = text()
    topic = text()
    clause = text()
    about = text()
    values = texts()
    does = words()
    brings = text()
    within = flag()
    outside = texts()
    lenient = texts()
    excludes = make_rows_field(ExclusionRow)
    value = text_or_null()
    met = flag()


class CallbackSchema(Schema):
    """A redirection of the customer to the TPP. A fault rule or an axis may make `redirect` null (the callback is lost)
    or `times` 2 (the callback arrives twice)."""

    seq = number()
    at = instant()
    subject = text()
    redirect = text_or_null()
    times = fields.Integer()


class OauthMetadata(Schema):
    """The metadata of RFC 8414, section 2."""

    issuer = text()
    authorization_endpoint = text()
    token_endpoint = text()
    scopes_supported = texts()
    response_types_supported = texts()
    response_modes_supported = texts()
    grant_types_supported = texts()
    token_endpoint_auth_methods_supported = texts()
    code_challenge_methods_supported = texts()
    ui_locales_supported = texts()
    service_documentation = text()


class JournalEntry(Schema):
    seq = number()
    at = instant()
    subject = text()
    trigger = text()
    source = text_or_null(data_key="from")
    to = text_or_null()
    reason = text_or_null()
    rule = text_or_null()


class ControlError(ErrorReply):
    """An error of a control, with the fields of the bank's own errors."""


# Customers, accounts, clients, initiations and single calls


class CustomerSchema(Schema):
    customer = text()
    name = text()
    language = make_one_of(*SCREENS)
    kind = make_one_of(*CUSTOMER_KINDS)
    accounts = texts()


class CustomerSettings(CustomerSchema):
    """A customer with all fields that a tester may change."""

    channel_blocked = flag()
    limit_day = text_or_null()
    limit_week = text_or_null()
    countries = fields.List(fields.String(), required=True, allow_none=True)
    methods = texts()
    payee_check_of_files = flag()


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
    type = make_one_of(*ACCOUNT_TYPES)
    customer = text()
    balances = make_rows_field(Balance)
    signatures_required = number()


class AccountSettings(AccountSchema):
    """An account with all fields that a tester may change."""

    closed = flag()
    overdraft = text_or_null()
    balance_shown = make_one_of(*BALANCES_SHOWN)
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
    history = make_rows_field(StatusChange)


class PaymentSchema(Initiated):
    order = fields.Nested(PaymentOrder, required=True)


class StandingOrderSchema(Initiated):
    order = fields.Nested(ContractOrder, required=True)


class OccurrenceSchema(Schema):
    number = number()
    planned = fields.Date(required=True)
    on = fields.Date(required=True)
    shifted = text_or_null()
    state = make_one_of("executed", "failed", "passed over", "coming")
    at = fields.DateTime()
    amount = fields.String(allow_none=True)


class StandingOrderWithDays(StandingOrderSchema):
    """A standing order with its past and coming executions."""

    occurrences = make_rows_field(OccurrenceSchema)


class BulkFileSchema(BulkStatusReply):
    """The reply of the status call of a bulk file, with further fields: the client, the customer, and the history of
    the status."""

    product = make_one_of("pain.001", "csv")
    client_id = text()
    customer = text_or_null()
    message_id = text_or_null()
    history = make_rows_field(StatusChange)


class Redirection(Schema):
    """The address to which the customer's browser was sent. A fault rule or an axis may make `redirect` null (the
    callback is lost) or `times` 2 (the browser visits it twice)."""

    redirect = text_or_null()
    times = fields.Integer()


class PayeeOutcome(Schema):
    """The outcome of a verification of payee."""

    outcome = make_one_of(*OUTCOMES)
    name = text(required=False, metadata={"description": "The name that the payee's bank knows, of a close match."})


class SignedPayment(Schema):
    payment_id = text()
    status = text()


class RefusedPayment(SignedPayment):
    """A payment that a further signer refused to sign."""

    reason = text()


Currency = reply("Currency", code=text(), rate=text())
Country = reply("Country", code=text(), name=text(), iban=flag(), purpose_codes=texts(), purpose_required=flag())


class Countries(Schema):
    sepa = texts()
    eea = texts()
    currencies = make_rows_field(Currency)
    countries = make_rows_field(Country)
    purpose_codes = texts()


class MoveOnTheWay(Schema):
    """A change of status, in the explanation of a reply. It happened to the initiation that the call is about, no later
    than the call. If it happened because funds were missing, `balance` is the balance at the end of the day before."""

    at = instant()
    from_ = text_or_null(data_key="from")
    to = text_or_null()
    trigger = text()
    reason = text_or_null()
    balance = fields.Dict(keys=fields.String(), values=fields.String())


class CallPart(Schema):
    """The headers and the body of a request or a reply, without secrets. `cut` says what is missing of them. It is
    empty if nothing is missing."""

    headers = words()
    body = text()
    cut = text()


class CallContent(Schema):
    """The request and the reply of a call. The setting contents_kept is the number of calls whose contents are
    stored."""

    address = text()
    request = fields.Nested(CallPart, required=True)
    reply = fields.Nested(CallPart, required=True)


class Explanation(CallSummary):
    """The reason for a reply: the rule that decided, its clause, and in `variants` the axes that the bank read for the
    call and whose value is not the default. `decided_by` is the input, number, date or state on which the rule decided.
    `would_succeed` is an input that the bank would accept. `history` lists the moves of the initiation before the
    reply. `content` is null if the content is not stored any more."""

    error = text_or_null()
    rule = text()
    clause = text()
    subject = text_or_null()
    state = text_or_null()
    scenario_rule = text_or_null()
    variants = words()
    decided_by = fields.Dict(keys=fields.String(), required=True)
    would_succeed = text_or_null()
    history = make_rows_field(MoveOnTheWay)
    content = fields.Nested(CallContent, required=True, allow_none=True)
