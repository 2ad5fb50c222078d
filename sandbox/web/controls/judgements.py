"""Why a call was answered so: the rule, the numbers that decided, what led there, what would have succeeded."""

from collections.abc import Iterator
from typing import Any

import orjson

from sandbox.bank.records import Debtor, Fact
from sandbox.bank.state import Bank
from sandbox.bank.subjects import BulkFile
from sandbox.banking.calendar import brussels_date
from sandbox.banking.durations import write_instant
from sandbox.banking.money import Money
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Trigger
from sandbox.contract.remedies import REMEDIES
from sandbox.web.api.call_records import content_of_call
from sandbox.web.api.call_texts import address_of, reply_of, request_of
from sandbox.web.controls.initiations import fact_row
from sandbox.worlds.calls import Exchange
from sandbox.worlds.world import World

MOVES_SHOWN = 30  # of the subject, the last ones before the answer
FUNDS = (Trigger.FUNDS_MISSING, Trigger.GIVEN_UP)
NO_CALL = "No call with Request-ID {input} in world {world}. List them: `bank-sandbox requests`."
MOVE = ("at", "from", "to", "trigger", "reason")  # of a line of the journal
KEPT_BACK = ("seq", "decided", "variants")


def explain(world: World, request_id: str) -> dict[str, Any]:
    """Why a call was answered so."""
    exchange = world.exchange_of(request_id)
    if exchange is None:
        raise Refusal(Error.NOT_FOUND, input=request_id[:100], world=world.name, sentence=NO_CALL)
    row = {name: value for name, value in exchange._asdict().items() if name not in KEPT_BACK}
    return row | {
        "at": write_instant(exchange.at),
        "variants": dict(pair.split("=", 1) for pair in exchange.variants.split()),
        "decided_by": orjson.loads(exchange.decided) if exchange.decided else {},
        "would_succeed": remedy_of(exchange),
        "history": world.ask(lambda bank: list(history(bank, exchange))),
        "content": content_row(world, exchange),
    }


def content_row(world: World, exchange: Exchange) -> dict[str, Any] | None:
    """Both sides of the call without their secrets, while they are kept."""
    content = content_of_call(world, exchange.seq)
    if content is None:
        return None
    parts = {"request": request_of(content), "reply": reply_of(content)}
    rows = {name: {"headers": dict(part.headers), "body": part.body, "cut": part.cut} for name, part in parts.items()}
    return {"address": address_of(exchange.path, content), **rows}


def remedy_of(exchange: Exchange) -> str | None:
    """What would have succeeded; nothing where the call did."""
    return REMEDIES.get(Error[exchange.error]) if exchange.error else None


def history(bank: Bank, exchange: Exchange) -> Iterator[dict[str, Any]]:
    """How the subject came to the state at which the call was judged."""
    found = bank.find_subject(exchange.subject) if exchange.subject else None
    if found is None:
        return
    debtor = None if isinstance(found, BulkFile) else getattr(found, "debtor", None)
    for fact in [fact for fact in found.history if fact.at <= exchange.at][-MOVES_SHOWN:]:
        row = {name: value for name, value in fact_row(fact).items() if name in MOVE}
        if fact.trigger in FUNDS and debtor is not None:
            balance = balance_before(bank, debtor, fact)
            row["balance"] = {"amount": f"{balance.number:.2f}", "currency": balance.currency}
        yield row


def balance_before(bank: Bank, debtor: Debtor, fact: Fact) -> Money:
    """The booked balance at the end of the day before: funds are looked at before the day's lines (choice 5)."""
    day = brussels_date(fact.at)
    balance = bank.ledger.balance(debtor.iban, debtor.currency)
    for line in reversed(bank.ledger.lines(debtor.iban, debtor.currency)):
        if line.on < day:
            break
        balance -= line.posting.amount
    return balance
