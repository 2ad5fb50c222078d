"""Reasons for which an initiation ended as RJCT or CANC, an execution failed, or settled money came back.

A reason is a code in the status of an initiation and in the remark of a transaction. Scenarios and controls may give
any code of the form CODE_FORM. The table has the codes that this bank and the shipped scenarios give. The findings of a
bulk file have codes of their own, which are not reasons.
"""

from enum import Enum
from typing import NamedTuple

CODE_FORM = r"[A-Z0-9_]{1,35}"
DEFAULT_SCENARIO = "the default scenario"


class ReasonRow(NamedTuple):
    """A reason. If `code` is not in ISO 20022, `iso_code` replaces it where the axis `reason_codes` asks for ISO
    codes."""

    code: str
    meaning: str
    used: str
    clause: str = "choice 13"
    iso_code: str = ""


class Reason(Enum):
    """The reasons in the table. The bank itself gives the reasons up to FORMAT_INVALID. Only scenarios and controls
    give those from RECALLED on."""

    TIME_OUT = ReasonRow(
        "TIME_OUT",
        "Nobody signed in time.",
        "CANC of a payment; with the axes unsigned_order and unsigned_file also of a standing order and a file",
        "service 3.3",
        "TM01",
    )
    PSU_REFUSED = ReasonRow(
        "PSU_REFUSED",
        "The customer refused, or typed too many wrong codes.",
        "CANC of a payment, a standing order or a file",
        "choice 5",
        "DS02",
    )
    CONTRACT_ENDED = ReasonRow(
        "CONTRACT_ENDED", "The last execution is over.", "CANC of a standing order", "choice 6", "DS02"
    )
    FUNDS_MISSING = ReasonRow(
        "AM04",
        "Funds are missing.",
        "RJCT of a payment or a bulk after its last try; an execution of a standing order that failed",
        "choice 5",
    )
    ACCOUNT_CLOSED = ReasonRow(
        "AC04",
        "The account that pays, or the beneficiary's, is closed.",
        "RJCT of a payment or a bulk; an execution of a standing order that failed; a return",
        "choice 10",
    )
    FORBIDDEN = ReasonRow(
        "AG01",
        "The transaction is forbidden.",
        "with the axis profile_refusal: CANC of a payment that the customer's own settings refuse",
        "service 7.4",
    )
    NAME_UNREADABLE = ReasonRow(
        "RR03",
        "The beneficiary's name is missing or cannot be read.",
        "with the axis names: RJCT of a payment",
        "service 2.1",
    )
    FORMAT_INVALID = ReasonRow("FF01", "The validation found faults.", "RJCT of a file or a bulk", "choice 7")

    RECALLED = ReasonRow(
        "FOCR", "The sender asked for the money back.", "a recall by a control or by a rule", "choice 10"
    )
    REFUND_ASKED = ReasonRow("MD06", "The customer asked for a refund.", "a direct debit that a rule refunds")
    ACCOUNT_NUMBER_WRONG = ReasonRow("AC01", "The account number is wrong.", DEFAULT_SCENARIO)
    ACCOUNT_BLOCKED = ReasonRow("AC06", "The account is blocked.", DEFAULT_SCENARIO)
    ADDRESS_MISSING = ReasonRow("BE04", "The beneficiary's address is missing.", DEFAULT_SCENARIO)
    BENEFICIARY_DEAD = ReasonRow("MD07", "The beneficiary has died.", DEFAULT_SCENARIO)
    NOT_GIVEN = ReasonRow("MS03", "No reason is given.", DEFAULT_SCENARIO)
    REGULATION = ReasonRow("RR04", "A regulation forbids it.", DEFAULT_SCENARIO)
    CREDITOR_BANK_SILENT = ReasonRow("AB05", "The beneficiary's bank did not answer in time.", DEFAULT_SCENARIO)
    BANK_SILENT = ReasonRow("AB06", "A bank on the way did not answer in time.", DEFAULT_SCENARIO)
    CREDITOR_BANK_OFFLINE = ReasonRow("AB08", "The beneficiary's bank is not reachable.", DEFAULT_SCENARIO)
    TOO_LATE = ReasonRow("TM01", "The instant payment came too late.", DEFAULT_SCENARIO)
    DUPLICATE = ReasonRow("AM05", "The payment is a duplicate.", DEFAULT_SCENARIO)

    @property
    def code(self) -> str:
        return self.value.code


ISO_CODES = {reason.code: reason.value.iso_code for reason in Reason if reason.value.iso_code}
BROUGHT_BY_TIME = (Reason.TIME_OUT.code, Reason.CONTRACT_ENDED.code)
USUAL_REASONS = {
    "return": Reason.ACCOUNT_CLOSED.code,
    "recall": Reason.RECALLED.code,
}  # the reasons of controls that name no reason
