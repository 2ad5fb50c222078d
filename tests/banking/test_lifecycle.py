"""The table of moves (service 3.3, 3.4; choice 5, 6, 7): what it allows happens, everything else does not."""

from dataclasses import dataclass
from itertools import product

import pytest

from sandbox.commands.screen import align_rows
from sandbox.contract.moves import MOVES, Status, Trigger, find_move, find_moves_to, find_reachable, is_final
from sandbox.web.docs.reference_tables import moves

# One column a path: from and trigger to what follows, as the contract tells it. A * marks a condition.
OPENING = """
RCVD checked PATC | RCVD opened PATC | PATC cosigned PATC | RCVD refused CANC | PATC refused CANC
RCVD unsigned_too_long CANC | PATC unsigned_too_long CANC
"""
WITHDRAWING = "RCVD cancelled CANC | PATC cancelled CANC"
WAITING = """
PATC signed PDNG | PDNG executed ACSP | PDNG funds_missing PDNG | PDNG given_up RJCT | PDNG rejected RJCT
"""
CALLING_OFF = "PDNG cancelled CANC deferred"
SETTLING = "ACSP settled ACSC | ACSP rejected RJCT"
SETTLING_AT_ACSP = "ACSP settled ACSP unsettled | ACSP rejected RJCT unsettled"
FILE = """
RCVD validated PATC | RCVD invalid RJCT | PATC refused CANC | PATC signed PDNG | RCVD cancelled CANC
PATC cancelled CANC | PATC rejected RJCT | PDNG rejected RJCT
"""

SCT = (OPENING, WITHDRAWING, WAITING, CALLING_OFF)
ISCT = (OPENING, WITHDRAWING, "PATC signed ACSP")
XB = (OPENING, WAITING)
TOLD = {
    "sepa-credit-transfers": (*SCT, SETTLING),
    "instant-sepa-credit-transfers": (*ISCT, SETTLING),
    "cross-border-credit-transfers": (*XB, SETTLING),
    "sepa-credit-transfers (ACSP)": (*SCT, SETTLING_AT_ACSP),
    "instant-sepa-credit-transfers (ACSP)": (*ISCT, SETTLING_AT_ACSP),
    "cross-border-credit-transfers (ACSP)": (*XB, SETTLING_AT_ACSP),
    "periodic-payments": (
        "PATC refused CANC | PATC signed PDNG | PDNG activated ACWP | ACWP occurred ACWP | ACWP funds_missing ACWP",
        "ACWP ended CANC | PATC cancelled CANC | PDNG cancelled CANC | ACWP cancelled CANC",
    ),
    "bulk-payments": (FILE, CALLING_OFF, "PATC cosigned PATC | PDNG settled ACSC"),
    "bulk in a file": (
        FILE,
        "PDNG executed ACSC | PDNG funds_missing PDNG | PDNG given_up RJCT | PDNG cancelled CANC",
    ),
}

SINGLE = [path for path in MOVES if "credit-transfers" in path]
FINAL = (Status.ACSC, Status.RJCT, Status.CANC)


@dataclass(frozen=True)
class Looks:
    deferred: bool
    settled: bool


def told(path: str) -> dict[tuple[str, str], tuple[str, str]]:
    """From and trigger to the target and the condition."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for row in "\n".join(TOLD[path]).replace("|", "\n").splitlines():
        if row.strip():
            source, trigger, target, *condition = row.split()
            assert (source, trigger) not in found
            found[source, trigger] = (target, "".join(condition))
    return found


def holds(condition: str, looks: Looks) -> bool:
    return {"": True, "deferred": looks.deferred, "unsettled": not looks.settled}[condition]


def test_every_path_is_told_here() -> None:
    assert set(TOLD) == set(MOVES)


@pytest.mark.parametrize("path", MOVES)
@pytest.mark.parametrize("deferred", (False, True))
@pytest.mark.parametrize("settled", (False, True))
def test_only_the_table_moves_anything(path: str, deferred: bool, settled: bool) -> None:
    looks, rows = Looks(deferred, settled), told(path)
    for status, trigger in product(Status, Trigger):
        target, condition = rows.get((status, trigger), (None, ""))
        found = find_move(path, status, trigger, looks)
        if target is not None and holds(condition, looks):
            assert found is not None and found.target == target, (status, trigger)
        else:
            assert found is None, (status, trigger)


@pytest.mark.parametrize("path", MOVES)
def test_the_table_as_printed_has_each_move_with_its_condition_and_its_clause(path: str) -> None:
    conditions = {"": "", "deferred": "future-dated or in recycling", "unsettled": "not settled yet"}
    head, rows = moves()
    assert head[:6] == ("path", "from", "trigger", "to", "when", "clause")
    found = {tuple(row[1:5]) for row in rows if row[0] == path}
    assert found == {(*place, target, conditions[when]) for place, (target, when) in told(path).items()}
    for row in rows:
        assert row[5].startswith(("service ", "choice ")) and (row[6] == "ours") == row[5].startswith("choice")
    lines = align_rows(rows, head).splitlines()
    assert sum(line.startswith(f"{path}  ") for line in lines) == len(found)


@pytest.mark.parametrize("path", MOVES)
def test_nothing_leads_out_of_a_final_status(path: str) -> None:
    for status in FINAL:
        assert is_final(path, status)
        assert find_reachable(path, status) == set()
        for trigger, deferred, settled in product(Trigger, (False, True), (False, True)):
            assert find_move(path, status, trigger, Looks(deferred, settled)) is None


@pytest.mark.parametrize("path", [path for path in SINGLE if path.endswith("(ACSP)")])
def test_with_settlement_at_ACSP_nothing_leads_out_of_it_once_settled_and_ACSC_never_appears(path: str) -> None:
    assert Status.ACSC not in find_reachable(path, Status.RCVD)
    for trigger, deferred in product(Trigger, (False, True)):
        assert find_move(path, Status.ACSP, trigger, Looks(deferred, settled=True)) is None


@pytest.mark.parametrize("path", MOVES)
def test_no_row_stands_twice(path: str) -> None:
    assert len({(row.source, row.trigger) for row in MOVES[path]}) == len(MOVES[path])


@pytest.mark.parametrize("path", [path for path in SINGLE if path.startswith("instant")])
def test_an_instant_payment_never_reaches_PDNG(path: str) -> None:
    assert Status.PDNG not in find_reachable(path, Status.RCVD)
    assert not list(find_moves_to(path, Status.PATC, Status.PDNG))


@pytest.mark.parametrize("path", [path for path in MOVES if path.startswith("cross-border")])
def test_no_row_cancels_a_cross_border_payment(path: str) -> None:
    assert Trigger.CANCELLED not in {row.trigger for row in MOVES[path]}


@pytest.mark.parametrize("path", SINGLE)
def test_no_single_payment_becomes_what_only_others_are(path: str) -> None:
    begun = find_reachable(path, Status.RCVD)
    assert Status.ACWP not in begun and Status.RCVD not in begun


def test_a_standing_order_is_active_or_over_and_never_settles() -> None:
    assert find_reachable("periodic-payments", Status.PATC) == {Status.PDNG, Status.ACWP, Status.CANC}
    assert is_final("periodic-payments", Status.RCVD)  # it is never received without more
