"""All flows of the reference client, by their names."""

from collections.abc import Mapping

from tests.vary import flows_of_accounts as accounts
from tests.vary import flows_of_money as money
from tests.vary import flows_of_orders as orders
from tests.vary import flows_of_payments as payments
from tests.vary import flows_of_proofs as proofs
from tests.vary.steps import Flow

ALL: tuple[Flow, ...] = (
    payments.pays,
    payments.pays_abroad,
    payments.comes_late,
    payments.exchanges_late,
    payments.loses_a_reply,
    payments.begins_again,
    payments.finds_its_own,
    payments.is_refused,
    payments.cancels,
    payments.pays_on_a_sunday,
    payments.pays_in_the_evening,
    payments.pays_at_once,
    money.lacks_money_on_the_day,
    money.gets_its_money_back,
    money.lacks_money,
    money.keeps_to_limits,
    money.pays_from_any_account,
    payments.cosigns,
    payments.writes_names,
    money.keeps_books,
    money.spends_all,
    payments.pays_with_a_token,
    payments.is_called_back_twice,
    payments.signs_by_another_method,
    orders.orders,
    orders.orders_for_a_while,
    orders.orders_by_the_month,
    orders.rents,
    orders.forgets_an_order,
    orders.orders_for_today,
    orders.sends,
    orders.books_a_file,
    orders.sends_a_bad_file,
    orders.sends_a_table,
    orders.sends_a_file_twice,
    orders.forgets_a_file,
    orders.sends_without_money,
    orders.stops_a_file,
    accounts.looks_at_accounts,
    accounts.reads,
    accounts.keeps_a_copy,
    accounts.reads_history,
    accounts.renews,
    accounts.consents_late,
    accounts.consents_again,
    accounts.serves_two_customers,
    accounts.exchanges_twice,
    accounts.loses_access,
    accounts.confirms,
    accounts.asks_in_two_languages,
    accounts.waits_as_asked,
    proofs.proves,
)
FLOWS: Mapping[str, Flow] = {flow.__name__: flow for flow in ALL}
IMPATIENT = ("waits_as_asked",)  # flows that wait by themselves where the bank is busy
