"""The table of verbs: the functions that change a bank, under the names that logs and exports store.

Logs and exports must stay readable, so a name in this table never changes and is never removed. Acts are stored with
the names of the verb's parameters, so these names never change either. A new parameter needs a default. That default
then never changes.
"""

from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature

from sandbox.bank import (
    behaviours,
    bulks,
    confirmations,
    consent_sessions,
    consents,
    customers,
    payments,
    psu_actions,
    returns,
    signing,
    signing_sessions,
    standing_orders,
    state,
    statements,
    timeline,
    tokens,
)

VERBS: dict[str, Callable[..., object]] = {
    "accounts.amend": customers.amend_account,
    "accounts.register": customers.register_account,
    "bulk_files.delete": bulks.delete,
    "bulk_files.initiate": bulks.initiate,
    "bulk_files.renew_address": bulks.renew_address,
    "clients.amend": customers.amend_client,
    "clients.register": customers.register_client,
    "consent_sessions.choose_accounts": consent_sessions.choose,
    "consent_sessions.enter": consent_sessions.enter,
    "consent_sessions.log_in": consent_sessions.log_in,
    "consent_sessions.refuse": consent_sessions.refuse,
    "consent_sessions.withdraw": consent_sessions.withdraw,
    "consents.ask": consents.ask,
    "consents.demand_sca": consents.demand_sca,
    "consents.withdraw": consents.withdraw,
    "customers.amend": customers.amend_customer,
    "customers.register": customers.register_customer,
    "payments.cancel": payments.cancel,
    "payments.initiate": payments.initiate,
    "payments.send_back": returns.send_back_now,
    "psu.approve": psu_actions.approve,
    "psu.refuse": psu_actions.refuse,
    "psu.refuse_in_channel": signing.refuse_in_channel,
    "psu.sign_in_channel": signing.sign_in_channel,
    "settings.change": state.change_settings,
    "signing_sessions.accept_payee": signing_sessions.accept_payee,
    "signing_sessions.answer_in_app": confirmations.answer_in_app,
    "signing_sessions.cancel_in_channel": signing_sessions.cancel_in_channel,
    "signing_sessions.choose_account": signing_sessions.pick,
    "signing_sessions.choose_method": confirmations.choose_method,
    "signing_sessions.choose_method_in_channel": confirmations.choose_method_in_channel,
    "signing_sessions.confirm": confirmations.confirm,
    "signing_sessions.confirm_by_biometrics": confirmations.confirm_by_biometrics,
    "signing_sessions.confirm_in_channel": signing_sessions.confirm_in_channel,
    "signing_sessions.confirm_in_channel_by_biometrics": confirmations.confirm_in_channel_by_biometrics,
    "signing_sessions.enter": signing_sessions.enter,
    "signing_sessions.enter_channel": signing_sessions.enter_channel,
    "signing_sessions.leave_channel": signing_sessions.leave_channel,
    "signing_sessions.log_in": signing_sessions.log_in,
    "signing_sessions.log_in_to_channel": signing_sessions.log_in_to_channel,
    "signing_sessions.refuse": signing_sessions.refuse,
    "signing_sessions.refuse_in_channel": signing_sessions.refuse_in_channel,
    "standing_orders.delete": standing_orders.delete,
    "standing_orders.initiate": standing_orders.initiate,
    "statements.book_by_hand": statements.book_by_hand,
    "statuses.force": behaviours.force,
    "time.pass": timeline.pass_time,
    "tokens.exchange": tokens.exchange_code,
    "tokens.refresh": tokens.refresh,
    "tokens.use_sca_token": tokens.use_sca_token,
}

NAMES = {act: name for name, act in VERBS.items()}


@cache
def list_parameters(verb: str) -> tuple[Parameter, ...]:
    """Returns the parameters of a verb, without its first parameter, which is the bank."""
    return tuple(signature(VERBS[verb], eval_str=True).parameters.values())[1:]
