"""How the reference client and the demo shop are tried under each axis: the flow that shows it, or why none needs to.

A flow passes under every value of its axes, and what passes between client and bank differs from that of the default.
"""

from typing import NamedTuple


class ReferenceFlow(NamedTuple):
    """What the client does, and the axes that it shows."""

    words: str
    axes: tuple[str, ...]


def flow(words: str, axes: str) -> ReferenceFlow:
    return ReferenceFlow(words, tuple(axes.split()))


FLOWS: dict[str, ReferenceFlow] = {
    "pays": flow(
        "pays, follows the status to its end and reads the details",
        "vendor content_type_reply technical_checks status_spelling first_status sca_address_in sca_address_query "
        "sca_host initiation_fields initiation_field_names details_amount status_names_payment final_status settlement "
        "sca_token_reply sca_token_for token_type_case token_length code_characters unknown_fields key_order "
        "json_layout json_escapes absent_fields header_case body_pieces callback_parameters",
    ),
    "pays_on_lines_that_end": flow("pays where each connection ends after a reply", "connection"),
    "comes_late": flow("begins again where the customer comes too late to sign", "sca_address_life"),
    "exchanges_late": flow("goes on without tokens where a code is over", "code_life"),
    "loses_a_reply": flow("asks again for a lost reply, and pays once", "request_id_reuse"),
    "begins_again": flow("sends the same order twice, and pays once", "reinitiation duplicate_external"),
    "finds_its_own": flow("looks for a payment by a reference that fits two", "ambiguous_external ambiguous_delete"),
    "is_refused": flow(
        "sees that the customer refused, or never came",
        "reason reason_codes refusal_callback callback_error callback_encoding",
    ),
    "cancels": flow("cancels twice, too late, and abroad", "cancel_again cancel_cut_off xb_delete"),
    "pays_on_a_sunday": flow("pays on a closed day", "closed_days"),
    "pays_in_the_evening": flow("pays after the bank's working hours", "cut_off"),
    "pays_at_once": flow("pays instantly, or sees that the payment failed", "instant_settlement instant_outcome"),
    "lacks_money_on_the_day": flow("waits while the bank tries again", "recycling_tries"),
    "gets_its_money_back": flow("finds money that came back after a debit", "after_debit"),
    "lacks_money": flow(
        "pays from another account where funds are missing", "insufficient_funds funds_missing_after_pick"
    ),
    "keeps_to_limits": flow("pays on another day where a limit is reached", "limit_week limits_day profile_refusal"),
    "pays_from_any_account": flow("pays from savings, and to the account that pays", "savings_as_debtor self_payment"),
    "cosigns": flow("waits for a second signature, or begins again", "half_signed"),
    "writes_names": flow("writes a name without accents where the bank wants that", "names"),
    "keeps_books": flow(
        "compares balances and lines before and after payments", "fees value_date balance_is pending_items"
    ),
    "spends_all": flow("pays the whole balance, or as much as the fee leaves", "fee_check"),
    "pays_with_a_token": flow("pays with an access token", "psu_name_before_login code_beside_token"),
    "is_called_back_twice": flow("exchanges the code of a callback that comes twice once", "callback_arrival"),
    "refuses_forgeries": flow(
        "refuses a callback that is not of its flow", "callback_state callback_code callback_outcome"
    ),
    "signs_by_another_method": flow("lets the customer sign as the bank permits", "sca_methods"),
    "orders": flow("begins a standing order, and cancels it twice", "contract_activation signed_order order_matrix"),
    "orders_for_a_while": flow("sees a standing order end", "ended_order"),
    "orders_by_the_month": flow("finds the executions of a standing order", "calendar day_31"),
    "rents": flow("pays once what a standing order could not", "failed_occurrence"),
    "forgets_an_order": flow("begins a standing order again that nobody signed", "unsigned_order"),
    "orders_for_today": flow("begins a standing order as soon as the bank lets it", "start_date"),
    "sends": flow(
        "sends a file, and follows it to its end",
        "bulk_validation bulk_execution bulks_while_rcvd file_numbers payment_information_id address_at_status",
    ),
    "books_a_file": flow("compares the lines of a file with its sum", "batch_booking"),
    "sends_a_bad_file": flow("sends a file with a fault", "bad_transaction"),
    "sends_a_table": flow("sends csv with either separator", "csv_dialect"),
    "sends_a_file_twice": flow("sends a file twice, and pays once", "duplicate_message_id"),
    "forgets_a_file": flow("signs a file after an hour, or sends it again", "unsigned_file"),
    "sends_without_money": flow("sends a file that lacks funds", "funds_of_today"),
    "stops_a_file": flow("cancels a file of which a part is paid", "mixed_file_after_cancel"),
    "looks_at_accounts": flow(
        "reads accounts of one currency and of several",
        "balance_of balances_as multicurrency account_type no_compartments href",
    ),
    "reads": flow(
        "reads each transaction once, page by page",
        "page_size currency_omitted lacking_compartment item_amount item_fields item_sign item_dates item_blanks "
        "order_of_items exact_last_page empty_page number_digits",
    ),
    "reads_history": flow(
        "reads what is older than 90 days",
        "sca_token_request sca_token_uses sca_token_life old_dates_without_sca",
    ),
    "renews": flow(
        "reads on after 91 and 191 days",
        "sca_renewal_after consent_life renewal_extends_consent balance_after_90_days",
    ),
    "consents_late": flow("asks for consent again where the address is over", "consent_address_life"),
    "consents_again": flow("asks for consent to a second account", "new_consent logical_id unknown_logical_id"),
    "serves_two_customers": flow("reads for two customers", "pair_of"),
    "exchanges_twice": flow("exchanges a code twice, and with a wrong verifier", "reused_code failed_exchange"),
    "loses_access": flow(
        "reads without consent, with a token of another scope, and what is another client's",
        "consent_gone wrong_scope foreign_id",
    ),
    "confirms": flow("reads a balance by a CAF consent", "scope_in caf_account caf_role caf_transactions"),
    "asks_in_two_languages": flow(
        "asks in Dutch or French, and is refused",
        "consent_languages error_description error_codes error_words",
    ),
    "waits_as_asked": flow(
        "waits where it calls too often, and asks again where the bank is busy",
        "limits retry_after limits_count unavailable gateway",
    ),
    "proves": flow(
        "signs its initiations, with a clock that is a minute late", "signatures signature_over date_tolerance"
    ),
    "shows_a_certificate": flow("calls with a certificate, and renews it", "client_certificates certificate_clock"),
}

