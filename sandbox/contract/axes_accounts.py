"""Axes of account information: balances, transactions and their pages (service 2.7, 2.8, 4.9, 4.10)."""

from sandbox.contract.axis import Axis, axes_of

axis = axes_of("accounts")

ROWS: tuple[Axis, ...] = (
    axis(
        "balance_of", "service 2.7", "What the balance of a multi-currency account counts.", "a wrong total",
        ("parameter", "As the account's parameter says."), ("euro", "The euro compartment."),
        ("globalised", "All compartments, in euro."),
    ),
    axis(
        "balance_is", "service 2.7", "Which balance is shown.", "money that is spent twice",
        ("booked", "What is booked."), ("available", "What is booked less what signed payments reserve."),
    ),
    axis(
        "balances_as", "service 2.7", "How JSON holds a balance; the service says decimal.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."),
    ),
    axis(
        "multicurrency", "service 2.7", "How the boolean-like indicator is written.", "a test for truthiness",
        ("boolean", "true or false."), ("string", "The strings true and false."), ("Y", "The letters Y and N."),
    ),
    axis(
        "account_type", "service 2.7", "The words for the type of an account.", "an enumeration that crashes",
        ("words", "current-account and savings-account."), ("iso", "CACC and SVGS of ISO 20022."),
    ),
    axis(
        "no_compartments", "service 2.7", "other_compartments of an account with one currency.", "a missing key",
        ("empty", "An empty list."), ("absent", "The field is left out."),
    ),
    axis(
        "href", "service 2.7", "How links are written.", "a base address that is put before every link",
        ("relative", "A path below the base address."), ("absolute", "The whole address."),
    ),
    axis(
        "logical_id", "service 4.9", "How long a logical-id names an account.", "a cache by consent, or by account",
        ("per_consent", "A new one with each consent."), ("stable", "The same in each consent of the client."),
    ),
    axis(
        "unknown_logical_id", "service 4.9", "How a logical-id is refused that the consent does not have.",
        "a new consent for each 401",
        ("401", "401."), ("404", "404."),
    ),
    axis(
        "currency_omitted", "service 4.10", "Which transactions are listed when no currency is sent.", "lost lines",
        ("EUR", "Those in EUR."), ("all", "Those of all compartments."),
    ),
    axis(
        "lacking_compartment", "service 4.10", "Transactions in a currency that the account lacks.",
        "a crash on 404, or an empty list taken for the truth",
        ("empty", "An empty list."), ("404", "404."),
    ),
    axis(
        "item_amount", "service 2.8", "How JSON holds the amount of a transaction.", "arithmetic with floats",
        ("number", "A number."), ("string", "A decimal string."),
    ),
    axis(
        "item_fields", "service 2.8", "How a transaction spells its fields.", "a rigid mapping",
        ("snake", "transaction_ref, execution_date."), ("camel", "transactionRef, executionDate."),
    ),
    axis(
        "pending_items", "service 2.8", "Signed payments that are not booked yet.", "a payment that is counted twice",
        ("not_shown", "They are not among the transactions."),
        ("shown", "They come first, with the field status: PDNG."),
    ),
    axis(
        "item_sign", "service 2.8", "How a transaction says its direction.", "a sign that is lost",
        ("signed", "Below 0 is a debit."),
        ("indicator", "The amount has no sign; credit_debit_indicator is CRDT or DBIT."),
    ),
    axis(
        "item_dates", "service 2.8", "How a transaction writes its dates.", "a rigid parser of dates",
        ("date", "A date."), ("date_time", "A date with the time 00:00 and its offset."),
    ),
    axis(
        "item_blanks", "service 2.8", "What stands for a text that a transaction lacks.", "null taken for a text",
        ("usual", "null for a counterparty, an empty string for a communication."),
        ("empty", "An empty string."), ("absent", "The field is left out."),
    ),
    axis(
        "order_of_items", "service 4.10", "The order of transactions.", "a synchronisation that stops at a known line",
        ("newest_first", "Newest first."), ("oldest_first", "Oldest first."),
    ),
    axis(
        "exact_last_page", "service 4.10", "A last page that is exactly full.", "an endless loop",
        ("no_key", "It has no key."), ("key", "It has a key, which leads to an empty page."),
    ),
    axis(
        "empty_page", "service 2.8", "Whether an empty page may have a key.", "stopping at the first empty page",
        ("last_only", "Only the last page may be empty."),
        ("first", "The first page is empty and has a key, which leads to the transactions."),
    ),
    axis(
        "next_alone", "service 4.10", "What is sent beside next.", "filters that are forgotten on the second page",
        ("enough", "next alone is enough."),
        ("needs_filters", "date_from, date_to and currency are sent again; without them 400."),
    ),
    axis(
        "old_dates_without_sca", "service 4.10", "A period of over 90 days without an SCA token.", "a silent gap",
        ("cut", "Older transactions are left out."),
        ("401", "SCA_REQUIRED, with a consent address."), ("403", "ACCESS_DENIED."),
    ),
    axis(
        "balance_after_90_days", "service 4.10", "The balance when the authentication is over 90 days old.",
        "a screen that stays empty",
        ("readable", "It is shown."), ("401", "SCA_REQUIRED, with a consent address."),
    ),
)  # fmt: skip
