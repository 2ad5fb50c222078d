"""What the client and its customer do after an initiation that the bank accepted.

A proposal that pays ends in one of these ways. Its note tells the reader what to do. `play_ending` does the same in the
played bank, so that the search for proposals sees what the real bank would show.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from sandbox.banking.calendar import find_brussels_date
from sandbox.contract.operations import BY_NAME
from sandbox.extensions.calibrate.played_bank import OwnReply
from sandbox.extensions.calibrate.playing import Player, find_operation, find_own_id, read_json_object
from sandbox.extensions.calibrate.reconstruction import simplify_names
from sandbox.extensions.calibrate.variables import find_address
from sandbox.recordings.recorded_calls import RecordedCall

CHECKED_AFTER = timedelta(minutes=10)  # until then the bank has checked a file, and gives the address for the signature
SIGNS, REFUSES = "approve", "refuse"
PAGES_MAX = 2  # of transactions that are read
SendCall = Callable[[RecordedCall, datetime], OwnReply]


class PaymentEnding(NamedTuple):
    """`note` tells the reader what to do with a payment or a standing order. `act` is the act of the customer, or an
    empty text if there is none. `wait` is the time before this act, or before the status is asked if there is no act.
    `cancels` is whether the client then cancels the initiation. If `later` is not 0, the client lists the lines of the
    account at once. After this time it asks for the status, and lists the lines again."""

    note: str
    act: str = SIGNS
    wait: timedelta = timedelta()
    cancels: bool = False
    later: timedelta = timedelta()


SIGN = PaymentEnding(
    "if it is accepted, let the customer sign, exchange the code, and ask for the status and the details"
)
WATCH = PaymentEnding(
    f"{SIGN.note}, and list the account's transactions of today; four days later, ask for the status and for the "
    "transactions since then",
    later=timedelta(days=4),
)
CANCEL = PaymentEnding(f"{SIGN.note}; then cancel it, and ask for the status again", cancels=True)
REFUSE = PaymentEnding("if it is accepted, let the customer refuse, and ask for the status", REFUSES)
LEAVE = PaymentEnding(
    "if it is accepted, let nobody sign, and ask for the status after 61 minutes", act="", wait=timedelta(minutes=61)
)
LATE = PaymentEnding(
    "if it is accepted, let the customer sign after 4 minutes, exchange the code, and ask for the status and the "
    "details",
    wait=timedelta(minutes=4),
)
WITH_CODE = ", exchange the code, and ask for the status and the details"
WITHOUT_CODE = ", and ask for the status"
ENDINGS = (SIGN, WATCH, CANCEL, REFUSE, LEAVE, LATE)


def describe_ending(ending: PaymentEnding, paid: RecordedCall) -> str:
    """Returns the note for the initiation `paid`. A file has no details, and its callback has no code (choice 7)."""
    if paid.path[0] != "bulk-payments":
        return ending.note
    return f"wait until the file is checked; {ending.note.replace(WITH_CODE, WITHOUT_CODE)}"


def is_initiation(call: RecordedCall) -> bool:
    return call.method == "POST" and call.path[0].endswith("payments")


class PlayedInitiation:
    """The initiation `paid`, which the played bank accepted with the id `payment_id`. `send` plays a call at a time."""

    def __init__(self, player: Player, paid: RecordedCall, payment_id: str, send: SendCall) -> None:
        self.player = player
        self.paid = paid
        self.payment_id = payment_id
        self._send = send
        self._operation = find_operation("POST", paid.path)

    def ask_status(self, at: datetime) -> OwnReply:
        return self._send(self._make_call("GET", "status", "/status"), at)

    def ask_details(self, token: str, at: datetime) -> OwnReply:
        return self._send(with_token(self._make_call("GET", "details", "/details"), token), at)

    def cancel(self, token: str | None, at: datetime) -> OwnReply:
        """Cancels the initiation. A file is cancelled without a token (service 4.6)."""
        call = self._make_call("DELETE", "cancellation")
        return self._send(call if token is None else with_token(call, token), at)

    def _make_call(self, method: str, name: str, end: str = "") -> RecordedCall:
        versions = BY_NAME[self._operation.replace("initiation", name)].versions
        url = "/".join((self.paid.address, *self.paid.path, self.payment_id)) + end
        return with_version(replace(self.paid, method=method, url=url, body=""), versions[0])

    def list_lines(self, iban: str, since: date, at: datetime) -> Iterator[OwnReply]:
        """Lets the customer consent to the account. Yields the first pages of its transactions, or nothing if the bank
        refuses the consent."""
        account = self.player.make_account_token(self.paid.headers.get("client-id", ""), iban)
        if account is None:
            return
        call = with_version(replace(self.paid, method="GET", body=""), BY_NAME["transactions"].versions[0])
        place = f"{self.paid.address}/accounts/{account.logical_id}/transactions"
        query = {"date_from": str(since)}
        for _ in range(PAGES_MAX):
            reply = self._send(with_token(replace(call, url=f"{place}?{urlencode(query)}"), account.token), at)
            yield reply
            key = simplify_names(simplify_names(read_json_object(reply)).get("embedded")).get("nextpagekey")
            if not isinstance(key, str):
                return
            query["next"] = key


def play_ending(
    player: Player, ending: PaymentEnding, paid: RecordedCall, at: datetime, reply: OwnReply, send: SendCall
) -> Iterator[OwnReply]:
    """Plays an ending after the initiation `paid`, which was sent at the time `at` and got `reply`. Yields the replies.
    Does nothing if the played bank refused the initiation, or gives no address for the signature."""
    content = read_json_object(reply)
    payment_id = find_own_id(content)
    if reply.status != 201 or payment_id is None:
        return
    initiation = PlayedInitiation(player, paid, payment_id, send)
    address = find_address({name.lower(): value for name, value in reply.headers}, content)
    if address is None:  # a file is checked first
        at += CHECKED_AFTER
        checked = initiation.ask_status(at)
        yield checked
        address = find_address({}, read_json_object(checked))
        if address is None:
            return
    iban = player.find_debtor(payment_id)
    if iban is not None:
        player.session.debtors[address] = iban
    at += ending.wait
    player.wait_until(at)
    if ending.act == SIGNS:
        player.approve(address)
    elif ending.act == REFUSES:
        refusal = player.refuse(address)
        if player.has_controls:  # otherwise no recording shows the callback
            yield refusal
    yield initiation.ask_status(at)
    token = None
    if ending.act == SIGNS and paid.path[0] != "bulk-payments":
        token = player.make_payment_token(payment_id)
        if token is not None:
            yield initiation.ask_details(token, at)
    if ending.cancels:
        yield initiation.cancel(token, at)
        yield initiation.ask_status(at)
    iban = player.find_debtor(payment_id)  # the customer may have chosen it
    for time in (at, at + ending.later) if ending.later else ():
        if time > at:
            yield initiation.ask_status(time)
        if iban is not None:
            yield from initiation.list_lines(iban, find_brussels_date(at), time)


def with_token(call: RecordedCall, token: str) -> RecordedCall:
    return replace(call, headers={**call.headers, "authorization": f"Bearer {token}"})


def with_version(call: RecordedCall, version: int) -> RecordedCall:
    accept = f"{call.headers.get('accept', '').partition(';')[0]}; version={version}"
    return replace(call, headers={**call.headers, "accept": accept})
