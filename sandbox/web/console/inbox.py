"""What waits for a PSU, and what will happen next."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

from sandbox.bank import signing, timeline
from sandbox.bank.consents import likely_customer
from sandbox.bank.records import UNSIGNED, Batch, Initiation
from sandbox.bank.state import Bank
from sandbox.web.console.initiations import InitiationRow, page_of, row_of
from sandbox.web.console.visits import Facts


class Waiting(NamedTuple):
    """An address that was not answered yet; `row` is what it is about, unless that is a consent."""

    token: str
    left: timedelta
    row: InitiationRow | None
    client: str
    asks: str
    likely: str | None
    callback: str  # where the customer is sent back to


def inbox_of(bank: Bank, number: int, size: int) -> Facts:
    waiting, more = page_of(waiting_of(bank), number, size)
    partly = (bank.initiation(name) for name in islice(bank.partly_signed, size))
    standing = [one for one in reversed(bank.consents.values()) if one.ended is None and one.until > bank.clock.now]
    return {
        "waiting": waiting,
        "more": more,
        "cosigning": [cosigning_of(bank, one) for one in partly if one],
        "consents": standing,
        "customers": [(customer.id, customer.name) for customer in bank.customers.values()],
    }


def waiting_of(bank: Bank) -> Iterator[Waiting]:
    """Consents, then initiations; the newest first, an initiation once however often its address was renewed."""
    now = bank.clock.now
    for consent in reversed(bank.consent_addresses.values()):
        if consent.token not in bank.answered and consent.until > now:
            asks = f"{'renewal of ' if consent.renews else ''}consent, {consent.scope}"
            left, likely, callback = consent.until - now, likely_customer(bank, consent), consent.redirect_uri
            yield Waiting(consent.token, left, None, consent.client_id, asks, likely, callback)
    shown = set()
    for address in reversed(bank.sca_addresses.values()):
        found = bank.initiation(address.subject_id) if address.until > now else None
        if found is None or found.id in shown:
            continue
        shown.add(found.id)
        if found.status in UNSIGNED and not found.signatures:
            left, origin, likely = address.until - now, found.origin, likely_of(bank, found)
            yield Waiting(
                address.token, left, row_of(found), origin.client_id, "signature", likely, origin.redirect_uri
            )


def likely_of(bank: Bank, found: Initiation) -> str | None:
    """The customer who will sign: the token's own PSU, or the first of the account's signers."""
    if found.origin.customer is not None:
        return found.origin.customer
    if signing.needs_account(found):
        return None
    return next(iter(signing.left_to_sign(bank, found)), None)


def cosigning_of(bank: Bank, found: Initiation) -> Facts:
    """A payment that needs further signatures."""
    return {"row": row_of(found), "by": found.signatures, "signers": signing.left_to_sign(bank, found)}


def due_of(bank: Bank, number: int, size: int) -> tuple[list[Facts], bool]:
    """What the timeline holds, soonest first."""
    promises, more = page_of(timeline.coming(bank), number, size)
    found = []
    for promise in promises:
        subject = bank.find_subject(promise.subject_id)
        whole = bank.bulks[subject.bulk_id] if isinstance(subject, Batch) else subject
        due = {"at": promise.at, "after": promise.at - bank.clock.now, "subject": promise.subject_id}
        due |= {"trigger": promise.trigger.value.replace("_", " "), "row": row_of(whole) if whole else None}
        found.append(due)
    return found, more
