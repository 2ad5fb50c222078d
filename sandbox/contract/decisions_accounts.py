"""Decisions about consents, tokens and account information (service 2.6 to 2.8, 3.5, 4.7 to 4.10).

The service itself decides these five points, so there is no field for them. A refresh ends the old access token (3.5
rule 1). It gives a new refresh token (3.5 rule 2). expires_in is an integer (2.6). An access token lives for 1 hour. An
unsigned payment lives for 60 minutes (3.3).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sandbox.contract.decision_rows import AxisTopic, Topic, setting

token, account = AxisTopic("tokens"), AxisTopic("accounts")


# fmt: off
@dataclass(frozen=True)
class AccountDecisions:
    code_life: timedelta = setting(
        Topic.CONSENTS, "choice 5", timedelta(minutes=10), "How long an authorisation code can be exchanged.",
        axis=token.make_axis(
            "service 4.8", "How long a callback's code lives.", "a code that is exchanged later",
            ("long", "10 minutes."), ("short", "30 seconds.", timedelta(seconds=30)), shown_by="exchanges_late shop",
        ),
    )
    sca_token_life: timedelta = setting(
        Topic.CONSENTS, "choice 2", timedelta(hours=1), "How long the token of a signed initiation is valid.",
        axis=token.make_axis(
            "service 4.8", "How long an SCA token opens the full history.", "an SCA token that is kept",
            ("long", "1 hour."), ("short", "5 minutes.", timedelta(minutes=5)), shown_by="reads_history shop",
        ),
    )
    sca_renewal_after: timedelta = setting(
        Topic.CONSENTS, "choice 8", timedelta(days=90),
        "After this time the customer must authenticate again for older transactions.",
        axis=token.make_axis(
            "service 4.10", "After how long the PSU must authenticate again.", "a constant of 90 days",
            ("90_days", "90 days."), ("180_days+", "180 days.", timedelta(days=180)), shown_by="renews shop",
        ),
    )
    consent_life: timedelta = setting(
        Topic.CONSENTS, "choice 8", timedelta(days=180), "How long a consent is valid.",
        axis=token.make_axis(
            "service 4.7", "How long a consent lives.", "a constant of 180 days",
            ("180_days", "180 days."), ("90_days", "90 days.", timedelta(days=90)), shown_by="renews shop",
        ),
    )
    consent_address_life: timedelta = setting(
        Topic.CONSENTS, "choice 8", timedelta(minutes=15), "How long a consent address can be opened.",
        axis=token.make_axis(
            "service 4.7", "How long a consent address lives.", "an address that is kept for later",
            ("long", "15 minutes."), ("short", "3 minutes.", timedelta(minutes=3)), shown_by="consents_late shop",
        ),
    )
    pair_of: Literal["psu", "client"] = token(
        "service 3.5", "Whose pair of tokens ends when a new one is given.", "users that are mixed up",
        ("psu", "The pair of the same client, PSU and scope."),
        ("client", "The pair of the same client and scope, whichever PSU it was for."), shown_by="serves_two_customers",
    )
    reused_code: Literal["ends_the_pair", "only_refused"] = token(
        "service 4.8", "What a second use of a code does.", "a token call that is sent again blindly",
        ("ends_the_pair", "It is refused, and the pair that the code gave ends."), ("only_refused+", "It is refused."),
        shown_by="exchanges_twice",
    )
    failed_exchange: Literal["code_lives", "code_dies"] = token(
        "service 4.8", "Whether a code outlives an exchange with a wrong verifier or address.",
        "a second try with another verifier",
        ("code_lives", "The right exchange still works."), ("code_dies", "The code is used up."),
        shown_by="exchanges_twice",
    )
    new_consent: Literal["replaces", "adds"] = token(
        "service 4.7", "What a new consent of the same PSU, client and scope does.",
        "tokens and logical-ids that are kept",
        ("replaces", "It replaces the earlier one."),
        ("adds", "It adds its accounts to the earlier one, which goes on with its tokens and logical-ids."),
        shown_by="consents_again",
    )
    renewal_extends_consent: Literal["no", "yes"] = token(
        "service 4.10", "Whether a renewed authentication makes the consent last longer.", "day 181",
        ("no", "The consent ends when it was to end."), ("yes+", "The consent begins anew."), shown_by="renews shop",
    )
    sca_token_request: Literal["header", "query"] = token(
        "service 2.6", "Where the SCA token is sent.", "a proof that the bank never sees",
        ("header", "In the header SCA-Token."), ("query", "In the query parameter sca_token."),
        shown_by="reads_history shop",
    )
    sca_token_reply: Literal["sca_token", "scaToken"] = token(
        "service 2.6", "The name of the SCA token in the token reply.", "a name that is not there",
        ("sca_token", "sca_token."), ("scaToken", "scaToken."), shown_by="pays shop",
    )
    sca_token_for: Literal["every_code", "ais"] = token(
        "service 2.6", "Which codes an SCA token comes with.", "a missing key",
        ("every_code", "Every code."), ("ais", "Those of the scope AIS."), shown_by="pays shop",
    )
    sca_token_uses: Literal["many", "one"] = token(
        "service 4.8", "How often an SCA token is good.", "a second page without history",
        ("many", "As often as it is sent while it lives."), ("one", "Once; after that it counts as absent."),
        shown_by="reads_history shop",
    )
    scope_in: Literal["query", "header"] = token(
        "service 4.7", "Where the scope of a consent is asked for.", "a scope that the bank never sees",
        ("query", "In the query parameter scope."), ("header", "In the header Scope."), shown_by="confirms shop",
    )
    caf_account: Literal["iban", "account"] = token(
        "service 4.7", "The name of the account that a CAF consent asks for.", "a rigid query",
        ("iban", "The query parameter iban."), ("account", "The query parameter account."), shown_by="confirms shop",
    )
    caf_role: Literal["AIS", "own"] = token(
        "service 1", "The role that a TPP needs to ask for a CAF consent.", "a certificate without the third role",
        ("AIS", "AIS."), ("own", "A role of its own, CAF: without it 403."), shown_by="confirms",
    )
    consent_languages: Literal["best", "each"] = token(
        "service 4.7", "The consent addresses where Accept-Language names several languages.",
        "the first address taken for the best",
        ("best", "That of the language that is wanted most."), ("each", "One for each of them, French first."),
        shown_by="asks_in_two_languages",
    )
    caf_transactions: Literal["no", "yes"] = token(
        "service 1", "Whether a CAF token reads transactions.", "asking for more than is granted",
        ("no", "403."), ("yes+", "It reads those of its account."), shown_by="confirms",
    )
    token_type_case: Literal["Bearer", "bearer"] = token(
        "service 2.6", "The case of token_type, which RFC 6749 leaves open.", "a comparison by case",
        ("Bearer", "Bearer."), ("bearer", "bearer."), shown_by="pays shop",
    )
    token_length: Literal["short", "long"] = token(
        "service 2.6", "How long tokens are.", "a column or a header that is too short",
        ("short", "43 characters."), ("long", "About 1,500 characters."), shown_by="pays shop",
    )
    code_characters: Literal["plain", "reserved"] = token(
        "service 6.1", "The characters of a code.", "a code that is not encoded in the form",
        ("plain", "Letters, digits, - and _."), ("reserved", "Also +, / and =."), shown_by="pays shop",
    )
    page_size: int = setting(
        Topic.ACCOUNTS, "choice 8", 50, "Transactions on a page where the caller names no number; 50 at most.", most=50,
        axis=account.make_axis(
            "service 4.10", "How many transactions a page has when no pagesize is sent.",
            "taking the first page for all",
            ("50", "50."), ("10", "10.", 10), shown_by="reads",
        ),
    )
    balance_of: Literal["parameter", "euro", "globalised"] = account(
        "service 2.7", "What the balance of a multi-currency account counts.", "a wrong total",
        ("parameter", "As the account's parameter says."), ("euro", "The euro compartment."),
        ("globalised", "All compartments, in euro."), shown_by="looks_at_accounts shop",
    )
    balance_is: Literal["booked", "available"] = account(
        "service 2.7", "Which balance is shown.", "money that is spent twice",
        ("booked", "What is booked."), ("available", "What is booked less what signed payments reserve."),
        shown_by="keeps_books shop",
    )
    balances_as: Literal["number", "string"] = account(
        "service 2.7", "How JSON holds a balance; the service says decimal.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."), shown_by="looks_at_accounts shop",
    )
    multicurrency: Literal["boolean", "string", "Y", "True"] = account(
        "service 2.7", "How the boolean-like indicator is written.", "a test for truthiness",
        ("boolean", "true or false."), ("string", "The strings true and false."), ("Y", "The letters Y and N."),
        ("True", "The strings True and False."), shown_by="looks_at_accounts shop",
    )
    account_type: Literal["words", "iso"] = account(
        "service 2.7", "The words for the type of an account.", "an enumeration that crashes",
        ("words", "current-account and savings-account."), ("iso", "CACC and SVGS of ISO 20022."),
        shown_by="looks_at_accounts shop",
    )
    no_compartments: Literal["empty", "absent"] = account(
        "service 2.7", "other_compartments of an account with one currency.", "a missing key",
        ("empty", "An empty list."), ("absent", "The field is left out."), shown_by="looks_at_accounts shop",
    )
    account_holder: Literal["absent", "present"] = account(
        "service 2.7", "Whether an account names its holder.", "a model that refuses a field it does not know",
        ("absent", "It does not."), ("present", "account_holder has the names of the owners, with commas between."),
        shown_by="looks_at_accounts shop",
    )
    href: Literal["relative", "absolute"] = account(
        "service 2.7", "How links are written.", "a base address that is put before every link",
        ("relative", "A path below the base address."), ("absolute", "The whole address."),
        shown_by="looks_at_accounts shop",
    )
    logical_id: Literal["per_consent", "stable"] = account(
        "service 4.9", "How long a logical-id names an account.", "a cache by consent, or by account",
        ("per_consent", "A new one with each consent."), ("stable", "The same in each consent of the client."),
        shown_by="consents_again shop",
    )
    unknown_logical_id: Literal["401", "404"] = account(
        "service 4.9", "How a logical-id is refused that the consent does not have.", "a new consent for each 401",
        ("401", "401."), ("404", "404."), shown_by="consents_again",
    )
    currency_omitted: Literal["EUR", "all"] = account(
        "service 4.10", "Which transactions are listed when no currency is sent.", "lost lines",
        ("EUR", "Those in EUR."), ("all", "Those of all compartments."), shown_by="reads",
    )
    lacking_compartment: Literal["empty", "404"] = account(
        "service 4.10", "Transactions in a currency that the account lacks.",
        "a crash on 404, or an empty list taken for the truth",
        ("empty", "An empty list."), ("404", "404."), shown_by="reads",
    )
    item_amount: Literal["number", "string"] = account(
        "service 2.8", "How JSON holds the amount of a transaction.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."), shown_by="reads shop",
    )
    item_fields: Literal["snake", "camel"] = account(
        "service 2.8", "How a transaction spells its fields.", "a rigid mapping",
        ("snake", "transaction_ref, execution_date."), ("camel", "transactionRef, executionDate."),
        shown_by="reads shop",
    )
    pending_items: Literal["not_shown", "shown"] = account(
        "service 2.8", "Signed payments that are not booked yet.", "a payment that is counted twice",
        ("not_shown", "They are not among the transactions."),
        ("shown", "They come first, with the field status: PDNG."), shown_by="keeps_books",
    )
    pending_lines: Literal["full", "nearly_empty"] = account(
        "service 2.8", "What a payment that is not booked yet shows.", "a text that is not there yet",
        ("full", "All that its booked line will show."),
        ("nearly_empty", "It is shown as under pending_items, with its reference, its amount and its date alone: no "
         "counterparty, no text and no value date."),
        shown_by="keeps_a_copy",
    )
    reference_repeats: Literal["never", "may"] = account(
        "service 2.8", "Whether two transactions may have the same transaction_ref.", "lines that overwrite each other",
        ("never", "Each has one of its own."), ("may", "Those of a day share the number of the day's statement."),
        shown_by="keeps_a_copy shop",
    )
    reference_when_booked: Literal["stays", "changes"] = account(
        "service 2.8", "The transaction_ref of a payment when it is booked.", "a payment that is kept twice",
        ("stays", "It stays."),
        ("changes", "The payment is shown as under pending_items, and gets another one when it is booked."),
        shown_by="keeps_a_copy",
    )
    reference_renumbered: Literal["stays", "changes"] = account(
        "service 2.8", "The transaction_ref of the same transaction at a later read.", "a copy that grows at each read",
        ("stays", "It stays."),
        ("changes", "It is another one once time passed or something was booked. It is the same for all reads at one "
         "moment of the bank's clock."),
        shown_by="keeps_a_copy shop",
    )
    text_when_booked: Literal["stays", "changes"] = account(
        "service 2.8", "The text of a payment when it is booked.", "a payment that is looked up by its text",
        ("stays", "It stays."),
        ("changes", "The payment is shown as under pending_items, with another communication and remittance_info than "
         "its booked line has."),
        shown_by="keeps_a_copy",
    )
    counterparty_bic: Literal["absent", "present"] = account(
        "service 2.8", "Whether a transaction names the counterparty's bank.",
        "a model that refuses a field it does not know",
        ("absent", "It does not."), ("present", "counterparty_bic has its BIC, or null where that is not known."),
        shown_by="reads shop",
    )
    value_date_field: Literal["present", "sometimes"] = account(
        "service 2.8", "Whether each transaction has a value date.", "a missing key",
        ("present", "Each has one."), ("sometimes", "Some lack the field; the same ones at each read."),
        shown_by="reads shop",
    )
    item_sign: Literal["signed", "indicator"] = account(
        "service 2.8", "How a transaction says its direction.", "a sign that is lost",
        ("signed", "Below 0 is a debit."),
        ("indicator", "The amount has no sign; credit_debit_indicator is CRDT or DBIT."), shown_by="reads shop",
    )
    item_dates: Literal["date", "date_time"] = account(
        "service 2.8", "How a transaction writes its dates.", "a rigid parser of dates",
        ("date", "A date."), ("date_time", "A date with the time 00:00 and its offset."), shown_by="reads shop",
    )
    item_blanks: Literal["usual", "empty", "absent"] = account(
        "service 2.8", "What stands for a text that a transaction lacks.", "null taken for a text",
        ("usual", "null for a counterparty, an empty string for a communication."), ("empty", "An empty string."),
        ("absent", "The field is left out."), shown_by="reads shop",
    )
    order_of_items: Literal["newest_first", "oldest_first"] = account(
        "service 4.10", "The order of transactions.", "a synchronisation that stops at a known line",
        ("newest_first", "Newest first."), ("oldest_first", "Oldest first."), shown_by="reads shop",
    )
    exact_last_page: Literal["no_key", "key"] = account(
        "service 4.10", "A last page that is exactly full.", "an endless loop",
        ("no_key", "It has no key."), ("key", "It has a key, which leads to an empty page."), shown_by="reads",
    )
    empty_page: Literal["last_only", "first"] = account(
        "service 2.8", "Whether an empty page may have a key.", "stopping at the first empty page",
        ("last_only", "Only the last page may be empty."),
        ("first", "The first page is empty and has a key, which leads to the transactions."), shown_by="reads shop",
    )
    next_alone: Literal["enough", "needs_filters"] = account(
        "service 4.10", "What is sent beside next.", "filters that are forgotten on the second page",
        ("enough", "next alone is enough."),
        ("needs_filters", "date_from, date_to and currency are sent again; without them 400."), shown_by="shop",
        unfelt="The client sends the filters beside each key.",
    )
    old_dates_without_sca: Literal["cut", "401", "403", "400_address"] = account(
        "service 4.10", "A period of over 90 days without an SCA token.", "a silent gap",
        ("cut", "Older transactions are left out."), ("401", "SCA_REQUIRED, with a consent address."),
        ("403", "ACCESS_DENIED."),
        ("400_address", "SCA_REQUIRED as 400, with the consent address in error_description alone."),
        shown_by="reads_history",
    )
    balance_after_90_days: Literal["readable", "401"] = account(
        "service 4.10", "The balance when the authentication is over 90 days old.", "a screen that stays empty",
        ("readable", "It is shown."), ("401", "SCA_REQUIRED, with a consent address."), shown_by="renews shop",
    )
    access_token_life: timedelta = setting(
        Topic.CONSENTS, "service 3.5", timedelta(hours=1), "How long an access token is valid.",
    )
