"""Notes on the fields of replies, each with its clause; `Schema.field` wins over `field`.

The notes on the fields of an initiation stand in contract/fields."""

from sandbox.contract.fields import IBAN_NOTE, PAYMENT

_REFERENCE = PAYMENT.by_path["endtoend_identification"]

NOTES: dict[str, tuple[str, str]] = {
    "iban": IBAN_NOTE,
    "endtoend_identification": (_REFERENCE.note, _REFERENCE.clause),
    "payment_id": ("The bank's reference, for the paths.", "choice 5"),
    "transaction_ref": ("The reference of the debit, as the account will show it.", "service 2.4"),
    "payment_file_id": ("The bank's reference of the file, for the paths.", "choice 7"),
    "reason": ("Why it was rejected or cancelled, where there is a reason to tell.", "choice 5"),
    "sca_redirect": ("Where the customer signs; append your state to it.", "choice 5"),
    "psu_name": ("Once the customer is known.", "choice 5"),
    "expires_in": ("Seconds.", "service 2.6"),
    "logical_id": ("The account's name in these addresses; it differs per consent and client.", "choice 8"),
    "sca_token": ("With grant_type authorization_code: opens the full history for an hour.", "choice 8"),
    "language": ("ISO 639-1: fr or nl.", "service 2.5"),
    "consent_uri": ("Where the customer consents; append your state to it.", "service 2.5"),
    "AccountReply.balance": (
        "With several currencies, that of the euro compartment, or of all at the bank's rates: a parameter of the "
        "account.",
        "service 2.7",
    ),
    "AccountReply.type": ("current-account or savings-account.", "choice 8"),
    "multicurrency": ("A boolean.", "choice 8"),
    "next_page_key": ("Present while there is more; pass it as next.", "service 2.8"),
    "TransactionRow.amount": ("Signed: below 0 is a debit.", "choice 8"),
    "TransactionRow.execution_date": ("The imputation date, by which date_from and date_to select.", "choice 8"),
    "number_of_errors": ("How many there are; the list holds the first 20.", "choice 7"),
    "control_sum": ("The sum of the bulk's amounts.", "choice 7"),
    "href": ("Signing and consent addresses are absolute, all others start below the base address.", "choice 1"),
    "error": ("A word of a fixed form.", "service 2.9"),
    "error_code": ("For software. Codes that begin with SBX- are the sandbox's own.", "choice 4"),
    "error_description": ("For people; it names the input at fault.", "service 2.9"),
}
