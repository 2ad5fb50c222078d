"""Axes of consents, tokens and account information (service 2.6 to 2.8, 3.5, 4.7 to 4.10).

Five points are no rows, as the service decides them: a refresh ends the old access token (3.5 rule 1) and gives a new
refresh token (3.5 rule 2), expires_in is an integer (2.6), an access token lives for 1 hour, and an unsigned payment
for 60 minutes (3.3).
"""

from datetime import timedelta

from sandbox.contract.axis import Axis, axes_of

token, account = axes_of("tokens"), axes_of("accounts")

ROWS: tuple[Axis, ...] = (
    token(
        "code_life", "service 4.8", "How long a callback's code lives.", "a code that is exchanged later",
        ("long", "10 minutes."), ("short", "30 seconds.", {"code_life": timedelta(seconds=30)}),
    ),
    token(
        "sca_token_life", "service 4.8", "How long an SCA token opens the full history.", "an SCA token that is kept",
        ("long", "1 hour."), ("short", "5 minutes.", {"sca_token_life": timedelta(minutes=5)}),
    ),
    token(
        "sca_renewal_after", "service 4.10", "After how long the PSU must authenticate again.", "a constant of 90 days",
        ("90_days", "90 days."), ("180_days+", "180 days.", {"sca_renewal_after": timedelta(days=180)}),
    ),
    token(
        "consent_life", "service 4.7", "How long a consent lives.", "a constant of 180 days",
        ("180_days", "180 days."), ("90_days", "90 days.", {"consent_life": timedelta(days=90)}),
    ),
    token(
        "consent_address_life", "service 4.7", "How long a consent address lives.", "an address that is kept for later",
        ("long", "15 minutes."), ("short", "3 minutes.", {"consent_address_life": timedelta(minutes=3)}),
    ),
    token(
        "pair_of", "service 3.5", "Whose pair of tokens ends when a new one is given.", "users that are mixed up",
        ("psu", "The pair of the same client, PSU and scope."),
        ("client", "The pair of the same client and scope, whichever PSU it was for."),
    ),
    token(
        "reused_code", "service 4.8", "What a second use of a code does.", "a token call that is sent again blindly",
        ("ends_the_pair", "It is refused, and the pair that the code gave ends."), ("only_refused+", "It is refused."),
    ),
    token(
        "failed_exchange", "service 4.8", "Whether a code outlives an exchange with a wrong verifier or address.",
        "a second try with another verifier",
        ("code_lives", "The right exchange still works."), ("code_dies", "The code is used up."),
    ),
    token(
        "new_consent", "service 4.7", "What a new consent of the same PSU, client and scope does.",
        "tokens and logical-ids that are kept",
        ("replaces", "It replaces the earlier one."),
        ("adds", "It adds its accounts to the earlier one, which goes on with its tokens and logical-ids."),
    ),
    token(
        "renewal_extends_consent", "service 4.10", "Whether a renewed authentication makes the consent last longer.",
        "day 181",
        ("no", "The consent ends when it was to end."), ("yes+", "The consent begins anew."),
    ),
    token(
        "sca_token_request", "service 2.6", "Where the SCA token is sent.", "a proof that the bank never sees",
        ("header", "In the header SCA-Token."), ("query", "In the query parameter sca_token."),
    ),
    token(
        "sca_token_reply", "service 2.6", "The name of the SCA token in the token reply.", "a name that is not there",
        ("sca_token", "sca_token."), ("scaToken", "scaToken."),
    ),
    token(
        "sca_token_for", "service 2.6", "Which codes an SCA token comes with.", "a missing key",
        ("every_code", "Every code."), ("ais", "Those of the scope AIS."),
    ),
    token(
        "sca_token_uses", "service 4.8", "How often an SCA token is good.", "a second page without history",
        ("many", "As often as it is sent while it lives."), ("one", "Once; after that it counts as absent."),
    ),
    token(
        "scope_in", "service 4.7", "Where the scope of a consent is asked for.", "a scope that the bank never sees",
        ("query", "In the query parameter scope."), ("header", "In the header Scope."),
    ),
    token(
        "caf_account", "service 4.7", "The name of the account that a CAF consent asks for.", "a rigid query",
        ("iban", "The query parameter iban."), ("account", "The query parameter account."),
    ),
    token(
        "caf_role", "service 1", "The role that a TPP needs to ask for a CAF consent.",
        "a certificate without the third role",
        ("AIS", "AIS."), ("own", "A role of its own, CAF: without it 403."),
    ),
    token(
        "consent_languages", "service 4.7", "The consent addresses where Accept-Language names several languages.",
        "the first address taken for the best",
        ("best", "That of the language that is wanted most."), ("each", "One for each of them, French first."),
    ),
    token(
        "caf_transactions", "service 1", "Whether a CAF token reads transactions.", "asking for more than is granted",
        ("no", "403."), ("yes+", "It reads those of its account."),
    ),
    token(
        "token_type_case", "service 2.6", "The case of token_type, which RFC 6749 leaves open.", "a comparison by case",
        ("Bearer", "Bearer."), ("bearer", "bearer."),
    ),
    token(
        "token_length", "service 2.6", "How long tokens are.", "a column or a header that is too short",
        ("short", "43 characters."), ("long", "About 1,500 characters."),
    ),
    token(
        "code_characters", "service 6.1", "The characters of a code.", "a code that is not encoded in the form",
        ("plain", "Letters, digits, - and _."), ("reserved", "Also +, / and =."),
    ),
    account(
        "page_size", "service 4.10", "How many transactions a page has when no pagesize is sent.",
        "taking the first page for all",
        ("50", "50."), ("10", "10.", {"page_size": 10}),
    ),
    account(
        "balance_of", "service 2.7", "What the balance of a multi-currency account counts.", "a wrong total",
        ("parameter", "As the account's parameter says."), ("euro", "The euro compartment."),
        ("globalised", "All compartments, in euro."),
    ),
    account(
        "balance_is", "service 2.7", "Which balance is shown.", "money that is spent twice",
        ("booked", "What is booked."), ("available", "What is booked less what signed payments reserve."),
    ),
    account(
        "balances_as", "service 2.7", "How JSON holds a balance; the service says decimal.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."),
    ),
    account(
        "multicurrency", "service 2.7", "How the boolean-like indicator is written.", "a test for truthiness",
        ("boolean", "true or false."), ("string", "The strings true and false."), ("Y", "The letters Y and N."),
    ),
    account(
        "account_type", "service 2.7", "The words for the type of an account.", "an enumeration that crashes",
        ("words", "current-account and savings-account."), ("iso", "CACC and SVGS of ISO 20022."),
    ),
    account(
        "no_compartments", "service 2.7", "other_compartments of an account with one currency.", "a missing key",
        ("empty", "An empty list."), ("absent", "The field is left out."),
    ),
    account(
        "href", "service 2.7", "How links are written.", "a base address that is put before every link",
        ("relative", "A path below the base address."), ("absolute", "The whole address."),
    ),
    account(
        "logical_id", "service 4.9", "How long a logical-id names an account.", "a cache by consent, or by account",
        ("per_consent", "A new one with each consent."), ("stable", "The same in each consent of the client."),
    ),
    account(
        "unknown_logical_id", "service 4.9", "How a logical-id is refused that the consent does not have.",
        "a new consent for each 401",
        ("401", "401."), ("404", "404."),
    ),
    account(
        "currency_omitted", "service 4.10", "Which transactions are listed when no currency is sent.", "lost lines",
        ("EUR", "Those in EUR."), ("all", "Those of all compartments."),
    ),
    account(
        "lacking_compartment", "service 4.10", "Transactions in a currency that the account lacks.",
        "a crash on 404, or an empty list taken for the truth",
        ("empty", "An empty list."), ("404", "404."),
    ),
    account(
        "item_amount", "service 2.8", "How JSON holds the amount of a transaction.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."),
    ),
    account(
        "item_fields", "service 2.8", "How a transaction spells its fields.", "a rigid mapping",
        ("snake", "transaction_ref, execution_date."), ("camel", "transactionRef, executionDate."),
    ),
    account(
        "pending_items", "service 2.8", "Signed payments that are not booked yet.", "a payment that is counted twice",
        ("not_shown", "They are not among the transactions."),
        ("shown", "They come first, with the field status: PDNG."),
    ),
    account(
        "item_sign", "service 2.8", "How a transaction says its direction.", "a sign that is lost",
        ("signed", "Below 0 is a debit."),
        ("indicator", "The amount has no sign; credit_debit_indicator is CRDT or DBIT."),
    ),
    account(
        "item_dates", "service 2.8", "How a transaction writes its dates.", "a rigid parser of dates",
        ("date", "A date."), ("date_time", "A date with the time 00:00 and its offset."),
    ),
    account(
        "item_blanks", "service 2.8", "What stands for a text that a transaction lacks.", "null taken for a text",
        ("usual", "null for a counterparty, an empty string for a communication."), ("empty", "An empty string."),
        ("absent", "The field is left out."),
    ),
    account(
        "order_of_items", "service 4.10", "The order of transactions.", "a synchronisation that stops at a known line",
        ("newest_first", "Newest first."), ("oldest_first", "Oldest first."),
    ),
    account(
        "exact_last_page", "service 4.10", "A last page that is exactly full.", "an endless loop",
        ("no_key", "It has no key."), ("key", "It has a key, which leads to an empty page."),
    ),
    account(
        "empty_page", "service 2.8", "Whether an empty page may have a key.", "stopping at the first empty page",
        ("last_only", "Only the last page may be empty."),
        ("first", "The first page is empty and has a key, which leads to the transactions."),
    ),
    account(
        "next_alone", "service 4.10", "What is sent beside next.", "filters that are forgotten on the second page",
        ("enough", "next alone is enough."),
        ("needs_filters", "date_from, date_to and currency are sent again; without them 400."),
    ),
    account(
        "old_dates_without_sca", "service 4.10", "A period of over 90 days without an SCA token.", "a silent gap",
        ("cut", "Older transactions are left out."), ("401", "SCA_REQUIRED, with a consent address."),
        ("403", "ACCESS_DENIED."),
    ),
    account(
        "balance_after_90_days", "service 4.10", "The balance when the authentication is over 90 days old.",
        "a screen that stays empty",
        ("readable", "It is shown."), ("401", "SCA_REQUIRED, with a consent address."),
    ),
)  # fmt: skip
