"""Moves forced by a tester or a rule: legal ones, with their effects (choice 10)."""

from sandbox.bank.effects import effect_of
from sandbox.bank.state import Bank
from sandbox.contract import moves
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status


def force(bank: Bank, subject_id: str, target: Status, reason: str | None) -> None:
    """Forces the first move of the table that leads to the status."""
    subject = bank.find_subject(subject_id)
    if subject is None:
        raise Refusal(Error.NOT_FOUND, input="payment")
    for row in moves.rows_to(subject.path, subject.status, target):
        forced = effect_of(subject, row.trigger).forced
        if forced is not None and bank.can(subject, row.trigger):
            forced(bank, subject, reason)
            return
    raise Refusal(Error.MOVE_ILLEGAL, subject=subject.id, status=subject.status.value, target=target.value)
