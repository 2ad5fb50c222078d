"""Axes of initiations and their signature (service 2.1, 2.4, 3, 4.1 to 4.6, 5)."""

from sandbox.contract.axis import Axis, Exclusion, axes_of

axis = axes_of("initiation")

ROWS: tuple[Axis, ...] = (
    axis(
        "status_spelling", "service 3.1", "The spelling of the pending status, which the service writes in two ways.",
        "an enumeration that crashes",
        ("PDNG", "PDNG."), ("PNDG", "PNDG."),
    ),
    axis(
        "first_status", "service 3.1", "The status of a payment in the reply to its POST.", "a crash of an enumeration",
        ("RCVD", "RCVD; PATC after the technical checks."), ("PATC", "PATC at once."),
    ),
    axis(
        "sca_address_in", "service 4.1", "Where the reply to an initiation gives the SCA address.", "one source only",
        ("both", "In Location and in _links.sca_redirect."), ("location", "In Location."), ("links", "In _links."),
    ),
    axis(
        "sca_address_query", "service 5.3", "Whether the SCA address has a query.", "`?state=` put behind it blindly",
        ("none", "It has none."), ("present", "It has one, so that state follows after &."),
    ),
    axis(
        "sca_host", "service 4.1", "The host of the SCA address.", "an address that is rebuilt from the API's host",
        ("same", "That of the API."),
        ("other", "Another name of the machine, localhost or 127.0.0.1; with any other host, the same."),
    ),
    axis(
        "no_state", "service 5.3", "An address that is opened without state.", "no guard against forgery",
        ("goes_on", "The PSU goes on."), ("refused", "The bank refuses it."),
    ),
    axis(
        "initiation_fields", "service 2.4", "How much the reply to an initiation holds.", "fields taken for granted",
        ("all", "Identifier, reference, status and three links."), ("few", "Identifier and SCA address."),
    ),
    axis(
        "initiation_field_names", "service 2.4", "How the reply to an initiation spells its fields.", "a rigid mapping",
        ("snake", "payment_id, sca_redirect."), ("camel", "paymentId, scaRedirect."),
    ),
    axis(
        "pkce_plain", "service 4.1", "A challenge of the method plain.", "a weak flow",
        ("accepted", "It is taken."), ("refused", "400."),
    ),
    axis(
        "reinitiation", "service 4.6", "The same initiation while the first is unsigned.", "a second payment",
        ("new", "A new initiation."), ("same", "The same initiation with a fresh address."),
    ),
    axis(
        "duplicate_external", "service 4.0", "An external reference that was used before.", "a second try with 400",
        ("allowed", "It is taken."), ("refused", "400."),
        excludes=(Exclusion("refused", "ambiguous_external", "newest"), Exclusion("refused", "reinitiation", "same")),
    ),
    axis(
        "ambiguous_external", "service 4.0", "A status or details by an external reference that fits several.",
        "the state of another payment",
        ("409", "409."), ("newest", "The newest is meant."),
    ),
    axis(
        "ambiguous_delete", "service 4.4", "A DELETE by an external reference that fits several; it has no 409.",
        "a branch on the status",
        ("400", "400."), ("404", "404."),
    ),
    axis(
        "half_signed", "service 3.3", "A payment that lacks its second signature after 60 minutes.",
        "two signers who need a day",
        ("ends", "It is cancelled, as an unsigned one."), ("stays", "It stays."),
    ),
    axis(
        "unsigned_order", "service 3.3", "A standing order that nobody signs.", "orders that wait for ever",
        ("stays", "It stays PATC."), ("60_minutes", "It is cancelled after 60 minutes."),
    ),
    axis(
        "limit_week", "service 1", "The days of a weekly limit.", "a refusal that is not expected",
        ("seven_days", "Today and the six days before."), ("calendar", "Since Monday."),
        lenient=("calendar",),
    ),
    axis(
        "limits_day", "service 1", "The day on which a future-dated payment counts for the customer's limits.",
        "a refusal that is not expected",
        ("signature", "That of its signature."), ("execution", "That of its execution."),
    ),
    axis(
        "funds_missing_after_pick", "service 1", "What follows when the account that the PSU picked lacks funds.",
        "an order that hangs",
        ("choose_again", "The page says so, and the PSU may choose another account."),
        ("callback", "The payment is CANC with AM04, and the callback has an error."),
        ("RJCT", "The signature is taken, and the payment is RJCT with AM04."),
    ),
    axis(
        "savings_as_debtor", "service 1", "A savings account as the debtor account.", "a refusal that nobody sees",
        ("refused", "403."), ("accepted", "It pays."),
        lenient=("accepted",),
    ),
    axis(
        "self_payment", "service 1", "A payment to the account that pays.", "a refusal that nobody sees",
        ("accepted", "It is taken."), ("refused", "400."),
    ),
    axis(
        "profile_refusal", "service 7.4", "When the customer's own security settings refuse a payment.",
        "a refusal that comes without a callback",
        ("post", "At the POST, where the debtor account is given."), ("page", "On the bank's page."),
        ("callback", "At the signature: the payment is CANC with AG01, and the callback has an error."),
    ),
    axis(
        "psu_name_before_login", "service 2.4", "psu_name in details before a PSU is known.", "null taken for a name",
        ("absent", "The field is left out."), ("null", "null."),
    ),
    axis(
        "reason", "service 2.4", "reason in a status.", "null, or a missing key",
        ("where_known", "Where there is one."), ("always", "Always; null where there is none."), ("never", "Never."),
    ),
    axis(
        "reason_codes", "service 2.4", "The codes of a reason that is no rejection.", "an enumeration that crashes",
        ("words", "TIME_OUT, PSU_REFUSED, CONTRACT_ENDED."), ("iso", "TM01, DS02, DS02 of ISO 20022."),
    ),
    axis(
        "details_amount", "service 2.4", "How JSON holds amounts in details.", "money as a float, or as a text",
        ("string", "A decimal string with all decimals of the currency."), ("number", "A number."),
        ("as_sent", "A decimal string with the decimals that were sent: 12.5 stays 12.5."),
    ),
    axis(
        "status_names_payment", "service 2.4", "Whether a status names its initiation.", "a missing key",
        ("yes", "payment_id."), ("no", "The field is left out."),
    ),
)  # fmt: skip
