"""The flows: typical sequences of calls of a client. Tests play them with the reference client and the demo shop, under
each value of each axis (a point on which banks may differ).

An axis names its flows in its row (`shown_by`). A flow succeeds under every value of its axes. Under a value that is
not the default, its calls or replies differ from those under the default."""

from sandbox.contract.decision_rows import Axis
from sandbox.contract.decisions import AXES

SHOP = "shop"
FLOWS = {
    "pays": "pays, follows the status to its end and reads the details",
    "pays_on_lines_that_end": "pays where each connection ends after a reply",
    "pays_abroad": "pays in another currency and reads the details",
    "comes_late": "begins again where the customer comes too late to sign",
    "exchanges_late": "goes on without tokens where a code is over",
    "loses_a_reply": "asks again for a lost reply, and pays once",
    "begins_again": "sends the same order twice, and pays once",
    "finds_its_own": "looks for a payment by a reference that fits two",
    "is_refused": "sees that the customer refused, or never came",
    "cancels": "cancels twice, too late, and abroad",
    "pays_on_a_sunday": "pays on a closed day",
    "pays_in_the_evening": "pays after the bank's working hours",
    "pays_at_once": "pays instantly, or sees that the payment failed",
    "lacks_money_on_the_day": "waits while the bank tries again",
    "gets_its_money_back": "finds money that came back after a debit",
    "lacks_money": "pays from another account where funds are missing",
    "keeps_to_limits": "pays on another day where a limit is reached",
    "pays_from_any_account": "pays from savings, and to the account that pays",
    "cosigns": "waits for a second signature, or begins again",
    "writes_names": "writes a name without accents where the bank wants that",
    "keeps_books": "compares balances and lines before and after payments",
    "spends_all": "pays the whole balance, or as much as the fee leaves",
    "pays_with_a_token": "pays with an access token",
    "is_called_back_twice": "exchanges the code of a callback that comes twice once",
    "refuses_forgeries": "refuses a callback that is not of its flow",
    "signs_by_another_method": "lets the customer sign as the bank permits",
    "orders": "begins a standing order, and cancels it twice",
    "orders_for_a_while": "sees a standing order end",
    "orders_by_the_month": "finds the executions of a standing order",
    "rents": "pays once what a standing order could not",
    "forgets_an_order": "begins a standing order again that nobody signed",
    "orders_for_today": "begins a standing order as soon as the bank lets it",
    "sends": "sends a file, and follows it to its end",
    "books_a_file": "compares the lines of a file with its sum",
    "sends_a_bad_file": "sends a file with a fault",
    "sends_a_table": "sends csv with either separator",
    "sends_a_file_twice": "sends a file twice, and pays once",
    "forgets_a_file": "signs a file after an hour, or sends it again",
    "sends_without_money": "sends a file that lacks funds",
    "stops_a_file": "cancels a file of which a part is paid",
    "looks_at_accounts": "reads accounts of one currency and of several",
    "reads": "reads each transaction once, page by page",
    "keeps_a_copy": "keeps a copy of an account that has each line once",
    "reads_history": "reads what is older than 90 days",
    "renews": "reads on after 91 and 191 days",
    "consents_late": "asks for consent again where the address is over",
    "consents_again": "asks for consent to a second account",
    "serves_two_customers": "reads for two customers",
    "exchanges_twice": "exchanges a code twice, and with a wrong verifier",
    "loses_access": "reads without consent, with a token of another scope, and what is another client's",
    "confirms": "reads a balance by a CAF consent",
    "asks_in_two_languages": "asks in Dutch or French, and is refused",
    "waits_as_asked": "waits where it calls too often, and asks again where the bank is busy",
    "proves": "signs its initiations, with a clock that is a minute late",
    "shows_a_certificate": "calls with a certificate, and renews it",
}  # the demo shop buys, refuses, and looks at accounts


def list_axes(flow: str) -> list[str]:
    """Returns the names of the axes whose rows name this flow in `shown_by`."""
    return [axis.name for axis in AXES.values() if flow in axis.shown_by]


def describe_evidence(axis: Axis) -> str:
    """Returns, as text, the flows that behave differently under the values of an axis. If a correct client does not
    notice the axis, returns the reason instead."""
    return axis.unfelt or ", ".join("the shop" if flow == SHOP else f"`{flow}`" for flow in axis.shown_by)
