"""The verbs: every act that enters a world, under the name that logs and exports keep.

State files and exports outlive every rename, so a name in this table never changes and none is removed. The names of
a verb's parameters are part of it: exports without secrets are read by them.
"""

from collections.abc import Callable

from sandbox.bank import (
    acting,
    bulks,
    choices,
    clients,
    consent_screens,
    consents,
    forcing,
    payments,
    screens,
    signing,
    standing_orders,
    statements,
    tokens,
)

VERBS: dict[str, Callable[..., object]] = {
    "acting.approve": acting.approve,
    "acting.decline": acting.decline,
    "bulks.delete": bulks.delete,
    "bulks.initiate": bulks.initiate,
    "bulks.renew_address": bulks.renew_address,
    "choices.change_settings": choices.change_settings,
    "clients.amend": clients.amend,
    "clients.register": clients.register,
    "consent_screens.choose": consent_screens.choose,
    "consent_screens.confirm": consent_screens.confirm,
    "consent_screens.enter": consent_screens.enter,
    "consent_screens.log_in": consent_screens.log_in,
    "consent_screens.turn_down": consent_screens.turn_down,
    "consent_screens.withdraw": consent_screens.withdraw,
    "consents.ask": consents.ask,
    "consents.demand_sca": consents.demand_sca,
    "consents.withdraw": consents.withdraw,
    "forcing.force": forcing.force,
    "payments.cancel": payments.cancel,
    "payments.initiate": payments.initiate,
    "screens.confirm": screens.confirm,
    "screens.confirm_in_channel": screens.confirm_in_channel,
    "screens.enter": screens.enter,
    "screens.enter_channel": screens.enter_channel,
    "screens.leave_channel": screens.leave_channel,
    "screens.log_in": screens.log_in,
    "screens.log_in_to_channel": screens.log_in_to_channel,
    "screens.pick": screens.pick,
    "screens.turn_down": screens.turn_down,
    "signing.sign_in_channel": signing.sign_in_channel,
    "standing_orders.delete": standing_orders.delete,
    "standing_orders.initiate": standing_orders.initiate,
    "statements.book_by_hand": statements.book_by_hand,
    "tokens.exchange": tokens.exchange,
    "tokens.refresh": tokens.refresh,
}

NAMES = {act: name for name, act in VERBS.items()}
