"""Decisions about standing orders and files (service 2.2, 2.3, 3.1, 3.2, 4.5, 4.6)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sandbox.contract.decision_rows import AxisTopic, Topic, setting

order, file = AxisTopic("standing orders"), AxisTopic("files")


# fmt: off
@dataclass(frozen=True)
class OrderDecisions:
    contract_activation: timedelta = setting(
        Topic.PAYMENTS, "choice 6", timedelta(seconds=1),
        "How long after the signature a standing order becomes active.",
        axis=order.make_axis(
            "service 3.2", "How long a signed standing order stays PDNG.",
            "reading the status once, right after the signature",
            ("at_once", "1 second."), ("late", "5 minutes.", timedelta(minutes=5)), shown_by="orders",
        ),
    )
    calendar: Literal["target2", "belgian"] = order(
        "service 2.2", "The banking days of standing orders.", "a date of execution that is reckoned",
        ("target2", "Those of TARGET2."), ("belgian", "Belgian bank holidays, such as 21 July, are none either."),
        shown_by="orders_by_the_month",
    )
    day_31: Literal["last_day", "skipped", "first_of_next"] = order(
        "service 2.2", "An order of the 29th, 30th or 31st in a month that lacks the day.",
        "twelve executions a year taken for granted",
        ("last_day", "It is executed on the last day of the month."), ("skipped", "That month has no execution."),
        ("first_of_next", "It is executed on the first day of the next month."), shown_by="orders_by_the_month",
    )
    failed_occurrence: Literal["skipped", "retried", "ends"] = order(
        "service 2.2", "What follows when funds are missing.", "a payment that nobody misses",
        ("skipped", "The contract goes on; that execution fails."),
        ("retried", "It is tried again on the following banking days, as payments are."),
        ("ends", "The contract ends: CANC with AM04."), shown_by="rents",
    )
    order_currency: Literal["default", "required"] = order(
        "service 2.2", "instructed_amount.currency, which is required and defaulted at once.", "400",
        ("default", "EUR where it is left out."), ("required", "400 where it is left out."),
        unfelt="The client sends the currency of each amount.",
    )
    start_date: Literal["tomorrow", "today"] = order(
        "service 2.2", "The earliest start_date.", "400 on the day itself",
        ("tomorrow", "The day after the call."), ("today+", "The day of the call."), shown_by="orders_for_today",
    )
    signed_order: Literal["PDNG", "ACWP"] = order(
        "service 3.2", "The status of a standing order that was signed.", "an enumeration that crashes",
        ("PDNG", "PDNG, then ACWP."), ("ACWP", "ACWP at once."), shown_by="orders",
    )
    ended_order: Literal["CANC", "ACWP"] = order(
        "service 3.2", "The status after the last execution.", "an order that seems to go on",
        ("CANC", "CANC with CONTRACT_ENDED."), ("ACWP", "It stays ACWP."), shown_by="orders_for_a_while",
    )
    bulk_validation: timedelta = setting(
        Topic.FILES, "choice 7", timedelta(minutes=2), "How long the validation of a file takes.",
        axis=file.make_axis(
            "service 4.6", "How long the validation of a file takes.", "giving up before the address appears",
            ("fast", "2 minutes."), ("slow", "9 minutes.", timedelta(minutes=9)), shown_by="sends",
        ),
    )
    bulk_execution: timedelta = setting(
        Topic.FILES, "choice 7", timedelta(minutes=1), "How long after the signature a bulk of today is executed.",
        axis=file.make_axis(
            "service 3.3", "How long a file of today takes after its signature.", "a fixed pause",
            ("fast", "60 seconds."), ("slow", "30 minutes.", timedelta(minutes=30)), shown_by="sends",
        ),
    )
    bad_transaction: Literal["its_bulk", "the_file", "it_alone"] = file(
        "service 2.3", "What a faulty transaction takes with it.", "a partial success",
        ("its_bulk", "Its bulk is RJCT, the rest goes on."), ("the_file", "The file is RJCT."),
        ("it_alone", "It is left out, its bulk pays the others."), shown_by="sends_a_bad_file",
    )
    bulks_while_rcvd: Literal["empty", "absent", "listed"] = file(
        "service 2.4", "bulks in the status of a file that is not validated yet.", "a missing key",
        ("empty", "An empty list."), ("absent", "The field is left out."),
        ("listed", "They are there with RCVD, if the file is below 100 kB."), shown_by="sends",
    )
    file_numbers: Literal["numbers", "strings"] = file(
        "service 2.4", "How JSON holds the numbers of a bulk.", "arithmetic with floats",
        ("numbers", "Numbers."), ("strings", "Decimal strings."), shown_by="sends",
    )
    payment_information_id: Literal["optional", "required", "of_a_bulk"] = file(
        "service 4.6", "The header PaymentInformationID.", "a look-up without a reference",
        ("optional", "It may be left out, and is the file's external reference."), ("required", "Without it 400."),
        ("of_a_bulk", "It is of a bulk: the file's external reference is its MsgId alone."), shown_by="sends",
        unfelt_values={"required": "The client sends PaymentInformationID with each file."},
    )
    address_at_status: Literal["same", "new"] = file(
        "service 4.6", "The SCA address in a second status call.", "a link that is dead",
        ("same", "The same while it lives."), ("new", "A new one each time; the earlier one ends."), shown_by="sends",
    )
    funds_of_today: Literal["page", "recycled", "RJCT"] = file(
        "service 1", "A file of today for which funds are missing.", "a status that stays PATC",
        ("page", "The page says so at the signature, and the file stays PATC."),
        ("recycled", "It is signed and tried again, as later files are."),
        ("RJCT", "It is signed, and RJCT at its execution."), shown_by="sends_without_money",
    )
    mixed_file_after_cancel: Literal["CANC", "ACSC"] = file(
        "service 3.1", "The status of a cancelled file of which a bulk was paid.", "a second payment",
        ("CANC", "CANC."), ("ACSC", "ACSC."), shown_by="stops_a_file",
    )
    csv_dialect: Literal["both", "comma", "semicolon"] = file(
        "service 2.3", "The separator of a csv file.", "a refusal",
        ("both", "A comma or a semicolon."), ("comma", "A comma; else 400."), ("semicolon", "A semicolon; else 400."),
        shown_by="sends_a_table",
    )
    batch_booking: Literal["as_asked", "one_line", "each"] = file(
        "service 2.3", "How a bulk shows among the transactions.", "a look for each transaction",
        ("as_asked", "As the file asks."), ("one_line", "One line a bulk."), ("each", "One a transaction."),
        shown_by="books_a_file",
    )
    duplicate_message_id: Literal["refused", "accepted"] = file(
        "service 2.3", "A file whose MsgId was used before.", "a file that is paid twice",
        ("refused", "It is RJCT."), ("accepted", "It is a file like any other."), shown_by="sends_a_file_twice",
    )
    creditor_reference_in_file: Literal["checked", "text"] = file(
        "service 2.3", "A creditor reference with wrong check digits in a file.", "a refusal that is not expected",
        ("checked", "A fault, where its scheme has check digits: BBA (OGM) or ISO (RF)."),
        ("text+", "It is taken as a text."), unfelt="The client writes references whose check digits are right.",
    )
    unsigned_file: Literal["stays", "60_minutes"] = file(
        "service 3.3", "A file that nobody signs.", "files that wait for ever",
        ("stays", "It stays PATC."), ("60_minutes", "It is cancelled 60 minutes after its validation."),
        shown_by="forgets_a_file",
    )
    files_waiting_max: int = setting(
        Topic.FILES, "choice 7", 100_000_000, "Bytes of packed files that wait for their validation.",
    )
