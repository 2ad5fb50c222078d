"""One row is enough: what a product, a status and a kind bring with them."""

import pytest

from sandbox.bank.behaviours import BEHAVIOURS
from sandbox.bank.effects import EFFECTS
from sandbox.bank.records import Payment
from sandbox.commands.screen import COLOURS
from sandbox.contract import moves
from sandbox.contract.kinds import BULK, KINDS, PAYMENT, STANDING_ORDER
from sandbox.contract.moves import LOOKS, MOVES, Status, Trigger
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.products import PRODUCTS, Product
from sandbox.web.api.app import VIEWS
from sandbox.web.console.initiations import SUMMARIES
from sandbox.web.controls.initiations import SHOW
from sandbox.web.html.static_files import content_of


def triggers(product: Product) -> set[Trigger]:
    return {row.trigger for row in moves.moves_of(product)}


def test_the_moves_of_a_product_follow_from_its_flags() -> None:
    plain = Product("target-2-transfers", sepa=False, deletable=False)
    assert Trigger.CANCELLED not in triggers(plain) and Trigger.FUNDS_MISSING in triggers(plain)
    assert Trigger.CANCELLED in triggers(Product("x", sepa=True, deletable=True))
    instant = Product("y", sepa=True, deletable=True, instant=True)
    assert Trigger.CANCELLED in triggers(instant) and Trigger.FUNDS_MISSING not in triggers(instant)
    assert Status.PDNG not in {row.target for row in moves.moves_of(instant)}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=lambda one: one.name)
def test_a_product_says_how_it_is_booked_and_listed(product: Product) -> None:
    assert product.remark and product.short and {product.name, f"{product.name} (ACSP)"} <= set(PAYMENT.moves)


@pytest.mark.parametrize("status", Status)
def test_a_status_has_a_look_with_a_colour_on_pages_and_terminals(status: Status) -> None:
    sheet = content_of("sandbox.web.console", "console.css").decode()
    tone = LOOKS[status].tone
    assert f"var(--{tone})" in sheet and status.value in COLOURS
    assert tone == "gone" or f".t-{tone}" in sheet  # gone is the colour of every other pill


def test_a_kind_has_its_row_in_every_room() -> None:
    every = {PAYMENT, STANDING_ORDER, BULK}
    assert set(KINDS.values()) == set(BEHAVIOURS) == set(SUMMARIES) == set(SHOW) == every
    assert {operation.kind for operation in OPERATIONS} == every | {None}
    assert {f"{name}_{verb}" for name in KINDS for verb in ("initiation", "status", "cancellation")} <= set(VIEWS)
    assert {path for kind in every for path in kind.moves} == set(MOVES)


def test_every_trigger_of_the_tables_has_an_effect_or_a_place_of_its_own() -> None:
    """Made within another act: opened and cosigned by a PSU, invalid by the validation."""
    within = {Trigger.OPENED, Trigger.COSIGNED, Trigger.INVALID}
    named = {row.trigger for path in PAYMENT.moves for row in MOVES[path]}
    assert named - within == set(EFFECTS[Payment])
