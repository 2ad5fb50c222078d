"""The verbs: every act that enters a world, under the name that logs and exports keep.

State files and exports outlive every rename, so a name in this table never changes and none is removed. The names of
a verb's parameters are part of it: exports without secrets are read by them.
"""

from collections.abc import Callable

from sandbox.bank import (
    app_approvals,
    bulks,
    clients,
    consent_sessions,
    consents,
    customers,
    forced_moves,
    payments,
    psu_actions,
    settings_change,
    signing,
    signing_sessions,
    standing_orders,
    statements,
    tokens,
)

VERBS: dict[str, Callable[..., object]] = {
    "accounts.amend": customers.amend_account,
    "accounts.register": customers.register_account,
    "acting.approve": psu_actions.approve,
    "acting.decline": psu_actions.decline,
    "bulks.delete": bulks.delete,
    "bulks.initiate": bulks.initiate,
    "bulks.renew_address": bulks.renew_address,
    "choices.change_settings": settings_change.change_settings,
    "clients.amend": clients.amend,
    "clients.register": clients.register,
    "consent_screens.choose": consent_sessions.choose,
    "consent_screens.confirm": consent_sessions.confirm,
    "consent_screens.enter": consent_sessions.enter,
    "consent_screens.log_in": consent_sessions.log_in,
    "consent_screens.log_in_anew": consent_sessions.log_in_anew,
    "consent_screens.turn_down": consent_sessions.turn_down,
    "consent_screens.withdraw": consent_sessions.withdraw,
    "consents.ask": consents.ask,
    "consents.demand_sca": consents.demand_sca,
    "consents.withdraw": consents.withdraw,
    "customers.amend": customers.amend_customer,
    "customers.register": customers.register_customer,
    "forcing.force": forced_moves.force,
    "payments.cancel": payments.cancel,
    "payments.initiate": payments.initiate,
    "screens.answer_in_app": app_approvals.answer_in_app,
    "screens.choose_method": app_approvals.choose_method,
    "screens.confirm": signing_sessions.confirm,
    "screens.confirm_by_biometrics": app_approvals.confirm_by_biometrics,
    "screens.confirm_in_channel": signing_sessions.confirm_in_channel,
    "screens.enter": signing_sessions.enter,
    "screens.enter_channel": signing_sessions.enter_channel,
    "screens.leave_channel": signing_sessions.leave_channel,
    "screens.log_in": signing_sessions.log_in,
    "screens.log_in_anew": signing_sessions.log_in_anew,
    "screens.log_in_to_channel": signing_sessions.log_in_to_channel,
    "screens.log_in_to_channel_anew": signing_sessions.log_in_to_channel_anew,
    "screens.pick": signing_sessions.pick,
    "screens.refuse_in_channel": signing_sessions.refuse_in_channel,
    "screens.turn_down": signing_sessions.turn_down,
    "signing.refuse_in_channel": signing.refuse_in_channel,
    "signing.sign_in_channel": signing.sign_in_channel,
    "standing_orders.delete": standing_orders.delete,
    "standing_orders.initiate": standing_orders.initiate,
    "statements.book_by_hand": statements.book_by_hand,
    "tokens.exchange": tokens.exchange,
    "tokens.refresh": tokens.refresh,
    "tokens.use_sca_token": tokens.use_sca_token,
}

NAMES = {act: name for name, act in VERBS.items()}
