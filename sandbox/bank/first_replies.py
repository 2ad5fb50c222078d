"""A Request-ID is used once; the identical initiation again gets the first reply again (choice 2)."""

from dataclasses import dataclass

from sandbox.bank.bounded_registers import forget_oldest
from sandbox.bank.records import Asked
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal


@dataclass(frozen=True, slots=True)
class Ask:
    """The caller, the Request-ID and a fingerprint of the call."""

    client_id: str
    request_id: str
    print: bytes


def demand_fresh(bank: Bank, client_id: str, request_id: str) -> None:
    """A call that is no initiation can't be the one that used the id first."""
    if (client_id, request_id) in bank.asked and bank.settings.request_id_reuse != "allow":
        raise Refusal(Error.HEADER_INVALID, input="Request-ID", why="it was used before")


def first_answer(bank: Bank, ask: Ask) -> Asked | None:
    """The first reply to the identical call; a different call with the same id is refused."""
    if bank.settings.request_id_reuse == "allow":
        return None
    earlier = bank.asked.get((ask.client_id, ask.request_id))
    if earlier is None:
        return None
    if earlier.print == ask.print and bank.settings.request_id_reuse == "replay":
        return earlier
    raise Refusal(Error.HEADER_INVALID, input="Request-ID", why="it was used before, for another call")


def remember(bank: Bank, ask: Ask, subject_id: str, sca_token: str) -> None:
    """Notes an accepted initiation; the first of an id stays."""
    bank.asked.setdefault((ask.client_id, ask.request_id), Asked(ask.print, subject_id, sca_token))
    forget_oldest(bank.asked, bank.settings.remembered_max)
