"""Findings go with an exported world, and come with an imported one (choice 10)."""

from sandbox.bank.state import Bank
from sandbox.referee.rule import Found, Proof
from sandbox.referee.stream import referee_of
from sandbox.referee.table import BY_ID
from sandbox.world.transfer.findings import CarriedFinding
from sandbox.world.world import World


def findings_to_carry(world: World) -> list[CarriedFinding]:
    """All findings up to now."""

    def collect(bank: Bank) -> list[CarriedFinding]:
        return [
            CarriedFinding(found.rule.id, found.what, found.exchange, found.proof.calls, found.proof.difference)
            for found in referee_of(world).findings(bank)
        ]

    return world.ask(collect)


def take_in(world: World, findings: tuple[CarriedFinding, ...]) -> None:
    """The findings of an imported world; those of rules that this program does not have are left out."""
    referee = referee_of(world)
    for found in findings:
        if found.rule in BY_ID:
            proof = Proof(found.what, found.proof, found.difference)
            referee.take_in(Found(BY_ID[found.rule], found.call, proof))
