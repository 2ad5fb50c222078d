"""The client works against any server of the contract, so it may know nothing of ours."""

from pathlib import Path

from tests.house import ours, read_house, room

HOUSE = read_house(Path(__file__).parents[2] / "sandbox")
ALLOWED = {"client", "contract"}


def test_the_client_knows_the_contract_alone() -> None:
    modules = [module for module in HOUSE if room(module) == "client"]
    assert modules
    assert {
        (module, target) for module in modules for target in ours(module, HOUSE) if room(target) not in ALLOWED
    } == set()
