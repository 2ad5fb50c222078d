"""Decisions about payments: initiation and signature, settlement and cancellation (service 2.1, 2.4, 3, 4.1 to 4.6,
5)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sandbox.contract.decision_rows import AxisTopic, Exclusion, Topic, setting
from sandbox.contract.reasons import ISO_CODES

initiation, settling = AxisTopic("initiation"), AxisTopic("settling")


# fmt: off
@dataclass(frozen=True)
class PaymentDecisions:
    technical_checks: timedelta = setting(
        Topic.PAYMENTS, "choice 5", timedelta(seconds=1), "How long the technical checks of an initiation take.",
        axis=initiation.make_axis(
            "service 3.3", "How long RCVD lasts.", "a fixed pause before the next call",
            ("short", "1 second."), ("long", "60 seconds.", timedelta(minutes=1)), shown_by="pays shop",
        ),
    )
    sca_address_life: timedelta = setting(
        Topic.SIGNING, "choice 5", timedelta(minutes=5),
        "How long a signing address can be opened; service 4.6 says a few minutes.",
        axis=initiation.make_axis(
            "service 4.6", "How long an SCA address lives: a few minutes.", "an address that is kept for later",
            ("long", "5 minutes."), ("short", "2 minutes.", timedelta(minutes=2)), shown_by="comes_late shop",
        ),
    )
    status_spelling: Literal["PDNG", "PNDG"] = initiation(
        "service 3.1", "The spelling of the pending status, which the service writes in two ways.",
        "an enumeration that crashes",
        ("PDNG", "PDNG."), ("PNDG", "PNDG."), shown_by="pays shop",
    )
    first_status: Literal["RCVD", "PATC"] = initiation(
        "service 3.1", "The status of a payment in the reply to its POST.", "a crash of an enumeration",
        ("RCVD", "RCVD; PATC after the technical checks."), ("PATC", "PATC at once."), shown_by="pays shop",
    )
    sca_address_in: Literal["both", "location", "links"] = initiation(
        "service 4.1", "Where the reply to an initiation gives the SCA address.", "one source only",
        ("both", "In Location and in _links.sca_redirect."), ("location", "In Location."), ("links", "In _links."),
        shown_by="pays shop",
    )
    sca_address_query: Literal["none", "present"] = initiation(
        "service 5.3", "Whether the SCA address has a query.", "`?state=` put behind it blindly",
        ("none", "It has none."), ("present", "It has one, so that state follows after &."), shown_by="pays shop",
    )
    sca_host: Literal["same", "other"] = initiation(
        "service 4.1", "The host of the SCA address.", "an address that is rebuilt from the API's host",
        ("same", "That of the API."),
        ("other", "Another name of the machine, localhost or 127.0.0.1; with any other host, the same."),
        shown_by="pays shop",
    )
    no_state: Literal["goes_on", "refused"] = initiation(
        "service 5.3", "An address that is opened without state.", "no guard against forgery",
        ("goes_on", "The PSU goes on."), ("refused", "The bank refuses it."),
        unfelt="The client adds a state to each address.",
    )
    initiation_fields: Literal["all", "few"] = initiation(
        "service 2.4", "How much the reply to an initiation holds.", "fields taken for granted",
        ("all", "Identifier, reference, status and three links."), ("few", "Identifier and SCA address."),
        shown_by="pays shop",
    )
    initiation_field_names: Literal["snake", "camel"] = initiation(
        "service 2.4", "How the reply to an initiation spells its fields.", "a rigid mapping",
        ("snake", "payment_id, sca_redirect."), ("camel", "paymentId, scaRedirect."), shown_by="pays shop",
    )
    pkce_plain: Literal["accepted", "refused"] = initiation(
        "service 4.1", "A challenge of the method plain.", "a weak flow",
        ("accepted", "It is taken."), ("refused", "400."), unfelt="The client's challenges are S256.",
    )
    reinitiation: Literal["new", "same"] = initiation(
        "service 4.6", "The same initiation while the first is unsigned.", "a second payment",
        ("new", "A new initiation."), ("same", "The same initiation with a fresh address."), shown_by="begins_again",
    )
    duplicate_external: Literal["allowed", "refused"] = initiation(
        "service 4.0", "An external reference that was used before.", "a second try with 400",
        ("allowed", "It is taken."), ("refused", "400."),
        excludes=(
            Exclusion("refused", "ambiguous_external", "newest"), Exclusion("refused", "reinitiation", "same"),
        ),
        shown_by="begins_again",
    )
    ambiguous_external: Literal["409", "newest"] = initiation(
        "service 4.0", "A status or details by an external reference that fits several.",
        "the state of another payment",
        ("409", "409."), ("newest", "The newest is meant."), shown_by="finds_its_own",
    )
    ambiguous_delete: Literal["400", "404"] = initiation(
        "service 4.4", "A DELETE by an external reference that fits several; it has no 409.", "a branch on the status",
        ("400", "400."), ("404", "404."), shown_by="finds_its_own",
    )
    half_signed: Literal["ends", "stays"] = initiation(
        "service 3.3", "A payment that lacks its second signature after 60 minutes.", "two signers who need a day",
        ("ends", "It is cancelled, as an unsigned one."), ("stays", "It stays."), shown_by="cosigns",
    )
    unsigned_order: Literal["stays", "60_minutes"] = initiation(
        "service 3.3", "A standing order that nobody signs.", "orders that wait for ever",
        ("stays", "It stays PATC."), ("60_minutes", "It is cancelled after 60 minutes."), shown_by="forgets_an_order",
    )
    limit_week: Literal["seven_days", "calendar"] = initiation(
        "service 1", "The days of a weekly limit.", "a refusal that is not expected",
        ("seven_days", "Today and the six days before."), ("calendar+", "Since Monday."), shown_by="keeps_to_limits",
    )
    limits_day: Literal["signature", "execution"] = initiation(
        "service 1", "The day on which a future-dated payment counts for the customer's limits.",
        "a refusal that is not expected",
        ("signature", "That of its signature."), ("execution", "That of its execution."), shown_by="keeps_to_limits",
    )
    funds_missing_after_pick: Literal["choose_again", "callback", "RJCT"] = initiation(
        "service 1", "What follows when the account that the PSU picked lacks funds.", "an order that hangs",
        ("choose_again", "The page says so, and the PSU may choose another account."),
        ("callback", "The payment is CANC with AM04, and the callback has an error."),
        ("RJCT", "The signature is taken, and the payment is RJCT with AM04."), shown_by="lacks_money",
    )
    savings_as_debtor: Literal["refused", "accepted"] = initiation(
        "service 1", "A savings account as the debtor account.", "a refusal that nobody sees",
        ("refused", "403."), ("accepted+", "It pays."), shown_by="pays_from_any_account shop",
    )
    self_payment: Literal["accepted", "refused"] = initiation(
        "service 1", "A payment to the account that pays.", "a refusal that nobody sees",
        ("accepted", "It is taken."), ("refused", "400."), shown_by="pays_from_any_account",
    )
    profile_refusal: Literal["post", "page", "callback"] = initiation(
        "service 7.4", "When the customer's own security settings refuse a payment.",
        "a refusal that comes without a callback",
        ("post", "At the POST, where the debtor account is given."), ("page", "On the bank's page."),
        ("callback", "At the signature: the payment is CANC with AG01, and the callback has an error."),
        shown_by="keeps_to_limits",
    )
    psu_name_before_login: Literal["absent", "null"] = initiation(
        "service 2.4", "psu_name in details before a PSU is known.", "null taken for a name",
        ("absent", "The field is left out."), ("null", "null."), shown_by="pays_with_a_token",
    )
    reason: Literal["where_known", "always", "never"] = initiation(
        "service 2.4", "reason in a status.", "null, or a missing key",
        ("where_known", "Where there is one."), ("always", "Always; null where there is none."), ("never", "Never."),
        shown_by="is_refused shop",
    )
    reason_codes: Literal["words", "iso"] = initiation(
        "service 2.4", "The codes of a reason that is no rejection.", "an enumeration that crashes",
        ("words", f"{', '.join(ISO_CODES)}."), ("iso", f"{', '.join(ISO_CODES.values())} of ISO 20022."),
        shown_by="is_refused shop",
    )
    details_amount: Literal["string", "number", "as_sent"] = initiation(
        "service 2.4", "How JSON holds amounts in details.", "money as a float, or as a text",
        ("string", "A decimal string with all decimals of the currency."), ("number", "A number."),
        ("as_sent", "A decimal string with the decimals that were sent: 12.5 stays 12.5."), shown_by="pays shop",
    )
    exchange_details: Literal["absent", "present"] = initiation(
        "service 2.4", "Whether the details of a cross-border payment name its exchange rate and its charges.",
        "a model that refuses a field it does not know",
        ("absent", "They do not."),
        ("present", "exchange_details has the charges, the amount that leaves the account and, between two currencies, "
         "the exchange_rate, once the account is known."),
        shown_by="pays_abroad",
    )
    status_names_payment: Literal["yes", "no"] = initiation(
        "service 2.4", "Whether a status names its initiation.", "a missing key",
        ("yes", "payment_id."), ("no", "The field is left out."), shown_by="pays shop",
    )
    settled_status: Literal["ACSC", "ACSP"] = setting(
        Topic.PAYMENTS, "choice 5", "ACSC", "The status in which a settled payment ends.",
        axis=settling.make_axis(
            "service 3.1", "The status at which settlement ends.", "waiting for ACSC",
            ("ACSC", "It ends at ACSC."), ("ACSP", "It ends at ACSP; ACSC never appears."),
            name="final_status", shown_by="pays shop",
        ),
    )
    closed_days: Literal["ignore", "respect"] = setting(
        Topic.PAYMENTS, "choice 5", "ignore", "Whether a direct payment waits for the next banking day.",
        axis=settling.make_axis(
            "service 2.1", "Whether a closed day delays a payment of today.",
            "a payment of a weekend that is waited for",
            ("ignore", "It is executed at once."), ("respect", "It waits for 06:00 of the next banking day."),
            shown_by="pays_on_a_sunday shop",
        ),
    )
    cut_off: Literal["off", "15:00"] = setting(
        Topic.PAYMENTS, "choice 14", "off", "Until when a payment is executed on the same banking day.",
        axis=settling.make_axis(
            "service 2.1", "Until when a SEPA or cross-border payment is executed on the same banking day.",
            "a payment of the evening that is waited for",
            ("off", "There is no such time."),
            ("15:00", "15:00 in Brussels, 12:00 on 24 and 31 December. What is signed later waits for 06:00 of the "
             "next banking day, instant payments excepted."),
            shown_by="pays_in_the_evening shop",
        ),
    )
    settlement_begins: timedelta = setting(
        Topic.PAYMENTS, "choice 5", timedelta(seconds=5), "How long after the signature settlement begins.",
    )
    settlement_ends: timedelta = setting(
        Topic.PAYMENTS, "choice 5", timedelta(minutes=1), "How long after the signature settlement ends.",
        axis=settling.make_axis(
            "service 3.3", "How long a direct payment takes after its signature.",
            "a fixed pause, or a deadline of a minute",
            ("fast", "ACSP after 5 seconds, ACSC after 60."),
            ("slow", "ACSP after 10 minutes, ACSC after 2 hours.",
             {"settlement_begins": timedelta(minutes=10), "settlement_ends": timedelta(hours=2)}),
            name="settlement", shown_by="pays shop",
        ),
    )
    instant_settlement: timedelta = setting(
        Topic.PAYMENTS, "choice 5", timedelta(seconds=3),
        "How long an instant payment takes; service 2.1 rule 7 allows 10 seconds.", longest=timedelta(seconds=10),
        axis=settling.make_axis(
            "service 2.1", "How long an instant payment takes.", "a deadline of less than 10 seconds",
            ("fast", "3 seconds."), ("slow", "10 seconds.", timedelta(seconds=10)), shown_by="pays_at_once",
        ),
    )
    instant_outcome: Literal["settles", "AB05", "AB06", "AB08", "AC04", "AC06", "AM04", "AG01", "TM01"] = setting(
        Topic.PAYMENTS, "choice 14", "settles", "What becomes of a signed instant payment.",
        axis=settling.make_axis(
            "service 1", "What becomes of a signed instant payment.", "a signature that is taken for a payment",
            ("settles", "The beneficiary is credited."),
            ("AB05", "RJCT after 10 seconds: the beneficiary's bank did not answer in time."),
            ("AB06", "RJCT after 10 seconds: a bank on the way did not answer in time."),
            ("AB08", "RJCT after 2 seconds: the beneficiary's bank is not reachable."),
            ("AC04", "RJCT after 2 seconds: the beneficiary's account is closed."),
            ("AC06", "RJCT after 2 seconds: the beneficiary's account is blocked."),
            ("AM04", "RJCT after 2 seconds: funds are missing."),
            ("AG01", "RJCT after 2 seconds: the beneficiary's account takes no instant payments."),
            ("TM01", "RJCT after 10 seconds: the payment came too late."), shown_by="pays_at_once",
        ),
    )
    payee_check: Literal["off", "page"] = setting(
        Topic.SIGNING, "choice 14", "off", "Whether the customer sees the verification of payee before they sign.",
        axis=initiation.make_axis(
            "service 5.2", "Whether the bank's page checks the name of the beneficiary.",
            "a test that clicks through the bank's pages",
            ("off", "It does not."), ("page", "It shows the outcome between the review and the signature."),
            shown_by="shop", unfelt="The customer, not the client, sees the bank's pages.",
        ),
    )
    payee_close: Literal["warns", "stops"] = setting(
        Topic.SIGNING, "choice 14", "warns",
        "Whether the customer may go on after a close match of the verification of payee.",
        axis=initiation.make_axis(
            "service 5.2", "What follows a close match of the beneficiary's name, where the page checks it.",
            "names that are sent as the payer typed them",
            ("warns", "The customer goes on or leaves."),
            ("stops", "The customer can only leave; a payment to the name that the bank knows goes on."),
            unfelt="By itself it changes nothing, as the first value of payee_check is off.",
        ),
    )
    recycling_tries: int = setting(
        Topic.PAYMENTS, "choice 5", 3, "How often a payment without funds is tried again after its execution date.",
        least=0, most=1000,
        axis=settling.make_axis(
            "service 3.3", "How often a payment is tried again while funds are missing.", "a constant number of days",
            ("3", "3 times."), ("0", "Never: RJCT at once.", 0), ("10", "10 times.", 10),
            shown_by="lacks_money_on_the_day",
        ),
    )
    after_debit: Literal["RJCT", "return"] = settling(
        "service 3.3", "A payment that is refused after the debit.", "a status taken as final",
        ("RJCT", "RJCT, and the money returns."), ("return", "ACSC, and the money returns."),
        shown_by="gets_its_money_back",
    )
    xb_delete: Literal["405", "403"] = settling(
        "service 3.4", "DELETE of a cross-border payment.", "a branch on the status",
        ("405", "405."), ("403", "403."), shown_by="cancels",
    )
    cancel_again: Literal["403", "204", "404"] = settling(
        "service 3.4", "DELETE of a payment or file that is cancelled.", "a 204 that was lost",
        ("403", "403."), ("204+", "204 again."), ("404", "404."), shown_by="cancels",
    )
    order_matrix: Literal["listed", "all"] = settling(
        "service 3.4", "DELETE of a standing order that has ended; the service says all statuses too.",
        "a branch on the status",
        ("listed", "403: CANC is no cancellable status."), ("all+", "204, and nothing changes."), shown_by="orders",
    )
    cancel_cut_off: Literal["06:00", "day_before"] = settling(
        "service 3.4", "Until when a payment that waits for its day can be cancelled.", "too late",
        ("06:00", "Until it is executed at 06:00."), ("day_before", "Until the end of the day before."),
        shown_by="cancels",
    )
    fees: Literal["tariff", "everybody", "abroad"] = settling(
        "service 2.1", "Which payments bear a fee, as a line of its own.", "a balance that is reckoned",
        ("tariff", "Urgent and instant ones of customers whose tariff says so; most have none."),
        ("everybody", "Urgent and instant ones of every customer."), ("abroad", "Cross-border ones, too."),
        shown_by="keeps_books",
    )
    fee_check: Literal["with_amount", "later"] = settling(
        "service 2.1", "Whether the check of funds includes the fee.", "a payment of the whole balance",
        ("with_amount", "Funds are missing where the account cannot pay the amount and the fee."),
        ("later", "The fee is booked whether or not money is left for it."), shown_by="spends_all",
    )
    value_date: Literal["next_day", "same_day"] = settling(
        "service 2.1", "The value date of a SEPA payment that is not urgent.", "a date that is reckoned",
        ("next_day", "The next banking day."), ("same_day", "The day of the debit."), shown_by="keeps_books shop",
    )
    unsigned_after: timedelta = setting(
        Topic.SIGNING, "service 3.3", timedelta(hours=1),
        "After this time an initiation that nobody signed is cancelled.",
    )
    wrong_codes_max: int = setting(
        Topic.SIGNING, "choice 5", 3, "After so many wrong codes or numbers the initiation is refused.",
    )
    execution_days_ahead_max: int = setting(
        Topic.PAYMENTS, "choice 5", 365, "How many days ahead an execution date may be.", least=0, most=3650,
    )
    app_approval_life: timedelta = setting(
        Topic.SIGNING, "service 5.7", timedelta(minutes=3), "How long a page waits for the approval in an app.",
    )
