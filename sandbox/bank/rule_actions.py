"""Automatic effects of a scenario: moves and acts of its customers (choice 13)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sandbox.bank import bulks, effects, execution, psu_actions, signing
from sandbox.bank.bounded_registers import forget_first
from sandbox.bank.grants import ConsentAddress
from sandbox.bank.records import Callback
from sandbox.bank.rules import Psu, Then
from sandbox.bank.state import Bank
from sandbox.bank.subjects import Bulk, Initiation, Part, Subject
from sandbox.contract.errors import Refusal
from sandbox.contract.moves import Status, Trigger

# What the bank does by itself, and a rule about the same status does instead. An execution of a contract goes on.
DEFAULTS = (
    Trigger.CHECKED,
    Trigger.UNSIGNED_TOO_LONG,
    Trigger.EXECUTED,
    Trigger.SETTLED,
    Trigger.ACTIVATED,
    Trigger.VALIDATED,
)


def rule_moves(bank: Bank, found: Subject) -> dict[datetime, Then]:
    """The moves of the rule from the current status, by time; the first of each time counts."""
    if found.rule is None:
        return {}
    reached = next(fact.at for fact in reversed(found.history) if fact.source is not fact.target)
    moves = [then for then in bank.rulebook.rules[found.rule].then if then.on is found.status]
    return {reached + then.after: then for then in reversed(moves)}


def rule_delay(bank: Bank, found: Subject, trigger: Trigger) -> datetime | None:
    """The time until which a rule's move delays the default path; a bulk waits with its file."""
    if isinstance(found, Part):
        found = bank.bulks[found.bulk_id]
    if found.rule is None or trigger not in DEFAULTS:
        return None
    moves = (at for at, then in rule_moves(bank, found).items() if not then.back)
    return max((at for at in moves if at > bank.clock.now), default=None)


def by_rule(bank: Bank, found: Subject) -> None:
    """Makes the due move, if the status has not changed since it was scheduled."""
    then = rule_moves(bank, found).get(bank.clock.now)
    if then is None:
        return
    try:
        with at_work(bank, found):
            if then.back:
                execution.send_back(bank, found, then.back, then.reason)
            else:
                effects.force(bank, found.id, then.move, then.reason)
    except Refusal:
        return  # the table knows better than the scenario; the journal shows that nothing moved


@contextmanager
def at_work(bank: Bank, found: Subject | ConsentAddress) -> Iterator[None]:
    """Marks moves in this block with the rule's title in the journal."""
    assert found.rule is not None
    bank.rule_at_work = bank.rulebook.rules[found.rule].title
    try:
        yield
    finally:
        bank.rule_at_work = None


def customer_acts(bank: Bank, found: Subject) -> None:
    """Acts as the customer at the address, and as the second signer in the channel."""
    assert not isinstance(found, Part) and found.rule is not None
    psu = bank.rulebook.rules[found.rule].psu
    assert psu is not None
    if found.signatures:
        psu = psu.then
    if psu is None:
        return
    try:
        with at_work(bank, found):
            if found.signatures:
                _in_channel(bank, found, psu)
                return
            redirect = _at_address(bank, found, psu)
    except Refusal:
        return  # a page would have said so, and the customer gone away
    if redirect is not None:
        record_callback(bank, found.id, redirect)


def consents(bank: Bank, token: str) -> None:
    """A customer answers a consent address."""
    address = bank.consent_addresses[token]
    assert address.rule is not None
    psu = bank.rulebook.rules[address.rule].psu
    assert psu is not None
    try:
        with at_work(bank, address):
            redirect = _answer(bank, token, psu)
    except Refusal:
        return
    if redirect is not None:
        record_callback(bank, token, redirect)


def record_callback(bank: Bank, subject: str, redirect: str) -> None:
    number = bank.callbacks[-1].seq + 1 if bank.callbacks else 1
    bank.callbacks.append(Callback(number, bank.clock.now, subject, redirect))
    settings = bank.settings
    forget_first(bank.callbacks, settings.remembered_max, settings.remembered_bytes_max, lambda one: len(one.redirect))


def _at_address(bank: Bank, found: Initiation, psu: Psu) -> str | None:
    if isinstance(found, Bulk) and bulks.valid_address(bank, found) is None:
        bulks.give_address(bank, found)
    redirect = _answer(bank, found.sca_token or "", psu)
    if psu.then is not None and found.signatures and found.status is Status.PATC:
        bank.promise_customer(found, psu.then.after)
    return redirect


def _answer(bank: Bank, token: str, psu: Psu) -> str | None:
    match psu.does:
        case "approves":
            return psu_actions.approve(bank, token, psu.customer, psu.account, psu.accounts, None)
        case "wrong_code" if bank.settings.rules_edition > 1:
            return psu_actions.decline(bank, token, psu.customer, None, signing.wrong_codes(bank))
        case "refuses" | "wrong_code":
            return psu_actions.decline(bank, token, psu.customer, None)
        case _:
            return None


def _in_channel(bank: Bank, found: Initiation, psu: Psu) -> None:
    """Adds a further signature in the channel, which has no callback."""
    if psu.does == "approves" and psu.customer is not None:
        signing.sign_in_channel(bank, found.id, psu.customer)
    elif psu.does in ("refuses", "wrong_code"):
        signing.refuse(bank, found, None)
