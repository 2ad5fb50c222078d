"""The schemas of the bank's replies for its OpenAPI document. The tests check every reply against them."""

from typing import Any

from marshmallow import Schema, fields
from marshmallow.validate import OneOf

from sandbox.contract import kinds
from sandbox.contract.field_rows import BodyRow
from sandbox.contract.fields import PAYMENT, STANDING_ORDER
from sandbox.contract.moves import list_statuses
from sandbox.web.api.access import VARIANTS
from sandbox.web.api.accounts import AccountReply, AccountRow, Number, SelfLink
from sandbox.web.api.body_schemas import make_outcome_fields
from sandbox.web.api.replies import BulkInitiationReply, InitiationReply, Link, StatusReply, TokenReply

ReplySchema = type[Schema] | str  # a text is the name of a component
PAYMENT_STATUSES = list_statuses(*kinds.PAYMENT.moves)  # service 3.1
CONTRACT_STATUSES = (*list_statuses(*kinds.STANDING_ORDER.moves), "RJCT")  # service 3.2
BULK_STATUSES = list_statuses(*kinds.BULK.moves)


def make_one_of(*words: str) -> fields.String:
    return fields.String(required=True, validate=OneOf(words))


def with_statuses(reply: type[Schema], name: str, *words: str) -> type[Schema]:
    """Returns a copy of the schema `reply` that allows only `words` as status."""
    return reply.from_dict({"status": make_one_of(*words)}, name=name)


PaymentInitiationReply = with_statuses(InitiationReply, "PaymentInitiationReply", *PAYMENT_STATUSES)
ContractInitiationReply = with_statuses(InitiationReply, "ContractInitiationReply", *CONTRACT_STATUSES)
PaymentStatusReply = with_statuses(StatusReply, "PaymentStatusReply", *PAYMENT_STATUSES)
ContractStatusReply = with_statuses(StatusReply, "ContractStatusReply", *CONTRACT_STATUSES)


def make_details_schema(status: type[Schema], body: BodyRow) -> type[Schema]:
    """Returns the schema of a details reply: the fields of the status reply, the customer's name, and all fields of the
    initiation (service 2.4, choice 5)."""
    return status.from_dict({"psu_name": fields.String(), **make_outcome_fields(body)}, name=body.reply)


PaymentDetailsReply = make_details_schema(PaymentStatusReply, PAYMENT)
ContractDetailsReply = make_details_schema(ContractStatusReply, STANDING_ORDER)
PaymentOrder = Schema.from_dict(make_outcome_fields(PAYMENT), name="PaymentOrder")
ContractOrder = Schema.from_dict(make_outcome_fields(STANDING_ORDER), name="ContractOrder")


class FaultRow(Schema):
    """An error that the validation found in a bulk file, with its place, its code and a sentence."""

    line = fields.Integer()
    path = fields.String()
    code = fields.String(required=True)
    text = fields.String(required=True)


class PartRow(Schema):
    payment_information_id = fields.String()
    status = make_one_of(*BULK_STATUSES)
    number_of_transactions = fields.Integer(required=True)
    control_sum = Number(required=True)
    reason = fields.String()
    errors = fields.List(fields.Nested(FaultRow))
    number_of_errors = fields.Integer()


ScaLink = Schema.from_dict({"sca_redirect": fields.Nested(Link, required=True)}, name="ScaLink")


class BulkStatusReply(Schema):
    """The status of the file and of each bulk in it (service 2.3, choice 7)."""

    payment_file_id = fields.String(required=True)
    status = make_one_of(*BULK_STATUSES)
    reason = fields.String()
    bulks = fields.List(fields.Nested(PartRow), required=True)
    errors = fields.List(fields.Nested(FaultRow))
    number_of_errors = fields.Integer()
    _links = fields.Nested(ScaLink)


class EnrolledAccounts(Schema):
    accounts = fields.List(fields.Nested(AccountRow), required=True)


class AccountsReply(Schema):
    """The accounts of a consent (choice 8)."""

    _embedded = fields.Nested(EnrolledAccounts, required=True)
    _links = fields.Nested(SelfLink, required=True)


class TransactionRow(Schema):
    """A transaction (choice 8)."""

    transaction_ref = fields.String(required=True)
    amount = Number(required=True)
    currency = fields.String(required=True)
    execution_date = fields.Date(required=True)
    value_date = fields.Date(required=True)
    counterparty_account = fields.String(required=True, allow_none=True)
    counterparty_info = fields.String(required=True, allow_none=True)
    communication = fields.String(required=True)
    communication_type = make_one_of("FREETEXT", "STRUCTURED")
    remittance_info = fields.String(required=True)


class TransactionPage(Schema):
    transactions = fields.List(fields.Nested(TransactionRow), required=True)
    next_page_key = fields.String()


class TransactionLinks(Schema):
    self = fields.Nested(Link, required=True)
    account = fields.Nested(Link, required=True)
    next = fields.Nested(Link)


class TransactionsReply(Schema):
    """A page of transactions (service 2.8)."""

    _embedded = fields.Nested(TransactionPage, required=True)
    _links = fields.Nested(TransactionLinks, required=True)


ErrorLink = Schema.from_dict({"href": fields.String(required=True)}, name="ErrorLink")
ErrorLinks = Schema.from_dict({"sca_redirect": fields.Nested(ErrorLink, required=True)}, name="ErrorLinks")


class ErrorReply(Schema):
    """An error (service 2.9). Only SCA_REQUIRED has `_links` (choice 4)."""

    error = fields.String(required=True)
    error_code = fields.String(required=True)
    error_description = fields.String(required=True)
    _links = fields.Nested(ErrorLinks)


class TokenForm(Schema):
    """The form of POST /token. It has the fields of one of two grant types, never of both (service 4.8)."""

    grant_type = make_one_of(*VARIANTS)
    code = fields.String()
    redirect_uri = fields.String()
    code_verifier = fields.String()
    refresh_token = fields.String()
    scope = fields.String()


def _make_variant(grant_type: str) -> dict[str, Any]:
    """Returns a schema that requires the fields of this grant type and forbids the fields of the other grant types."""
    required, optional = VARIANTS[grant_type]
    names = [name for row in VARIANTS.values() for part in row for name in part]
    allowed: dict[str, Any] = {name: {"type": "string"} for name in ("grant_type", *required, *optional)}
    return {"required": list(required), "properties": {name: {"not": {}} for name in names} | allowed}


# The form is one flat schema with one list of grant types: of two schemas, generators of clients keep only the last.
TOKEN_VARIANTS = {
    "if": {"properties": {"grant_type": {"const": "authorization_code"}}},
    "then": _make_variant("authorization_code"),
    "else": _make_variant("refresh_token"),
}

REPLIES: dict[str, ReplySchema] = {  # by operation; an initiation of version 1 has EarlierInitiationReply
    "payment_initiation": PaymentInitiationReply,
    "payment_status": PaymentStatusReply,
    "payment_details": PaymentDetailsReply,
    "standing_order_initiation": ContractInitiationReply,
    "standing_order_status": ContractStatusReply,
    "standing_order_details": ContractDetailsReply,
    "bulk_initiation": BulkInitiationReply,
    "bulk_status": BulkStatusReply,
    "consent_addresses": "ConsentAddresses",
    "token": TokenReply,
    "accounts": AccountsReply,
    "account": AccountReply,
    "transactions": TransactionsReply,
}
