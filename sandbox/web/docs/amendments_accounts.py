"""What the axes of consents, tokens and account information change in the document."""

from sandbox.web.api.account_replies import CAMEL
from sandbox.web.docs.amending import Amend, both, field, optional, parameter, refuses, required, respelled

DECIMAL = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}
NOT_FOUND = ("SBX-0404-000001", "NOT_FOUND")
READS = ("account", "transactions")
TEXTS = ("counterparty_account", "counterparty_info", "communication", "remittance_info")
ROW = "TransactionRow"


AMENDMENTS: dict[tuple[str, str], Amend] = {
    ("balances_as", "string"): field("AccountReply", "balance", **DECIMAL),
    ("multicurrency", "string"): field("AccountReply", "multicurrency", enum=["true", "false"]),
    ("multicurrency", "Y"): field("AccountReply", "multicurrency", enum=["Y", "N"]),
    ("account_type", "iso"): field("AccountReply", "type", enum=["CACC", "SVGS"]),
    ("unknown_logical_id", "404"): refuses(404, *NOT_FOUND, "the logical-id is none of the consent", *READS),
    ("lacking_compartment", "404"): refuses(404, *NOT_FOUND, "the account lacks the currency", "transactions"),
    ("item_amount", "string"): field(ROW, "amount", **DECIMAL),
    ("item_sign", "indicator"): both(
        field(ROW, "credit_debit_indicator", enum=["CRDT", "DBIT"]), required(ROW, "credit_debit_indicator")
    ),
    ("item_fields", "camel"): respelled(ROW, CAMEL),
    ("pending_items", "shown"): field(ROW, "status", enum=["PDNG"]),
    ("item_dates", "date_time"): field(ROW, "execution_date", "value_date", type="string", format="date-time"),
    ("item_blanks", "empty"): field(ROW, *TEXTS, type="string"),
    ("item_blanks", "absent"): both(field(ROW, *TEXTS, type="string", minLength=1), optional(ROW, *TEXTS)),
    ("old_dates_without_sca", "403"): refuses(
        403, "B14800ZZ-3004-000000", "ACCESS_DENIED", "dates of over 90 days ago need an SCA token", "transactions"
    ),
    ("balance_after_90_days", "401"): refuses(
        401, "B14800ZZ-0PLC-REDRCT", "SCA_REQUIRED", "the last authentication is over 90 days old", "account"
    ),
    ("sca_token_request", "query"): parameter("SCA-Token", "transactions", **{"name": "sca_token", "in": "query"}),
    ("sca_token_reply", "scaToken"): respelled("TokenReply", {"sca_token": "scaToken"}),
    ("scope_in", "header"): parameter("scope", "consent_addresses", **{"name": "Scope", "in": "header"}),
    ("caf_account", "account"): parameter("iban", "consent_addresses", name="account"),
    ("token_type_case", "bearer"): field("TokenReply", "token_type", enum=["bearer"]),
}
