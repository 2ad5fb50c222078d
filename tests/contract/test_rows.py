"""One row is enough: what a product, a status and a kind bring with them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

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
from sandbox.web.html.pages import content_of

ROOT = Path(__file__).parents[2]


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


# New rows, tried in a copy of the package: what each thing adds, before which text of which file.
COPY = "with_more_rows"
MORNING = "2027-03-01T09:00:00+01:00"
TARGET_2 = "target-2-transfers"
HELD_BACK = "HOLD"
Additions = dict[str, tuple[tuple[str, str], ...]]  # by file: the text before which it stands, and what is added

PRODUCT: Additions = {
    "contract/products.py": (
        (
            "PRODUCTS = {",
            f'T2 = Product("{TARGET_2}", sepa=False, deletable=False, remark="TARGET2", short="T2")\n',
        ),
        ("XB)}", "T2, "),
    ),
    "contract/fields.py": (),  # a letter more in each row
}
STATUS: Additions = {
    "contract/moves.py": (
        ('    RJCT = "RJCT"', f'    {HELD_BACK} = "{HELD_BACK}"\n'),
        (
            '    Status.RJCT: StatusStyle("bad")',
            f'    Status.{HELD_BACK}: StatusStyle("wait", "the end of an inquiry"),\n',
        ),
        ('    REJECTED = "rejected"', '    HELD_BACK = "held_back"\n'),
        (
            '    Move(PDNG, Trigger.FUNDS_MISSING, PDNG, "choice 5")',
            f'    Move(PDNG, Trigger.HELD_BACK, Status.{HELD_BACK}, "choice 5"),\n'
            f'    Move(Status.{HELD_BACK}, Trigger.EXECUTED, ACSP, "choice 5"),\n',
        ),
    ),
    "bank/behaviours.py": (
        ("        Trigger.FUNDS_MISSING", "        Trigger.HELD_BACK: Effect(forced=_move(Trigger.HELD_BACK)),\n"),
    ),
}
LANGUAGE: Additions = {
    "contract/languages.py": (('    "nl": Language', '    "de": Language("Deutsch", "de_BE"),\n'),),
    "web/psu/catalogues/de.po": (),  # the French sentences, and one in German
}
SETTING: Additions = {
    "contract/decisions_payments.py": (
        (
            "    recycling_tries: int = setting(",
            "    tea_break: timedelta = setting(\n"
            '        Topic.PAYMENTS, "choice 5", timedelta(minutes=5), "How long the bank has tea.",\n    )\n'
            '    tea: Literal["green", "black"] = setting(\n'
            '        Topic.PAYMENTS, "choice 5", "green", "What the bank has then.",\n    )\n',
        ),
    ),
}
AXIS: Additions = {
    "contract/decisions_payments.py": (
        (
            "    fees: Literal[",
            '    monday_delete: Literal["permitted", "refused"] = settling(\n'
            '        "service 3.4", "DELETE on a Monday.", "a branch on the day",\n'
            '        ("permitted", "As on other days."), ("refused", "403."),\n    )\n',
        ),
    ),
    "bank/execution.py": (
        (
            "    waiting = payment.signed_on is not None\n    bank.move(payment, Trigger.CANCELLED",
            '    if today.weekday() == 0 and bank.decisions.monday_delete == "refused":\n'
            "        raise Refusal(Error.NOT_CANCELLABLE, status=payment.status.value)\n",
        ),
    ),
}
RULE: Additions = {
    "extensions/referee/account_rules.py": (
        (
            '@rule("psu-involved-always"',
            '@rule("deleted-on-monday", WARNING, "choice 13", ("payment_cancellation",), refused=False)\n'
            "def on_monday(event: Observation, own: RuleState) -> str | None:\n"
            '    """A payment is deleted on a Monday.\n\n    Wait.\n    """\n'
            '    return "a Monday" if event.at.weekday() == 0 else None\n\n\n',
        ),
    ),
}
MOST = ((PRODUCT, 2), (STATUS, 4), (LANGUAGE, 2), (SETTING, 1), (AXIS, 2), (RULE, 1))


def one_letter_more(text: str) -> str:
    """The fields with a column for one product more, which takes what a cross-border payment takes."""
    return re.sub(r'"([ro-])([ro-])([ro-])"', r'"\1\2\3\3"', text)


def test_a_new_row_of_each_table_is_used_everywhere_and_touches_few_files(tmp_path: Path) -> None:
    """A product, a status, a language, a setting, an axis and a rule; a field and a control have tests of their own."""
    home = tmp_path / COPY
    for folder in ("sandbox", "fixtures", "scenarios", "docs"):
        copytree(ROOT / folder, home / folder, ignore=ignore_patterns("__pycache__"))
    french = (home / "sandbox/web/psu/catalogues/fr.po").read_text()
    german = french.replace('msgid "login.title"\nmsgstr "', 'msgid "login.title"\nmsgstr "Anmelden bitte', 1)
    (home / "sandbox/web/psu/catalogues/de.po").write_text(german)
    fields = home / "sandbox/contract/fields.py"
    fields.write_text(one_letter_more(fields.read_text()))
    for additions, most in MOST:
        assert len(additions) <= most
        for name, places in additions.items():
            file = home / "sandbox" / name
            text = file.read_text()
            for before, addition in places:
                assert text.count(before) == 1, (name, before)
                text = text.replace(before, addition + before)
            file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.new_rows"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
