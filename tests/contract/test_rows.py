"""One row is enough: what a product, a status and a kind bring with them."""

import os
import subprocess
import sys
from pathlib import Path, PurePath

import pytest

from sandbox.bank.behaviours import BEHAVIOURS, EFFECTS
from sandbox.bank.records import Payment
from sandbox.commands.screen import COLOURS
from sandbox.contract import moves
from sandbox.contract.kinds import BULK, KINDS, PAYMENT, STANDING_ORDER
from sandbox.contract.moves import MOVES, STATUS_STYLES, Status, Trigger
from sandbox.contract.operations import OPERATIONS
from sandbox.contract.products import PRODUCTS, Product
from sandbox.web.api.app import VIEWS
from sandbox.web.console.initiations import SUMMARIES
from sandbox.web.controls.initiation_views import ROW_FIELDS
from sandbox.web.html.pages import read_content
from tests.contract.additions import COPY, RECIPES, ROOT, Recipe, make_copy


def triggers(product: Product) -> set[Trigger]:
    return {row.trigger for row in moves.list_moves(product)}


def test_the_moves_of_a_product_follow_from_its_flags() -> None:
    plain = Product("target-2-transfers", sepa=False, deletable=False)
    assert Trigger.CANCELLED not in triggers(plain) and Trigger.FUNDS_MISSING in triggers(plain)
    assert Trigger.CANCELLED in triggers(Product("x", sepa=True, deletable=True))
    instant = Product("y", sepa=True, deletable=True, instant=True)
    assert Trigger.CANCELLED in triggers(instant) and Trigger.FUNDS_MISSING not in triggers(instant)
    assert Status.PDNG not in {row.target for row in moves.list_moves(instant)}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=lambda one: one.name)
def test_a_product_says_how_it_is_booked_and_listed(product: Product) -> None:
    assert product.remark and product.short and {product.name, f"{product.name} (ACSP)"} <= set(PAYMENT.moves)


@pytest.mark.parametrize("status", Status)
def test_a_status_has_a_look_with_a_colour_on_pages_and_terminals(status: Status) -> None:
    sheet = read_content("sandbox.web.console", "console.css").decode()
    tone = STATUS_STYLES[status].tone
    assert f"var(--{tone})" in sheet and status.value in COLOURS
    assert tone == "gone" or f".t-{tone}" in sheet  # gone is the colour of every other pill


def test_a_kind_has_its_row_in_every_room() -> None:
    every = {PAYMENT, STANDING_ORDER, BULK}
    assert set(KINDS.values()) == set(BEHAVIOURS) == set(SUMMARIES) == set(ROW_FIELDS) == every
    assert {operation.kind for operation in OPERATIONS} == every | {None}
    assert {f"{name}_{verb}" for name in KINDS for verb in ("initiation", "status", "cancellation")} <= set(VIEWS)
    assert {path for kind in every for path in kind.moves} == set(MOVES)


def test_every_trigger_of_the_tables_has_an_effect_or_a_place_of_its_own() -> None:
    """Made within another act: opened and cosigned by a PSU, invalid by the validation."""
    within = {Trigger.OPENED, Trigger.COSIGNED, Trigger.INVALID}
    named = {row.trigger for path in PAYMENT.moves for row in MOVES[path]}
    assert named - within == set(EFFECTS[Payment])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_new_row_touches_as_few_files_as_the_architecture_says(recipe: Recipe) -> None:
    places = {PurePath(name).parent if name.endswith(".po") else name for name in recipe.files}
    assert len(places) <= recipe.most
    lines = (ROOT / "ARCHITECTURE.md").read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    assert [most for name, *_, most in rows if recipe.name in name.split("; ")] == [str(recipe.most)]


def test_new_rows_of_each_table_are_used_everywhere(tmp_path: Path) -> None:
    """A control has a test of its own, tests/controls/test_one_row."""
    make_copy(tmp_path / COPY)
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.new_rows"],
        cwd=tmp_path / COPY,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / COPY}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
