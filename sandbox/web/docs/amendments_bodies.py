"""What the axes of initiations, consents, tokens and account information change in the document."""

from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME
from sandbox.web.api.account_replies import CAMEL as CAMEL_ROW
from sandbox.web.api.initiations import CAMEL
from sandbox.web.docs.amending import (
    INITIATIONS,
    Amend,
    Document,
    both,
    each,
    field,
    operation,
    optional,
    parameter,
    refuses,
    required,
    respelled,
    schema,
)

REPLIES = ("PaymentInitiationReply", "ContractInitiationReply")
STATUSES = ("PaymentStatusReply", "ContractStatusReply")
DETAILS = ("PaymentDetailsReply", "ContractDetailsReply")
CANCELLATIONS = tuple(name for name in BY_NAME if name.endswith("_cancellation"))
READS = ("account", "transactions")
TEXTS = ("counterparty_account", "counterparty_info", "communication", "remittance_info")
ROW = "TransactionRow"
NUMBER = {"type": "number"}
NULLABLE = {"type": ["string", "null"]}
DECIMAL = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}


def spelling(document: Document) -> None:
    """PNDG beside PDNG, which stays the name in this description."""
    for name in (*STATUSES, *DETAILS, "BulkStatusReply", "PartRow"):
        words = schema(document, name)["properties"]["status"]["enum"]
        words.append("PNDG")


def no_location(document: Document) -> None:
    for described in operation(document, *INITIATIONS):
        described["responses"]["201"]["headers"].pop("Location", None)


AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("status_spelling", "PNDG"): spelling,
    ("sca_address_in", "links"): no_location,
    ("initiation_fields", "few"): each(
        REPLIES, optional, "endtoend_identification", CAMEL["endtoend_identification"], "status"
    ),
    ("initiation_field_names", "camel"): each((*REPLIES, "InitiationLinks"), respelled, CAMEL),
    ("psu_name_before_login", "null"): each(DETAILS, field, "psu_name", **NULLABLE),
    ("reason", "always"): each(STATUSES, field, "reason", **NULLABLE),
    ("details_amount", "number"): both(
        field("MoneyRow", "amount", **NUMBER),
        field("ContractMoneyRow", "amount", "minimal_amount", "maximal_amount", **NUMBER),
    ),
    ("status_names_payment", "no"): each(STATUSES, optional, "payment_id"),
    ("order_currency", "required"): required("ContractAmountBody", "currency"),
    ("payment_information_id", "required"): parameter("PaymentInformationID", required=True),
    ("payment_information_id", "of_a_bulk"): parameter(
        "PaymentInformationID", description="The PmtInfId of a bulk; the file is looked up by its MsgId."
    ),
    ("bulks_while_rcvd", "absent"): optional("BulkStatusReply", "bulks"),
    ("file_numbers", "strings"): field("PartRow", "control_sum", "number_of_transactions", type="string"),
    ("xb_delete", "403"): refuses(
        403, Error.NOT_CANCELLABLE, "a cross-border payment cannot be cancelled", *CANCELLATIONS
    ),
    ("balances_as", "string"): field("AccountReply", "balance", **DECIMAL),
    ("multicurrency", "string"): field("AccountReply", "multicurrency", enum=["true", "false"]),
    ("multicurrency", "Y"): field("AccountReply", "multicurrency", enum=["Y", "N"]),
    ("account_type", "iso"): field("AccountReply", "type", enum=["CACC", "SVGS"]),
    ("unknown_logical_id", "404"): refuses(404, Error.NOT_FOUND, "the logical-id is none of the consent", *READS),
    ("lacking_compartment", "404"): refuses(404, Error.NOT_FOUND, "the account lacks the currency", "transactions"),
    ("item_amount", "string"): field(ROW, "amount", **DECIMAL),
    ("item_sign", "indicator"): both(
        field(ROW, "credit_debit_indicator", enum=["CRDT", "DBIT"]), required(ROW, "credit_debit_indicator")
    ),
    ("item_fields", "camel"): respelled(ROW, CAMEL_ROW),
    ("pending_items", "shown"): field(ROW, "status", enum=["PDNG"]),
    ("item_dates", "date_time"): field(ROW, "execution_date", "value_date", type="string", format="date-time"),
    ("item_blanks", "empty"): field(ROW, *TEXTS, type="string"),
    ("item_blanks", "absent"): both(field(ROW, *TEXTS, type="string", minLength=1), optional(ROW, *TEXTS)),
    ("old_dates_without_sca", "403"): refuses(
        403, Error.ACCESS_DENIED, "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("balance_after_90_days", "401"): refuses(
        401, Error.SCA_REQUIRED, "the last authentication is over 90 days old", "account"
    ),
    ("sca_token_request", "query"): parameter("SCA-Token", "transactions", **{"name": "sca_token", "in": "query"}),
    ("sca_token_reply", "scaToken"): respelled("TokenReply", {"sca_token": "scaToken"}),
    ("scope_in", "header"): parameter("scope", "consent_addresses", **{"name": "Scope", "in": "header"}),
    ("caf_account", "account"): parameter("iban", "consent_addresses", name="account"),
    ("token_type_case", "bearer"): field("TokenReply", "token_type", enum=["bearer"]),
}