# Axes, or single values, that a right client does not feel: by what it sends, or by nature.
NOT_FELT: dict[str, str] = {
    "accept_without_version": "The client names a version in each call.",
    "silent_versions": "The client asks for the newest version of each operation.",
    "redirect_uri_elsewhere": "The client sends Redirect-URI with each call.",
    "client_id_elsewhere": "The client sends Client-ID with each call.",
    "language_region": "The client sends the language beside its region: fr-BE, fr.",
    "unknown_field": "The client sends no field that the service does not have.",
    "amount_as_number": "The client sends amounts as strings.",
    "no_state": "The client adds a state to each address.",
    "pkce_plain": "The client's challenges are S256.",
    "order_currency": "The client sends the currency of each amount.",
    "next_alone": "The client sends the filters beside each key.",
    "payment_information_id=required": "The client sends PaymentInformationID with each file.",
    "creditor_reference_in_file": "The client writes references whose check digits are right.",
    "signatures=off": "A right signature is taken, whether or not it is looked at.",
    "signature_over=detached": "The client detaches the body where both forms are taken.",
    "signature_over=headers": "The manual says what is signed, and the replies are alike.",
}

# The axes that the calls of the demo shop meet, as a customer buys, refuses, and looks at accounts.
SHOP = frozenset(
    flow(
        "buys, refuses, and looks at accounts",
        "vendor limits silent_versions content_type_reply error_description error_codes error_words "
        "technical_checks sca_address_life status_spelling first_status sca_address_in sca_address_query "
        "sca_host initiation_fields initiation_field_names savings_as_debtor reason reason_codes "
        "details_amount status_names_payment final_status closed_days cut_off settlement value_date code_life "
        "sca_token_life sca_renewal_after consent_life consent_address_life renewal_extends_consent "
        "sca_token_request sca_token_reply sca_token_for sca_token_uses scope_in caf_account token_type_case "
        "token_length code_characters balance_of balance_is balances_as multicurrency account_type href "
        "logical_id item_amount item_fields item_sign item_dates item_blanks order_of_items empty_page "
        "next_alone balance_after_90_days signatures unknown_fields key_order json_layout json_escapes "
        "number_digits absent_fields header_case body_pieces connection unavailable gateway callback_state "
        "callback_code callback_arrival refusal_callback callback_error callback_outcome callback_parameters "
        "callback_encoding",
    ).axes
)


def evidence(axis: str) -> str:
    """The flows that show an axis, the shop among them; else why no client feels it; empty for a new axis."""
    names = [f"`{name}`" for name, row in FLOWS.items() if axis in row.axes]
    return ", ".join([*names, *(["the shop"] if axis in SHOP else [])]) if names else NOT_FELT.get(axis, "")
