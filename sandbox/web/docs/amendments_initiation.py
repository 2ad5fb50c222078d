"""What the axes of initiations, settling and cancelling change in the document."""

from sandbox.contract.errors import Error
from sandbox.contract.operations import BY_NAME
from sandbox.web.api.initiations import CAMEL
from sandbox.web.docs.amending import (
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

INITIATIONS = ("payment_initiation", "standing_order_initiation")
REPLIES = ("PaymentInitiationReply", "ContractInitiationReply")
STATUSES = ("PaymentStatusReply", "ContractStatusReply")
DETAILS = ("PaymentDetailsReply", "ContractDetailsReply")
CANCELLATIONS = tuple(name for name in BY_NAME if name.endswith("_cancellation"))
NUMBER = {"type": "number"}
NULLABLE = {"type": ["string", "null"]}


def spelling(document: Document) -> None:
    """PNDG beside PDNG, which stays the name in this description."""
    for name in (*STATUSES, *DETAILS, "BulkStatusReply", "PartRow"):
        words = schema(document, name)["properties"]["status"]["enum"]
        words.append("PNDG")


def no_location(document: Document) -> None:
    for described in operation(document, *INITIATIONS):
        described["responses"]["201"]["headers"].pop("Location", None)


DENIED = (Error.NOT_CANCELLABLE.value.code, Error.NOT_CANCELLABLE.value.error)
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
    ("xb_delete", "403"): refuses(403, *DENIED, "a cross-border payment cannot be cancelled", *CANCELLATIONS),
}
